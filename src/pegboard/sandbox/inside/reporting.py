"""How a python tool's code says how far it has come: two functions that it finds among its names."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

# As they are now: the code may put something else in their places.
_write, _dumps = os.write, json.dumps
# What is written at once arrives in one piece, whoever else writes: 4096 bytes. Escaped, a character takes 6 at most.
_PIECE = 650
_LONGEST_MESSAGE = 1000
# Integers that every reader of JSON takes for what they are.
_EXACT = 2**53


def reporters(fd: int | None) -> dict[str, Callable[..., None]]:
    """The functions by their names; what they are told goes to the descriptor, a line each, or nowhere."""

    def report_progress(progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell whoever waits for the call how far it has come: 3 of 10, and perhaps what it does now."""
        told: dict[str, Any] = {"progress": _number("progress", progress)}
        if total is not None:
            told["total"] = _number("total", total)
        if message is not None:
            told["message"] = _text("report_progress() takes the message", message)[:_LONGEST_MESSAGE]
        if fd is not None:
            _send(fd, told)

    def report_partial(text: str) -> None:
        """Give whoever waits for the call a piece of its output; the result is still to be returned."""
        text = _text("report_partial() takes its text", text)
        if fd is not None:
            for start in range(0, len(text), _PIECE):
                _send(fd, {"partial": text[start : start + _PIECE]})

    return {"report_progress": report_progress, "report_partial": report_partial}


def _number(name: str, value: Any) -> float | None:
    """The number, if JSON has one for it; raises TypeError where it is none."""
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise TypeError(f"report_progress() takes {name} as a number, not as {type(value).__name__}")
    if isinstance(value, int) and -_EXACT <= value <= _EXACT:
        return int(value)
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if number - number == 0 else None  # neither infinite nor NaN


def _text(what: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{what} as a str, not as {type(value).__name__}")
    return value


def _send(fd: int, told: dict[str, Any]) -> None:
    line = _dumps(told, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    try:
        while line:
            line = line[_write(fd, line) :]
    except OSError:
        pass  # the code has closed it, or nobody reads it any more
