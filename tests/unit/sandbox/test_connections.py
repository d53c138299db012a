"""The connections of all proxies: limited for the board, with some reserved for new users."""

from __future__ import annotations

import asyncio
import resource
import socket

import pytest

from pegboard.http_client.guarded_client import GuardedClient
from pegboard.sandbox.proxy import Proxy, ProxyListener, compute_max_connections
from tests.unit.http_client.upstreams import serving
from tests.unit.sandbox.proxies import LOCAL, Client
from tests.waiting import until


@pytest.mark.parametrize(
    ("files", "most"), [(1024, 256), (3, 1), (1_000_000, 16_384), (resource.RLIM_INFINITY, 16_384)]
)
def test_there_are_a_quarter_as_many_as_open_files(files: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: {resource.RLIMIT_NOFILE: (files, -1)}[which])
    assert compute_max_connections() == most


class Calls:
    """Calls of several users whose proxies share the board's connections."""

    def __init__(self, outbound: GuardedClient, *, most: int, most_in_all: int) -> None:
        self._proxy = Proxy(outbound, most=most, most_in_all=most_in_all)
        self._servings: list[ProxyListener] = []

    def begin(self, user_id: str) -> int:
        """Start one more call and return the port of its proxy."""
        listener = socket.create_server(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        self._servings.append(self._proxy.serve(listener, user_id))
        return port

    async def close(self) -> None:
        """End all calls."""
        for running in self._servings:
            await running.close()


async def client(port: int) -> Client:
    return Client(*await asyncio.open_connection("127.0.0.1", port))


async def test_calls_share_what_the_board_has_and_those_of_one_user_leave_some_to_others() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    outbound = GuardedClient(LOCAL, connect_seconds=10)
    calls = Calls(outbound, most=8, most_in_all=4)
    async with serving(silent) as up:
        target = f"127.0.0.1:{up.port}"
        anns = [await client(calls.begin("ann")) for _ in range(2)]
        for each in anns:
            await each.tunnel(target)
        anns.append(await client(calls.begin("ann")))
        third = asyncio.create_task(anns[2].tunnel(target))
        others = [await client(calls.begin(user)) for user in ("bob", "cid")]
        for each in others:
            await each.tunnel(target)
        assert (third.done(), up.connections) == (False, 4), "two of ann, and one of each of the others"
        dans = await client(calls.begin("dan"))
        fifth = asyncio.create_task(dans.tunnel(target))
        anns[0].leave()
        await asyncio.wait_for(fifth, 30)
        assert not third.done(), "there is none left beside hers"
        for each in (*others, dans):
            each.leave()
        await asyncio.wait_for(third, 30)
        await calls.close()
        for each in anns[1:]:
            each.leave()
    await outbound.close()


async def test_a_call_that_ends_gives_back_what_it_had() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    outbound = GuardedClient(LOCAL, connect_seconds=10)
    calls = Calls(outbound, most=8, most_in_all=1)
    async with serving(silent) as up:
        target = f"127.0.0.1:{up.port}"
        for _ in range(3):
            one = await client(calls.begin("ann"))
            await one.tunnel(target)
            await calls.close()
            one.leave()
    await outbound.close()


async def test_what_one_user_of_the_proxy_looks_up_holds_up_no_other_user() -> None:
    async def resolver(host: str, port: int) -> list[str]:
        asked.append(host)
        if host != "fast":
            await asyncio.Event().wait()
        return ["127.0.0.1"]

    async def all_asked() -> bool:
        return len(asked) >= 16

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    asked: list[str] = []
    outbound = GuardedClient(LOCAL, resolver=resolver, connect_seconds=10)
    calls = Calls(outbound, most=32, most_in_all=1000)
    async with serving(silent) as up:
        slow = [await client(port) for port in [calls.begin("ann") for _ in range(5)] for _ in range(16)]
        for number, each in enumerate(slow):
            await each.say(f"CONNECT slow{number}:1 HTTP/1.1\r\n\r\n".encode())
        await until(all_asked)
        await calls.close()
        fast = await client(calls.begin("bob"))
        await fast.tunnel(f"fast:{up.port}")
        assert len(asked) == 17
        await calls.close()
        for each in (*slow, fast):
            each.leave()
    await outbound.close()
