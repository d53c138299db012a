"""Rate limits: the same behaviour in memory and in Valkey."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Protocol

import pytest
from redis.asyncio import Redis

from pegboard.model.tool import RateLimit
from pegboard.stages.rate_limit import Limiter, MemoryLimiter
from pegboard.stages.valkey_rate_limit import ValkeyLimiter
from tests.unit.stages.limits import HOURLY, WIDE, Clock


class Bench(Protocol):
    """A limiter and a way to let time pass."""

    limiter: Limiter

    async def advance(self, seconds: float) -> None: ...


class MemoryBench:
    def __init__(self) -> None:
        self._clock = Clock()
        self.limiter: Limiter = MemoryLimiter(self._clock)

    async def advance(self, seconds: float) -> None:
        self._clock.now += seconds


class ValkeyBench:
    """Valkey has its own clock, so time passes by moving the stored values into the past."""

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


async def test_changed_limits_take_effect_if_two_buckets_are_asked(bench: Bench) -> None:
    for _ in range(3):
        await bench.limiter.take_both("a", WIDE, "b", WIDE)
    assert await bench.limiter.take_both("a", HOURLY, "b", HOURLY) == (0.0, 0.0)
    assert await bench.limiter.take_both("a", HOURLY, "b", WIDE) == (about(900), 0.0)
    assert await bench.limiter.take_both("a", WIDE, "b", HOURLY) == (0.0, about(900))


# The following needs a separate clock.
