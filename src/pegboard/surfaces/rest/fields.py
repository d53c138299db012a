"""Kinds of fields that several request bodies and queries have."""

from __future__ import annotations

import re
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


Name = Annotated[str, Field(min_length=1, max_length=255, pattern=r"^[^\x00-\x1f\x7f]+$")]
Moment = Annotated[AwareDatetime, BeforeValidator(_written_out), AfterValidator(_in_utc)]
