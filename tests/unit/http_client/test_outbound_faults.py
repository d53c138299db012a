"""Errors of unreachable upstreams, and that nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
import socket
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from yarl import URL

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.bounded_body import read_bounded_body
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.model.call_errors import (
    EgressRefused,
    Misconfigured,
    ToolError,
    Unavailable,
    UpstreamFailed,
    UpstreamUnreachable,
)
from tests.event_loops import USE_UVLOOP
from tests.unit.http_client.upstreams import answer, head_of, open_files, serve_responses, serving
from tests.waiting import until

LOCAL = AllowList.read("127.0.0.1")


@pytest.fixture(params=USE_UVLOOP)
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Either event loop: they report faults in different ways."""
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture
async def outbound() -> AsyncIterator[GuardedClient]:
    """A way out to loopback that waits briefly for connections."""
    made = GuardedClient(LOCAL, connect_seconds=0.3)
    yield made
    await made.close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


@asynccontextmanager
async def never_accepting() -> AsyncIterator[int]:
    """A port whose queue is full: the server neither refuses nor accepts."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening:
        waiting = [socket.socket() for _ in range(4)]
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]
        for client in waiting:
            client.close()


async def fault_of(outbound: GuardedClient, url: URL, **options: Any) -> ToolError:
    with pytest.raises(ToolError) as caught:
        await outbound.send("GET", url, **options)
    assert "secret" not in caught.value.message
    assert caught.value.__cause__ is None
    return caught.value


async def test_a_refused_connection(outbound: GuardedClient) -> None:
    port = free_port()
    fault = await fault_of(outbound, URL(f"http://127.0.0.1:{port}/?q=secret"))
    assert isinstance(fault, UpstreamUnreachable)
    assert fault.message.startswith(f"Could not connect to 127.0.0.1:{port}: ")
    assert "refused" in fault.message
    assert fault.retry_reason == "transport"
    assert not fault.did_run


async def test_a_port_without_a_listener(outbound: GuardedClient) -> None:
    async with never_accepting() as port:
        fault = await fault_of(outbound, URL(f"http://127.0.0.1:{port}/?q=secret"))
    assert isinstance(fault, UpstreamUnreachable)
    assert fault.message == f"Could not connect to 127.0.0.1:{port}: it did not answer within 0.3 s"
    assert not fault.did_run


async def test_a_connection_that_is_reset(outbound: GuardedClient) -> None:
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_of(reader)
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    async with serving(reset) as upstream:
        fault = await fault_of(outbound, upstream.url("/?q=secret"))
        assert upstream.connections == 1, "a request is sent once"
    assert isinstance(fault, UpstreamUnreachable)
    assert f"127.0.0.1:{upstream.port}" in fault.message
    assert fault.did_run


async def test_a_connection_that_is_closed_without_an_answer(outbound: GuardedClient) -> None:
    async def close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_of(reader)

    async with serving(close) as upstream:
        fault = await fault_of(outbound, upstream.url("/?q=secret"))
        assert upstream.connections == 1, "a request is sent once"
    assert isinstance(fault, UpstreamUnreachable)
    assert fault.message == f"127.0.0.1:{upstream.port} closed the connection without an answer"
    assert fault.did_run


@pytest.mark.parametrize(
    "message",
    [b"SSH-2.0-OpenSSH_9.9\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000, b"\0" * 50],
    ids=["another protocol", "no status", "an endless header", "zeros"],
)
async def test_an_answer_that_is_not_http(message: bytes, outbound: GuardedClient) -> None:
    async with serve_responses(message, keep=False) as upstream:
        fault = await fault_of(outbound, upstream.url("/?q=secret"))
    assert type(fault) is UpstreamFailed
    assert fault.message.startswith(f"127.0.0.1:{upstream.port} did not answer in HTTP: ")
    assert len(fault.message) < 300
    assert "\n" not in fault.message


async def test_an_answer_that_switches_protocols(outbound: GuardedClient) -> None:
    switch = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
    async with serve_responses(switch) as upstream:
        fault = await fault_of(outbound, upstream.url())
        await asyncio.wait_for(upstream.gone.wait(), 30)
    assert type(fault) is UpstreamFailed


@pytest.mark.parametrize("name", ["missing.invalid", "a..b", "x" * 64 + ".example", ("a" * 60 + ".") * 5 + "example"])
async def test_a_name_that_does_not_resolve(name: str, outbound: GuardedClient) -> None:
    outbound.check(f"http://{name}/")
    fault = await fault_of(outbound, URL(f"http://{name}/?q=secret"))
    assert isinstance(fault, UpstreamUnreachable)
    assert fault.message.startswith(f"The name '{name}' could not be resolved: ")
    assert not fault.did_run


async def test_a_name_that_does_not_resolve_is_looked_up_once() -> None:
    async def failing(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        raise OSError("down")

    asked: list[str] = []
    outbound = GuardedClient(LOCAL, resolver=failing, connect_seconds=10)
    await fault_of(outbound, URL("http://name/"))
    assert asked == ["name"]
    await outbound.close()


@pytest.mark.parametrize("failure", [OSError("down"), RuntimeError("odd"), TimeoutError(), KeyError("x")])
async def test_a_resolver_that_fails(failure: Exception) -> None:
    async def failing(host: str, port: int) -> Sequence[str]:
        raise failure

    outbound = GuardedClient(LOCAL, resolver=failing, connect_seconds=10)
    fault = await fault_of(outbound, URL("http://name/?q=secret"))
    assert isinstance(fault, UpstreamUnreachable)
    await outbound.close()


async def test_a_resolver_that_never_answers() -> None:
    async def hanging(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        raise AssertionError

    outbound = GuardedClient(LOCAL, resolver=hanging, connect_seconds=0.1)
    fault = await fault_of(outbound, URL("http://name/?q=secret"))
    assert isinstance(fault, UpstreamUnreachable)
    assert "its name was not resolved within 0.1 s" in fault.message
    assert not fault.did_run
    await outbound.close()


async def test_a_header_that_would_split_the_request(outbound: GuardedClient) -> None:
    async with serve_responses(answer()) as upstream:
        fault = await fault_of(outbound, upstream.url(), headers={"X-A": "secret\r\nX-B: 1"})
        assert upstream.heads == []
    assert isinstance(fault, Misconfigured)


async def test_a_request_that_is_cancelled_closes_its_connection(outbound: GuardedClient) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_of(reader)
        reached.set()
        await reader.read()

    reached = asyncio.Event()
    async with serving(silent) as upstream:
        sending = asyncio.create_task(outbound.send("GET", upstream.url()))
        await reached.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        await asyncio.wait_for(upstream.gone.wait(), 30)


async def test_after_closing_nothing_is_sent(outbound: GuardedClient) -> None:
    async with serve_responses(answer()) as upstream:
        await read_bounded_body(await outbound.send("GET", upstream.url()), 10)
        await outbound.close()
        await outbound.close()
        with pytest.raises(Unavailable, match="shutting down"):
            await outbound.send("GET", upstream.url())
        await asyncio.wait_for(upstream.gone.wait(), 30)
        assert len(upstream.heads) == 1


async def test_closing_ends_what_is_under_way(outbound: GuardedClient) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_of(reader)
        reached.set()
        await reader.read()

    reached = asyncio.Event()
    async with serving(silent) as upstream:
        sending = asyncio.create_task(outbound.send("GET", upstream.url()))
        await reached.wait()
        await outbound.close()
        with pytest.raises(UpstreamUnreachable):
            await asyncio.wait_for(sending, 30)


async def test_closing_ends_a_lookup_without_cancelling_the_caller() -> None:
    async def hanging(host: str, port: int) -> Sequence[str]:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    asked = asyncio.Event()
    outbound = GuardedClient(LOCAL, resolver=hanging, connect_seconds=10)
    sending = asyncio.create_task(outbound.send("GET", URL("http://name/")))
    await asked.wait()
    await outbound.close()
    with pytest.raises(Unavailable):
        await asyncio.wait_for(sending, 30)


async def test_file_descriptors_return_to_where_they_were_after_all_of_it() -> None:
    async def moody(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await head_of(reader)
        if b"/ok" in head:
            writer.write(answer(b"fine"))
            await head_of(reader)
        elif b"/hang" in head:
            await reader.read()

    async def one(path: str) -> None:
        url = {
            "/refused": URL(f"http://127.0.0.1:{no_one}/"),
            "/guarded": upstream.url(path, host="127.0.0.2"),
        }.get(path, upstream.url(path))
        try:
            async with asyncio.timeout(0.3 if path == "/hang" else 20):
                await read_bounded_body(await outbound.send("GET", url, resend=True), 100)
        except (UpstreamUnreachable, TimeoutError, EgressRefused):
            failed.append(path)

    failed: list[str] = []
    no_one = free_port()
    paths = ["/ok", "/close", "/hang", "/refused", "/guarded"] * 20
    async with serving(moody) as upstream:
        outbound = GuardedClient(LOCAL, connect_seconds=10)
        await one("/ok")
        before = open_files()
        await asyncio.gather(*(one(path) for path in paths))
        await outbound.close()

        async def few() -> bool:
            gc.collect()
            return open_files() <= before

        await until(few)
    assert sorted(failed) == sorted(["/close", "/hang", "/refused", "/guarded"] * 20)
