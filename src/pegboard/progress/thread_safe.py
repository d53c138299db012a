"""Passes the progress that a handler reports from any thread to the listener in the event loop."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

from pegboard.model.call import OnProgress, Progress
from pegboard.model.call_errors import Cancelled
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# Limit of the partial output from a thread that is kept until the event loop passes it on.
MAX_PENDING_CHARS = 64 * 1024


class ThreadSafeProgress:
    """Accepts progress for as long as the call runs.

    If the call was cancelled, a report from another thread raises Cancelled there, because the thread cannot be
    interrupted otherwise. A report in the thread of the event loop does not raise, because the task there was cancelled
    itself.
    """

    __slots__ = (
        "_is_over",
        "_is_scheduled",
        "_left_out",
        "_lock",
        "_loop",
        "_pieces",
        "_room",
        "_thread",
        "_to",
        "_waiting",
        "is_cancelled",
    )

    def __init__(self, to: OnProgress | None) -> None:
        self.is_cancelled = False
        self._to = to
        self._is_over = False
        self._thread = threading.get_ident()
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._is_scheduled = False
        self._waiting = Progress()
        self._pieces: list[str] = []
        self._room = MAX_PENDING_CHARS
        self._left_out = 0

    def __call__(self, progress: Progress) -> None:
        """Pass the progress on: at once in the thread of the event loop, otherwise scheduled in the loop."""
        if threading.get_ident() == self._thread:
            self._report(progress)
            return
        if self.is_cancelled:
            raise Cancelled("No caller waits for this call any more: it was cancelled, or its time was up")
        if self._to is None or self._is_over:
            return
        with self._lock:
            self._keep(progress)
            if self._is_scheduled:
                return
            self._is_scheduled = True
        with suppress(RuntimeError):  # the loop is closed: there is no listener
            self._loop.call_soon_threadsafe(self._flush)

    def cancel(self) -> None:
        """Mark the call as cancelled: no task waits for the handler."""
        self.is_cancelled = self._is_over = True

    def end(self) -> None:
        """Pass on the pending progress, and ignore later reports."""
        self._flush()
        self._is_over = True

    def _keep(self, progress: Progress) -> None:
        """Merge with the pending progress: the latest number and message, and all output up to the limit."""
        before = self._waiting
        if progress.progress is not None:
            self._waiting = Progress(progress.progress, progress.total, progress.message or before.message)
        elif progress.message is not None:
            self._waiting = Progress(before.progress, before.total, progress.message)
        if progress.partial:
            taken = progress.partial[: self._room]
            self._room -= len(taken)
            self._left_out += len(progress.partial) - len(taken)
            if taken:
                self._pieces.append(taken)

    def _flush(self) -> None:
        with self._lock:
            waiting, pieces, left_out = self._waiting, self._pieces, self._left_out
            self._waiting, self._pieces, self._room, self._left_out = Progress(), [], MAX_PENDING_CHARS, 0
            self._is_scheduled = False
        partial = "".join(pieces)
        if left_out:
            partial += f"… [{left_out:,} more characters left out]"
        if partial or waiting != Progress():
            self._report(Progress(waiting.progress, waiting.total, waiting.message, partial or None))

    def _report(self, progress: Progress) -> None:
        if self._to is None or self._is_over:
            return
        try:
            self._to(progress)
        except Exception as error:
            # Drop a listener that raised; the tool is not affected.
            self._to = None
            log.warning("progress_listener_failed", error=type(error).__name__)
