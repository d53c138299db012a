"""Parses the report lines of a confined call as progress."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from pegboard.model.call import OnProgress, Progress
from pegboard.sandbox.child.pipes import MAX_LINE_BYTES
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

OMITTED_PROGRESS = Progress()

_NUMBER = r"(\d{1,15}(?:\.\d{1,15})?)"
_FRACTION = re.compile(rf"{_NUMBER}\s*/\s*{_NUMBER}(?:\s+(.*))?", re.ASCII | re.DOTALL)
_PERCENT = re.compile(rf"{_NUMBER}\s*%(?:\s+(.*))?", re.ASCII | re.DOTALL)


def make_report_reader(on_progress: OnProgress) -> Callable[[bytes], None]:
    """Return a function that parses report lines and passes them to the listener; a listener that raised is dropped.

    If lines were omitted or truncated, the listener receives OMITTED_PROGRESS.
    """
    listener: OnProgress | None = on_progress

    def take(lines: bytes) -> None:
        nonlocal listener
        try:
            for report in _read_reports(lines):
                if listener is not None:
                    listener(report)
        except Exception as error:
            listener = None
            log.warning("progress_listener_failed", error=type(error).__name__)

    return take


def _read_reports(lines: bytes) -> Iterator[Progress]:
    if lines.startswith(b"\n"):
        yield OMITTED_PROGRESS
    for line in lines.split(b"\n"):
        is_cut = len(line) >= MAX_LINE_BYTES
        # A truncated JSON object cannot be parsed.
        report = None if is_cut and line.startswith(b"{") else read_report(line)
        if report is not None:
            yield report
        if is_cut:
            yield OMITTED_PROGRESS


def read_report(line: bytes) -> Progress | None:
    """Return the progress in the line, or None if there is none.

    The line is a JSON object with some of `progress`, `total`, `message` and `partial`; or `3/10 text`, `30% text`, or
    text alone. An object that is not valid JSON is text too.
    """
    text = line.decode("utf-8", "replace").strip()
    if text.startswith("{"):
        try:
            report = orjson.loads(text)
        except ValueError:
            pass
        else:
            return _read_report_object(report)
    if found := _FRACTION.fullmatch(text):
        return Progress(_parse_digits(found[1]), _read_total(_parse_digits(found[2])), found[3] or None)
    if found := _PERCENT.fullmatch(text):
        return Progress(_parse_digits(found[1]), 100, found[2] or None)
    return Progress(message=text) if text else None


def _read_report_object(report: dict[str, Any]) -> Progress | None:
    progress = _read_number(report.get("progress"))
    total = None if progress is None else _read_total(_read_number(report.get("total")))
    message, partial = (_read_text(report.get(name)) for name in ("message", "partial"))
    if progress is None and message is None and partial is None:
        return None
    return Progress(progress, total, message, partial)


def _parse_digits(digits: str) -> float:
    return float(digits) if "." in digits else int(digits)


def _read_total(number: float | None) -> float | None:
    """Return the total if it is positive, otherwise None."""
    return number if number is not None and number > 0 else None


def _read_number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) else None


def _read_text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
