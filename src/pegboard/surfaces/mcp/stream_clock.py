"""Opens the event streams of slow responses, with one timer for all responses of a process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

# After this time a response becomes an event stream.
OPEN_AFTER_SECONDS = 10.0


class StreamClock:
    """The responses that have not begun, oldest first."""

    __slots__ = ("_timer", "_waiting")

    def __init__(self) -> None:
        self._waiting: dict[Callable[[], None], float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, open_stream: Callable[[], None]) -> None:
        """Call `open_stream` after OPEN_AFTER_SECONDS, unless it is removed before."""
        loop = asyncio.get_running_loop()
        self._waiting[open_stream] = loop.time() + OPEN_AFTER_SECONDS
        if self._timer is None:
            self._timer = loop.call_later(OPEN_AFTER_SECONDS, self._open_due)

    def remove(self, open_stream: Callable[[], None]) -> None:
        """Do not open this stream."""
        self._waiting.pop(open_stream, None)

    def _open_due(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = None
        while self._waiting:
            open_stream, due = next(iter(self._waiting.items()))
            if due > loop.time():
                self._timer = loop.call_at(due, self._open_due)
                return
            del self._waiting[open_stream]
            open_stream()
