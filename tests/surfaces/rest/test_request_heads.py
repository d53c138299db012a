"""Request heads are limited in bytes, fields and time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import anyio
import pytest
from anyio.abc import SocketStream

from pegboard import Pegboard
from pegboard.surfaces.rest.connection_limits import MAX_HEAD_BYTES, MAX_HEAD_FIELDS, ConnectionLimits
from tests.board_surfaces import served
from tests.surfaces.rest.raw_http import WAIT, head, read_response, wire

ECHO = "/v1/tools/echo/call"
BODY = b'{"text": "hello"}'
# Short enough to wait for, and long enough that a request sent at once is never too late.
SOON = 0.3


@pytest.fixture
async def url(board: Pegboard) -> AsyncIterator[str]:
    """The address of the board."""
    async with served(board) as address:
        yield address


@pytest.fixture
async def hasty(board: Pegboard) -> AsyncIterator[str]:
    """The address of a board that waits a moment for a head."""
    async with served(board, limits=ConnectionLimits(None, head_seconds=SOON)) as address:
        yield address


async def rest_of(stream: SocketStream) -> bytes:
    """Return all that the server sends until it closes the connection."""
    received = b""
    with anyio.fail_after(WAIT):
        while True:
            try:
                received += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return received


async def flood(stream: SocketStream, part: bytes, most: int) -> int:
    """Send a part repeatedly until the server closes its side or this much is sent; return how much was."""
    sent = 0
    closed = anyio.Event()
    received = b""

    async def read() -> None:
        nonlocal received
        received = await rest_of(stream)
        closed.set()

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        while sent < most and not closed.is_set():
            await stream.send(part)  # which the server still reads, so that its answer is not lost by a reset
            sent += len(part)
        await closed.wait()
    assert received.startswith(b"HTTP/1.1 431 ")
    assert received.count(b"HTTP/1.1") == 1
    assert b"\r\nconnection: close\r\n" in received
    assert b'"title":"Request head too large"' in received
    return sent


@pytest.mark.parametrize(
    ("start", "part"),
    [
        (b"GET /healthz HTTP/1.1\r\nHost: board\r\nX: ", b"x" * 65536),
        (b"GET /healthz HTTP/1.1\r\nHost: board\r\n", b"".join(b"X-%d: %b\r\n" % (n, b"x" * 900) for n in range(70))),
        (b"GET /healthz HTTP/1.1\r\nHost: board\r\n", b"a:\r\n" * 1000),
        (b"GET /healthz HTTP/1.1\r\nHost: board\r\n", b"x" * 65536),
        (b"GET /healthz?", b"x" * 65536),
        (b"POST /v1/calls HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n", b"a:\r\n" * 1000),
        (b"POST /v1/calls HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\nX: ", b"x" * 65536),
        (b"POST /v1/calls HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;x=", b"x" * 65536),
    ],
    ids=[
        "a value without end",
        "fields without end",
        "tiny fields without end",
        "a name without end",
        "a URL without end",
        "trailers without end",
        "a trailer without end",
        "an extension of a chunk without end",
    ],
)
async def test_a_head_without_end_is_refused_and_the_rest_is_not_kept(
    board: Pegboard, start: bytes, part: bytes
) -> None:
    most = 64 * 2**20
    async with served(board) as url, wire(url) as stream:
        await stream.send(start)
        if start.startswith(b"POST"):
            status, _, _ = await read_response(stream)
            assert status == 401
        # The server closes its side at once; what the client had sent by then is what fits in the buffers between.
        assert await flood(stream, part, most) < most / 4


@pytest.mark.parametrize("path", ["/healthz", ECHO, "/v1/tools"])
async def test_one_field_more_than_the_limit_is_refused(url: str, path: str) -> None:
    for count, expected in ((MAX_HEAD_FIELDS, 200), (MAX_HEAD_FIELDS + 1, 431)):
        method = "POST" if path == ECHO else "GET"
        fixed = ["Content-Length: 2"] if method == "POST" else []
        fields = [f"X-{number}: 1" for number in range(count - 2 - len(fixed))]  # beside Host and Authorization
        async with wire(url) as stream:
            await stream.send(head(method, path, *fixed, *fields) + (b"{}" if method == "POST" else b""))
            status, headers, body = await read_response(stream)
            assert status == expected
            if expected == 431:
                assert headers["content-type"] == "application/problem+json"
                assert "64 KiB" not in body["detail"]
                assert "65,536 bytes, or more than 100 fields" in body["detail"]
                assert await rest_of(stream) == b""


async def test_a_head_of_exactly_the_limit_is_accepted_and_a_byte_more_is_not(url: str) -> None:
    fixed = head("GET", "/healthz", "X: ", key=None)
    # The method, the version and the line ends around them are not counted.
    counted = len(fixed) - len("GET  HTTP/1.1\r\n") - len("\r\n")
    for extra, expected in ((MAX_HEAD_BYTES - counted, 200), (MAX_HEAD_BYTES - counted + 1, 431)):
        async with wire(url) as stream:
            await stream.send(head("GET", "/healthz", f"X: {'x' * extra}", key=None))
            assert (await read_response(stream))[0] == expected


async def test_a_large_body_before_a_head_does_not_count_as_head(url: str) -> None:
    body = b'{"text": "' + b"x" * 300_000 + b'"}'
    one = head("POST", ECHO, f"Content-Length: {len(body)}") + body
    second = head("POST", ECHO, f"Content-Length: {len(BODY)}", f"X: {'x' * 60_000}") + BODY
    async with wire(url) as stream:
        await stream.send(one + second[:50_000])
        assert (await read_response(stream))[0] == 200
        await stream.send(second[50_000:])
        assert (await read_response(stream))[0] == 200


async def test_what_is_not_http_is_refused_as_a_problem(url: str) -> None:
    async with wire(url) as stream:
        await stream.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        status, headers, body = await read_response(stream)
        assert (status, headers["content-type"]) == (400, "application/problem+json")
        assert body["detail"] == "The request is not valid HTTP"


async def test_a_bad_second_request_is_not_answered_in_the_place_of_the_first(board: Pegboard) -> None:
    began = asyncio.Event()

    @board.tool
    async def endless() -> None:
        began.set()
        await asyncio.Event().wait()

    async with served(board) as url, wire(url) as stream:
        await stream.send(head("POST", "/v1/tools/endless/call", "Content-Length: 2") + b"{}")
        with anyio.fail_after(WAIT):
            await began.wait()
        await stream.send(b"GET /healthz HTTP/1.1\r\n" + b"a:\r\n" * 200)
        assert await rest_of(stream) == b""


@pytest.mark.parametrize("sent", [b"", b"\r\n"])
async def test_a_connection_that_sends_nothing_is_closed(hasty: str, sent: bytes) -> None:
    async with wire(hasty) as stream:
        if sent:
            await stream.send(sent)
        assert await rest_of(stream) == b""


async def test_a_head_that_is_not_complete_in_time_is_answered_408_and_closed(hasty: str) -> None:
    async with wire(hasty) as stream:
        await stream.send(b"GET /healthz HTTP/1.1\r\nHost: boa")
        assert (await rest_of(stream)).startswith(b"HTTP/1.1 408 ")


async def test_sending_a_byte_now_and_then_does_not_extend_the_deadline(hasty: str) -> None:
    async with wire(hasty) as stream:
        await stream.send(b"GET /healthz HTTP/1.1\r\nX: ")
        received: list[bytes] = []

        async def read() -> None:
            received.append(await rest_of(stream))

        with anyio.fail_after(WAIT):
            async with anyio.create_task_group() as group:
                group.start_soon(read)
                while not received:
                    with anyio.move_on_after(SOON / 10):
                        await stream.send(b"x")
                        await anyio.sleep_forever()
                    if received:
                        break
        assert received[0].startswith(b"HTTP/1.1 408 ")


async def test_the_head_after_an_answer_has_a_deadline_too(hasty: str) -> None:
    async with wire(hasty) as stream:
        await stream.send(head("POST", ECHO, f"Content-Length: {len(BODY)}") + BODY)
        assert (await read_response(stream))[0] == 200
        await stream.send(b"POST /v1/to")
        assert (await rest_of(stream)).startswith(b"HTTP/1.1 408 ")


async def test_a_body_that_is_sent_on_slowly_after_a_refusal_does_not_hold_the_connection(hasty: str) -> None:
    async with wire(hasty) as stream:
        await stream.send(head("POST", "/v1/calls", "Content-Length: 1000000", key=None))
        assert (await read_response(stream))[0] == 401
        await stream.send(b"x" * 10)
        assert await rest_of(stream) == b""


async def test_a_call_that_takes_longer_than_the_deadline_of_a_head_is_answered(board: Pegboard) -> None:
    @board.tool
    async def slow() -> str:
        await asyncio.sleep(3 * SOON)
        return "done"

    async with served(board, limits=ConnectionLimits(None, head_seconds=SOON)) as url, wire(url) as stream:
        for _ in range(2):
            await stream.send(head("POST", "/v1/tools/slow/call", "Content-Length: 2") + b"{}")
            assert (await read_response(stream))[2]["result"] == "done"


async def test_a_slow_reader_of_a_long_answer_gets_all_of_it(board: Pegboard) -> None:
    @board.tool(max_result_bytes=64 * 2**20)
    async def long() -> str:
        return "x" * (32 * 2**20)

    async with served(board, limits=ConnectionLimits(None, head_seconds=0.1)) as url, wire(url) as stream:
        await stream.send(head("POST", "/v1/tools/long/call", "Content-Length: 2") + b"{}")
        received = await stream.receive()
        length = int(received.split(b"content-length: ")[1].split(b"\r\n")[0])
        total = len(received.partition(b"\r\n\r\n")[2])
        while total < length:
            await anyio.sleep(0.002)  # the deadline passes several times before the end
            total += len(await stream.receive(256 * 1024))
        assert total == length
