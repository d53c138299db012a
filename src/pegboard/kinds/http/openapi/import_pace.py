"""Time limit and progress reports for reading a document."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from pegboard.model.api_errors import Invalid

MAX_IMPORT_SECONDS = 120.0

# Interval of progress reports during long work.
PROGRESS_INTERVAL_SECONDS = 0.1


class ImportProgress:
    """Raises Invalid if the work exceeds its time limit, and reports progress as done and total."""

    def __init__(self, seconds: float = math.inf, on_progress: Callable[[int, int], None] | None = None) -> None:
        start = time.monotonic()
        self._end = start + seconds
        self._next = min(start + PROGRESS_INTERVAL_SECONDS, self._end)
        self._seconds = seconds
        self._on_progress = on_progress
        self._progress = (0, 0)

    def beat(self) -> None:
        """Check the time limit and report progress, often during long work; raise what `on_progress` raises."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + PROGRESS_INTERVAL_SECONDS
        if now >= self._end:
            most = f"more than {self._seconds:g} s"
            raise Invalid(f"The document takes too long, {most}; choose fewer operations with include")
        if self._on_progress is not None:
            self._on_progress(*self._progress)

    def report_progress(self, done: int, total: int) -> None:
        """Record the progress and report it immediately."""
        self._progress = (done, total)
        self._next = 0.0
        self.beat()
