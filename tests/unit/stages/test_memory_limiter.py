"""The limiter in memory: exact arithmetic, bounded memory."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from pegboard.model.tool import RateLimit
from pegboard.stages.rate_limit import MemoryLimiter
from tests.unit.stages.limits import HOURLY, WIDE, Clock, limits, pauses, run_without_waiting, starts


@given(limits, starts, pauses)
def test_over_any_time_never_more_than_the_burst_and_the_refill_pass(
    rate: RateLimit, start: float, steps: list[float]
) -> None:
    clock = Clock(start)
    limiter = MemoryLimiter(clock)
    passed: list[Fraction] = []
    for pause in steps:
        clock.now += pause
        if run_without_waiting(limiter.take("a", rate)) == 0.0:
            passed.append(Fraction(clock.now))
    interval = Fraction({"second": 1, "minute": 60, "hour": 3600}[rate.period], rate.max_calls)
    for first, begin in enumerate(passed):
        for last, end in enumerate(passed[first:], first):
            # The clock is read in whole nanoseconds.
            assert (last - first + 1 - rate.capacity) * interval <= end - begin + Fraction(1, 10**9)


@given(limits, starts, pauses)
def test_the_wait_is_exact(rate: RateLimit, start: float, steps: list[float]) -> None:
    clock = Clock(start)
    limiter = MemoryLimiter(clock)
    for pause in steps:
        clock.now += pause
        wait = run_without_waiting(limiter.take("a", rate))
        if wait:
            refused_at = clock.now
            clock.now = max(refused_at, refused_at + wait - max(wait, refused_at, 1e7) * 1e-15)
            assert clock.now == refused_at or run_without_waiting(limiter.take("a", rate)) > 0
            clock.now = refused_at + wait
            assert run_without_waiting(limiter.take("a", rate)) == 0.0


class Buckets(RuleBasedStateMachine):
    """MemoryLimiter against token buckets counted in fractions."""

    @initialize(rates=st.lists(limits, min_size=3, max_size=3), start=st.integers(0, 10**6))
    def begin(self, rates: list[RateLimit], start: int) -> None:
        self.clock = Clock(float(start))
        self.limiter = MemoryLimiter(self.clock)
        self.rates = dict(zip("abc", rates, strict=True))
        self.tokens = {key: Fraction(rate.capacity) for key, rate in self.rates.items()}

    def _interval(self, key: str) -> int:
        rate = self.rates[key]
        return -(-{"second": 1, "minute": 60, "hour": 3600}[rate.period] * 10**9 // rate.max_calls)

    def _expected(self, key: str) -> Fraction:
        return max(1 - self.tokens[key], Fraction(0)) * self._interval(key) / 10**9

    @rule(ticks=st.integers(0, 2000) | st.integers(0, 5_000_000))
    def advance(self, ticks: int) -> None:
        seconds = Fraction(ticks, 512)  # of which whole nanoseconds and exact floats are made
        self.clock.now += float(seconds)
        for key, rate in self.rates.items():
            refilled = self.tokens[key] + seconds * 10**9 / self._interval(key)
            self.tokens[key] = min(refilled, Fraction(rate.capacity))

    @rule(key=st.sampled_from("abc"))
    def take(self, key: str) -> None:
        expected = self._expected(key)
        wait = run_without_waiting(self.limiter.take(key, self.rates[key]))
        assert bool(wait) == bool(expected)
        assert wait == pytest.approx(float(expected), abs=2e-9)
        self.tokens[key] -= not expected

    @rule(keys=st.permutations("abc"))
    def take_both(self, keys: list[str]) -> None:
        one, other = keys[:2]
        expected = [self._expected(one), self._expected(other)]
        waits = run_without_waiting(self.limiter.take_both(one, self.rates[one], other, self.rates[other]))
        assert list(waits) == pytest.approx([float(wait) for wait in expected], abs=2e-9)
        if not any(expected):
            self.tokens[one] -= 1
            self.tokens[other] -= 1

    @invariant()
    def no_bucket_without_a_key(self) -> None:
        assert len(self.limiter) <= 3


TestBuckets = Buckets.TestCase
TestBuckets.settings = settings(deadline=None)


@given(st.integers(1, 40), st.lists(st.tuples(st.integers(0, 200), st.sampled_from([0.0, 0.2, 900.0])), max_size=150))
def test_there_are_never_more_buckets_than_allowed(most: int, calls: list[tuple[int, float]]) -> None:
    clock = Clock()
    limiter = MemoryLimiter(clock, max_buckets=most)
    for key, pause in calls:
        clock.now += pause
        run_without_waiting(limiter.take_both(f"tool {key}", HOURLY, f"key {key % 7}", WIDE))
        assert len(limiter) <= max(most, 1)


def test_buckets_that_are_full_again_are_dropped_as_new_ones_come() -> None:
    clock = Clock()
    limiter = MemoryLimiter(clock)
    for number in range(1000):
        run_without_waiting(limiter.take(f"old {number}", HOURLY))
    clock.now += 900
    for number in range(1000):
        run_without_waiting(limiter.take(f"new {number}", HOURLY))
    assert len(limiter) == 1000


def test_a_bucket_in_use_is_not_dropped_while_there_is_space() -> None:
    limiter = MemoryLimiter(Clock(), max_buckets=500)
    for _ in range(4):
        run_without_waiting(limiter.take("busy", HOURLY))
    for number in range(499):
        run_without_waiting(limiter.take(f"other {number}", HOURLY))
    assert run_without_waiting(limiter.take("busy", HOURLY)) > 0


def test_a_full_bucket_that_is_taken_from_is_not_dropped_for_the_new_one_beside_it() -> None:
    clock = Clock()
    limiter = MemoryLimiter(clock)
    one = RateLimit(max_calls=1, period="minute")
    run_without_waiting(limiter.take("flood", one))
    clock.now += 60
    assert run_without_waiting(limiter.take_both("new", HOURLY, "flood", one)) == (0.0, 0.0)
    assert run_without_waiting(limiter.take("flood", one)) > 0


def test_without_space_the_bucket_that_would_soonest_be_full_is_forgotten() -> None:
    limiter = MemoryLimiter(Clock(), max_buckets=3)
    for key, calls in {"a": 4, "b": 1, "c": 4}.items():
        for _ in range(calls):
            run_without_waiting(limiter.take(key, HOURLY))
    run_without_waiting(limiter.take("d", HOURLY))
    assert len(limiter) == 3
    assert run_without_waiting(limiter.take("a", HOURLY)) > 0
    assert run_without_waiting(limiter.take("c", HOURLY)) > 0


# The stage itself.
