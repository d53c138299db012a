"""A board that serves MCP, and clients of both revisions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import httpx
import pytest
from anyio.from_thread import start_blocking_portal

from pegboard import Pegboard
from pegboard.testing import memory_board
from tests.board_surfaces import KEY, served
from tests.surfaces.mcp.rpc import REVISIONS, RpcClient, client_of


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    """A fresh board in memory."""
    async with memory_board(admin_key=KEY, drain_seconds=2) as fresh:
        yield fresh


@pytest.fixture
async def url(board: Pegboard) -> AsyncIterator[str]:
    """The address of the board's server."""
    async with served(board) as address:
        yield address


@pytest.fixture
async def admin(url: str) -> AsyncIterator[httpx.AsyncClient]:
    """The admin of the board, over HTTP."""
    async with client_of(url) as http:
        yield http


@pytest.fixture(params=REVISIONS)
async def rpc(request: pytest.FixtureRequest, admin: httpx.AsyncClient) -> RpcClient:
    """A client of each revision."""
    client = RpcClient(admin, request.param)
    await client.start()
    return client


class SharedServer(NamedTuple):
    """A board in a separate thread, which many tests use, and its address."""

    board: Pegboard
    url: str


@asynccontextmanager
async def _shared() -> AsyncIterator[SharedServer]:
    async with memory_board(admin_key=KEY, max_body_bytes=200_000, drain_seconds=1) as board:

        @board.tool
        def number(n: int) -> dict[str, int]:
            """Return the number."""
            return {"n": n}

        async with served(board) as address:
            yield SharedServer(board, address)


@pytest.fixture(scope="module")
def shared_server() -> Iterator[SharedServer]:
    """The server that the tests of a module share."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(_shared()) as server:
        yield server


@pytest.fixture(params=REVISIONS)
async def shared_rpc(request: pytest.FixtureRequest, shared_server: SharedServer) -> AsyncIterator[RpcClient]:
    """A client of each revision for the shared server, which must still answer afterwards."""
    async with client_of(shared_server.url) as http:
        client = RpcClient(http, request.param)
        await client.start()
        yield client
        await client.check_alive()
