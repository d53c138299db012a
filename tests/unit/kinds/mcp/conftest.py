"""A pool of upstreams that must be empty and closed after each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.kinds.mcp.session_pool import McpSessionPool


@pytest.fixture
async def outbound() -> AsyncIterator[GuardedClient]:
    """A way out to this machine."""
    made = GuardedClient(AllowList.read("127.0.0.0/8"), connect_seconds=2)
    yield made
    await made.close()


@pytest.fixture
async def upstreams(outbound: GuardedClient) -> AsyncIterator[McpSessionPool]:
    """A pool with the board's defaults."""
    made = McpSessionPool(outbound, children=4, child_memory=2**30, max_bytes=2**20, connect_seconds=30)
    yield made
    await made.close()


@pytest.fixture
async def hasty(outbound: GuardedClient) -> AsyncIterator[McpSessionPool]:
    """A pool with a short timeout for the start of upstreams."""
    made = McpSessionPool(outbound, children=4, child_memory=2**30, max_bytes=2**20, connect_seconds=0.5)
    yield made
    await made.close()
