"""Read and write timestamps: ISO 8601 with a time zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ZONE = r"(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
_TIME = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{%s})?)?"
_match_instant = re.compile(f"{_DATE}[Tt]{_TIME % '1,6'}{_ZONE}", re.ASCII).fullmatch

# Common mistakes, and the message for each.
_COMMON_MISTAKES = (
    (re.compile(_DATE, re.ASCII), "a date alone is no moment"),
    (re.compile(f"{_DATE}[Tt ]{_TIME % '1,'}", re.ASCII), "it has no zone"),
    (re.compile(f"{_DATE}[Tt]{_TIME % '7,'}{_ZONE}", re.ASCII), "a second has at most 6 decimals here"),
)


def read_instant(text: str) -> datetime:
    """Return the timestamp in UTC; raise ValueError with the reason if the text is not valid."""
    if _match_instant(text) is None:
        raise ValueError(next((why for shape, why in _COMMON_MISTAKES if shape.fullmatch(text)), "it is not ISO 8601"))
    if text[11:13] == "24":  # not accepted by all versions of Python
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
    """Return the timestamp in UTC as ISO 8601 with Z, without decimals if there are none."""
    return moment.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"
