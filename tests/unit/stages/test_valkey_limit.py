"""Limits in a real Valkey: shared, expiring, and refusing calls while it is unavailable."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from pegboard.model.call_errors import Unavailable
from pegboard.model.tool import RateLimit
from pegboard.stages.valkey_rate_limit import MAX_BATCH_CALLS, ValkeyLimiter
from tests.servers import free_port
from tests.valkey import ValkeyServer

HOURLY = RateLimit(max_calls=10, period="hour")


@pytest.fixture
async def client(valkey_url: str) -> AsyncIterator[Redis]:
    client = Redis.from_url(valkey_url)
    yield client
    await client.aclose()


@pytest.fixture
async def limiter(valkey_url: str) -> AsyncIterator[ValkeyLimiter]:
    limiter = ValkeyLimiter(valkey_url, timeout=30)  # a busy machine may keep a hundred waiting for more than a second
    yield limiter
    await limiter.close()


async def test_two_processes_share_one_bucket(limiter: ValkeyLimiter, valkey_url: str) -> None:
    other = ValkeyLimiter(valkey_url)
    waits = [await one.take("a", HOURLY) for _ in range(6) for one in (limiter, other)]
    await other.close()
    assert [bool(wait) for wait in waits] == [False] * 10 + [True] * 2


async def test_calls_at_the_same_time_never_share_a_unit(limiter: ValkeyLimiter) -> None:
    waits = await asyncio.gather(*(limiter.take_both("a", HOURLY, "b", HOURLY) for _ in range(100)))
    assert sum(wait == (0.0, 0.0) for wait in waits) == 10


async def test_calls_that_come_while_it_is_asked_ask_together(limiter: ValkeyLimiter, client: Redis) -> None:
    await limiter.take("a", HOURLY)
    await client.config_resetstat()
    waits = await asyncio.gather(
        *(limiter.take("b", HOURLY) for _ in range(30)), *(limiter.take_both("b", HOURLY, "c", HOURLY) for _ in "12")
    )
    assert [wait for wait in waits if not wait] == [0.0] * 10
    assert all(wait for wait in waits[10:30])
    assert [tuple(map(bool, wait)) for wait in waits[30:] if isinstance(wait, tuple)] == [(True, False)] * 2
    assert (await client.info("commandstats"))["cmdstat_evalsha"]["calls"] <= 2
    assert sorted(await client.keys("*")) == [b"pegboard:limit:a", b"pegboard:limit:b"]


async def test_a_call_that_leaves_before_it_is_asked_takes_nothing(limiter: ValkeyLimiter) -> None:
    first, second = (asyncio.ensure_future(limiter.take("a", HOURLY)) for _ in range(2))
    await asyncio.sleep(0)
    second.cancel()
    assert await first == 0.0
    assert [bool(await limiter.take("a", HOURLY)) for _ in range(10)] == [False] * 9 + [True]


async def test_a_call_that_is_left_when_all_before_them_have_gone_is_asked_for(limiter: ValkeyLimiter) -> None:
    *gone, last = (asyncio.ensure_future(limiter.take("a", HOURLY)) for _ in range(MAX_BATCH_CALLS + 1))
    for asking in gone:
        asyncio.get_running_loop().call_soon(asking.cancel)
    await asyncio.sleep(0)
    assert await last == 0.0


async def test_a_bucket_expires_when_it_is_full_again(limiter: ValkeyLimiter, client: Redis) -> None:
    await limiter.take("a", HOURLY)
    await limiter.take("a", HOURLY)
    assert 715_000 < await client.pttl("pegboard:limit:a") <= 720_000


async def test_a_refused_call_leaves_no_trace(limiter: ValkeyLimiter, client: Redis) -> None:
    one = RateLimit(max_calls=1, period="hour")
    await limiter.take("a", one)
    kept = await client.get("pegboard:limit:a")
    await limiter.take_both("a", one, "b", one)
    assert await client.get("pegboard:limit:a") == kept
    assert await client.keys("*") == [b"pegboard:limit:a"]


async def test_the_prefix_keeps_boards_on_one_server_apart(limiter: ValkeyLimiter, valkey_url: str) -> None:
    other = ValkeyLimiter(valkey_url, prefix="other:")
    for _ in range(10):
        await limiter.take("a", HOURLY)
    assert await other.take("a", HOURLY) == 0.0
    await other.close()


async def test_what_is_no_bucket_is_written_over_and_refuses_no_other_call(
    limiter: ValkeyLimiter, client: Redis
) -> None:
    await client.rpush("pegboard:limit:a", "a list")
    await client.set("pegboard:limit:b", "a text")
    waits = await asyncio.gather(*(limiter.take(key, HOURLY) for key in "cabc"))
    assert waits == [0.0] * 4
    assert [bool(await limiter.take("a", HOURLY)) for _ in range(10)] == [False] * 9 + [True]


async def test_the_server_may_forget_the_script(limiter: ValkeyLimiter, client: Redis) -> None:
    await limiter.take("a", HOURLY)
    await client.script_flush()
    assert await limiter.take("a", HOURLY) == 0.0


async def test_the_largest_limits_are_counted_too(limiter: ValkeyLimiter) -> None:
    widest = RateLimit(max_calls=10**9, period="second", burst=10**9)
    slowest = RateLimit(max_calls=1, period="hour", burst=10**9)
    assert [await limiter.take_both("a", widest, "b", slowest) for _ in range(3)] == [(0.0, 0.0)] * 3


async def test_a_server_that_is_not_there_means_a_retryable_refusal() -> None:
    limiter = ValkeyLimiter(f"redis://127.0.0.1:{free_port()}/0")
    with pytest.raises(Unavailable) as caught:
        await limiter.take("a", HOURLY)
    await limiter.close()
    assert caught.value.retryable
    assert caught.value.retry_after_ms == 1000
    assert "127.0.0.1" not in caught.value.message


async def test_a_server_that_does_not_answer_means_a_refusal() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    limiter = ValkeyLimiter(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0", timeout=0.05)
    with pytest.raises(Unavailable):
        await limiter.take("a", HOURLY)
    await limiter.close()
    server.close()
    await server.wait_closed()


async def test_all_waiting_calls_are_refused_together_while_valkey_does_not_answer() -> None:
    asked = 0

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    limiter = ValkeyLimiter(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0", timeout=0.05)
    takes = (limiter.take("a", HOURLY) for _ in range(5 * MAX_BATCH_CALLS))
    assert {type(gone) for gone in await asyncio.gather(*takes, return_exceptions=True)} == {Unavailable}
    assert asked <= 2  # once, and once more for a stale connection
    await limiter.close()
    server.close()
    await server.wait_closed()


async def test_a_server_that_returns_is_used_again_at_once(own_valkey: ValkeyServer) -> None:
    limiter = ValkeyLimiter(own_valkey.url)
    assert await limiter.take("a", HOURLY) == 0.0
    own_valkey.stop()
    with pytest.raises(Unavailable):
        await limiter.take("a", HOURLY)
    own_valkey.start()
    assert await limiter.take("a", HOURLY) == 0.0
    await limiter.close()


async def test_a_restart_between_two_calls_goes_unnoticed(own_valkey: ValkeyServer) -> None:
    limiter = ValkeyLimiter(own_valkey.url)
    await asyncio.gather(*(limiter.take("a", HOURLY) for _ in range(5)))
    own_valkey.stop()
    own_valkey.start()
    assert await asyncio.gather(*(limiter.take("a", HOURLY) for _ in range(5))) == [0.0] * 5
    await limiter.close()
