"""Requests and callers that no client library would be, on both ways to the routes of calls."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import Any

import pytest
from anyio import EndOfStream

from pegboard import Pegboard
from pegboard.conversations.conversations import Conversations
from pegboard.surfaces.rest.fast_call_routes import FastCallRoutes
from pegboard.surfaces.rest.uvicorn_fast_path import FastConnection, FastExchange
from pegboard.testing import calls_of
from tests.board_surfaces import served
from tests.surfaces.rest.wire import answered, head, wire
from tests.waiting import until

ECHO, PAYLOADS = "/v1/tools/echo/call", "/v1/calls"
CALL = b'{"name": "echo", "arguments": {"text": "hello"}}'


@pytest.fixture(params=[True, False], ids=["direct", "asgi"])
def direct(request: pytest.FixtureRequest) -> bool:
    """Whether calls go straight to their route."""
    return bool(request.param)


@pytest.mark.parametrize("path", [ECHO, PAYLOADS, "/v1/calls/normalize"])
async def test_a_length_with_thousands_of_zeros_in_front_is_read(board: Pegboard, direct: bool, path: str) -> None:
    async with served(board, direct=direct) as url, wire(url) as stream:
        await stream.send(head("POST", path, f"Content-Length: {'0' * 5000}{len(CALL)}") + CALL)
        assert (await answered(stream))[0] == 200


async def test_a_length_with_zeros_in_front_does_not_hide_that_a_body_is_too_large(board: Pegboard) -> None:
    length = f"{'0' * 5000}{board.settings.max_body_bytes + 1}"
    async with served(board) as url, wire(url) as stream:
        await stream.send(head("POST", ECHO, f"Content-Length: {length}"))
        assert (await answered(stream))[0] == 413


@pytest.mark.parametrize("path", [ECHO, PAYLOADS])
async def test_a_trailer_is_no_header_even_where_it_comes_later(board: Pegboard, path: str) -> None:
    async with served(board) as url, wire(url) as stream:
        await stream.send(head("POST", path, "Transfer-Encoding: chunked") + b"1\r\n{\r\n0\r\n")
        await asyncio.sleep(0.01)  # so that it is read before the rest
        await stream.send(b"X-Request-Id: from-a-trailer\r\n\r\n")
        status, headers, _ = await answered(stream)
    assert status == 400
    assert headers["x-request-id"] != "from-a-trailer"


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_url_that_is_too_long_is_refused(board: Pegboard, at_once: bool) -> None:
    whole = head("POST", f"{ECHO}?{'x' * 70_000}", f"Content-Length: {len(CALL)}") + CALL
    async with served(board) as url, wire(url) as stream:
        await stream.send(whole if at_once else whole[:-3])
        assert (await stream.receive()).startswith(b"HTTP/1.1 431 ")


async def test_the_first_of_two_media_types_counts_with_events_and_without(board: Pegboard, direct: bool) -> None:
    text = b'<tool_call>{"name": "echo", "arguments": {}}</tool_call>'
    lines = ("Content-Type: text/plain", "Content-Type: application/json", f"Content-Length: {len(text)}")
    async with served(board, direct=direct) as url, wire(url) as stream:
        await stream.send(head("POST", PAYLOADS, *lines) + text)
        assert (await answered(stream))[0] == 200
        await stream.send(head("POST", PAYLOADS, *lines, "Accept: text/event-stream") + text)
        assert (await stream.receive()).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("path", [ECHO, PAYLOADS])
async def test_a_body_that_never_begins_is_given_up(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr("pegboard.surfaces.rest.asgi_request.BODY_TIMEOUT_SECONDS", 0.1)
    async with served(board) as url, wire(url) as stream:
        await stream.send(head("POST", path, "Content-Length: 100"))
        assert (await answered(stream))[0] == 408


async def test_a_call_whose_caller_left_before_it_began_ends_too(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, left = asyncio.Event(), asyncio.Event()
    leave = FastExchange.leave

    @board.tool
    async def endless() -> None:
        await asyncio.Event().wait()

    async def looked_for_slowly(*_: Any) -> None:
        asked.set()
        await left.wait()

    def noticed(self: FastExchange) -> None:
        leave(self)
        left.set()

    async def ended() -> Any:
        return await calls_of(board)

    monkeypatch.setattr(Conversations, "get", looked_for_slowly)
    monkeypatch.setattr(FastExchange, "leave", noticed)
    async with served(board) as url:
        async with wire(url) as stream:
            call = b'{"name": "endless", "arguments": {}}'
            await stream.send(head("POST", f"{PAYLOADS}?thread=one", f"Content-Length: {len(call)}") + call)
            await asked.wait()
        (row,) = await until(ended, seconds=5)
    assert row.code == "cancelled"


async def test_what_breaks_in_a_route_is_a_problem_and_in_the_log(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, direct: bool
) -> None:
    async def broken(*_: Any) -> None:
        raise RuntimeError("the inside")

    monkeypatch.setattr(Conversations, "get", broken)
    async with served(board, direct=direct) as url, wire(url) as stream:
        lines = ("X-Request-Id: mine-1", f"Content-Length: {len(CALL)}")
        await stream.send(head("POST", f"{PAYLOADS}?thread=one", *lines) + CALL)
        status, headers, body = await answered(stream)
    assert (status, headers["x-request-id"], body["request_id"]) == (500, "mine-1", "mine-1")
    assert "the inside" not in str(body)
    assert "request_broke request_id=mine-1" in caplog.text
    assert "the inside" in caplog.text


async def test_what_breaks_after_the_calls_is_answered_with_the_id_that_they_are_recorded_with(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch, direct: bool
) -> None:
    async def found(*_: Any) -> None: ...

    async def broken(*_: Any) -> None:
        raise RuntimeError("the inside")

    monkeypatch.setattr(Conversations, "get", found)
    monkeypatch.setattr(Conversations, "remember", broken)
    async with served(board, direct=direct) as url, wire(url) as stream:
        await stream.send(head("POST", f"{PAYLOADS}?thread=one", f"Content-Length: {len(CALL)}") + CALL)
        status, headers, _ = await answered(stream)
    (row,) = await calls_of(board)
    assert (status, headers["x-request-id"]) == (500, row.request_id)


async def test_a_connection_whose_answer_cannot_be_given_is_closed(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: Any) -> None:
        raise RuntimeError("the inside")

    monkeypatch.setattr(FastCallRoutes, "answer", broken)
    async with served(board) as url, wire(url) as stream:
        await stream.send(head("POST", ECHO, f"Content-Length: {len(CALL)}") + CALL)
        with pytest.raises(EndOfStream):
            await stream.receive()
    assert "request_broke" in caplog.text


async def test_nothing_is_left_of_a_connection_that_has_closed(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    connections: list[weakref.ref[FastConnection]] = []
    lost = FastConnection.connection_lost

    def noted(self: FastConnection, exc: Exception | None) -> None:
        connections.append(weakref.ref(self))
        lost(self, exc)

    monkeypatch.setattr(FastConnection, "connection_lost", noted)

    async def forgotten() -> bool:
        return bool(connections) and connections[0]() is None

    async with served(board) as url:
        gc.disable()  # which comes round much too seldom to wait for, where bodies are large
        try:
            async with wire(url) as stream:
                await stream.send(head("POST", ECHO, f"Content-Length: {len(CALL)}") + CALL)
                await answered(stream)
            await until(forgotten, seconds=5)
        finally:
            gc.enable()
