"""current_time: one moment, in any time zone."""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.builtin.current_time import make_current_time
from pegboard.model.call_errors import ExecutionFailed

MOMENT = datetime(2026, 7, 31, 22, 30, 15, 999_999, tzinfo=UTC)


def get_time(**arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = make_current_time(lambda: MOMENT).run(arguments)
    return answer


def error(**arguments: Any) -> str:
    with pytest.raises(ExecutionFailed) as caught:
        get_time(**arguments)
    return caught.value.message


def test_utc_unless_a_zone_is_named() -> None:
    assert get_time() == {
        "iso": "2026-07-31T22:30:15+00:00",
        "unix": 1_785_537_015,
        "timezone": "UTC",
        "abbreviation": "UTC",
        "date": "2026-07-31",
        "time": "22:30:15",
        "weekday": "Friday",
    }


def test_a_zone_may_be_on_another_day() -> None:
    assert get_time(timezone="Europe/Berlin") == {
        "iso": "2026-08-01T00:30:15+02:00",
        "unix": 1_785_537_015,
        "timezone": "Europe/Berlin",
        "abbreviation": "CEST",
        "date": "2026-08-01",
        "time": "00:30:15",
        "weekday": "Saturday",
    }


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("Europe/Berlim", "'Europe/Berlin'"),
        ("europe/berlin", "'Europe/Berlin'"),
        ("Berlin", "'Europe/Berlin'"),
        ("new york", "'America/New_York'"),
    ],
)
def test_an_unknown_zone_is_answered_with_the_nearest(asked: str, meant: str) -> None:
    message = error(timezone=asked)
    assert message.startswith(f"Unknown time zone '{asked}'; did you mean ")
    assert meant in message


def test_a_zone_like_no_other_is_answered_with_an_example() -> None:
    assert error(timezone="qqqqqq") == "Unknown time zone 'qqqqqq'; use an IANA name such as 'Europe/Berlin', or 'UTC'"


@pytest.mark.parametrize("asked", ["../../etc/passwd", "/etc/passwd", "Europe", "a\x00b", "", "tzdata.zi", "\ud800"])
def test_a_name_that_is_no_zone_is_an_unknown_zone(asked: str) -> None:
    assert error(timezone=asked).startswith("Unknown time zone")


@given(st.text(max_size=80))
def test_any_text_gives_a_time_or_the_designed_error(text: str) -> None:
    with suppress(ExecutionFailed):
        assert get_time(timezone=text)["unix"] == 1_785_537_015


def test_what_is_no_text_is_refused() -> None:
    assert error(timezone=5) == "'timezone' must be a string, but is a number"
    assert error(timezone="x" * 65) == "'timezone' may have at most 64 characters, but has 65"


@pytest.fixture
def no_zones() -> Iterator[None]:
    """A machine without a time zone database."""
    paths = zoneinfo.TZPATH
    zoneinfo.reset_tzpath([])
    zoneinfo.ZoneInfo.clear_cache()
    yield
    zoneinfo.reset_tzpath(paths)


@pytest.mark.usefixtures("no_zones")
def test_without_a_time_zone_database_utc_still_works_and_others_say_why_not() -> None:
    assert get_time(timezone="UTC")["iso"] == "2026-07-31T22:30:15+00:00"
    if not zoneinfo.available_timezones():  # the tzdata package may replace the system's files
        assert error(timezone="Europe/Berlin") == (
            "This machine has no time zone database, so 'Europe/Berlin' is not available; use 'UTC'"
        )
