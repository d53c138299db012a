"""Unusual requests and clients at the routes of calls."""

from __future__ import annotations

import asyncio
import gc
import weakref
from contextlib import suppress
from typing import Any

import pytest
from anyio import EndOfStream

from pegboard import Pegboard
from pegboard.conversations.conversations import Conversations
from pegboard.surfaces.rest.bounded_connection import BoundedConnection
from pegboard.surfaces.rest.fast_call_routes import FastCallRoutes
from pegboard.testing import calls_of
from tests.board_surfaces import KEY, served
from tests.surfaces.rest.raw_http import head, read_response, wire
from tests.waiting import until

ECHO, PAYLOADS = "/v1/tools/echo/call", "/v1/calls"
CALL = b'{"name": "echo", "arguments": {"text": "hello"}}'


@pytest.mark.parametrize("path", [ECHO, PAYLOADS, "/v1/calls/normalize"])
async def test_a_length_with_thousands_of_zeros_in_front_is_read(board: Pegboard, path: str) -> None:
    async with served(board) as url, wire(url) as stream:
        await stream.send(head("POST", path, f"Content-Length: {'0' * 5000}{len(CALL)}") + CALL)
        assert (await read_response(stream))[0] == 200


async def test_a_length_with_zeros_in_front_does_not_hide_that_a_body_is_too_large(board: Pegboard) -> None:
    length = f"{'0' * 5000}{board.settings.max_body_bytes + 1}"
    async with served(board) as url, wire(url) as stream:
        await stream.send(head("POST", ECHO, f"Content-Length: {length}"))
        assert (await read_response(stream))[0] == 413


@pytest.mark.parametrize("path", [ECHO, PAYLOADS])
async def test_a_trailer_is_no_header_even_if_it_arrives_later(board: Pegboard, path: str) -> None:
    async with served(board) as url, wire(url) as stream:
        await stream.send(head("POST", path, "Transfer-Encoding: chunked") + b"1\r\n{\r\n0\r\n")
        await asyncio.sleep(0.01)  # so that it is read before the rest
        await stream.send(b"X-Request-Id: from-a-trailer\r\n\r\n")
        status, headers, _ = await read_response(stream)
    assert status == 400
    assert headers["x-request-id"] != "from-a-trailer"


@pytest.mark.parametrize("parts", [1, 2])
async def test_a_change_of_protocol_with_a_body_is_refused_before_the_call(board: Pegboard, parts: int) -> None:
    lines = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", f"Content-Length: {len(CALL)}")
    async with served(board) as url, wire(url) as stream:
        for part in [head("POST", PAYLOADS, *lines) + CALL] if parts == 1 else [head("POST", PAYLOADS, *lines), CALL]:
            await stream.send(part)
        status, headers, body = await read_response(stream)
    assert (status, headers["connection"]) == (400, "close")
    assert "send it without the header field Upgrade" in body["detail"]
    assert await calls_of(board) == []


CHUNKED = head("POST", ECHO, "Transfer-Encoding: chunked")
CHUNKS = b'11\r\n{"text": "hello"}\r\n0\r\n'


async def test_a_request_after_a_body_in_chunks_is_answered_on_the_same_connection(board: Pegboard) -> None:
    async with served(board) as url, wire(url) as stream:
        for _ in range(2):
            await stream.send(CHUNKED + CHUNKS + b"\r\n")
            assert (await read_response(stream))[2]["result"] == {"echo": {"text": "hello"}}
        for _ in range(2):
            # Its body is not read.
            await stream.send(head("POST", ECHO, "Transfer-Encoding: chunked", key=None) + CHUNKS + b"\r\n")
            assert (await read_response(stream))[0] == 401
        await stream.send(CHUNKED)
        await stream.send(CHUNKS + b"\r\n")
        assert (await read_response(stream))[2]["result"] == {"echo": {"text": "hello"}}
        await stream.send(head("GET", "/healthz"))
        assert (await read_response(stream))[0] == 200


async def test_trailers_of_a_request_behind_a_body_in_chunks_are_no_headers(board: Pegboard) -> None:
    trailer = f"Authorization: Bearer {KEY}\r\n\r\n".encode()
    unsigned = head("POST", ECHO, "Transfer-Encoding: chunked", key=None)
    for first in (CHUNKED, unsigned):
        async with served(board) as url, wire(url) as stream:
            await stream.send(first + CHUNKS + b"\r\n" + unsigned + CHUNKS + trailer)
            received = b""
            with suppress(EndOfStream):
                while True:
                    received += await stream.receive()
        assert received.startswith(b"HTTP/1.1 200" if first is CHUNKED else b"HTTP/1.1 401")
        assert received.count(b"HTTP/1.1 ") == 2
        assert received.count(b"HTTP/1.1 200") == (1 if first is CHUNKED else 0)


async def test_a_request_without_a_body_behind_a_body_in_chunks_is_answered(board: Pegboard) -> None:
    async with served(board) as url, wire(url) as stream:
        await stream.send(CHUNKED + CHUNKS + b"\r\n" + head("GET", "/healthz") + head("GET", "/healthz"))
        received = b""
        while received.count(b"HTTP/1.1 200") < 3:
            received += await stream.receive()


async def test_a_body_in_many_chunks_is_read(board: Pegboard) -> None:
    text = b'{"text": "' + b"x" * 200_000 + b'"}'
    async with served(board) as url, wire(url) as stream:
        body = b"".join(b"1\r\n%c\r\n" % byte for byte in text)
        await stream.send(CHUNKED + body + b"0\r\n\r\n")
        status, _, answer = await read_response(stream)
        assert (status, answer.get("result")) == (200, {"echo": {"text": "x" * 200_000}}), str(answer)[:500]


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_url_that_is_too_long_is_refused(board: Pegboard, at_once: bool) -> None:
    whole = head("POST", f"{ECHO}?{'x' * 70_000}", f"Content-Length: {len(CALL)}") + CALL
    async with served(board) as url, wire(url) as stream:
        await stream.send(whole if at_once else whole[:-3])
        assert (await stream.receive()).startswith(b"HTTP/1.1 431 ")


async def test_the_first_of_two_media_types_counts_with_events_and_without(board: Pegboard) -> None:
    text = b'<tool_call>{"name": "echo", "arguments": {}}</tool_call>'
    lines = ("Content-Type: text/plain", "Content-Type: application/json", f"Content-Length: {len(text)}")
    async with served(board) as url, wire(url) as stream:
        await stream.send(head("POST", PAYLOADS, *lines) + text)
        assert (await read_response(stream))[0] == 200
        await stream.send(head("POST", PAYLOADS, *lines, "Accept: text/event-stream") + text)
        assert (await stream.receive()).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("path", [ECHO, PAYLOADS])
async def test_a_body_that_never_begins_is_given_up(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr("pegboard.surfaces.rest.asgi_request.BODY_TIMEOUT_SECONDS", 0.1)
    async with served(board) as url, wire(url) as stream:
        await stream.send(head("POST", path, "Content-Length: 100"))
        assert (await read_response(stream))[0] == 408


async def test_a_call_whose_caller_left_before_it_began_ends_too(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, left = asyncio.Event(), asyncio.Event()

    @board.tool
    async def endless() -> None:
        await asyncio.Event().wait()

    async def get_slowly(*_: Any) -> None:
        asked.set()
        await left.wait()

    lost = BoundedConnection.connection_lost

    def noticed(self: BoundedConnection, exc: Exception | None) -> None:
        lost(self, exc)
        left.set()

    async def ended() -> Any:
        return await calls_of(board)

    monkeypatch.setattr(Conversations, "get", get_slowly)
    monkeypatch.setattr(BoundedConnection, "connection_lost", noticed)
    async with served(board) as url:
        async with wire(url) as stream:
            call = b'{"name": "endless", "arguments": {}}'
            await stream.send(head("POST", f"{PAYLOADS}?thread=one", f"Content-Length: {len(call)}") + call)
            await asked.wait()
        (row,) = await until(ended, seconds=5)
    assert row.code == "cancelled"


async def test_what_breaks_in_a_route_is_a_problem_and_in_the_log(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: Any) -> None:
        raise RuntimeError("the inside")

    monkeypatch.setattr(Conversations, "get", broken)
    async with served(board) as url, wire(url) as stream:
        lines = ("X-Request-Id: mine-1", f"Content-Length: {len(CALL)}")
        await stream.send(head("POST", f"{PAYLOADS}?thread=one", *lines) + CALL)
        status, headers, body = await read_response(stream)
    assert (status, headers["x-request-id"], body["request_id"]) == (500, "mine-1", "mine-1")
    assert "the inside" not in str(body)
    assert "request_broke request_id=mine-1" in caplog.text
    assert "the inside" in caplog.text


async def test_what_breaks_after_the_calls_is_answered_with_the_id_that_they_are_recorded_with(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def found(*_: Any) -> None: ...

    async def broken(*_: Any) -> None:
        raise RuntimeError("the inside")

    monkeypatch.setattr(Conversations, "get", found)
    monkeypatch.setattr(Conversations, "remember", broken)
    async with served(board) as url, wire(url) as stream:
        await stream.send(head("POST", f"{PAYLOADS}?thread=one", f"Content-Length: {len(CALL)}") + CALL)
        status, headers, _ = await read_response(stream)
    (row,) = await calls_of(board)
    assert (status, headers["x-request-id"]) == (500, row.request_id)


async def test_an_answer_that_cannot_be_given_is_500_and_in_the_log(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: Any) -> None:
        raise RuntimeError("the inside")

    monkeypatch.setattr(FastCallRoutes, "answer", broken)
    async with served(board) as url, wire(url) as stream:
        await stream.send(head("POST", ECHO, f"Content-Length: {len(CALL)}") + CALL)
        status, headers, _ = await read_response(stream)
        assert (status, headers["connection"]) == (500, "close")
        with pytest.raises(EndOfStream):
            await stream.receive()
    assert "request_broke" in caplog.text


async def test_nothing_is_left_of_a_connection_that_has_closed(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    connections: list[weakref.ref[BoundedConnection]] = []
    lost = BoundedConnection.connection_lost

    def noted(self: BoundedConnection, exc: Exception | None) -> None:
        connections.append(weakref.ref(self))
        lost(self, exc)

    monkeypatch.setattr(BoundedConnection, "connection_lost", noted)

    async def forgotten() -> bool:
        return bool(connections) and connections[0]() is None

    async with served(board) as url:
        gc.disable()  # whose next turn would take much too long with large bodies
        try:
            async with wire(url) as stream:
                await stream.send(head("POST", ECHO, f"Content-Length: {len(CALL)}") + CALL)
                await read_response(stream)
            await until(forgotten, seconds=5)
        finally:
            gc.enable()
