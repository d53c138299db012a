"""Rate limits: the same behaviour in memory and in Valkey, exact arithmetic, bounded memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, Literal, Protocol

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from redis.asyncio import Redis

from pegboard.core.call import Caller
from pegboard.core.errors import RateLimited
from pegboard.core.tool import Kind, RateLimit, Tool
from pegboard.stages.limit import Limiter, MemoryLimiter, limit
from pegboard.stages.valkey_limit import ValkeyLimiter

HOURLY = RateLimit(max_calls=4, period="hour")  # one every 900 seconds
WIDE = RateLimit(max_calls=1000, period="hour")


class Bench(Protocol):
    """A limiter and a way to let time pass."""

    limiter: Limiter

    async def advance(self, seconds: float) -> None: ...


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


class MemoryBench:
    def __init__(self) -> None:
        self._clock = Clock()
        self.limiter: Limiter = MemoryLimiter(self._clock)

    async def advance(self, seconds: float) -> None:
        self._clock.now += seconds


class ValkeyBench:
    """The server's clock is its own, so time passes by moving what is kept into the past."""

    def __init__(self, limiter: ValkeyLimiter, client: Redis) -> None:
        self.limiter: Limiter = limiter
        self._client = client

    async def advance(self, seconds: float) -> None:
        async for key in self._client.scan_iter("pegboard:limit:*"):
            kept: Any = await self._client.get(key)
            full_at, interval = kept.split(b":")
            moved = int(full_at) - round(seconds * 1_000_000)
            await self._client.set(key, f"{moved}:{int(interval)}", keepttl=True)


@pytest.fixture(params=["memory", "valkey"])
async def bench(request: pytest.FixtureRequest) -> AsyncIterator[Bench]:
    if request.param == "memory":
        yield MemoryBench()
        return
    url = request.getfixturevalue("valkey_url")
    limiter, client = ValkeyLimiter(url), Redis.from_url(url)
    yield ValkeyBench(limiter, client)
    await limiter.close()
    await client.aclose()


def about(seconds: float) -> Any:
    """Valkey's clock runs on during a test."""
    return pytest.approx(seconds, abs=30)


async def test_the_capacity_may_come_at_once_and_the_next_call_waits_for_one_unit(bench: Bench) -> None:
    assert [await bench.limiter.take("a", HOURLY) for _ in range(4)] == [0.0] * 4
    assert await bench.limiter.take("a", HOURLY) == about(900)


async def test_a_refused_call_costs_nothing(bench: Bench) -> None:
    for _ in range(4):
        await bench.limiter.take("a", HOURLY)
    assert [await bench.limiter.take("a", HOURLY) for _ in range(20)] == [about(900)] * 20


async def test_after_the_wait_exactly_one_more_call_passes(bench: Bench) -> None:
    for _ in range(4):
        await bench.limiter.take("a", HOURLY)
    await bench.advance(await bench.limiter.take("a", HOURLY))
    assert await bench.limiter.take("a", HOURLY) == 0.0
    assert await bench.limiter.take("a", HOURLY) == about(900)


async def test_a_bucket_left_alone_is_full_again_and_no_fuller(bench: Bench) -> None:
    for _ in range(4):
        await bench.limiter.take("a", HOURLY)
    await bench.advance(1_000_000)
    assert [bool(await bench.limiter.take("a", HOURLY)) for _ in range(5)] == [False] * 4 + [True]


async def test_a_burst_below_max_calls_bounds_what_comes_at_once_and_not_the_rate(bench: Bench) -> None:
    small = RateLimit(max_calls=4, period="hour", burst=1)
    assert await bench.limiter.take("a", small) == 0.0
    assert await bench.limiter.take("a", small) == about(900)
    await bench.advance(900)
    assert await bench.limiter.take("a", small) == 0.0


async def test_buckets_of_different_keys_do_not_touch(bench: Bench) -> None:
    for _ in range(4):
        await bench.limiter.take("a", HOURLY)
    assert await bench.limiter.take("b", HOURLY) == 0.0


@pytest.mark.parametrize("emptied", ["first", "second"])
async def test_a_call_refused_by_one_of_two_buckets_takes_from_neither(bench: Bench, emptied: str) -> None:
    other = "second" if emptied == "first" else "first"
    for _ in range(4):
        await bench.limiter.take(emptied, HOURLY)
    for _ in range(10):
        first, second = await bench.limiter.take_both("first", HOURLY, "second", HOURLY)
        assert {"first": first, "second": second} == {emptied: about(900), other: 0.0}
    assert [bool(await bench.limiter.take(other, HOURLY)) for _ in range(5)] == [False] * 4 + [True]


async def test_a_call_with_room_in_both_buckets_takes_from_both(bench: Bench) -> None:
    for _ in range(4):
        assert await bench.limiter.take_both("first", HOURLY, "second", WIDE) == (0.0, 0.0)
    assert await bench.limiter.take("first", HOURLY) > 0
    assert [bool(await bench.limiter.take("second", WIDE)) for _ in range(997)] == [False] * 996 + [True]


async def test_a_tightened_limit_counts_the_calls_already_made(bench: Bench) -> None:
    for _ in range(3):
        await bench.limiter.take("a", WIDE)
    assert await bench.limiter.take("a", HOURLY) == 0.0
    assert await bench.limiter.take("a", HOURLY) == about(900)


async def test_a_limit_tightened_below_what_was_used_waits_for_one_unit_only(bench: Bench) -> None:
    for _ in range(500):
        await bench.limiter.take("a", WIDE)
    assert await bench.limiter.take("a", HOURLY) == about(900)


async def test_a_loosened_limit_has_room_at_once(bench: Bench) -> None:
    for _ in range(5):
        await bench.limiter.take("a", HOURLY)
    assert [bool(await bench.limiter.take("a", WIDE)) for _ in range(997)] == [False] * 996 + [True]


async def test_a_larger_burst_alone_has_room_at_once(bench: Bench) -> None:
    for _ in range(4):
        await bench.limiter.take("a", HOURLY)
    larger = HOURLY.model_copy(update={"burst": 6})
    assert [bool(await bench.limiter.take("a", larger)) for _ in range(3)] == [False, False, True]


async def test_changed_limits_take_effect_where_two_buckets_are_asked(bench: Bench) -> None:
    for _ in range(3):
        await bench.limiter.take_both("a", WIDE, "b", WIDE)
    assert await bench.limiter.take_both("a", HOURLY, "b", HOURLY) == (0.0, 0.0)
    assert await bench.limiter.take_both("a", HOURLY, "b", WIDE) == (about(900), 0.0)
    assert await bench.limiter.take_both("a", WIDE, "b", HOURLY) == (0.0, about(900))


# What follows needs a clock of its own.


def at_once(call: Coroutine[Any, Any, Any]) -> Any:
    """What the call returns, given that it never waits for anything."""
    with pytest.raises(StopIteration) as stopped:
        call.send(None)
    return stopped.value.value


limits = st.builds(
    RateLimit,
    max_calls=st.integers(1, 2000),
    period=st.sampled_from(["second", "minute", "hour"]),
    burst=st.none() | st.integers(1, 8),
)
starts = st.floats(0, 2e9)
pauses = st.lists(st.just(0.0) | st.floats(0, 3) | st.floats(0, 5000), max_size=60)


@settings(deadline=None)
@given(limits, starts, pauses)
def test_over_any_time_never_more_than_the_burst_and_the_refill_pass(
    rate: RateLimit, start: float, steps: list[float]
) -> None:
    clock = Clock(start)
    limiter = MemoryLimiter(clock)
    passed: list[Fraction] = []
    for pause in steps:
        clock.now += pause
        if at_once(limiter.take("a", rate)) == 0.0:
            passed.append(Fraction(clock.now))
    interval = Fraction({"second": 1, "minute": 60, "hour": 3600}[rate.period], rate.max_calls)
    for first, begin in enumerate(passed):
        for last, end in enumerate(passed[first:], first):
            # The clock is read in whole nanoseconds.
            assert (last - first + 1 - rate.capacity) * interval <= end - begin + Fraction(1, 10**9)


@settings(deadline=None)
@given(limits, starts, pauses)
def test_the_wait_is_exact(rate: RateLimit, start: float, steps: list[float]) -> None:
    clock = Clock(start)
    limiter = MemoryLimiter(clock)
    for pause in steps:
        clock.now += pause
        wait = at_once(limiter.take("a", rate))
        if wait:
            refused_at = clock.now
            clock.now = max(refused_at, refused_at + wait - max(wait, refused_at, 1e7) * 1e-15)
            assert clock.now == refused_at or at_once(limiter.take("a", rate)) > 0
            clock.now = refused_at + wait
            assert at_once(limiter.take("a", rate)) == 0.0


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
        wait = at_once(self.limiter.take(key, self.rates[key]))
        assert bool(wait) == bool(expected)
        assert wait == pytest.approx(float(expected), abs=2e-9)
        self.tokens[key] -= not expected

    @rule(keys=st.permutations("abc"))
    def take_both(self, keys: list[str]) -> None:
        one, other = keys[:2]
        expected = [self._expected(one), self._expected(other)]
        waits = at_once(self.limiter.take_both(one, self.rates[one], other, self.rates[other]))
        assert list(waits) == pytest.approx([float(wait) for wait in expected], abs=2e-9)
        if not any(expected):
            self.tokens[one] -= 1
            self.tokens[other] -= 1

    @invariant()
    def no_bucket_without_a_key(self) -> None:
        assert len(self.limiter) <= 3


TestBuckets = Buckets.TestCase
TestBuckets.settings = settings(deadline=None)


@settings(deadline=None)
@given(st.integers(1, 40), st.lists(st.tuples(st.integers(0, 200), st.sampled_from([0.0, 0.2, 900.0])), max_size=150))
def test_there_are_never_more_buckets_than_allowed(most: int, calls: list[tuple[int, float]]) -> None:
    clock = Clock()
    limiter = MemoryLimiter(clock, max_buckets=most)
    for key, pause in calls:
        clock.now += pause
        at_once(limiter.take_both(f"tool {key}", HOURLY, f"key {key % 7}", WIDE))
        assert len(limiter) <= max(most, 1)


def test_buckets_that_are_full_again_are_dropped_as_new_ones_come() -> None:
    clock = Clock()
    limiter = MemoryLimiter(clock)
    for number in range(1000):
        at_once(limiter.take(f"old {number}", HOURLY))
    clock.now += 900
    for number in range(1000):
        at_once(limiter.take(f"new {number}", HOURLY))
    assert len(limiter) == 1000


def test_a_bucket_in_use_is_not_dropped_while_there_is_space() -> None:
    limiter = MemoryLimiter(Clock(), max_buckets=500)
    for _ in range(4):
        at_once(limiter.take("busy", HOURLY))
    for number in range(499):
        at_once(limiter.take(f"other {number}", HOURLY))
    assert at_once(limiter.take("busy", HOURLY)) > 0


def test_a_full_bucket_that_is_taken_from_is_not_dropped_for_the_new_one_beside_it() -> None:
    clock = Clock()
    limiter = MemoryLimiter(clock)
    one = RateLimit(max_calls=1, period="minute")
    at_once(limiter.take("flood", one))
    clock.now += 60
    assert at_once(limiter.take_both("new", HOURLY, "flood", one)) == (0.0, 0.0)
    assert at_once(limiter.take("flood", one)) > 0


def test_without_space_the_bucket_that_would_soonest_be_full_is_forgotten() -> None:
    limiter = MemoryLimiter(Clock(), max_buckets=3)
    for key, calls in {"a": 4, "b": 1, "c": 4}.items():
        for _ in range(calls):
            at_once(limiter.take(key, HOURLY))
    at_once(limiter.take("d", HOURLY))
    assert len(limiter) == 3
    assert at_once(limiter.take("a", HOURLY)) > 0
    assert at_once(limiter.take("c", HOURLY)) > 0


# The stage itself.


def tool(rate: RateLimit | None, name: str = "search", id: str = "tool-1") -> Tool:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Tool(id, "owner", name, Kind.BUILTIN, {}, {}, now, now, rate_limit=rate)


ANN = Caller("ann", "Ann", key_id="ann-key")
BEN = Caller("ben", "Ben", key_id="ben-key")


def refusal(limiter: Limiter, of: Tool, caller: Caller, flood: RateLimit | None = None) -> RateLimited | None:
    try:
        at_once(limit(limiter, of, caller, flood))
    except RateLimited as error:
        return error
    return None


def test_the_refusal_names_the_tool_its_limit_and_when_to_come_back() -> None:
    limited = tool(RateLimit(max_calls=100, period="hour", burst=1))
    limiter = MemoryLimiter(Clock())
    assert refusal(limiter, limited, ANN) is None
    error = refusal(limiter, limited, ANN)
    assert error is not None
    assert error.message == "Rate limit of 'search' reached: 100 calls per hour; try again in 36 s"
    assert error.retry_after_ms == 36_000
    assert error.retryable


def test_a_short_wait_is_told_in_milliseconds_rounded_up() -> None:
    limited = tool(RateLimit(max_calls=3, period="second", burst=1))
    limiter = MemoryLimiter(Clock())
    refusal(limiter, limited, ANN)
    error = refusal(limiter, limited, ANN)
    assert error is not None
    assert error.message == "Rate limit of 'search' reached: 3 calls per second; try again in 334 ms"
    assert error.retry_after_ms == 334


def test_a_limit_of_one_call_reads_well() -> None:
    limited = tool(RateLimit(max_calls=1, period="minute"))
    limiter = MemoryLimiter(Clock())
    refusal(limiter, limited, ANN)
    error = refusal(limiter, limited, ANN)
    assert error is not None
    assert error.message == "Rate limit of 'search' reached: 1 call per minute; try again in 60 s"


@settings(deadline=None)
@given(limits, starts, st.floats(0, 1))
def test_coming_back_when_told_is_never_too_early(rate: RateLimit, start: float, pause: float) -> None:
    clock = Clock(start)
    limiter = MemoryLimiter(clock)
    for _ in range(rate.capacity if rate.capacity < 20 else 0):
        refusal(limiter, tool(rate), ANN)
    clock.now += pause
    error = refusal(limiter, tool(rate), ANN)
    if error is not None:
        assert error.retry_after_ms is not None
        assert error.retry_after_ms >= 1
        clock.now += error.retry_after_ms / 1000
        assert refusal(limiter, tool(rate), ANN) is None


def test_callers_have_a_bucket_each() -> None:
    limited = tool(RateLimit(max_calls=1, period="hour"))
    limiter = MemoryLimiter(Clock())
    assert refusal(limiter, limited, ANN) is None
    assert refusal(limiter, limited, BEN) is None
    assert refusal(limiter, limited, ANN) is not None


def test_a_limit_of_the_whole_tool_is_shared_by_all_callers() -> None:
    limited = tool(RateLimit(max_calls=1, period="hour", scope="tool"))
    limiter = MemoryLimiter(Clock())
    assert refusal(limiter, limited, ANN) is None
    assert refusal(limiter, limited, BEN) is not None


def test_tools_have_a_bucket_each() -> None:
    rate = RateLimit(max_calls=1, period="hour")
    limiter = MemoryLimiter(Clock())
    assert refusal(limiter, tool(rate), ANN) is None
    assert refusal(limiter, tool(rate, "other", "tool-2"), ANN) is None


def test_a_key_that_floods_is_refused_whatever_tools_it_calls() -> None:
    flood = RateLimit(max_calls=2, period="minute")
    limiter = MemoryLimiter(Clock())
    assert refusal(limiter, tool(None), ANN, flood) is None
    assert refusal(limiter, tool(WIDE, "other", "tool-2"), ANN, flood) is None
    for called in (tool(None), tool(WIDE, "other", "tool-2")):
        error = refusal(limiter, called, ANN, flood)
        assert error is not None
        assert error.message == "Rate limit of this key reached: 2 calls per minute; try again in 30 s"
    assert refusal(limiter, tool(None), BEN, flood) is None


def test_a_call_the_tool_refuses_takes_nothing_from_the_key() -> None:
    flood = RateLimit(max_calls=3, period="hour")
    limited = tool(RateLimit(max_calls=1, period="hour"))
    limiter = MemoryLimiter(Clock())
    refusal(limiter, limited, ANN, flood)
    for _ in range(10):
        error = refusal(limiter, limited, ANN, flood)
        assert error is not None
        assert "'search'" in error.message
    assert [refusal(limiter, tool(None), ANN, flood) is None for _ in range(3)] == [True, True, False]


@pytest.mark.parametrize(
    ("tool_period", "key_period", "told"),
    [
        ("minute", "hour", "Rate limit of this key reached: 1 call per hour; try again in 3600 s"),
        ("hour", "minute", "Rate limit of 'search' reached: 1 call per hour; try again in 3600 s"),
    ],
)
def test_of_two_refusals_the_longer_wait_is_told(
    tool_period: Literal["minute", "hour"], key_period: Literal["minute", "hour"], told: str
) -> None:
    flood = RateLimit(max_calls=1, period=key_period)
    limited = tool(RateLimit(max_calls=1, period=tool_period))
    limiter = MemoryLimiter(Clock())
    refusal(limiter, limited, ANN, flood)
    error = refusal(limiter, limited, ANN, flood)
    assert error is not None
    assert error.message == told


def test_a_caller_without_a_key_has_a_flood_bucket_too() -> None:
    flood = RateLimit(max_calls=1, period="hour")
    limiter = MemoryLimiter(Clock())
    anonymous = Caller("ann", "Ann")
    assert refusal(limiter, tool(None), anonymous, flood) is None
    assert refusal(limiter, tool(None), anonymous, flood) is not None


def test_without_any_limit_nothing_is_counted() -> None:
    limiter = MemoryLimiter(Clock())
    assert refusal(limiter, tool(None), ANN) is None
    assert len(limiter) == 0
