"""Moments as people type them: an instant, or how long ago or from now."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from pegboard.surfaces.cli.failures import Usage

_SPAN = re.compile(r"(\d{1,9})([smhdw])", re.ASCII)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def ago(text: str | None, option: str) -> str | None:
    """The instant, or the one that long before now, as the API wants it."""
    return _instant(text, option, -1)


def ahead(text: str | None, option: str) -> str | None:
    """The instant, or the one that far from now, as the API wants it."""
    return _instant(text, option, 1)


def _instant(text: str | None, option: str, direction: int) -> str | None:
    if text is None:
        return None
    span = _SPAN.fullmatch(text.strip())
    try:
        if span:
            moment = datetime.now(UTC) + direction * timedelta(**{_UNITS[span[2]]: int(span[1])})
        else:
            # Without a zone it is the clock on the wall of whoever types it.
            moment = datetime.fromisoformat(text.strip()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Usage(
            f"{option}: '{text}' is neither a time like 2026-01-31T12:00 nor a span like 30m, 1h or 2d"
        ) from None
    return moment.isoformat()
