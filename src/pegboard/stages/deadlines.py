"""Cancels attempts at their deadlines, with one event loop timer for all of them."""

from __future__ import annotations

import asyncio
import time
from typing import Any


class Deadlines:
    """The deadlines of all running attempts.

    One event loop timer per attempt would cost more than any other step of the pipeline. Most attempts end long before
    their deadline, so a single timer, set to the earliest deadline, rarely fires.
    """

    def __init__(self) -> None:
        self._running: set[AttemptDeadline] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0

    def within(self, seconds: float, task: asyncio.Task[Any] | None = None) -> AttemptDeadline:
        """Return a context that cancels `task` (by default the current one) after `seconds` and sets `is_up`."""
        task = task or asyncio.current_task()
        assert task is not None
        return AttemptDeadline(self, time.monotonic() + seconds, task)

    def add(self, attempt: AttemptDeadline) -> None:
        """Register a running attempt."""
        self._running.add(attempt)
        if self._timer is None or attempt.ends < self._timer_at:
            self._set_timer(attempt.ends)

    def remove(self, attempt: AttemptDeadline) -> None:
        """Remove an attempt that has ended."""
        self._running.discard(attempt)

    def _set_timer(self, moment: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = moment
        self._timer = asyncio.get_running_loop().call_later(max(0.0, moment - time.monotonic()), self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        now = time.monotonic()
        for attempt in [attempt for attempt in self._running if attempt.ends <= now]:
            self._running.discard(attempt)
            attempt.end()
        if self._running:
            self._set_timer(min(attempt.ends for attempt in self._running))


class AttemptDeadline:
    """Context manager that cancels its task at the deadline; it suppresses that cancellation and no other."""

    __slots__ = ("_cancelled", "_deadlines", "_task", "ends", "is_up")

    def __init__(self, deadlines: Deadlines, ends: float, task: asyncio.Task[Any]) -> None:
        self._deadlines = deadlines
        self.ends = ends
        self.is_up = False
        self._task = task
        self._cancelled = task.cancelling()

    def __enter__(self) -> AttemptDeadline:
        self._deadlines.add(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: object, _trace: object) -> bool:
        if not self.is_up:
            self._deadlines.remove(self)
            return False
        # The task may also have been cancelled by other code: that cancellation must propagate.
        return self._task.uncancel() <= self._cancelled and kind is asyncio.CancelledError

    def end(self) -> None:
        """Cancel the task because the deadline has passed."""
        self.is_up = True
        self._task.cancel()
