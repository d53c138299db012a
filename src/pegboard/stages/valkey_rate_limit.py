"""Rate limits that are shared by all processes, counted in Valkey or Redis.

Hand-written: libraries count one limit per round trip, and a call takes from all of its limits or from none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from pegboard.model.call_errors import Unavailable
from pegboard.model.tool import RateLimit
from pegboard.stages.rate_limit import compute_interval
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

MICROSECONDS_PER_SECOND = 1_000_000

# A bucket is the string "FULL_AT:INTERVAL" in whole microseconds of the server's clock, which all processes share; Lua
# numbers hold these exactly. It expires when it is full. A call checks all its buckets before it takes from any. A
# value that is not a bucket counts as a full one and is overwritten: an error would fail the whole batch. The arguments
# are, for each call, the number of its buckets and then the interval and capacity of each.
TAKE_SCRIPT = """
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
# Maximum number of calls in one script run; this many take the server a few milliseconds.
MAX_BATCH_CALLS = 500
# High enough never to be used up: the readiness check has a bucket of its own.
_CHECK_LIMIT = RateLimit(max_calls=1_000_000, period="second")


class _LimitRequest(NamedTuple):
    """A call that needs one unit of each of these buckets."""

    keys: tuple[str, ...]
    numbers: tuple[int, ...]
    waits: asyncio.Future[list[float]]


class ValkeyLimiter:
    """Buckets in a Valkey or Redis server, updated by one atomic script; reconnects automatically.

    Calls that arrive while a request is pending are sent together in the next one: 50 at once take a seventh of the
    processor time of a request each. While the server cannot be reached, calls are refused as Unavailable and can be
    retried: limits protect the upstreams of tools, and allowing all calls would drop that protection in every process
    at once.
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
            # One retry, for a stale pooled connection; if the first attempt was counted, one unit is lost.
            retry=Retry(NoBackoff(), 1),
        )
        self._client: Redis = Redis.from_pool(pool)
        self._script = self._client.register_script(TAKE_SCRIPT)
        self._asking: list[_LimitRequest] = []
        self._turn: asyncio.Task[None] | None = None
        # To log one line when the server becomes unreachable and one when it is back, not one per call.
        self._is_reachable = True

    async def take(self, key: str, limit: RateLimit) -> float:
        """Take one unit and return 0.0; if none is left, take nothing and return the seconds until one is."""
        (wait,) = await self._queue_request(
            (self._prefix + key,), (1, compute_interval(limit, MICROSECONDS_PER_SECOND), limit.capacity)
        )
        return wait

    async def take_both(self, key: str, limit: RateLimit, other_key: str, other: RateLimit) -> tuple[float, float]:
        """Take one unit of each and return zeros; if either has none, take nothing and return the seconds for each."""
        keys = (self._prefix + key, self._prefix + other_key)
        both = (
            compute_interval(limit, MICROSECONDS_PER_SECOND),
            limit.capacity,
            compute_interval(other, MICROSECONDS_PER_SECOND),
            other.capacity,
        )
        wait, other_wait = await self._queue_request(keys, (2, *both))
        return wait, other_wait

    async def check(self) -> None:
        """Count a call in a bucket reserved for this check; raise Unavailable if that fails."""
        await self.take("check", _CHECK_LIMIT)

    async def close(self) -> None:
        """Wait for the pending batch and close the connection."""
        if self._turn is not None:
            await asyncio.wait([self._turn])
        await self._client.aclose()

    async def _queue_request(self, keys: tuple[str, ...], numbers: tuple[int, ...]) -> list[float]:
        asking = _LimitRequest(keys, numbers, asyncio.get_running_loop().create_future())
        self._asking.append(asking)
        if self._turn is None:
            self._turn = asyncio.create_task(self._run_batches(), name="pegboard-limits")
        return await asking.waits

    async def _run_batches(self) -> None:
        try:
            while self._asking:
                together, self._asking = self._asking[:MAX_BATCH_CALLS], self._asking[MAX_BATCH_CALLS:]
                # Skip the requests whose caller was cancelled.
                together = [asking for asking in together if not asking.waits.done()]
                if not together:
                    continue
                waits = await self._run(together)
                if waits is None:
                    # Fail the remaining requests too: each further batch would wait for the same timeout.
                    together, self._asking = together + self._asking, []
                for asking in together:
                    own = [next(waits) for _ in asking.keys] if waits is not None else None
                    if asking.waits.done():
                        continue
                    if own is not None:
                        asking.waits.set_result(own)
                    else:
                        asking.waits.set_exception(_make_unreachable_error())
        finally:
            self._turn = None

    async def _run(self, together: Sequence[_LimitRequest]) -> Iterator[float] | None:
        """Return the wait in seconds for each bucket of each request, or None if the server cannot be reached."""
        keys = [key for asking in together for key in asking.keys]
        numbers = [number for asking in together for number in asking.numbers]
        try:
            waits: Any = await self._script(keys=keys, args=numbers)
        except Exception as error:
            if not isinstance(error, (RedisError, OSError)):
                log.exception("limits_broken")  # a bug in this module: the waiting calls must still get an answer
            elif self._is_reachable:
                log.warning("limits_unreachable", error=str(error))
            self._is_reachable = False
            return None
        if not self._is_reachable:
            log.info("limits_reached_again")
        self._is_reachable = True
        return (wait / MICROSECONDS_PER_SECOND for wait in waits)


def _make_unreachable_error() -> Unavailable:
    return Unavailable(
        "Valkey (PEGBOARD_REDIS_URL) does not answer, so calls are refused; try again in a second", retry_after_ms=1000
    )
