"""Requests that are written in one piece, and the connections they leave in the pool."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from multidict import CIMultiDict

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.bounded_body import read_bounded_body
from pegboard.http_client.guarded_client import AddressInfo, GuardedClient
from pegboard.model.call_errors import UpstreamFailed
from tests.event_loops import USE_UVLOOP
from tests.unit.http_client.upstreams import answer, chunked, head_of, serve_responses, serving

LOCAL = AllowList.read("127.0.0.1")


class Narrow(GuardedClient):
    """A client whose sockets have small send buffers."""

    def _socket(self, info: AddressInfo) -> socket.socket:
        made = super()._socket(info)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        return made


@pytest.fixture(params=USE_UVLOOP)
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Either event loop, because their transports differ."""
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture
async def outbound() -> AsyncIterator[GuardedClient]:
    """A way out to loopback that fills up quickly."""
    made = Narrow(LOCAL, connect_seconds=10)
    yield made
    await made.close()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "GET", "OPTIONS"])
async def test_a_request_that_could_have_a_body_says_that_it_has_none(outbound: GuardedClient, method: str) -> None:
    async with serve_responses(answer()) as upstream:
        await read_bounded_body(await outbound.send(method, upstream.url()), 10)
    assert ("Content-Length: 0\r\n" in upstream.heads[0]) is (method not in {"GET", "OPTIONS"})


async def test_answers_that_only_announce_another_are_passed_over(outbound: GuardedClient) -> None:
    hint = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
    async with serve_responses(b"HTTP/1.1 100 Continue\r\n\r\n" + hint + answer(b"real")) as upstream:
        for _ in range(2):
            response = await outbound.send("GET", upstream.url())
            assert response.status == 200
            assert "Link" not in response.headers
            assert await read_bounded_body(response, 10) == b"real"
        assert upstream.connections == 1


async def test_a_body_that_is_all_there_is_still_held_to_the_limit(outbound: GuardedClient) -> None:
    raw = answer(b"", "Transfer-Encoding: chunked", length=False) + chunked(b"12345", b"67890")
    async with serve_responses(raw) as upstream:
        with pytest.raises(UpstreamFailed, match="more than 9 bytes"):
            await read_bounded_body(await outbound.send("GET", upstream.url()), 9)
        assert await read_bounded_body(await outbound.send("GET", upstream.url()), 10) == b"1234567890"


async def test_a_body_larger_than_every_buffer_arrives_whole(outbound: GuardedClient) -> None:
    seen: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        seen.append(await reader.readexactly(2**20))
        writer.write(answer(seen[0]))
        await head_of(reader)

    body = bytes(range(256)) * 2**12
    async with serving(handle) as upstream:
        response = await outbound.send("POST", upstream.url(), body=body)
        assert await read_bounded_body(response, 2**20) == body
    assert seen == [body]


@pytest.mark.parametrize(
    ("head", "body"),
    [(0, bytes(2**20)), (0, bytes(60_000)), (60_000, None)],
    ids=["a large body", "a body that aiohttp writes at once", "a large head"],
)
async def test_a_connection_that_was_answered_too_early_is_not_used_again(
    head: int, body: bytes | None, outbound: GuardedClient
) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n")
        cast(asyncio.Transport, writer.transport).pause_reading()
        writer.write(answer(b"no", status="413 Content Too Large"))
        await asyncio.Event().wait()

    async with serving(handle, buffered=2048) as upstream, asyncio.timeout(30):
        for _ in range(2):
            response = await outbound.send("POST", upstream.url(), headers={"X-Head": "x" * head}, body=body)
            assert response.status == 413
            assert await read_bounded_body(response, 10) == b"no"
        assert upstream.connections == 2


async def test_a_body_is_sent_without_waiting_for_the_answer_to_expect(outbound: GuardedClient) -> None:
    async with serve_responses(answer(b"done")) as upstream, asyncio.timeout(30):
        response = await outbound.send("PUT", upstream.url(), headers={"Expect": "100-continue"}, body=b"body")
        assert await read_bounded_body(response, 10) == b"done"
    assert "Expect: 100-continue\r\n" in upstream.heads[0]


async def test_headers_are_sent_as_they_are_given(outbound: GuardedClient) -> None:
    headers = CIMultiDict([("X-A", "1"), ("x-a", "2"), ("Cookie", "a=b"), ("Authorization", "Basic x")])
    async with serve_responses(answer()) as upstream:
        for body in (None, b"", b"body"):
            await read_bounded_body(await outbound.send("POST", upstream.url(), headers=headers, body=body), 10)
    for sent, length in zip(upstream.heads, (0, 0, 4), strict=True):
        assert sorted(sent.splitlines()[4:-1]) == [
            "Accept-Encoding: gzip, deflate",
            "Authorization: Basic x",
            f"Content-Length: {length}",
            "Cookie: a=b",
            "X-A: 1",
            "x-a: 2",
        ]


async def test_giving_up_the_wait_for_an_answer_closes_the_connection(outbound: GuardedClient) -> None:
    asked = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await head_of(reader)
        asked.set()
        assert await reader.read() == b""

    async with serving(handle) as upstream:
        waiting = asyncio.create_task(outbound.send("GET", upstream.url()))
        await asyncio.wait_for(asked.wait(), 10)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.wait_for(upstream.gone.wait(), 10)
