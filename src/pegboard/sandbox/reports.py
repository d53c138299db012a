"""What a confined call reports of itself, one line a report, read as progress."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from pegboard.core.call import OnProgress, Progress
from pegboard.sandbox.inside.reports import LONGEST_LINE
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

LEFT_OUT = Progress()

_NUMBER = r"(\d{1,15}(?:\.\d{1,15})?)"
_OF = re.compile(rf"{_NUMBER}\s*/\s*{_NUMBER}(?:\s+(.*))?", re.ASCII | re.DOTALL)
_PERCENT = re.compile(rf"{_NUMBER}\s*%(?:\s+(.*))?", re.ASCII | re.DOTALL)


def reading(on_progress: OnProgress) -> Callable[[bytes], None]:
    """What takes lines and passes on what they say; a listener that raises hears no more, and nobody is hurt.

    Where lines were left out, or cut, the listener gets a progress that says nothing.
    """
    listener: OnProgress | None = on_progress

    def take(lines: bytes) -> None:
        nonlocal listener
        try:
            for said in _said(lines):
                if listener is not None:
                    listener(said)
        except Exception as error:
            listener = None
            log.warning("progress_listener_failed", error=type(error).__name__)

    return take


def _said(lines: bytes) -> Iterator[Progress]:
    if lines.startswith(b"\n"):
        yield LEFT_OUT
    for line in lines.split(b"\n"):
        is_cut = len(line) >= LONGEST_LINE
        # Of an object that is cut nothing can be read.
        report = None if is_cut and line.startswith(b"{") else read_report(line)
        if report is not None:
            yield report
        if is_cut:
            yield LEFT_OUT


def read_report(line: bytes) -> Progress | None:
    """What the line says; None where it says nothing.

    It is a JSON object with some of `progress`, `total`, `message` and `partial`; or `3/10 words`, `30% words`, or
    words alone. An object that cannot be read is words too.
    """
    text = line.decode("utf-8", "replace").strip()
    if text.startswith("{"):
        try:
            told = orjson.loads(text)
        except ValueError:
            pass
        else:
            return _of_object(told)
    if found := _OF.fullmatch(text):
        return Progress(_read(found[1]), _total(_read(found[2])), found[3] or None)
    if found := _PERCENT.fullmatch(text):
        return Progress(_read(found[1]), 100, found[2] or None)
    return Progress(message=text) if text else None


def _of_object(told: dict[str, Any]) -> Progress | None:
    progress = _number(told.get("progress"))
    total = None if progress is None else _total(_number(told.get("total")))
    message, partial = (_text(told.get(name)) for name in ("message", "partial"))
    if progress is None and message is None and partial is None:
        return None
    return Progress(progress, total, message, partial)


def _read(digits: str) -> float:
    return float(digits) if "." in digits else int(digits)


def _total(number: float | None) -> float | None:
    """The total, if anything can be a part of it."""
    return number if number is not None and number > 0 else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
