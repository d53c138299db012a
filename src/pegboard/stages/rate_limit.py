"""The limit stage: rate limits per tool and per key.

The algorithm is GCRA, a token bucket stored as one number: the time at which the bucket is full again. A call moves
that time one interval further and is refused if it would then be more than `capacity` intervals ahead. Time is in whole
nanoseconds and an interval is rounded up, so that rounding never lets an extra call through.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from itertools import islice
from typing import Protocol

from pegboard.model.call import Caller
from pegboard.model.call_errors import RateLimited
from pegboard.model.tool import RateLimit, Tool

PERIOD_SECONDS = {"second": 1, "minute": 60, "hour": 3600}
NANOSECONDS_PER_SECOND = 1_000_000_000

# Buckets checked for each one added: two keep up with any growth. If the table is full, 16 are compared for eviction.
SWEPT_PER_ADD = 2
EVICTION_CANDIDATES = 16

_NO_WAIT = (0.0, 0.0)


class Limiter(Protocol):
    """Counts calls in buckets, one per key."""

    async def take(self, key: str, limit: RateLimit) -> float:
        """Take one unit and return 0.0; if none is left, take nothing and return the seconds until one is."""

    async def take_both(self, key: str, limit: RateLimit, other_key: str, other: RateLimit) -> tuple[float, float]:
        """Take one unit of each and return zeros; if either has none, take nothing and return the seconds for each."""

    async def check(self) -> None:
        """Raise if calls cannot be counted now."""

    async def close(self) -> None:
        """Close the connections."""


async def check_rate_limit(limiter: Limiter, tool: Tool, caller: Caller, flood: RateLimit | None) -> None:
    """Take one unit of the tool's limit and one of the key's; raise RateLimited, and take none, if one is used up."""
    own = tool.rate_limit
    if own is None:
        if flood is not None and (wait := await limiter.take(_get_flood_key(caller), flood)):
            raise _make_rate_error("this key", flood, wait)
        return
    key = tool.id if own.scope == "tool" else f"{tool.id}:{caller.user_id}"
    if flood is None:
        if wait := await limiter.take(key, own):
            raise _make_rate_error(f"'{tool.name}'", own, wait)
        return
    wait, flood_wait = await limiter.take_both(key, own, _get_flood_key(caller), flood)
    if flood_wait > wait:
        raise _make_rate_error("this key", flood, flood_wait)
    if wait:
        raise _make_rate_error(f"'{tool.name}'", own, wait)


async def check_key_limit(limiter: Limiter, caller: Caller, flood: RateLimit | None) -> None:
    """Take one unit of the key's limit; raise RateLimited if there is none."""
    if flood is not None and (wait := await limiter.take(_get_flood_key(caller), flood)):
        raise _make_rate_error("this key", flood, wait)


def _get_flood_key(caller: Caller) -> str:
    return f"key:{caller.key_id or caller.user_id}"


def _make_rate_error(whose: str, reached: RateLimit, wait: float) -> RateLimited:
    milliseconds = max(1, math.ceil(wait * 1000))
    soon = f"{milliseconds} ms" if milliseconds < 1000 else f"{math.ceil(milliseconds / 1000)} s"
    calls = "1 call" if reached.max_calls == 1 else f"{reached.max_calls} calls"
    return RateLimited(
        f"Rate limit of {whose} reached: {calls} per {reached.period}; try again in {soon}",
        retry_after_ms=milliseconds,
    )


def compute_interval(of: RateLimit, ticks: int) -> int:
    """Return how many ticks one unit takes to refill, rounded up; `ticks` is the number of ticks per second."""
    return -(-PERIOD_SECONDS[of.period] * ticks // of.max_calls)


class _Bucket:
    __slots__ = ("full_at", "interval", "limit", "slack")

    def __init__(self, of: RateLimit, now: int) -> None:
        self.follow(of)
        self.full_at = now + self.interval

    def follow(self, of: RateLimit) -> None:
        self.limit = of
        self.interval = compute_interval(of, NANOSECONDS_PER_SECOND)
        # A unit is available while the bucket is at most this far from full.
        self.slack = (of.capacity - 1) * self.interval

    def change(self, to: RateLimit, now: int) -> None:
        """Switch to another limit; the number of missing units stays the same."""
        missing, old = max(self.full_at - now, 0), self.interval
        self.follow(to)
        if self.interval != old:
            missing = -(-missing * self.interval // old)
        self.full_at = now + min(missing, self.slack + self.interval)

    def take(self, now: int) -> None:
        self.full_at = (self.full_at if self.full_at > now else now) + self.interval

    def wait(self, moment: float) -> float:
        """Return the seconds from `moment` until a unit is available, rounded up to the clock's precision."""
        ready = self.full_at - self.slack
        wait = max(ready - int(moment * NANOSECONDS_PER_SECOND), 0) / NANOSECONDS_PER_SECOND
        while int((moment + wait) * NANOSECONDS_PER_SECOND) < ready:
            wait += max(1 / NANOSECONDS_PER_SECOND, math.ulp(moment))
        return wait


class MemoryLimiter:
    """Buckets in the memory of this process, at most `max_buckets`.

    A full bucket is equivalent to none and is dropped when new ones are added. If all are in use, the one of a few
    candidates that is full soonest is evicted: its key starts with a full bucket, and no key is refused because of the
    traffic of others.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, max_buckets: int = 100_000) -> None:
        self._clock = clock
        self._max_buckets = max_buckets
        # Ordered by next check for removal; a plain dict does not return its first key in constant time.
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    async def check(self) -> None:
        """Do nothing: the buckets are in this process."""

    async def close(self) -> None:
        """Do nothing: there is no connection."""

    async def take(self, key: str, limit: RateLimit) -> float:
        """Take one unit and return 0.0; if none is left, take nothing and return the seconds until one is."""
        moment = self._clock()
        now = int(moment * NANOSECONDS_PER_SECOND)
        bucket = self._buckets.get(key)
        if bucket is None:
            self._add(key, limit, now)
            return 0.0
        if bucket.limit is not limit:
            bucket.change(limit, now)
        if bucket.full_at - bucket.slack > now:
            return bucket.wait(moment)
        bucket.take(now)
        return 0.0

    async def take_both(self, key: str, limit: RateLimit, other_key: str, other: RateLimit) -> tuple[float, float]:
        """Take one unit of each and return zeros; if either has none, take nothing and return the seconds for each."""
        moment = self._clock()
        now = int(moment * NANOSECONDS_PER_SECOND)
        first, second = self._buckets.get(key), self._buckets.get(other_key)
        if first is not None and first.limit is not limit:
            first.change(limit, now)
        if second is not None and second.limit is not other:
            second.change(other, now)
        if (first is not None and first.full_at - first.slack > now) or (
            second is not None and second.full_at - second.slack > now
        ):
            return first.wait(moment) if first is not None else 0.0, second.wait(moment) if second is not None else 0.0
        # Take before adding: `_add` drops buckets that are full.
        if first is not None:
            first.take(now)
        if second is not None:
            second.take(now)
        if first is None:
            self._add(key, limit, now)
        if second is None:
            self._add(other_key, other, now)
        return _NO_WAIT

    def _add(self, key: str, limit: RateLimit, now: int) -> None:
        buckets = self._buckets
        for _ in range(min(SWEPT_PER_ADD, len(buckets))):
            oldest = next(iter(buckets))
            if buckets[oldest].full_at <= now:
                del buckets[oldest]
            else:
                buckets.move_to_end(oldest)
        while len(buckets) >= self._max_buckets:
            some = islice(buckets, EVICTION_CANDIDATES)
            del buckets[min(some, key=lambda candidate: buckets[candidate].full_at)]
        buckets[key] = _Bucket(limit, now)
