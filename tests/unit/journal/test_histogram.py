"""Latencies in buckets: in order, and within the error they promise."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pegboard.journal.latency_counts import (
    LAST_BUCKET,
    MAX_LATENCY_MS,
    MIN_LATENCY_MS,
    RELATIVE_ERROR,
    compute_percentile,
    find_bucket,
    get_bucket_limits,
    get_bucket_ms,
)

LENGTHS = st.floats(MIN_LATENCY_MS, MAX_LATENCY_MS, exclude_max=True)


@given(LENGTHS)
@example(MIN_LATENCY_MS)
@example(1.0)
@example(math.nextafter(MAX_LATENCY_MS, 0))
def test_the_value_of_a_bucket_is_within_the_error(ms: float) -> None:
    assert abs(get_bucket_ms(find_bucket(ms)) - ms) <= ms * (RELATIVE_ERROR + 1e-9)


@given(LENGTHS, LENGTHS)
def test_what_took_longer_is_in_no_earlier_bucket(one: float, other: float) -> None:
    assert find_bucket(min(one, other)) <= find_bucket(max(one, other))


@given(st.integers(1, LAST_BUCKET - 1))
def test_the_value_of_a_bucket_is_in_it(bucket: int) -> None:
    assert find_bucket(get_bucket_ms(bucket)) == bucket


@given(st.floats())
@example(math.nan)
@example(math.inf)
@example(-math.inf)
@example(-1.0)
@example(MAX_LATENCY_MS)
def test_whatever_number_it_is_has_a_bucket(ms: float) -> None:
    assert 0 <= find_bucket(ms) <= LAST_BUCKET
    assert math.isfinite(get_bucket_ms(find_bucket(ms)))


def test_the_buckets_reach_from_a_microsecond_to_a_month_and_are_few() -> None:
    assert (find_bucket(0.0), find_bucket(0.000999), find_bucket(MIN_LATENCY_MS)) == (0, 0, 1)
    assert (get_bucket_ms(0), get_bucket_ms(-1)) == (0.0, 0.0)
    assert find_bucket(MAX_LATENCY_MS) == find_bucket(1e300) == LAST_BUCKET
    assert get_bucket_ms(LAST_BUCKET) == pytest.approx(MAX_LATENCY_MS, rel=0.1)
    assert LAST_BUCKET < 500


@given(st.lists(LENGTHS, min_size=1, max_size=200), st.sampled_from([0.5, 0.95, 0.99, 1.0]))
def test_a_percentile_is_that_of_the_lengths_themselves_to_within_the_error(lengths: list[float], share: float) -> None:
    counts: dict[int, int] = {}
    for ms in lengths:
        counts[find_bucket(ms)] = counts.get(find_bucket(ms), 0) + 1
    true = sorted(lengths)[math.ceil(share * len(lengths)) - 1]
    assert compute_percentile(counts, share) == pytest.approx(true, rel=RELATIVE_ERROR + 1e-9)


def test_of_nothing_there_is_no_percentile() -> None:
    assert compute_percentile({}, 0.5) is None
    assert compute_percentile({7: 0}, 0.5) is None
    assert compute_percentile({7: 0, 9: 1}, 0.0) == get_bucket_ms(9)


@given(LENGTHS)
@example(MIN_LATENCY_MS / 2)
@example(MAX_LATENCY_MS * 2)
def test_a_latency_is_within_the_limits_of_its_bucket(ms: float) -> None:
    least, below = get_bucket_limits(find_bucket(ms))
    assert least * (1 - 1e-9) <= ms
    assert below is None or ms <= below * (1 + 1e-9)


def test_the_limits_of_buckets_follow_each_other_and_the_last_has_no_end() -> None:
    limits = [get_bucket_limits(bucket) for bucket in range(LAST_BUCKET + 1)]
    assert [below for _, below in limits[:-1]] == pytest.approx([least for least, _ in limits[1:]])
    assert limits[-1][1] is None
