"""The same limits for all processes, counted in Valkey or Redis."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from pegboard.core.errors import Unavailable
from pegboard.core.tool import RateLimit
from pegboard.stages.limit import interval
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

MICROSECONDS = 1_000_000

# A bucket is "FULL_AT:INTERVAL" in whole microseconds of the server's clock, which all processes share; numbers in Lua
# hold those exactly. It lives as long as it is not full. A call looks at all its buckets before it takes from any.
# What is no bucket counts as a full one, and is written over: an error would be one for all that ask together.
# The arguments are, of each call, how many buckets it has, then the interval and capacity of each.
SCRIPT = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local kept, taken, waits = {}, {}, {}
local place, at = 1, 1
while place <= #KEYS do
  local many, refused, full_at = tonumber(ARGV[at]), false, {}
  for i = 0, many - 1 do
    local key, interval, capacity = KEYS[place + i], tonumber(ARGV[at + 1 + 2 * i]), tonumber(ARGV[at + 2 + 2 * i])
    if kept[key] == nil then
      local found = redis.pcall('GET', key)
      kept[key] = type(found) == 'string' and found or ''
    end
    local missing = 0
    local kept_at, kept_interval = string.match(kept[key], '^(%d+):(%d+)$')
    if kept_at then
      missing = math.max(kept_at - now, 0)
      if tonumber(kept_interval) ~= interval then
        missing = math.ceil(missing * interval / kept_interval)
      end
      missing = math.min(missing, capacity * interval)
    end
    local wait = math.max(missing - (capacity - 1) * interval, 0)
    waits[place + i] = wait
    full_at[i] = now + missing + interval
    refused = refused or wait > 0
  end
  if not refused then
    for i = 0, many - 1 do
      local key = KEYS[place + i]
      kept[key] = string.format('%.0f:%s', full_at[i], ARGV[at + 1 + 2 * i])
      taken[key] = math.ceil((full_at[i] - now) / 1000)
    end
  end
  place, at = place + many, at + 1 + 2 * many
end
for key, lives in pairs(taken) do
  redis.call('SET', key, kept[key], 'PX', string.format('%.0f', lives))
end
return waits
"""
# Calls that ask together, at most; so many take the server a few milliseconds.
TOGETHER = 500
# Never used up: who checks whether calls can be counted takes nothing from them.
_CHECK = RateLimit(max_calls=1_000_000, period="second")


class _Asking(NamedTuple):
    """A call that wants a unit of each of these buckets."""

    keys: tuple[str, ...]
    numbers: tuple[int, ...]
    waits: asyncio.Future[list[float]]


class ValkeyLimiter:
    """Buckets in a Valkey or Redis server, by one script that runs whole; connects again by itself.

    Calls that come while it is being asked ask together next time, so that many of them cost little more than one.
    While the server cannot be reached calls are refused as Unavailable, retryable: limits are there to protect what the
    tools reach, and letting everything through would drop that protection in every process at once.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "pegboard:limit:",
        timeout: float = 1.0,
    ) -> None:
        self._prefix = prefix
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=1,
            timeout=timeout,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            # Once, for a pooled connection that has gone stale; if the first try was counted after all, a unit is lost.
            retry=Retry(NoBackoff(), 1),
        )
        self._client: Redis = Redis.from_pool(pool)
        self._script = self._client.register_script(SCRIPT)
        self._asking: list[_Asking] = []
        self._turn: asyncio.Task[None] | None = None
        # So that the log has a line when it goes and one when it is back, not one a call.
        self._reached = True

    async def take(self, key: str, limit: RateLimit) -> float:
        """0.0 if there is room, and one unit is taken; else the seconds until there is, and nothing is taken."""
        (wait,) = await self._asked((self._prefix + key,), (1, interval(limit, MICROSECONDS), limit.capacity))
        return wait

    async def take_both(self, key: str, limit: RateLimit, other_key: str, other: RateLimit) -> tuple[float, float]:
        """Zeros if both have room, and one unit of each is taken; else the seconds of each, and nothing is taken."""
        keys = (self._prefix + key, self._prefix + other_key)
        both = (interval(limit, MICROSECONDS), limit.capacity, interval(other, MICROSECONDS), other.capacity)
        wait, other_wait = await self._asked(keys, (2, *both))
        return wait, other_wait

    async def check(self) -> None:
        """Count a call in a bucket of its own, as any call is counted; raises Unavailable."""
        await self.take("check", _CHECK)

    async def close(self) -> None:
        """Let the connection go."""
        if self._turn is not None:
            await asyncio.wait([self._turn])
        await self._client.aclose()

    async def _asked(self, keys: tuple[str, ...], numbers: tuple[int, ...]) -> list[float]:
        asking = _Asking(keys, numbers, asyncio.get_running_loop().create_future())
        self._asking.append(asking)
        if self._turn is None:
            self._turn = asyncio.create_task(self._take_turns(), name="pegboard-limits")
        return await asking.waits

    async def _take_turns(self) -> None:
        try:
            while self._asking:
                together, self._asking = self._asking[:TOGETHER], self._asking[TOGETHER:]
                # Whoever has gone meanwhile is no call any more.
                together = [asking for asking in together if not asking.waits.done()]
                if not together:
                    continue
                waits = await self._run(together)
                if waits is None:
                    # Nor would the others be answered, and each of their turns would last as long.
                    together, self._asking = together + self._asking, []
                for asking in together:
                    own = [next(waits) for _ in asking.keys] if waits is not None else None
                    if asking.waits.done():
                        continue
                    if own is not None:
                        asking.waits.set_result(own)
                    else:
                        asking.waits.set_exception(_unreachable())
        finally:
            self._turn = None

    async def _run(self, together: Sequence[_Asking]) -> Iterator[float] | None:
        """How long each bucket of each of them is to be waited for; None if nobody can say."""
        keys = [key for asking in together for key in asking.keys]
        numbers = [number for asking in together for number in asking.numbers]
        try:
            waits: Any = await self._script(keys=keys, args=numbers)
        except Exception as error:
            if not isinstance(error, (RedisError, OSError)):
                log.exception("limits_broken")  # a fault of ours: nobody may wait for good
            elif self._reached:
                log.warning("limits_unreachable", error=str(error))
            self._reached = False
            return None
        if not self._reached:
            log.info("limits_reached_again")
        self._reached = True
        return (wait / MICROSECONDS for wait in waits)


def _unreachable() -> Unavailable:
    return Unavailable(
        "Valkey (PEGBOARD_REDIS_URL) does not answer, so calls are refused; try again in a second", retry_after_ms=1000
    )
