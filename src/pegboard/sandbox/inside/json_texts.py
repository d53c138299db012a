"""Values of the standard library that JSON has no form for: the text, or the number, that stands for each."""

from __future__ import annotations

import datetime
import enum
import json
import math
import uuid
from decimal import Decimal
from typing import Any

NOTHING_KNOWN = object()

# Integers beyond this are not the same number in every language that reads JSON.
_EXACT = 2**53


class Unfit(Exception):
    """A value that cannot be JSON; the message goes on where the value's place ends: '$.a is …'."""


class TooLarge(Exception):
    """More JSON than there may be."""


def of_standard(value: Any) -> Any:
    """What stands for a value of the standard library, or NOTHING_KNOWN; a value that is missing stands for None."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        # Only the NaT of pandas, which is a datetime, is not itself.
        return value.isoformat() if value == value else None  # noqa: PLR0124
    if isinstance(value, datetime.timedelta):
        seconds = value.days * 86400 + value.seconds
        # A pandas Timedelta is a timedelta, with nanoseconds besides.
        return duration((seconds * 10**6 + value.microseconds) * 1000 + getattr(value, "nanoseconds", 0))
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, uuid.UUID):
        return str(value)
    return NOTHING_KNOWN


def _decimal(value: Decimal) -> int | str:
    """The very same number: a float would lose digits, which is what decimals are used to prevent.

    Those written without a point are integers. All others are texts, 10.00 too: else amounts of money would be now a
    number and now a text, and its cents would be gone.
    """
    if not value.is_finite():
        raise Unfit(f"is a Decimal that is {value}, for which JSON has no number; return None, or leave it out")
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return int(value) if 0 <= exponent <= 16 and abs(value) <= _EXACT else str(value)


def duration(nanoseconds: int) -> str:
    """The length of time as ISO 8601 has it, such as P1DT2H or -PT0.5S."""
    sign = "-" if nanoseconds < 0 else ""
    seconds, fraction = divmod(abs(nanoseconds), 10**9)
    days, seconds = divmod(seconds, 86400)
    hours, seconds = divmod(seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    part = f".{fraction:09d}".rstrip("0") if fraction else ""
    clock = "".join(f"{count}{unit}" for count, unit in ((hours, "H"), (minutes, "M")) if count)
    if seconds or part or not (days or clock):
        clock += f"{seconds}{part}S"
    return f"{sign}P{f'{days}D' if days else ''}{f'T{clock}' if clock else ''}"


def key_text(key: Any) -> str:
    """The text of a key, as objects in JSON have them; raises Unfit where there is none."""
    if isinstance(key, enum.Enum):
        key = key.value
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, tuple):
        return ", ".join(map(key_text, key))
    if key is None or isinstance(key, int) or (isinstance(key, float) and math.isfinite(key)):
        return json.dumps(key)
    stands_for = of_standard(key)
    if stands_for is NOTHING_KNOWN or stands_for is None:
        shown = "that is not finite" if isinstance(key, float) else f"of type {type_name(key)}"
        raise Unfit(f"has a key {shown}, and keys in JSON are texts; use str(…) for it")
    return str(stands_for)


def type_name(value: Any) -> str:
    """What the value is, in words that tell types of the same name apart."""
    kind = type(value)
    module = kind.__module__
    return str(kind.__qualname__ if module in ("builtins", "tool") else f"{module}.{kind.__qualname__}")
