"""Progress of one call on its way to those who listen, however often the tool reports it."""

from __future__ import annotations

import asyncio
import math
from typing import Any

from pegboard.core.call import OnProgress, Progress

# What comes in between is put together: people see a few steps a second.
_PAUSE = 0.1
_LONGEST_MESSAGE = 1000
_LONGEST_PARTIAL = 16 * 1024
# Integers up to here are the same number to everybody.
_EXACT = 2**53


class Telling:
    """Passes progress on a few times a second: the last number and message, and all pieces of output joined."""

    def __init__(self, tell: OnProgress) -> None:
        self._tell = tell
        self._timer: asyncio.TimerHandle | None = None
        self._is_over = False
        self._is_held_back = False
        # What was said so far stays said: a piece of output alone does not take it back.
        self._progress = 0.0
        self._total: float | None = None
        self._message: str | None = None
        self._pieces: list[str] = []
        self._room = _LONGEST_PARTIAL
        self._left_out = 0

    def __call__(self, progress: Progress) -> None:
        """Take in what the tool says; it is told now, or with what follows within a moment."""
        if self._is_over:
            return
        if (number := _number(progress.progress)) is not None:
            self._progress, self._total = number, _number(progress.total)
        if isinstance(progress.message, str):
            self._message = progress.message[:_LONGEST_MESSAGE]
        if isinstance(progress.partial, str) and progress.partial:
            self._take(progress.partial)
        if self._timer is None:
            self._say()
        else:
            self._is_held_back = True

    def end(self) -> None:
        """Tell what was held back; whatever comes later is too late."""
        if self._timer is not None:
            self._timer.cancel()
        if self._is_held_back and not self._is_over:
            self._is_over = True
            self._pass_on()
        self._is_over = True

    def _take(self, piece: str) -> None:
        taken = piece[: self._room]
        self._room -= len(taken)
        self._left_out += len(piece) - len(taken)
        if taken:
            self._pieces.append(taken)

    def _say(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(_PAUSE, self._due)
        self._pass_on()

    def _due(self) -> None:
        self._timer = None
        if self._is_held_back:
            self._say()

    def _pass_on(self) -> None:
        partial = "".join(self._pieces) or None
        if partial is not None and self._left_out:
            partial += f"… [{self._left_out:,} more characters left out]"
        self._pieces, self._room, self._left_out = [], _LONGEST_PARTIAL, 0
        self._is_held_back = False
        self._tell(Progress(self._progress, self._total, self._message, partial))


def _number(value: Any) -> float | None:
    """The number that a tool gave, if it is one that JSON can hold."""
    if type(value) is int and abs(value) <= _EXACT:
        return value
    try:
        return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
    except OverflowError:  # an integer that no float can hold
        return None
