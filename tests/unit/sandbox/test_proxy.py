"""The proxy of a confined call: URLs that are fetched."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from tests.event_loops import USE_UVLOOP
from tests.unit.http_client.upstreams import answer, chunked, head_of, serve_responses, serving
from tests.unit.sandbox.proxies import fetching, never_accepting, proxying
from tests.waiting import until


@pytest.fixture(params=USE_UVLOOP)
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Either event loop: sockets are used directly."""
    return "asyncio", {"use_uvloop": request.param}


async def test_a_url_is_fetched_without_what_concerns_the_proxy_alone() -> None:
    asked = (
        "Host: elsewhere.example",
        "Accept: text/plain",
        "Proxy-Authorization: Basic c2VjcmV0",
        "Proxy-Connection: keep-alive",
        "Connection: keep-alive, X-Mine",
        "X-Mine: 1",
        "TE: trailers",
        "Upgrade: websocket",
        "Cookie: a=1",
    )
    message = answer(b"hello", "X-Kept: 1", "Keep-Alive: timeout=5", "Connection: X-Hop", "X-Hop: 1")
    async with serve_responses(message) as up, proxying() as proxy:
        got = await proxy.answer(fetching(up.port, "/a%20b?q=1", *asked))
    assert up.heads == [
        f"GET /a%20b?q=1 HTTP/1.1\r\nHost: 127.0.0.1:{up.port}\r\nAccept: text/plain\r\nCookie: a=1\r\n"
        "Connection: close\r\n\r\n"
    ]
    assert got.head == "HTTP/1.1 200 OK\r\nX-Kept: 1\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"
    assert got.body == b"hello"


@pytest.mark.parametrize(
    ("target", "seen"),
    [
        ("", "GET / "),
        ("?q", "GET /?q "),
        ("/%00é", "GET /%00%C3%A9 "),
        ("//x@y", "GET //x@y "),
        ("/a?b=http://c", "GET /a?"),
    ],
)
async def test_a_path_arrives_as_it_was_written(target: str, seen: str) -> None:
    async with serve_responses(answer()) as up, proxying() as proxy:
        assert (await proxy.answer(fetching(up.port, target))).status == 200
        assert up.heads[0].startswith(seen)


async def test_options_without_a_path_asks_about_the_server() -> None:
    async with serve_responses(answer()) as up, proxying() as proxy:
        await proxy.answer(fetching(up.port, "", method="OPTIONS"))
        assert up.heads[0].startswith("OPTIONS * HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"),
        ("GET", b"HTTP/1.1 204 No Content\r\n\r\n"),
        ("GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n"),
        ("GET", b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"),
    ],
)
async def test_an_answer_without_a_body_ends_although_its_server_stays(method: str, message: bytes) -> None:
    async with serve_responses(message) as up, proxying() as proxy:
        got = await proxy.answer(fetching(up.port, method=method))
    assert got.body == b""
    assert got.head.replace("HTTP/1.1 200 \r", "HTTP/1.1 200\r") == message[:-2].decode() + "Connection: close\r\n\r\n"


async def test_chunks_stay_chunks_without_extensions_or_trailers() -> None:
    response = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n1;z\r\n!\r\n0\r\nX-Sum: 1\r\n\r\n"
    )
    async with serve_responses(response) as up, proxying() as proxy:
        got = await proxy.answer(fetching(up.port))
        old = await proxy.answer(fetching(up.port).replace(b"HTTP/1.1", b"HTTP/1.0"))
    assert (got.head.count("chunked"), got.body) == (1, chunked(b"hello", b"!"))
    assert ("Transfer-Encoding" in old.head, old.body) == (False, b"hello!")
    assert up.heads[1].startswith("GET / HTTP/1.1\r\n"), "a proxy states its own version"


async def test_an_answer_without_a_length_lasts_until_its_server_ends() -> None:
    async with serve_responses(b"HTTP/1.0 200 OK\r\n\r\n" + b"x" * 300_000, keep=False) as up, proxying() as proxy:
        got = await proxy.answer(fetching(up.port))
        old = await proxy.answer(fetching(up.port).replace(b"HTTP/1.1", b"HTTP/1.0"))
    assert "Transfer-Encoding: chunked\r\n" in got.head
    assert got.body.endswith(b"\r\n0\r\n\r\n")
    assert got.body.count(b"x") == 300_000
    assert old.body == b"x" * 300_000


@pytest.mark.parametrize("framed", [True, False], ids=["length", "chunks"])
async def test_a_body_is_sent_on_as_it_is_framed(framed: bool) -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        seen.append(head.lower())
        end = b"y" if framed else b"\r\n0\r\n\r\n"
        body = b""
        while body.count(b"y") < 200_000 or not body.endswith(end):
            body += await reader.read(2**16)
        writer.write(answer(body))

    seen: list[bytes] = []
    body = b"y" * 200_000
    header = "Content-Length: 200000" if framed else "Transfer-Encoding: Chunked"
    async with serving(echo) as up, proxying() as proxy:
        sent = body if framed else chunked(body[:1], body[1:])
        got = await proxy.answer(fetching(up.port, "/", header, method="POST") + sent)
    assert (b"content-length: 200000" in seen[0], b"transfer-encoding: chunked" in seen[0]) == (framed, not framed)
    assert got.body.count(b"y") == len(body)


async def test_a_server_that_is_asked_first_says_when_to_continue() -> None:
    async def strict(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert b"Expect: 100-continue" in await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        writer.write(answer(await reader.readexactly(3)))

    async with serving(strict) as up, proxying() as proxy:
        client = await proxy.client()
        await client.say(fetching(up.port, "/", "Expect: 100-continue", "Content-Length: 3", method="PUT"))
        assert await client.head() == "HTTP/1.1 100 Continue\r\n\r\n"
        await client.say(b"abc")
        assert (await client.answer()).body == b"abc"
        client.leave()


async def test_a_second_request_on_the_same_connection_reaches_no_one() -> None:
    async with serve_responses(answer(b"one")) as first, serve_responses(answer(b"two")) as second, proxying() as proxy:
        got = await proxy.answer(fetching(first.port) + fetching(second.port, "/", "Cookie: for-the-second"))
    assert got.body == b"one"
    assert len(first.heads) == 1
    assert "for-the-second" not in first.heads[0]
    assert second.connections == 0


async def test_a_response_before_the_end_of_the_request_is_passed_on() -> None:
    async def full(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer(b"too much", status="413 Content Too Large"))
        await writer.drain()

    async with serving(full) as up, proxying() as proxy:
        body = b"x" * 5_000_000
        got = await proxy.answer(fetching(up.port, "/", f"Content-Length: {len(body)}", method="POST") + body)
    assert (got.status, got.body) == (413, b"too much")


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (b"", "closed the connection without an answer"),
        (b"HTTP/1.1 200 OK\r\nContent-", "closed the connection without an answer"),
        (b"SSH-2.0-x\r\n\r\n", "did not answer in HTTP: its status line"),
        (b"\x15\x03\x01\0\2", "did not answer in HTTP: it does not begin"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000, "did not answer in HTTP: the head is longer"),
        (b"HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "did not answer in HTTP: a line of the head is not 'Name: value'"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "both given"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "did not answer in HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", "given twice"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\nx", "not one whole number"),
        (b"HTTP/1.1 200 OK\nContent-Length: 1\n\nx", "ends with CR LF"),
        (b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "does not begin with a space"),
    ],
)
async def test_a_server_that_does_not_answer_in_http_is_reported_to_be_at_fault(message: bytes, reason: str) -> None:
    async with serve_responses(message, keep=False) as up, proxying() as proxy:
        got = await proxy.answer(fetching(up.port))
    assert got.status == 502
    assert got.body.decode().startswith(f"127.0.0.1:{up.port} ")
    assert reason in got.body.decode()


@pytest.mark.parametrize(
    "message",
    [
        b"HTTP/1.1 200 OK\r\n\r\npart",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\nxyz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart!\r\n0\r\n\r\n",
    ],
)
async def test_half_an_answer_is_never_taken_for_the_whole(message: bytes) -> None:
    async def breaking(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_of(reader)
        writer.write(message)
        await received.wait()
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        writer.transport.abort()

    received = asyncio.Event()
    async with serving(breaking) as up, proxying() as proxy:
        client = await proxy.client()
        await client.say(fetching(up.port))
        await client.head()
        received.set()
        with pytest.raises(ConnectionResetError):
            await client.rest()
        client.leave()


async def test_a_server_that_is_not_there_or_does_not_accept_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        unreachable = listening.getsockname()[1]
    async with never_accepting() as silent, proxying(connect_seconds=0.3) as proxy:
        for item in (fetching(unreachable), f"CONNECT 127.0.0.1:{unreachable} HTTP/1.1\r\n\r\n".encode()):
            got = await proxy.answer(item)
            assert (got.status, got.phrase) == (
                502,
                f"Could not connect to 127.0.0.1:{unreachable}: Connection refused",
            )
        got = await proxy.answer(fetching(silent))
    assert got.status == 502
    assert got.body.decode() == f"Could not connect to 127.0.0.1:{silent}: it did not answer within 0.3 s\n"


async def test_a_server_that_never_answers_is_given_up() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with serving(silent) as up, proxying(idle_seconds=0.2) as proxy:
        got = await proxy.answer(fetching(up.port))
        await asyncio.wait_for(up.gone.wait(), 30)
    assert (got.status, got.phrase) == (504, f"127.0.0.1:{up.port} sent nothing for 0.2 s")


@pytest.mark.parametrize("sent", ["four", "it is all"])
async def test_a_client_that_disconnects_ends_its_request(sent: str) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.append(1)
        await reader.read()

    async def seen() -> bool:
        return bool(asked)

    asked: list[int] = []
    async with serving(silent) as up, proxying() as proxy:
        client = await proxy.client()
        await client.say(fetching(up.port, "/", "Content-Length: 9", method="POST") + sent.encode())
        await until(seen)
        client.leave()
        await asyncio.wait_for(up.gone.wait(), 30)
