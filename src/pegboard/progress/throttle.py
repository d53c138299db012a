"""Limits how often the progress of one call is sent to its listener."""

from __future__ import annotations

import asyncio
import math
from typing import Any

from pegboard.model.call import OnProgress, Progress

# Updates within this interval are merged: a few updates a second are enough for people.
_PAUSE_SECONDS = 0.1
_MAX_MESSAGE_CHARS = 1000
_MAX_PARTIAL_CHARS = 16 * 1024
# Integers up to here are exact in every JSON implementation.
_MAX_EXACT_INTEGER = 2**53


class ProgressThrottle:
    """Passes progress on a few times a second: the last number and message, and all partial output joined."""

    def __init__(self, on_progress: OnProgress, pause: float = _PAUSE_SECONDS) -> None:
        self._on_progress = on_progress
        self._pause = pause
        self._timer: asyncio.TimerHandle | None = None
        self._is_over = False
        self._has_pending = False
        # The last number and message are sent again with later partial output.
        self._progress = 0.0
        self._total: float | None = None
        self._message: str | None = None
        self._pieces: list[str] = []
        self._room = _MAX_PARTIAL_CHARS
        self._left_out = 0

    def __call__(self, progress: Progress) -> None:
        """Accept progress from the tool; send it now, or merged with other reports within the interval."""
        if self._is_over:
            return
        if (number := clean_number(progress.progress)) is not None:
            self._progress, self._total = number, clean_number(progress.total)
        if isinstance(progress.message, str):
            self._message = progress.message[:_MAX_MESSAGE_CHARS]
        if isinstance(progress.partial, str) and progress.partial:
            self._take(progress.partial)
        if self._timer is None:
            self._send_and_pause()
        else:
            self._has_pending = True

    def end(self) -> None:
        """Send the pending progress, and ignore later reports."""
        if self._timer is not None:
            self._timer.cancel()
        if self._has_pending and not self._is_over:
            self._is_over = True
            self._send_merged()
        self._is_over = True

    def _take(self, piece: str) -> None:
        taken = piece[: self._room]
        self._room -= len(taken)
        self._left_out += len(piece) - len(taken)
        if taken:
            self._pieces.append(taken)

    def _send_and_pause(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._pause, self._on_timer)
        self._send_merged()

    def _on_timer(self) -> None:
        self._timer = None
        if self._has_pending:
            self._send_and_pause()

    def _send_merged(self) -> None:
        partial = "".join(self._pieces) or None
        if partial is not None and self._left_out:
            partial += f"… [{self._left_out:,} more characters left out]"
        self._pieces, self._room, self._left_out = [], _MAX_PARTIAL_CHARS, 0
        self._has_pending = False
        self._on_progress(Progress(self._progress, self._total, self._message, partial))


def clean_number(value: Any) -> float | None:
    """Return the number if JSON can hold it, otherwise None."""
    if type(value) is int and abs(value) <= _MAX_EXACT_INTEGER:
        return value
    try:
        return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
    except OverflowError:  # an integer that exceeds the range of float
        return None
