"""Kinds of fields that several request bodies and queries have."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d", re.ASCII)


def _written_out(moment: object) -> object:
    """Only ISO 8601: a bare number could be seconds, milliseconds or a year."""
    if not isinstance(moment, str) or not _ISO.match(moment):
        raise ValueError("must be ISO 8601 with a zone, as 2026-01-02T03:04:05Z")
    return moment


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("lies before the year 1 or after the year 9999 in UTC") from None


def _readable(name: str) -> str:
    """Names are printed and compared by people: nothing in them may be invisible or turn the text around."""
    if any(unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in name):
        raise ValueError("may not hold control, invisible or direction characters")
    return name


Name = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_readable)]
Moment = Annotated[AwareDatetime, BeforeValidator(_written_out), AfterValidator(_in_utc)]
