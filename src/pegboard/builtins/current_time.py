"""`current_time`: the date and time, anywhere."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from difflib import get_close_matches
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from pegboard.builtins.base import Builtin, text_of
from pegboard.core.errors import ExecutionFailed

MAX_NAME = 64


def current_time(clock: Callable[[], datetime]) -> Builtin:
    """The operation, reading the moment from `clock`."""
    # Listing the zones opens every file of the database.
    known = cache(available_timezones)

    def run(arguments: dict[str, Any]) -> dict[str, Any]:
        name = text_of(arguments, "timezone", MAX_NAME, default="UTC")
        now = clock().astimezone(_zone(name, known))
        return {
            "iso": now.isoformat(timespec="seconds"),
            "unix": int(now.timestamp()),
            "timezone": name,
            "abbreviation": now.tzname(),
            "date": now.date().isoformat(),
            "time": now.strftime("%H:%M:%S"),
            "weekday": _WEEKDAYS[now.weekday()],
        }

    return Builtin(
        name="current_time",
        display_name="Current Time",
        description=(
            "Returns the current date, time and weekday, in UTC or in the time zone you name. "
            "Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise."
        ),
        input_schema=_INPUT,
        output_schema=_OUTPUT,
        run=run,
    )


def _zone(name: str, known: Callable[[], set[str]]) -> tzinfo:
    # UTC works on a machine without a time zone database, too.
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ExecutionFailed(_unknown(name, known())) from None


def _unknown(name: str, names: set[str]) -> str:
    if not names:
        return f"This machine has no time zone database, so '{name}' is not available; use 'UTC'"
    asked = name.casefold().replace(" ", "_")
    # People say "Berlin" and "new york"; the IANA name ends with it.
    meant = sorted(known for known in names if asked in (known.casefold(), known.casefold().rpartition("/")[2]))
    if not meant:
        by_folded = {known.casefold(): known for known in sorted(names)}
        meant = [by_folded[match] for match in get_close_matches(asked[:64], by_folded, n=3)]
    hint = f"did you mean {_listed(meant[:3])}?" if meant else "use an IANA name such as 'Europe/Berlin', or 'UTC'"
    return f"Unknown time zone {name!r}; {hint}"


def _listed(names: list[str]) -> str:
    return " or ".join(f"'{name}'" for name in names)


_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_INPUT = {
    "type": "object",
    "properties": {
        "timezone": {
            "type": "string",
            "maxLength": MAX_NAME,
            "default": "UTC",
            "description": "An IANA time zone name.",
            "examples": ["UTC", "Europe/Berlin", "America/New_York"],
        }
    },
    "examples": [{}, {"timezone": "Europe/Berlin"}],
}

_OUTPUT = {
    "type": "object",
    "properties": {
        "iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone's offset."},
        "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."},
        "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."},
        "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."},
        "date": {"type": "string", "format": "date"},
        "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."},
        "weekday": {"type": "string", "enum": list(_WEEKDAYS)},
    },
    "required": ["iso", "unix", "timezone", "date", "time", "weekday"],
}
