"""Times as text: which formats are accepted, as which instant, and why others are not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.json_schema.compile import compile_validator
from pegboard.model.timestamps import read_instant, write_instant

AT = datetime(2025, 10, 5, 14, 30, tzinfo=UTC)
ZONES = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
is_date_time = compile_validator({"format": "date-time"}).is_valid


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2025-10-05T14:30:00Z", AT),
        ("2025-10-05T14:30Z", AT),
        ("2025-10-05t14:30:00z", AT),
        ("2025-10-05T16:30:00+02:00", AT),
        ("2025-10-05T08:45-05:45", AT),
        ("2025-10-05T14:30:00-00:00", AT),
        ("2025-10-06T14:29:00+23:59", AT),
        ("2025-10-05T14:30:00.000001Z", AT + timedelta(microseconds=1)),
        ("2025-10-05T14:30:00.5Z", AT + timedelta(milliseconds=500)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59.999999Z", datetime.max.replace(tzinfo=UTC)),
        ("2024-02-29T00:00Z", datetime(2024, 2, 29, tzinfo=UTC)),
    ],
)
def test_a_moment_with_a_zone_is_read_as_an_instant_in_utc(text: str, moment: datetime) -> None:
    found = read_instant(text)
    assert found == moment
    assert found.tzinfo is UTC


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2025-10-05", "a date alone is no moment"),
        ("2025-10-05T14:30:00", "it has no zone"),
        ("2025-10-05 14:30", "it has no zone"),
        ("2025-10-05T14:30:00.1234567Z", "at most 6 decimals"),
        ("2025-02-29T00:00:00Z", "no such date or time"),
        ("2025-10-05T24:00:00Z", "no such date or time"),
        ("2016-12-31T23:59:60Z", "no such date or time"),
        ("2025-10-05T14:30:00+24:00", "no such date or time"),
        ("0000-01-01T00:00:00Z", "no such date or time"),
        ("0001-01-01T00:00:00+01:00", "not within the years 0001 to 9999"),
        ("9999-12-31T23:59:59-00:01", "not within the years 0001 to 9999"),
        ("20251005T143000Z", "not ISO 8601"),
        ("2025-W40-7T14:30:00Z", "not ISO 8601"),
        ("2025-10-05T14:30:00,5Z", "not ISO 8601"),
        ("2025-10-05T14:30:00Z\n", "not ISO 8601"),
        ("٢٠٢٥-10-05T14:30:00Z", "not ISO 8601"),
        ("1759674600", "not ISO 8601"),
        ("", "not ISO 8601"),
    ],
)
def test_anything_else_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_instant(text)


@given(st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=ZONES))
def test_what_is_written_is_read_again(moment: datetime) -> None:
    assert read_instant(moment.isoformat()) == moment
    assert read_instant(write_instant(moment)) == moment


@given(
    st.from_regex(
        r"[0-9]{4}-[01][0-9]-[0-3][0-9][Tt][0-2][0-9]:[0-6][0-9](:[0-6][0-9](\.[0-9]{1,7})?)?([Zz]|[+-][012][0-9]:[0-9]{2})"
    )
)
def test_whatever_is_read_is_a_date_time_to_a_schema_as_well(text: str) -> None:
    try:
        read_instant(text)
    except ValueError:
        return
    assert is_date_time(text)
