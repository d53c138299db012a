"""Parse times on the command line: a timestamp, or a duration before or after now."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from pegboard.surfaces.cli.exit_codes import UsageError

_DURATION_PATTERN = re.compile(r"(\d{1,9})([smhdw])", re.ASCII)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_past_time(text: str | None, option: str) -> str | None:
    """Return the timestamp, or now minus the duration, in the format of the API."""
    return _parse_time(text, option, -1)


def parse_future_time(text: str | None, option: str) -> str | None:
    """Return the timestamp, or now plus the duration, in the format of the API."""
    return _parse_time(text, option, 1)


def _parse_time(text: str | None, option: str, direction: int) -> str | None:
    if text is None:
        return None
    span = _DURATION_PATTERN.fullmatch(text.strip())
    try:
        if span:
            moment = datetime.now(UTC) + direction * timedelta(**{_UNITS[span[2]]: int(span[1])})
        else:
            # A timestamp without a time zone is local time.
            moment = datetime.fromisoformat(text.strip()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(
            f"{option}: '{text}' is neither a time like 2026-01-31T12:00 nor a span like 30m, 1h or 2d"
        ) from None
    return moment.isoformat()
