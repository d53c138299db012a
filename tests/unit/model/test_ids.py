"""Ids: ordered, unique, and close to the time of their creation."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from pegboard.model.ids import MAX_CLOCK_LEAD, make_id_factory, make_lowest_id, new_id

START = 1_770_000_000_000_000_000
SECOND = 1_000_000_000


class Clock:
    """A clock that returns a given time."""

    def __init__(self, now: int = START) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


def time_of(made: str) -> int:
    """The nanosecond of an id's creation, to within a few hundred."""
    whole = UUID(made).int
    return ((whole >> 80 << 12 | whole >> 64 & 0xFFF) * 1_000_000) >> 12


def test_an_id_is_a_uuid_of_version_7_with_the_time_in_front() -> None:
    made = make_id_factory(Clock())()
    assert (UUID(made).version, UUID(made).variant) == (7, "specified in RFC 4122")
    assert made == str(UUID(made))
    assert abs(time_of(made) - START) < 1000


def test_ids_made_at_the_same_moment_are_in_order() -> None:
    make = make_id_factory(Clock())
    made = [make() for _ in range(10_000)]
    assert made == sorted(set(made))


def test_ids_of_the_running_process_are_in_order() -> None:
    made = [new_id() for _ in range(10_000)]
    assert made == sorted(set(made))


def test_ids_stay_in_order_when_the_clock_is_set_back_a_little() -> None:
    clock = Clock()
    make = make_id_factory(clock)
    made = [make()]
    for back in range(10):
        clock.now = START - back * SECOND // 11
        made.append(make())
    assert made == sorted(set(made))


def test_ids_follow_a_clock_that_is_set_back_by_more_than_a_second() -> None:
    clock = Clock()
    make = make_id_factory(clock)
    make()
    clock.now -= 3600 * SECOND
    back = [make() for _ in range(3)]
    assert back == sorted(set(back))
    assert abs(time_of(back[0]) - clock.now) < 1000


@given(st.lists(st.integers(-3 * SECOND, 3 * SECOND), min_size=1, max_size=50))
def test_however_the_clock_moves_ids_are_unique_and_at_most_a_second_ahead(steps: list[int]) -> None:
    clock = Clock()
    make = make_id_factory(clock)
    made = []
    for step in steps:
        clock.now += step
        made.append(make())
        assert -1000 < time_of(made[-1]) - clock.now < MAX_CLOCK_LEAD.total_seconds() * SECOND + 1000
    assert len(set(made)) == len(made)


@given(st.integers(0, 3 * SECOND), st.datetimes(datetime(1970, 1, 2), datetime(9999, 12, 30)))
def test_the_first_id_of_a_moment_parts_those_made_before_from_those_made_since(after: int, moment: datetime) -> None:
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000, tzinfo=UTC)
    nanoseconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000
    assert make_id_factory(Clock(nanoseconds + after))() >= make_lowest_id(moment)
    assert make_id_factory(Clock(nanoseconds - 1))() < make_lowest_id(moment)


def test_the_first_id_of_a_moment_that_no_id_can_have_is_the_first_or_last_there_is() -> None:
    assert make_lowest_id(datetime.min.replace(tzinfo=UTC)) == "00000000-0000-7000-8000-000000000000"
    assert UUID(make_lowest_id(datetime.max.replace(tzinfo=UTC))).version == 7
