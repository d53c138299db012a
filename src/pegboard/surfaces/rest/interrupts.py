"""Signals that stop the server: the first waits for running calls, a second Ctrl-C cancels them, a third exits."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

_STOPPING = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def watch_interrupts(on_first: Callable[[], None], on_second: Callable[[], None]) -> Iterator[None]:
    """Call these in the event loop at the first signal to stop, and at the Ctrl-C after it.

    Other signals go on to the handlers that are installed, the HTTP server's.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are handled in the main thread only
        return
    loop = asyncio.get_running_loop()
    before: dict[int, Any] = {number: signal.getsignal(number) for number in _STOPPING}
    steps = iter((on_first, on_second))
    seen = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal seen
        is_next = seen == 0 or (seen == 1 and number == signal.SIGINT)
        if is_next:
            seen += 1
            loop.call_soon_threadsafe(next(steps))
        if (not is_next or seen == 1) and callable(before[number]):
            before[number](number, frame)

    for stopping in _STOPPING:
        signal.signal(stopping, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
