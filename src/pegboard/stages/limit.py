"""The limit stage: is there room for this call now?

GCRA, which is a token bucket kept as one number: the moment at which the bucket will be full again. A call moves it one
interval further, and is refused where it would end up more than `capacity` intervals ahead. Time is counted in whole
nanoseconds and an interval is rounded up to them, so that no rounding ever lets an extra call through.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from itertools import islice
from typing import Protocol

from pegboard.core.call import Caller
from pegboard.core.errors import RateLimited
from pegboard.core.tool import RateLimit, Tool

PERIODS = {"second": 1, "minute": 60, "hour": 3600}
NANOSECONDS = 1_000_000_000

# Buckets looked at for each one added: two keep pace with any growth; more, where one in use has to go.
SWEPT = 2
CHOSEN_FROM = 16

_ROOM = (0.0, 0.0)


class Limiter(Protocol):
    """Counts calls in buckets, one a key."""

    async def take(self, key: str, limit: RateLimit) -> float:
        """0.0 if there is room, and one unit is taken; else the seconds until there is, and nothing is taken."""

    async def take_both(self, key: str, limit: RateLimit, other_key: str, other: RateLimit) -> tuple[float, float]:
        """Zeros if both have room, and one unit of each is taken; else the seconds of each, and nothing is taken."""

    async def check(self) -> None:
        """Raise if calls cannot be counted now."""

    async def close(self) -> None:
        """Let go of connections."""


async def limit(limiter: Limiter, tool: Tool, caller: Caller, flood: RateLimit | None) -> None:
    """Take a unit of the tool's limit and one of the key's; RateLimited, and neither taken, where either has none."""
    own = tool.rate_limit
    if own is None:
        if flood is not None and (wait := await limiter.take(_flood_key(caller), flood)):
            raise _refusal("this key", flood, wait)
        return
    key = tool.id if own.scope == "tool" else f"{tool.id}:{caller.user_id}"
    if flood is None:
        if wait := await limiter.take(key, own):
            raise _refusal(f"'{tool.name}'", own, wait)
        return
    wait, flood_wait = await limiter.take_both(key, own, _flood_key(caller), flood)
    if flood_wait > wait:
        raise _refusal("this key", flood, flood_wait)
    if wait:
        raise _refusal(f"'{tool.name}'", own, wait)


async def limit_key(limiter: Limiter, caller: Caller, flood: RateLimit | None) -> None:
    """Take a unit of the key's limit; raises RateLimited if there is none."""
    if flood is not None and (wait := await limiter.take(_flood_key(caller), flood)):
        raise _refusal("this key", flood, wait)


def _flood_key(caller: Caller) -> str:
    return f"key:{caller.key_id or caller.user_id}"


def _refusal(whose: str, reached: RateLimit, wait: float) -> RateLimited:
    milliseconds = max(1, math.ceil(wait * 1000))
    soon = f"{milliseconds} ms" if milliseconds < 1000 else f"{math.ceil(milliseconds / 1000)} s"
    calls = "1 call" if reached.max_calls == 1 else f"{reached.max_calls} calls"
    return RateLimited(
        f"Rate limit of {whose} reached: {calls} per {reached.period}; try again in {soon}",
        retry_after_ms=milliseconds,
    )


def interval(of: RateLimit, ticks: int) -> int:
    """How long one unit takes to refill, on a clock of that many ticks a second, rounded up."""
    return -(-PERIODS[of.period] * ticks // of.max_calls)


class _Bucket:
    __slots__ = ("full_at", "interval", "limit", "slack")

    def __init__(self, of: RateLimit, now: int) -> None:
        self.follow(of)
        self.full_at = now + self.interval

    def follow(self, of: RateLimit) -> None:
        self.limit = of
        self.interval = interval(of, NANOSECONDS)
        # There is room while the bucket is at most this far from full.
        self.slack = (of.capacity - 1) * self.interval

    def change(self, to: RateLimit, now: int) -> None:
        """Follow another limit from now on; the units that are missing are as many units of the new one."""
        missing, old = max(self.full_at - now, 0), self.interval
        self.follow(to)
        if self.interval != old:
            missing = -(-missing * self.interval // old)
        self.full_at = now + min(missing, self.slack + self.interval)

    def take(self, now: int) -> None:
        self.full_at = (self.full_at if self.full_at > now else now) + self.interval

    def wait(self, moment: float) -> float:
        """The seconds from `moment` until there is room, such that the clock that much later says so too."""
        ready = self.full_at - self.slack
        wait = max(ready - int(moment * NANOSECONDS), 0) / NANOSECONDS
        while int((moment + wait) * NANOSECONDS) < ready:
            wait += max(1 / NANOSECONDS, math.ulp(moment))
        return wait


class MemoryLimiter:
    """Buckets in this process, never more than `max_buckets`.

    A bucket that is full again is as good as none, and is dropped as new ones come. Where all are in use, the one of a
    few that is soonest full is forgotten: whoever it counted starts anew, and nobody is refused for others' traffic.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, max_buckets: int = 100_000) -> None:
        self._clock = clock
        self._max_buckets = max_buckets
        # In the order they are looked at for dropping; a plain dict does not give its first key in constant time.
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    async def check(self) -> None:
        """Nothing to check: buckets are in this process."""

    async def close(self) -> None:
        """Nothing is held."""

    async def take(self, key: str, limit: RateLimit) -> float:
        """0.0 if there is room, and one unit is taken; else the seconds until there is, and nothing is taken."""
        moment = self._clock()
        now = int(moment * NANOSECONDS)
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
        """Zeros if both have room, and one unit of each is taken; else the seconds of each, and nothing is taken."""
        moment = self._clock()
        now = int(moment * NANOSECONDS)
        first, second = self._buckets.get(key), self._buckets.get(other_key)
        if first is not None and first.limit is not limit:
            first.change(limit, now)
        if second is not None and second.limit is not other:
            second.change(other, now)
        if (first is not None and first.full_at - first.slack > now) or (
            second is not None and second.full_at - second.slack > now
        ):
            return first.wait(moment) if first is not None else 0.0, second.wait(moment) if second is not None else 0.0
        # Taking comes before adding, which drops buckets that are full.
        if first is not None:
            first.take(now)
        if second is not None:
            second.take(now)
        if first is None:
            self._add(key, limit, now)
        if second is None:
            self._add(other_key, other, now)
        return _ROOM

    def _add(self, key: str, limit: RateLimit, now: int) -> None:
        buckets = self._buckets
        for _ in range(min(SWEPT, len(buckets))):
            oldest = next(iter(buckets))
            if buckets[oldest].full_at <= now:
                del buckets[oldest]
            else:
                buckets.move_to_end(oldest)
        while len(buckets) >= self._max_buckets:
            some = islice(buckets, CHOSEN_FROM)
            del buckets[min(some, key=lambda candidate: buckets[candidate].full_at)]
        buckets[key] = _Bucket(limit, now)
