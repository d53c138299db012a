"""The same limits for all processes, counted in Valkey or Redis."""

from __future__ import annotations

from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from pegboard.core.errors import Unavailable
from pegboard.core.tool import RateLimit
from pegboard.stages.limit import Limiter, MemoryLimiter, interval
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

MICROSECONDS = 1_000_000

# A bucket is "FULL_AT:INTERVAL" in whole microseconds of the server's clock, which all processes share; numbers in Lua
# hold those exactly. It lives as long as it is not full. Looking at all buckets comes before taking from any.
SCRIPT = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local waits, full_at, refused = {}, {}, false
for i, key in ipairs(KEYS) do
  local interval, capacity = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local missing = 0
  local kept = redis.call('GET', key)
  if kept then
    local kept_at, kept_interval = string.match(kept, '^(%d+):(%d+)$')
    missing = math.max(kept_at - now, 0)
    if tonumber(kept_interval) ~= interval then
      missing = math.ceil(missing * interval / kept_interval)
    end
    missing = math.min(missing, capacity * interval)
  end
  waits[i] = math.max(missing - (capacity - 1) * interval, 0)
  full_at[i] = now + missing + interval
  refused = refused or waits[i] > 0
end
if not refused then
  for i, key in ipairs(KEYS) do
    local lives = math.ceil((full_at[i] - now) / 1000)
    redis.call('SET', key, string.format('%.0f:%s', full_at[i], ARGV[2 * i - 1]), 'PX', string.format('%.0f', lives))
  end
end
return waits
"""


class ValkeyLimiter:
    """Buckets in a Valkey or Redis server, by one script that runs whole; connects again by itself.

    While the server cannot be reached calls are refused as Unavailable, retryable: limits are there to protect what the
    tools reach, and letting everything through would drop that protection in every process at once.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "pegboard:limit:",
        timeout: float = 1.0,
        max_connections: int = 32,
    ) -> None:
        self._prefix = prefix
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=max_connections,
            timeout=timeout,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            # Once, for a pooled connection that has gone stale; if the first try was counted after all, a unit is lost.
            retry=Retry(NoBackoff(), 1),
        )
        self._client: Redis = Redis.from_pool(pool)
        self._script = self._client.register_script(SCRIPT)
        # So that the log has a line when it goes and one when it is back, not one a call.
        self._reached = True

    async def take(self, key: str, limit: RateLimit) -> float:
        """0.0 if there is room, and one unit is taken; else the seconds until there is, and nothing is taken."""
        (wait,) = await self._run([key], [limit])
        return wait

    async def take_both(self, key: str, limit: RateLimit, other_key: str, other: RateLimit) -> tuple[float, float]:
        """Zeros if both have room, and one unit of each is taken; else the seconds of each, and nothing is taken."""
        wait, other_wait = await self._run([key, other_key], [limit, other])
        return wait, other_wait

    async def close(self) -> None:
        """Let the connections go."""
        await self._client.aclose()

    async def _run(self, keys: list[str], limits: list[RateLimit]) -> list[float]:
        arguments = [number for limit in limits for number in (interval(limit, MICROSECONDS), limit.capacity)]
        try:
            waits: Any = await self._script(keys=[self._prefix + key for key in keys], args=arguments)
        except (RedisError, OSError) as error:
            if self._reached:
                log.warning("limits_unreachable", error=str(error))
            self._reached = False
            raise Unavailable(
                "The rate limits of this board cannot be counted at the moment; try again in a second",
                retry_after_ms=1000,
            ) from error
        if not self._reached:
            log.info("limits_reached_again")
        self._reached = True
        return [wait / MICROSECONDS for wait in waits]


def limiter_at(url: str | None) -> Limiter:
    """The limiter of this Valkey or Redis, or one in memory where there is none."""
    return MemoryLimiter() if url is None else ValkeyLimiter(url)
