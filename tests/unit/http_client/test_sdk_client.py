"""The MCP SDK's HTTP client: one guard, one pool, bounded answers."""

from __future__ import annotations

import asyncio
import gzip
import socket
from collections.abc import AsyncIterator

import httpx2
import pytest

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.http_client.mcp_transport import create_sdk_client
from pegboard.model.call_errors import EgressRefused, TimedOut, ToolError, UpstreamFailed, UpstreamUnreachable
from pegboard.version import __version__
from tests.unit.http_client.upstreams import answer, chunked, head_of, open_files, serve_responses, serving
from tests.waiting import until

LIMIT = 1000
EVENTS = "Content-Type: text/event-stream"
STREAM = "Transfer-Encoding: chunked"


@pytest.fixture
async def outbound() -> AsyncIterator[GuardedClient]:
    """A way out to loopback."""
    made = GuardedClient(AllowList.read("127.0.0.1"), connect_seconds=1)
    yield made
    await made.close()


@pytest.fixture
async def client(outbound: GuardedClient) -> AsyncIterator[httpx2.AsyncClient]:
    """The SDK's client."""
    async with create_sdk_client(outbound, headers={"Authorization": "Bearer k"}, limit=LIMIT) as made:
        yield made


async def fault_of(client: httpx2.AsyncClient, url: object, kind: type[httpx2.HTTPError]) -> ToolError:
    with pytest.raises(kind) as caught:
        await client.post(str(url), content=b"{}")
    cause = caught.value.__cause__
    assert isinstance(cause, ToolError)
    assert str(caught.value) == cause.message
    assert caught.value.request.method == "POST"
    return cause


async def test_a_request_carries_the_headers_and_asks_for_no_compression(client: httpx2.AsyncClient) -> None:
    async with serve_responses(
        answer(b'{"a": 1}', "Content-Type: application/json", "X-Two: 1", "X-Two: 2")
    ) as upstream:
        response = await client.post(str(upstream.url("/mcp?a=%20b")), content=b"{}", headers={"X-Own": "1"})
    assert response.json() == {"a": 1}
    assert response.status_code == 200
    assert response.headers.get_list("x-two") == ["1", "2"]
    first, *rest = upstream.heads[0].removesuffix("\r\n\r\n").lower().split("\r\n")
    assert first == "post /mcp?a=%20b http/1.1"
    assert sorted(rest) == [
        "accept-encoding: identity",
        "accept: */*",
        "authorization: bearer k",
        "content-length: 2",
        f"host: 127.0.0.1:{upstream.port}",
        f"user-agent: pegboard/{__version__}",
        "x-own: 1",
    ]


async def test_headers_of_the_tool_take_the_place_of_the_boards(outbound: GuardedClient) -> None:
    async with (
        serve_responses(answer()) as upstream,
        create_sdk_client(outbound, headers={"user-agent": "mine"}, limit=1) as client,
    ):
        await client.get(str(upstream.url()))
    assert "user-agent: mine" in upstream.heads[0].lower()
    assert "pegboard" not in upstream.heads[0]


async def test_connections_are_shared_with_everything_else(client: httpx2.AsyncClient, outbound: GuardedClient) -> None:
    async with serve_responses(answer(b"x")) as upstream:
        for _ in range(3):
            await client.get(str(upstream.url()))
        async with create_sdk_client(outbound, headers={}, limit=LIMIT) as other:
            await other.get(str(upstream.url()))
        assert upstream.connections == 1


async def test_what_may_not_be_reached_is_refused(client: httpx2.AsyncClient) -> None:
    async with serve_responses(answer(), host="::1") as upstream:
        cause = await fault_of(client, upstream.url(host="[::1]"), httpx2.ConnectError)
        assert upstream.connections == 0
    assert isinstance(cause, EgressRefused)


async def test_a_refused_connection_is_a_connect_error(client: httpx2.AsyncClient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    assert isinstance(await fault_of(client, f"http://127.0.0.1:{port}/", httpx2.ConnectError), UpstreamUnreachable)


async def test_nonsense_is_a_protocol_error(client: httpx2.AsyncClient) -> None:
    async with serve_responses(b"nonsense\r\n\r\n", keep=False) as upstream:
        assert isinstance(await fault_of(client, upstream.url(), httpx2.RemoteProtocolError), UpstreamFailed)


async def test_silence_is_a_read_timeout(client: httpx2.AsyncClient) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    client.timeout = httpx2.Timeout(0.1)
    async with serving(silent) as upstream:
        assert isinstance(await fault_of(client, upstream.url(), httpx2.ReadTimeout), TimedOut)
        await asyncio.wait_for(upstream.gone.wait(), 30)


async def test_silence_in_the_middle_is_a_read_timeout(client: httpx2.AsyncClient) -> None:
    client.timeout = httpx2.Timeout(0.1)
    async with serve_responses(answer(b"4\r\nhalf\r\n", STREAM, length=False)) as upstream:
        assert isinstance(await fault_of(client, upstream.url(), httpx2.ReadTimeout), TimedOut)
        await asyncio.wait_for(upstream.gone.wait(), 30)


async def test_an_answer_that_breaks_off_is_a_read_error(client: httpx2.AsyncClient) -> None:
    async with serve_responses(answer(b"half", "Content-Length: 8", length=False), keep=False) as upstream:
        assert isinstance(await fault_of(client, upstream.url(), httpx2.ReadError), UpstreamUnreachable)


@pytest.mark.parametrize("length", [True, False])
async def test_a_json_answer_beyond_the_limit_is_cut_off(length: bool, client: httpx2.AsyncClient) -> None:
    body = b"x" * (LIMIT + 1)
    raw = answer(body) if length else answer(chunked(body[:500], body[500:]), STREAM, length=False)
    async with serve_responses(raw) as upstream:
        cause = await fault_of(client, upstream.url(), httpx2.ReadError)
    assert isinstance(cause, UpstreamFailed)
    assert "more than 1000 bytes" in cause.message


async def test_a_json_answer_up_to_the_limit_is_read(client: httpx2.AsyncClient) -> None:
    async with serve_responses(answer(b"x" * LIMIT)) as upstream:
        assert len((await client.get(str(upstream.url()))).content) == LIMIT


async def test_an_event_stream_has_no_total_limit(client: httpx2.AsyncClient) -> None:
    event = b"data: " + b"x" * 100 + b"\n\n"
    async with serve_responses(
        answer(chunked(*[event] * 100), EVENTS + "; charset=utf-8", STREAM, length=False)
    ) as upstream:
        assert len((await client.get(str(upstream.url()))).content) == 100 * len(event)


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity, gzip"])
async def test_compressed_answers_are_refused(encoding: str, client: httpx2.AsyncClient) -> None:
    async with serve_responses(answer(gzip.compress(b"{}"), f"Content-Encoding: {encoding}")) as upstream:
        cause = await fault_of(client, upstream.url(), httpx2.RemoteProtocolError)
    assert f"'{encoding}'" in cause.message


async def test_redirects_are_handed_back(client: httpx2.AsyncClient) -> None:
    async with serve_responses(answer(b"", "Location: http://127.0.0.1:9/", status="307 Elsewhere")) as upstream:
        response = await client.post(str(upstream.url()), content=b"{}")
    assert response.status_code == 307


async def test_events_arrive_as_they_are_sent(client: httpx2.AsyncClient) -> None:
    async def two(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_of(reader)
        writer.write(answer(b"9\r\ndata: a\n\n\r\n", EVENTS, STREAM, length=False))
        await seen.wait()
        writer.write(b"9\r\ndata: b\n\n\r\n0\r\n\r\n")
        await reader.read()

    seen = asyncio.Event()
    async with serving(two) as upstream, client.stream("POST", str(upstream.url()), content=b"{}") as response:
        events = []
        async for event in httpx2.EventSource(response):
            events.append(event.data)
            seen.set()
    assert events == ["a", "b"]


async def test_cancelling_a_request_closes_its_connection(client: httpx2.AsyncClient) -> None:
    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_of(reader)
        writer.write(answer(b"9\r\ndata: a\n\n\r\n", EVENTS, STREAM, length=False))
        await reader.read()

    async def listen() -> None:
        async with client.stream("GET", str(upstream.url())) as response:
            async for _ in httpx2.EventSource(response):
                received.set()

    received = asyncio.Event()
    async with serving(endless) as upstream:
        listening = asyncio.create_task(listen())
        await received.wait()
        listening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await listening
        await asyncio.wait_for(upstream.gone.wait(), 30)


async def test_leaving_a_stream_closes_its_connection(client: httpx2.AsyncClient) -> None:
    async with serve_responses(answer(b"9\r\ndata: a\n\n\r\n", EVENTS, STREAM, length=False)) as upstream:
        async with client.stream("GET", str(upstream.url())):
            pass
        await asyncio.wait_for(upstream.gone.wait(), 30)


async def test_a_stream_left_at_its_last_event_gives_its_connection_back(client: httpx2.AsyncClient) -> None:
    async def late_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await head_of(reader)
            writer.write(answer(b"9\r\ndata: a\n\n\r\n", EVENTS, STREAM, length=False))
            await left.wait()
            writer.write(b"0\r\n\r\n")

    left = asyncio.Event()
    async with serving(late_end) as upstream:
        for _ in range(3):
            async with client.stream("GET", str(upstream.url())) as response:
                async for _event in httpx2.EventSource(response):
                    left.set()
                    break
        assert upstream.connections == 1


async def test_a_stream_that_floods_while_it_is_left_is_closed(client: httpx2.AsyncClient) -> None:
    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_of(reader)
        writer.write(answer(b"", EVENTS, STREAM, length=False))
        while True:
            writer.write(b"9\r\ndata: a\n\n\r\n" * 1000)
            await writer.drain()

    async with serving(flood) as upstream:
        async with client.stream("GET", str(upstream.url())):
            pass
        await asyncio.wait_for(upstream.gone.wait(), 30)


async def test_file_descriptors_return_to_where_they_were(outbound: GuardedClient) -> None:
    async with serve_responses(answer(b"x" * 2000, "Connection: close")) as upstream:
        before = open_files()
        async with create_sdk_client(outbound, headers={}, limit=LIMIT) as client:
            for _ in range(20):
                with pytest.raises(httpx2.ReadError):
                    await client.get(str(upstream.url()))
        await outbound.close()

        async def few() -> bool:
            return open_files() <= before

        await until(few)
