"""Ends attempts whose time is up, with one timer for all of them."""

from __future__ import annotations

import asyncio
import time
from typing import Any


class Deadlines:
    """The deadlines of all attempts that run now.

    A timer of the event loop for each would cost a call more than anything else in the pipeline. Most attempts end long
    before their deadline, so one timer, set to the earliest deadline there was, hardly ever goes off.
    """

    def __init__(self) -> None:
        self._running: set[Attempt] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._goes_off = 0.0

    def within(self, seconds: float, task: asyncio.Task[Any] | None = None) -> Attempt:
        """A context in which the task, or else this one, may spend so many seconds; it says whether they were up."""
        task = task or asyncio.current_task()
        assert task is not None
        return Attempt(self, time.monotonic() + seconds, task)

    def add(self, attempt: Attempt) -> None:
        """Watch an attempt that begins."""
        self._running.add(attempt)
        if self._timer is None or attempt.ends < self._goes_off:
            self._set(attempt.ends)

    def remove(self, attempt: Attempt) -> None:
        """Watch it no longer."""
        self._running.discard(attempt)

    def _set(self, moment: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._goes_off = moment
        self._timer = asyncio.get_running_loop().call_later(max(0.0, moment - time.monotonic()), self._go_off)

    def _go_off(self) -> None:
        self._timer = None
        now = time.monotonic()
        for attempt in [attempt for attempt in self._running if attempt.ends <= now]:
            self._running.discard(attempt)
            attempt.end()
        if self._running:
            self._set(min(attempt.ends for attempt in self._running))


class Attempt:
    """What runs in its context is cancelled when time is up; that cancellation, and no other, ends with it."""

    __slots__ = ("_cancelled", "_deadlines", "_task", "ends", "is_up")

    def __init__(self, deadlines: Deadlines, ends: float, task: asyncio.Task[Any]) -> None:
        self._deadlines = deadlines
        self.ends = ends
        self.is_up = False
        self._task = task
        self._cancelled = task.cancelling()

    def __enter__(self) -> Attempt:
        self._deadlines.add(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: object, _trace: object) -> bool:
        if not self.is_up:
            self._deadlines.remove(self)
            return False
        # Somebody else may have cancelled the task as well: then theirs goes on.
        return self._task.uncancel() <= self._cancelled and kind is asyncio.CancelledError

    def end(self) -> None:
        """Time is up."""
        self.is_up = True
        self._task.cancel()
