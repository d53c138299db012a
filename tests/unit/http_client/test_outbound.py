"""The exact bytes of requests, and the connections that they use."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from multidict import CIMultiDict
from yarl import URL

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.bounded_body import read_bounded_body
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.model.call_errors import Unavailable, UpstreamUnreachable
from pegboard.version import __version__
from tests.unit.http_client.upstreams import Upstream, answer, once_a_connection, serve_responses, serving
from tests.waiting import until

LOCAL = AllowList.read("127.0.0.1, localhost")


@pytest.fixture
async def outbound() -> AsyncIterator[GuardedClient]:
    """A way out to loopback."""
    made = GuardedClient(LOCAL, connect_seconds=10)
    yield made
    await made.close()


def lines(head: str) -> list[str]:
    return head.removesuffix("\r\n\r\n").split("\r\n")


async def test_a_request_carries_what_it_was_given_and_little_else(outbound: GuardedClient) -> None:
    async with serve_responses(answer(b"fine")) as upstream:
        response = await outbound.send("GET", upstream.url("/a%2Fb?x=%20&y"), headers={"X-Key": "k"})
        assert response.status == 200
        assert await read_bounded_body(response, 10) == b"fine"
    assert lines(upstream.heads[0]) == [
        "GET /a%2Fb?x=%20&y HTTP/1.1",
        f"Host: 127.0.0.1:{upstream.port}",
        f"User-Agent: pegboard/{__version__}",
        "Accept: application/json, */*;q=0.8",
        "Accept-Encoding: gzip, deflate",
        "X-Key: k",
    ]


async def test_headers_given_take_the_place_of_the_boards_own(outbound: GuardedClient) -> None:
    headers = CIMultiDict([("user-agent", "mine"), ("Accept-Encoding", "identity"), ("X-A", "1"), ("X-A", "2")])
    async with serve_responses(answer()) as upstream:
        await read_bounded_body(await outbound.send("GET", upstream.url(), headers=headers), 10)
    sent = lines(upstream.heads[0])[2:]
    assert sorted(line.lower() for line in sent) == [
        "accept-encoding: identity",
        "accept: application/json, */*;q=0.8",
        "user-agent: mine",
        "x-a: 1",
        "x-a: 2",
    ]


@pytest.mark.parametrize("size", [0, 5, 2**20 + 1], ids=["empty", "small", "large"])
async def test_a_body_arrives_whole_with_its_length(size: int, outbound: GuardedClient) -> None:
    received: list[bytes] = []

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        received.extend([head.lower(), await reader.readexactly(size)])
        writer.write(answer())
        await reader.read()

    body = os.urandom(size)
    async with serving(take) as upstream:
        await read_bounded_body(await outbound.send("POST", upstream.url(), body=body), 10)
    assert received[1] == body
    assert f"\r\ncontent-length: {size}\r\n".encode() in received[0]


async def test_proxies_of_the_environment_are_not_used(
    outbound: GuardedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with serve_responses(answer(b"direct")) as upstream:
        assert await read_bounded_body(await outbound.send("GET", upstream.url()), 10) == b"direct"


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Again", "308 For Good"])
async def test_a_redirect_is_handed_back_and_not_followed(status: str, outbound: GuardedClient) -> None:
    async with serve_responses(answer(b"", "Location: /else", status=status)) as upstream:
        response = await outbound.send("GET", upstream.url())
        assert response.status == int(status[:3])
        assert response.headers["Location"] == "/else"
        await read_bounded_body(response, 10)
    assert len(upstream.heads) == 1


async def test_cookies_are_not_kept(outbound: GuardedClient) -> None:
    async with serve_responses(answer(b"", "Set-Cookie: a=b; Path=/")) as upstream:
        for _ in range(2):
            await read_bounded_body(await outbound.send("GET", upstream.url()), 10)
    assert "cookie" not in upstream.heads[1].lower()


async def test_connections_are_used_again(outbound: GuardedClient) -> None:
    async with serve_responses(answer(b"x")) as upstream:
        for method in ("GET", "POST", "GET"):
            await read_bounded_body(await outbound.send(method, upstream.url()), 10)
        assert (upstream.connections, len(upstream.heads)) == (1, 3)


async def test_a_name_is_looked_up_once_for_many_requests_at_once() -> None:
    asked: list[str] = []

    async def resolver(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"]

    outbound = GuardedClient(LOCAL, resolver=resolver, connect_seconds=10)

    async def one(upstream: Upstream) -> bytes:
        return await read_bounded_body(await outbound.send("GET", upstream.url(host="api.example")), 10)

    async with serve_responses(answer(b"x")) as upstream:
        assert await asyncio.gather(*(one(upstream) for _ in range(20))) == [b"x"] * 20
    assert asked == ["api.example"]
    await outbound.close()


async def test_a_lookup_that_hangs_holds_up_no_other(outbound: GuardedClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow_for_some(host: str, *args: Any, **options: Any) -> Any:
        if host != "localhost":
            hanging.append(host)
            done.wait(20)
        return look_up(host, *args, **options)

    look_up = socket.getaddrinfo
    hanging: list[str] = []
    done = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", slow_for_some)
    async with serve_responses(answer(b"x")) as upstream:
        slow = [asyncio.create_task(outbound.send("GET", URL(f"http://h{number}.invalid/"))) for number in range(40)]

        async def all_hang() -> bool:
            return len(hanging) == 40

        await until(all_hang)
        async with asyncio.timeout(30):
            assert await read_bounded_body(await outbound.send("GET", upstream.url(host="localhost")), 10) == b"x"
            await outbound.close()
        assert {type(fault) for fault in await asyncio.gather(*slow, return_exceptions=True)} == {Unavailable}
    done.set()


async def test_requests_at_once_are_each_judged_by_the_host_they_ask_for(outbound: GuardedClient) -> None:
    async def resolver(host: str, port: int) -> Sequence[str]:
        await asyncio.sleep(0)
        return ["127.0.0.1"]

    outbound = GuardedClient(AllowList.read("good.example"), resolver=resolver, connect_seconds=10)

    async def one(upstream: Upstream, number: int) -> str:
        host = "good.example" if number % 2 else "bad.example"
        try:
            response = await outbound.send("GET", upstream.url(host=host))
        except Exception as error:  # the test checks which one is used
            return type(error).__name__
        return (await read_bounded_body(response, 10)).decode()

    async with serve_responses(answer(b"x")) as upstream:
        outcomes = await asyncio.gather(*(one(upstream, number) for number in range(40)))
        assert all("good.example" in head for head in upstream.heads)
    assert outcomes == ["EgressRefused", "x"] * 20
    await outbound.close()


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
async def test_a_pooled_connection_found_closed_is_replaced(method: str, outbound: GuardedClient) -> None:
    async with once_a_connection() as upstream:
        for _ in range(3):
            await read_bounded_body(await outbound.send(method, upstream.url(), resend=True), 10)
        assert upstream.connections == 3


async def test_nothing_is_sent_twice_unasked(outbound: GuardedClient) -> None:
    async with once_a_connection() as upstream:
        await read_bounded_body(await outbound.send("GET", upstream.url()), 10)
        with pytest.raises(UpstreamUnreachable, match="closed the connection without an answer") as caught:
            await outbound.send("GET", upstream.url())
        assert len(upstream.heads) == 2
    assert caught.value.did_run, "it may have"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_what_may_have_taken_effect_is_not_sent_twice(method: str, outbound: GuardedClient) -> None:
    async with once_a_connection() as upstream:
        await read_bounded_body(await outbound.send("GET", upstream.url()), 10)
        with pytest.raises(UpstreamUnreachable, match="closed the connection without an answer"):
            await outbound.send(method, upstream.url(), body=b"once", resend=True)
        assert len([head for head in upstream.heads if head.startswith(method)]) == 1
