"""The number of connections is limited, and connections without a request do not block others."""

from __future__ import annotations

import asyncio
import resource
from contextlib import AsyncExitStack

import anyio
import pytest

from pegboard import Pegboard
from pegboard.surfaces.rest.connection_limits import (
    MAX_REFUSED_CONNECTIONS,
    ConnectionLimits,
    check_limit,
    compute_default_limit,
)
from tests.board_surfaces import served
from tests.surfaces.rest.raw_http import WAIT, head, read_response, wire
from tests.surfaces.rest.test_request_heads import rest_of

FEW = 4
GET = head("GET", "/healthz", key=None)


async def test_silent_connections_keep_no_one_out(board: Pegboard) -> None:
    async with served(board, limits=ConnectionLimits(FEW)) as url, AsyncExitStack() as stack:
        silent = [await stack.enter_async_context(wire(url)) for _ in range(3 * FEW)]
        await silent[-1].send(b"GET /heal")
        for _ in range(3):
            async with wire(url) as stream:
                await stream.send(GET)
                assert (await read_response(stream))[0] == 200
        # The oldest made room.
        assert await rest_of(silent[0]) == b""


async def test_idle_connections_make_room_for_new_ones(board: Pegboard) -> None:
    async with served(board, limits=ConnectionLimits(FEW)) as url, AsyncExitStack() as stack:
        for _ in range(3 * FEW):
            stream = await stack.enter_async_context(wire(url))
            await stream.send(GET)
            assert (await read_response(stream))[0] == 200


async def test_a_connection_is_refused_with_503_if_every_other_one_has_a_request(board: Pegboard) -> None:
    began, end = asyncio.Semaphore(0), asyncio.Event()

    @board.tool
    async def waiting() -> str:
        began.release()
        await end.wait()
        return "done"

    call = head("POST", "/v1/tools/waiting/call", "Content-Length: 2") + b"{}"
    async with served(board, limits=ConnectionLimits(FEW)) as url, AsyncExitStack() as stack:
        busy = [await stack.enter_async_context(wire(url)) for _ in range(FEW)]
        for stream in busy:
            await stream.send(call)
        with anyio.fail_after(WAIT):
            for _ in busy:
                await began.acquire()
        for _ in range(2):
            async with wire(url) as late:
                await late.send(call)
                status, headers, body = await read_response(late)
                assert (status, headers["retry-after"], headers["connection"]) == (503, "1", "close")
                assert body["detail"] == "Every connection of this server is in use; try again shortly"
                assert await rest_of(late) == b""
        end.set()
        for stream in busy:
            assert (await read_response(stream))[2]["result"] == "done"
        async with wire(url) as stream:
            await stream.send(GET)
            assert (await read_response(stream))[0] == 200


class Peer:
    """A connection that records how it was closed."""

    def __init__(self) -> None:
        self.closed = ""

    def expire(self) -> None:
        self.closed = "expired"

    def abort(self) -> None:
        self.closed = "aborted"


async def test_refused_connections_are_bounded_too() -> None:
    limits = ConnectionLimits(1)
    busy = Peer()
    assert limits.admit(busy, 0.0)
    limits.work(busy)
    refused = [Peer() for _ in range(MAX_REFUSED_CONNECTIONS + 1)]
    for peer in refused:
        assert not limits.admit(peer, 0.0)
        limits.hold(peer, 0.0)
    assert [peer.closed for peer in refused] == ["aborted", *[""] * MAX_REFUSED_CONNECTIONS]
    assert busy.closed == ""


async def test_the_one_that_waits_longest_makes_room() -> None:
    limits = ConnectionLimits(2)
    first, second, third = Peer(), Peer(), Peer()
    for peer in (first, second):
        assert limits.admit(peer, 0.0)
    limits.work(first)
    limits.wait(first, 1.0)
    assert limits.admit(third, 2.0)
    assert (first.closed, second.closed, third.closed) == ("", "aborted", "")


def test_the_default_is_below_the_limit_of_descriptors() -> None:
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert 1 <= compute_default_limit() <= 10_000
    if descriptors != resource.RLIM_INFINITY:
        assert compute_default_limit() <= descriptors // 2


def test_more_connections_than_descriptors_are_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (1024, 4096))
    check_limit(896)
    with pytest.raises(ValueError, match=r"set PEGBOARD_MAX_CONNECTIONS to at most 896, or raise the limit"):
        check_limit(897)
