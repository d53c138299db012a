"""How long it takes to read a document: an end to it, and a sign of life to whoever waits."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from pegboard.core.refusals import Invalid

SECONDS = 120.0

# How often whoever waits hears of it, while one thing takes long.
EVERY = 0.1


class Pace:
    """Raises Invalid in work that takes longer than it may, and tells of its progress, done and of how many."""

    def __init__(self, seconds: float = math.inf, on_progress: Callable[[int, int], None] | None = None) -> None:
        start = time.monotonic()
        self._end = start + seconds
        self._next = min(start + EVERY, self._end)
        self._seconds = seconds
        self._on_progress = on_progress
        self._progress = (0, 0)

    def beat(self) -> None:
        """Called wherever work may go on for long; what `on_progress` raises ends it."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + EVERY
        if now >= self._end:
            most = f"more than {self._seconds:g} s"
            raise Invalid(f"The document takes too long, {most}; choose fewer operations with include")
        if self._on_progress is not None:
            self._on_progress(*self._progress)

    def reached(self, done: int, total: int) -> None:
        """So much is done, which is told at once."""
        self._progress = (done, total)
        self._next = 0.0
        self.beat()
