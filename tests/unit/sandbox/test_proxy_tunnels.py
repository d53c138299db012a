"""The proxy of a confined call: tunnels, their limits, and their end."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import time
from contextlib import suppress
from typing import Any

import pytest
import trustme

from pegboard.http_client.guarded_client import GuardedClient
from pegboard.sandbox.proxy import Proxy
from tests.event_loops import USE_UVLOOP
from tests.unit.http_client.upstreams import answer, open_files, serve_responses, serving
from tests.unit.sandbox.proxies import LOCAL, Client, Names, fetching, never_accepting, proxying
from tests.waiting import until

MEGABYTE = 2**20


@pytest.fixture(params=USE_UVLOOP)
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Either event loop: sockets are used directly."""
    return "asyncio", {"use_uvloop": request.param}


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(2**16):
        writer.write(data)
        await writer.drain()


async def test_a_tunnel_carries_bytes_both_ways() -> None:
    async with serving(echo) as up, proxying() as proxy:
        client = await proxy.client()
        await client.tunnel(f"127.0.0.1:{up.port}")
        for item in (b"\0\r\n\r\nGET / HTTP/1.1", b"x" * 3 * MEGABYTE):
            sent_text = asyncio.create_task(client.say(item))
            assert await client.read_bytes(len(item)) == item
            await sent_text
        client.leave()
        await asyncio.wait_for(up.gone.wait(), 30)


async def test_what_follows_the_request_at_once_is_not_lost() -> None:
    async with serving(echo) as up, proxying() as proxy:
        client = await proxy.client()
        await client.say(f"CONNECT 127.0.0.1:{up.port} HTTP/1.0\r\n\r\nearly".encode())
        assert await client.head() == "HTTP/1.1 200 Connection established\r\n\r\n"
        assert await client.read_bytes(5) == b"early"
        client.leave()


async def test_either_side_can_end_first_and_still_listen() -> None:
    async def polite(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"first")
        writer.write_eof()
        reports.append(await reader.read())

    async def patient(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"heard " + await reader.read())

    reports: list[bytes] = []
    async with serving(polite) as first, serving(patient) as second, proxying() as proxy:
        client = await proxy.client()
        await client.tunnel(f"127.0.0.1:{first.port}")
        assert await client.rest() == b"first"
        await client.say(b"afterwards")
        client.leave()
        await asyncio.wait_for(first.gone.wait(), 30)
        client = await proxy.client()
        await client.tunnel(f"127.0.0.1:{second.port}")
        await client.say(b"everything")
        client.half_close()
        assert await client.rest() == b"heard everything"
        client.leave()
    assert reports == [b"afterwards"]


async def test_tls_goes_through_from_end_to_end() -> None:
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("api.example").configure_cert(context)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    names = Names(**{"api.example": [["127.0.0.1"]]})
    async with (
        serve_responses(answer(b"private"), context=context, keep=False) as up,
        proxying(resolver=names) as proxy,
    ):
        client = await proxy.client()
        await client.tunnel(f"api.example:{up.port}")
        await client.writer.start_tls(trusting, server_hostname="api.example")
        await client.say(b"GET / HTTP/1.1\r\nHost: api.example\r\n\r\n")
        assert (await client.answer()).body == b"private"
        client.leave()
    assert names.asked == ["api.example"]


@pytest.mark.parametrize("up_or_down", ["down", "up"])
async def test_a_peer_that_reads_slowly_slows_the_other_side_down(up_or_down: str) -> None:
    async def lavish(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if up_or_down == "up":
            await stopped.wait()
            return
        while len(sent) < 256:
            writer.write(b"x" * MEGABYTE)
            await writer.drain()
            sent.append(1)

    async def stalled() -> bool:
        looks.append(len(sent))
        return looks[-1] > 0 and len(looks) > 20 and looks[-20] == looks[-1]

    async def give(client: Client) -> None:
        while len(sent) < 256:
            client.writer.write(b"x" * MEGABYTE)
            await client.writer.drain()
            sent.append(1)

    sent: list[int] = []
    looks: list[int] = []
    stopped = asyncio.Event()
    async with serving(lavish) as up, proxying() as proxy:
        client = await proxy.client()
        await client.tunnel(f"127.0.0.1:{up.port}")
        giving = asyncio.create_task(give(client)) if up_or_down == "up" else None
        await until(stalled, seconds=20)
        assert len(sent) < 64, "unread bytes are not gathered"
        if giving is not None:
            giving.cancel()
        client.writer.transport.abort()
        stopped.set()


async def test_an_idle_tunnel_is_closed() -> None:
    async with serving(echo) as up, proxying(idle_seconds=4.0) as proxy:
        client = await proxy.client()
        await client.tunnel(f"127.0.0.1:{up.port}")
        began = time.monotonic()
        while time.monotonic() < began + 5.0:
            await client.say(b"x")
            await client.read_bytes(1)
            await asyncio.sleep(0.05)
        with pytest.raises(ConnectionResetError):
            await client.rest()
        client.leave()
        await asyncio.wait_for(up.gone.wait(), 30)


async def test_a_client_that_never_finishes_its_request_is_sent_away() -> None:
    async with proxying(idle_seconds=0.2) as proxy:
        assert (await proxy.answer(b"GET http://a/ HTTP/1.1\r\nX: ")).status == 408


async def test_a_connection_without_a_free_slot_waits_for_one() -> None:
    async def thinking(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.read(1))
        await reader.read()

    async def both() -> bool:
        return len(asked) == 2

    asked: list[bytes] = []
    async with serving(thinking) as up, proxying(most=2) as proxy:
        busy = [await proxy.client() for _ in range(2)]
        for client in busy:
            await client.tunnel(f"127.0.0.1:{up.port}")
            await client.say(b"?")
        await until(both)
        third = await proxy.client()
        waiting = asyncio.create_task(third.tunnel(f"127.0.0.1:{up.port}"))
        await asyncio.wait((waiting,), timeout=0.2)
        assert (waiting.done(), up.connections) == (False, 2)
        busy[0].leave()
        await waiting
        for client in (*busy, third):
            client.leave()


async def test_a_tunnel_that_rests_makes_room_and_one_that_awaits_an_answer_does_not() -> None:
    async def thinking(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        await received.wait()
        writer.write(b"answer")
        await reader.read()

    received = asyncio.Event()
    async with serving(echo) as up, serving(thinking) as slow, proxying(most=2) as proxy:
        awaiting = await proxy.client()
        await awaiting.tunnel(f"127.0.0.1:{slow.port}")
        await awaiting.say(b"question")
        pool = [await proxy.client() for _ in range(3)]  # each stays open, none is used again
        for resting in pool:
            await resting.tunnel(f"127.0.0.1:{up.port}")
            await resting.say(b"x")
            await resting.read_bytes(1)
        received.set()
        assert await awaiting.read_bytes(6) == b"answer"
        assert await pool[0].rest() == b"", "it ended as a server ends an unused connection"
        for client in (awaiting, *pool):
            client.leave()


async def test_closing_ends_everything_and_leaves_nothing() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async def few() -> bool:
        gc.collect()
        return open_files() <= before

    outbound = GuardedClient(LOCAL, resolver=Names(never=[]), connect_seconds=10)
    async with serving(silent) as up, never_accepting() as idle_server:
        before = open_files()
        tasks = asyncio.all_tasks()
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        running = Proxy(outbound).serve(listener, "ann")
        found = [
            b"",
            b"GET http://a/",
            fetching(up.port),
            fetching(up.port, "/", "Content-Length: 9", method="POST"),
            fetching(idle_server),
            fetching(80, host="never"),
            b"CONNECT never:1 HTTP/1.1\r\n\r\n",
        ]
        clients = [Client(*await asyncio.open_connection("127.0.0.1", port)) for _ in range(24)]
        for number, client in enumerate(clients):
            if number < 8:
                await client.tunnel(f"127.0.0.1:{up.port}")
            else:
                await client.say(found[number % len(found)])
        last = Client(*await asyncio.open_connection("127.0.0.1", port))
        async with asyncio.timeout(30):
            await running.close()
            await running.close()
        for client in (*clients, last):
            with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
                await client.read_bytes(1)
            client.leave()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)
        await outbound.close()
        await asyncio.wait_for(up.gone.wait(), 30)
        await until(few)

        async def none() -> bool:
            return asyncio.all_tasks() <= tasks

        await until(none)


@pytest.mark.parametrize("rounds", range(5))
async def test_closing_at_any_moment_closes_new_connections(rounds: int) -> None:
    outbound = GuardedClient(LOCAL, connect_seconds=10)
    listener = socket.create_server(("127.0.0.1", 0))
    running = Proxy(outbound).serve(listener, "ann")
    with socket.create_connection(listener.getsockname()) as client:
        for _ in range(rounds):
            await asyncio.sleep(0)
        await running.close()
        client.settimeout(60)
        with suppress(ConnectionResetError):
            assert client.recv(1) == b""
    await outbound.close()


async def test_a_listener_that_is_shut_elsewhere_is_served_no_more() -> None:
    async with serving(echo) as up:
        outbound = GuardedClient(LOCAL, connect_seconds=10)
        listener = socket.create_server(("127.0.0.1", 0))
        theirs = listener.dup()
        port = listener.getsockname()[1]
        running = Proxy(outbound).serve(listener, "ann")
        client = Client(*await asyncio.open_connection("127.0.0.1", port))
        await client.tunnel(f"127.0.0.1:{up.port}")
        theirs.shutdown(socket.SHUT_RDWR)

        async def closed() -> bool:
            return listener.fileno() == -1

        await until(closed)
        await client.say(b"on")
        assert await client.read_bytes(2) == b"on"
        client.leave()
        theirs.close()
        await running.close()
        await outbound.close()
