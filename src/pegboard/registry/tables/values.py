"""What is asked of the value of a field beyond what JSON Schema can say."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

import orjson

from pegboard.core.instants import read_instant, write_instant
from pegboard.core.table_config import TableField
from pegboard.registry.subschemas import Path
from pegboard.registry.wording import Words, words_for

_UUID = re.compile("-".join(f"[0-9a-fA-F]{{{length}}}" for length in (8, 4, 4, 4, 12)), re.ASCII).fullmatch
_NUL = Words("invalid_string", "must not hold the character NUL (U+0000)", "text without NUL", shows=False)


class Finding(NamedTuple):
    """What is wrong with a value, and where in it."""

    steps: Path
    value: Any
    words: Words


# Of a value that fits its schema, what is wrong with it all the same.
Test = Callable[[Any], Finding | None]


def test_of(field: TableField, node: Mapping[str, Any]) -> Test | None:
    """What to ask of the field's values, which fit this schema; None where that is all."""
    if field.dataType == "text":
        return _uuid if node.get("format") == "uuid" else _text
    if field.dataType == "datetime":
        return _moment(field.minDate, field.maxDate)
    if field.dataType == "numeric":
        if field.scale is not None:
            return _places(field.scale)
        return _digits(field.precision) if field.precision is not None else None
    if field.dataType == "json":
        form = node.get("items", {}).get("format")
        inner = {"date-time": _moment(None, None), "uuid": _uuid}.get(form)
        return _json if inner is None else _each(inner)
    return None


def _text(value: str) -> Finding | None:
    return Finding((), value, _NUL) if "\0" in value else None


def _uuid(value: str) -> Finding | None:
    return None if _UUID(value) else Finding((), value, words_for("format", "uuid", {}, value))


def _json(value: Any) -> Finding | None:
    if b"\\u0000" in orjson.dumps(value, default=str) and _holds_nul(value):
        return Finding((), value, _NUL)
    return None


def _holds_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(_holds_nul(key) or _holds_nul(item) for key, item in value.items())
    return isinstance(value, list | tuple) and any(map(_holds_nul, value))


def _each(test: Test) -> Test:
    def look(values: list[Any]) -> Finding | None:
        for place, value in enumerate(values):
            if (found := test(value)) is not None:
                return found._replace(steps=(place, *found.steps))
        return None

    return look


def _places(most: int) -> Test:
    words = words_for("multipleOf", float(f"1e-{most}"), {}, None)

    def look(value: float | Decimal) -> Finding | None:
        if isinstance(value, Decimal):
            kept, exponent = _digits_of(value) if int(value.as_tuple().exponent) < -most else ("", 0)
            return Finding((), value, words) if kept and exponent < -most else None
        # Of the numbers with so many places, the one that rounding finds is the same float only if it was written so.
        return None if round(value, most) == value else Finding((), value, words)

    return look


def _digits(most: int) -> Test:
    noun = f"{most} digit{'' if most == 1 else 's'}"
    words = Words("too_big", f"must be a number with max {noun}", f"number with at most {noun}")

    def look(value: float | Decimal) -> Finding | None:
        text = repr(value)
        if not isinstance(value, Decimal) and len(text) <= most and "e" not in text:
            return None
        kept, exponent = _digits_of(Decimal(value if isinstance(value, Decimal) else text))
        return Finding((), value, words) if kept and len(kept) + max(exponent, 0) > most else None

    return look


def _digits_of(number: Decimal) -> tuple[str, int]:
    """The digits from the first to the last that is not zero, and how far the last stands before the point."""
    _, digits, exponent = number.as_tuple()
    kept = "".join(map(str, digits)).rstrip("0")
    return kept, len(digits) - len(kept) + int(exponent)


def _moment(least: str | None, most: str | None) -> Test:
    low, high = (read_instant(text) if text is not None else None for text in (least, most))
    says, expected = _bounds(low, high)

    def look(value: str) -> Finding | None:
        try:
            moment = read_instant(value)
        except ValueError as error:
            words = words_for("format", "date-time", {}, value)
            return Finding((), value, words._replace(hint=f": {error}{words.hint}"))
        if low is not None and moment < low:
            return Finding((), value, Words("too_small", says, expected))
        if high is not None and moment > high:
            return Finding((), value, Words("too_big", says, expected))
        return None

    return look


def _bounds(low: datetime | None, high: datetime | None) -> tuple[str, str]:
    """What is said of a moment out of bounds, and what was expected."""
    least, most = (write_instant(limit) if limit is not None else None for limit in (low, high))
    if least is not None and most is not None:
        return f"must be between {least} and {most}", f"ISO 8601 date-time between {least} and {most}"
    limit = f"before {least}" if least is not None else f"after {most}"
    return f"must not be {limit}", f"ISO 8601 date-time not {limit}"
