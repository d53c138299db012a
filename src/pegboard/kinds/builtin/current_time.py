"""`current_time`: the current date and time in any time zone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from difflib import get_close_matches
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from pegboard.kinds.builtin.base import Builtin, read_text_argument
from pegboard.model.call_errors import ExecutionFailed

MAX_ZONE_NAME_LENGTH = 64


def make_current_time(clock: Callable[[], datetime]) -> Builtin:
    """Return the operation; it reads the time from `clock`."""
    # Listing the zones opens every file of the time zone database.
    known = cache(available_timezones)

    def run(arguments: dict[str, Any]) -> dict[str, Any]:
        name = read_text_argument(arguments, "timezone", MAX_ZONE_NAME_LENGTH, default="UTC")
        now = clock().astimezone(_find_zone(name, known))
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
        input_schema=_INPUT_SCHEMA,
        output_schema=_OUTPUT_SCHEMA,
        run=run,
    )


def _find_zone(name: str, known: Callable[[], set[str]]) -> tzinfo:
    # UTC also works on a machine without a time zone database.
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ExecutionFailed(_explain_unknown_zone(name, known())) from None


def _explain_unknown_zone(name: str, names: set[str]) -> str:
    if not names:
        return f"This machine has no time zone database, so '{name}' is not available; use 'UTC'"
    asked = name.casefold().replace(" ", "_")
    # Users write "Berlin" or "new york"; the IANA name ends with that.
    meant = sorted(known for known in names if asked in (known.casefold(), known.casefold().rpartition("/")[2]))
    if not meant:
        by_folded = {known.casefold(): known for known in sorted(names)}
        meant = [by_folded[match] for match in get_close_matches(asked[:64], by_folded, n=3)]
    near = " or ".join(f"'{known}'" for known in meant[:3])
    hint = f"did you mean {near}?" if near else "use an IANA name such as 'Europe/Berlin', or 'UTC'"
    return f"Unknown time zone {name!r}; {hint}"


_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_INPUT_SCHEMA = {
    "type": "object",
    "properties": {
        "timezone": {
            "type": "string",
            "maxLength": MAX_ZONE_NAME_LENGTH,
            "default": "UTC",
            "description": "An IANA time zone name.",
            "examples": ["UTC", "Europe/Berlin", "America/New_York"],
        }
    },
    "examples": [{}, {"timezone": "Europe/Berlin"}],
}

_OUTPUT_SCHEMA = {
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
