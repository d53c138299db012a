"""DNS lookups: limited in number, and shared between users."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Sequence
from typing import Any, TypeVar

import pytest
from yarl import URL

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.dns import DnsLookups
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.model.call_errors import UpstreamUnreachable
from tests.unit.http_client.upstreams import answer, serve_responses
from tests.waiting import until

T = TypeVar("T")

LOCAL = AllowList.read("127.0.0.1")


class Slow:
    """A resolver that answers when the test releases it; names that begin with 'fast' at once."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers = asyncio.Event()

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        if not host.startswith("fast"):
            await self.answers.wait()
        return ["127.0.0.1"]

    async def asked_for(self, count: int) -> None:
        """Wait until this many names were looked up."""

        async def enough() -> bool:
            return len(self.asked) >= count

        await until(enough)


async def give_up(tasks: Sequence[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def soon(awaited: Awaitable[T]) -> T:
    return await asyncio.wait_for(awaited, 30)


async def test_a_cancelled_lookup_keeps_its_slot_until_it_ends() -> None:
    slow = Slow()
    lookups = DnsLookups(slow, most=2)
    for name in ("a", "b", "c", "d"):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(lookups(name, 80), 0.01)
    assert slow.asked == ["a", "b"]
    slow.answers.set()
    assert await soon(lookups("fast", 80)) == ["127.0.0.1"]
    assert slow.asked == ["a", "b", "fast"]


async def test_slow_names_of_one_user_hold_up_no_other_user_nor_do_those_that_were_given_up() -> None:
    slow = Slow()
    outbound = GuardedClient(LOCAL, resolver=slow, connect_seconds=10)
    async with serve_responses(answer(b"reached")) as up:
        slowly = [asyncio.create_task(outbound.connect(f"slow{number}", up.port, "ann")) for number in range(70)]
        await slow.asked_for(16)
        (await soon(outbound.connect("fast1", up.port, "bob"))).close()
        await give_up(slowly)
        late = asyncio.create_task(outbound.connect("fast2", up.port, "ann"))
        (await soon(outbound.connect("fast3", up.port, "bob"))).close()
        assert slow.asked == [*(f"slow{number}" for number in range(16)), "fast1", "fast3"]
        slow.answers.set()
        (await soon(late)).close()
    await outbound.close()


async def test_a_lookup_cancelled_before_its_start_returns_its_slot() -> None:
    slow = Slow()
    lookups = DnsLookups(slow, most=1, most_a_user=1)
    first = asyncio.create_task(lookups("a", 80, "ann"))
    second = asyncio.create_task(lookups("b", 80, "bob"))
    await slow.asked_for(1)
    await give_up([second])
    slow.answers.set()
    await first
    assert await soon(lookups("fast", 80, "bob")) == ["127.0.0.1"]
    assert slow.asked == ["a", "fast"]


async def test_a_resolver_that_fails_at_once_leaves_room_for_the_next() -> None:
    def failing(host: str, port: int) -> Any:
        raise LookupError(host)

    lookups = DnsLookups(failing, most=1)
    for name in ("a", "b"):
        with pytest.raises(LookupError, match=name):
            await soon(lookups(name, 80))


async def test_waiting_lookups_are_dropped_at_the_close() -> None:
    slow = Slow()
    lookups = DnsLookups(slow, most=1)
    waiting = [asyncio.create_task(lookups(name, 80)) for name in ("a", "fast")]
    await slow.asked_for(1)
    lookups.close()
    done, _ = await asyncio.wait(waiting, timeout=5)
    assert [task.cancelled() for task in done] == [True, True]
    assert slow.asked == ["a"]


async def test_requests_that_gave_up_on_slow_names_leave_no_more_threads_than_there_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def hang(host: str, *args: Any, **options: Any) -> Any:
        hanging.append(host)
        done.wait(20)
        raise socket.gaierror(socket.EAI_NONAME, "not known")

    async def refused(number: int) -> None:
        with pytest.raises(UpstreamUnreachable, match="its name was not resolved"):
            await outbound.send("GET", URL(f"http://h{number}.invalid/"))

    hanging: list[str] = []
    done = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", hang)
    outbound = GuardedClient(LOCAL, connect_seconds=0.1)
    try:
        await asyncio.gather(*(refused(number) for number in range(64)))
        await asyncio.gather(*(refused(number) for number in range(64, 72)))
    finally:
        await outbound.close()
        done.set()
        for thread in threading.enumerate():
            if thread.name == "lookup":
                thread.join(5)
    assert sorted(hanging) == sorted(f"h{number}.invalid" for number in range(64))
