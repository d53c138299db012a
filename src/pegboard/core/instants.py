"""Moments as people and models write them: ISO 8601 with a zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ZONE = r"(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
_TIME = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{%s})?)?"
_WRITTEN = re.compile(f"{_DATE}[Tt]{_TIME % '1,6'}{_ZONE}", re.ASCII).fullmatch

# What else people write, and what is wrong with it.
_MISTAKES = (
    (re.compile(_DATE, re.ASCII), "a date alone is no moment"),
    (re.compile(f"{_DATE}[Tt ]{_TIME % '1,'}", re.ASCII), "it has no zone"),
    (re.compile(f"{_DATE}[Tt]{_TIME % '7,'}{_ZONE}", re.ASCII), "a second has at most 6 decimals here"),
)


def read_instant(text: str) -> datetime:
    """The moment in UTC; ValueError says what is wrong with the text."""
    if _WRITTEN(text) is None:
        raise ValueError(next((why for shape, why in _MISTAKES if shape.fullmatch(text)), "it is not ISO 8601"))
    if text[11:13] == "24":  # which some versions of Python read, and some do not
        raise ValueError("there is no such date or time")
    try:
        found = datetime.fromisoformat(text if text.isupper() else text.upper())
    except ValueError:
        raise ValueError("there is no such date or time") from None
    try:
        return found.astimezone(UTC)
    except OverflowError:
        raise ValueError("in UTC it is not within the years 0001 to 9999") from None


def write_instant(moment: datetime) -> str:
    """The moment in UTC as it is read again, without decimals where there are none."""
    return moment.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"
