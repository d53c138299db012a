"""What a handler says of the call it serves, from whatever thread, on its way to whoever listens."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

from pegboard.core.call import OnProgress, Progress
from pegboard.core.errors import Cancelled
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# What is kept of the output that a thread gives until the loop has time for it.
MOST_WAITING = 64 * 1024


class Hearing:
    """Takes progress for as long as the call runs.

    A thread that goes on although nobody waits for it any more is told so, when it has something to say: Cancelled is
    raised there. In the loop nothing is, as whatever runs there was cancelled itself.
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
        self._room = MOST_WAITING
        self._left_out = 0

    def __call__(self, progress: Progress) -> None:
        """Pass it on, at once from the loop's own thread and soon from another."""
        if threading.get_ident() == self._thread:
            self._tell(progress)
            return
        if self.is_cancelled:
            raise Cancelled("Nobody waits for this call any more: it was cancelled, or its time was up")
        if self._to is None or self._is_over:
            return
        with self._lock:
            self._keep(progress)
            if self._is_scheduled:
                return
            self._is_scheduled = True
        with suppress(RuntimeError):  # the loop has closed: nobody listens any more
            self._loop.call_soon_threadsafe(self._flush)

    def cancel(self) -> None:
        """Nobody waits for the handler any more."""
        self.is_cancelled = self._is_over = True

    def end(self) -> None:
        """The handler has answered: pass on what waits; whatever comes later is too late."""
        self._flush()
        self._is_over = True

    def _keep(self, progress: Progress) -> None:
        """Put it together with what waits: the latest number and message, and all output as far as there is room."""
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
            self._waiting, self._pieces, self._room, self._left_out = Progress(), [], MOST_WAITING, 0
            self._is_scheduled = False
        partial = "".join(pieces)
        if left_out:
            partial += f"… [{left_out:,} more characters left out]"
        if partial or waiting != Progress():
            self._tell(Progress(waiting.progress, waiting.total, waiting.message, partial or None))

    def _tell(self, progress: Progress) -> None:
        if self._to is None or self._is_over:
            return
        try:
            self._to(progress)
        except Exception as error:
            # A listener that fails hears no more; the tool is none the wiser.
            self._to = None
            log.warning("progress_listener_failed", error=type(error).__name__)
