"""Latencies in buckets: in order, and within the error they promise."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pegboard.journal.histogram import (
    LAST_BUCKET,
    LONGEST_MS,
    RELATIVE_ERROR,
    SHORTEST_MS,
    bucket_of,
    percentile,
    value_of,
)

LENGTHS = st.floats(SHORTEST_MS, LONGEST_MS, exclude_max=True)


@given(LENGTHS)
@example(SHORTEST_MS)
@example(1.0)
@example(math.nextafter(LONGEST_MS, 0))
def test_a_bucket_stands_for_what_is_in_it_to_within_the_error(ms: float) -> None:
    assert abs(value_of(bucket_of(ms)) - ms) <= ms * (RELATIVE_ERROR + 1e-9)


@given(LENGTHS, LENGTHS)
def test_what_took_longer_is_in_no_earlier_bucket(one: float, other: float) -> None:
    assert bucket_of(min(one, other)) <= bucket_of(max(one, other))


@given(st.integers(1, LAST_BUCKET - 1))
def test_the_value_of_a_bucket_is_in_it(bucket: int) -> None:
    assert bucket_of(value_of(bucket)) == bucket


@given(st.floats())
@example(math.nan)
@example(math.inf)
@example(-math.inf)
@example(-1.0)
@example(LONGEST_MS)
def test_whatever_number_it_is_has_a_bucket(ms: float) -> None:
    assert 0 <= bucket_of(ms) <= LAST_BUCKET
    assert math.isfinite(value_of(bucket_of(ms)))


def test_the_buckets_reach_from_a_microsecond_to_a_month_and_are_few() -> None:
    assert (bucket_of(0.0), bucket_of(0.000999), bucket_of(SHORTEST_MS)) == (0, 0, 1)
    assert (value_of(0), value_of(-1)) == (0.0, 0.0)
    assert bucket_of(LONGEST_MS) == bucket_of(1e300) == LAST_BUCKET
    assert value_of(LAST_BUCKET) == pytest.approx(LONGEST_MS, rel=0.1)
    assert LAST_BUCKET < 500


@given(st.lists(LENGTHS, min_size=1, max_size=200), st.sampled_from([0.5, 0.95, 0.99, 1.0]))
def test_a_percentile_is_that_of_the_lengths_themselves_to_within_the_error(lengths: list[float], share: float) -> None:
    counts: dict[int, int] = {}
    for ms in lengths:
        counts[bucket_of(ms)] = counts.get(bucket_of(ms), 0) + 1
    true = sorted(lengths)[math.ceil(share * len(lengths)) - 1]
    assert percentile(counts, share) == pytest.approx(true, rel=RELATIVE_ERROR + 1e-9)


def test_of_nothing_there_is_no_percentile() -> None:
    assert percentile({}, 0.5) is None
    assert percentile({7: 0}, 0.5) is None
    assert percentile({7: 0, 9: 1}, 0.0) == value_of(9)
