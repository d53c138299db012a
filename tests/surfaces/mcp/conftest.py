"""A board that serves MCP, and clients of both revisions."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

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
    """The address of its server."""
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
