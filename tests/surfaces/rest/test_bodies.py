"""Request bodies: limited however they are sent, and refused if incomplete."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx
import pytest

from pegboard import Pegboard
from pegboard.testing import calls_of, memory_board
from tests.board_surfaces import KEY, served
from tests.surfaces.rest.clients import client, good, mock, problem
from tests.surfaces.rest.raw_http import head, read_response, wire

LIMIT = 4096
JSON = "Content-Type: application/json"
PATHS = ["/v1/tools/echo/call", "/v1/calls", "/v1/tools"]


@pytest.fixture
async def small() -> AsyncIterator[Pegboard]:
    """A board that accepts only small bodies."""
    async with memory_board(admin_key=KEY, max_body_bytes=LIMIT) as board:
        yield board


def padded(size: int) -> bytes:
    return b'{"a": "' + b"x" * (size - 9) + b'"}'


async def test_a_body_of_exactly_the_limit_is_taken_and_one_byte_more_is_not(small: Pegboard) -> None:
    async with client(small) as admin:
        assert good(await admin.post("/v1/tools/echo/call", content=padded(LIMIT)))["success"]
        for path in PATHS:
            found = problem(await admin.post(path, content=padded(LIMIT + 1)), 413)
            assert found["detail"] == "The body is larger than the 4,096 bytes accepted here"


async def test_a_body_without_a_length_is_counted_as_it_arrives(small: Pegboard) -> None:
    async def pieces(size: int) -> AsyncIterator[bytes]:
        body = padded(size)
        for start in range(0, size, 1000):
            yield body[start : start + 1000]

    async with client(small) as admin:
        assert good(await admin.post("/v1/tools/echo/call", content=pieces(LIMIT)))["success"]
        for path in PATHS:
            problem(
                await admin.post(path, content=pieces(LIMIT + 1), headers={"content-type": "application/json"}), 413
            )


async def test_a_length_that_is_too_large_is_refused_before_the_body_arrives(small: Pegboard) -> None:
    async with served(small) as url:
        for path in PATHS[1:]:
            async with wire(url) as stream:
                await stream.send(head("POST", path, f"Content-Length: {10**12}", JSON))
                status, headers, body = await read_response(stream)
                assert (status, headers["content-type"]) == (413, "application/problem+json")
                assert body["title"] == "Body too large"


@pytest.mark.parametrize("sent", [b"", b'{"a": 1}'], ids=["nothing", "what reads like a whole call"])
async def test_a_caller_who_leaves_before_the_body_is_whole_has_called_nothing(small: Pegboard, sent: bytes) -> None:
    ran = []

    @small.handler("note")
    async def note(**given: Any) -> None:
        ran.append(given)

    await small.add(mock("note", tool_type="internal", config={"handler": "note"}))
    async with served(small) as url:
        async with wire(url) as stream:
            await stream.send(head("POST", "/v1/tools/note/call", "Content-Length: 100") + sent)
        async with wire(url) as stream:
            await stream.send(head("POST", "/v1/tools/echo/call", "Content-Length: 2") + b"{}")
            assert (await read_response(stream))[0] == 200
    assert ran == []
    assert await calls_of(small, "note") == []


async def test_a_call_without_a_body_has_no_arguments(small: Pegboard) -> None:
    async with client(small) as admin:
        assert good(await admin.post("/v1/tools/echo/call"))["result"] == {"echo": {}}


async def test_arguments_are_bounded_apart_from_the_body(admin: httpx.AsyncClient) -> None:
    answer = good(await admin.post("/v1/tools/echo/call", content=padded(2**20 + 20)))
    assert answer["error_details"]["code"] == "malformed_arguments"
    assert "at most 1,048,576 are accepted" in answer["error"]


async def test_a_slow_sender_is_not_answered_before_the_end(small: Pegboard) -> None:
    async with served(small) as url, wire(url) as stream:
        await stream.send(head("POST", "/v1/tools/echo/call", "Content-Length: 8") + b'{"a"')
        with anyio.move_on_after(0.05) as early:
            await stream.receive()
        assert early.cancelled_caught
        await stream.send(b": 1}")
        assert (await read_response(stream))[2]["result"] == {"echo": {"a": 1}}
