"""Where importers do what takes long."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from pegboard.core.call import Caller
from pegboard.core.refusals import Conflict

T = TypeVar("T")

# Told as the work goes on: what is being done, how much of it is done, and how much there is (0 if not known).
Tell = Callable[[str, int, int], None]

MOST_OF_ONE_USER = 2


class _Unwanted(Exception):
    """Nobody waits for the work any more."""


def silent(_what: str, _done: int, _total: int) -> None:
    """For whoever does not want to be told."""


class Workshop:
    """Threads of the importers' own, so that nothing a call needs ever waits behind an import."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="import")
        self._busy: Counter[str] = Counter()

    @contextmanager
    def place(self, caller: Caller) -> Iterator[None]:
        """A place for one import of this caller; Conflict where they have all that one user may have."""
        if self._busy[caller.user_id] >= MOST_OF_ONE_USER:
            raise Conflict(f"You have {MOST_OF_ONE_USER} imports running already; wait for one to end")
        self._busy[caller.user_id] += 1
        try:
            yield
        finally:
            self._busy[caller.user_id] -= 1

    async def run(self, work: Callable[[Callable[[int, int], None]], T], what: str, tell: Tell) -> T:
        """What the work gives, done in a thread; it is given a function to tell how far it has come.

        That function raises once nobody waits for the work any more.
        """
        loop = asyncio.get_running_loop()
        unwanted = threading.Event()

        def on_progress(done: int, total: int) -> None:
            if unwanted.is_set():
                raise _Unwanted
            loop.call_soon_threadsafe(tell, what, done, total)

        try:
            return await loop.run_in_executor(self._threads, work, on_progress)
        finally:
            unwanted.set()

    def close(self) -> None:
        """Begin nothing more."""
        self._threads.shutdown(wait=False, cancel_futures=True)
