"""A pool of upstreams that is empty and closed again after each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pegboard.egress.allow import AllowList
from pegboard.egress.outbound import Outbound
from pegboard.executors.mcp.pool import Upstreams


@pytest.fixture
async def outbound() -> AsyncIterator[Outbound]:
    """A way out to this machine."""
    made = Outbound(AllowList.read("127.0.0.0/8"), connect_seconds=2)
    yield made
    await made.close()


@pytest.fixture
async def upstreams(outbound: Outbound) -> AsyncIterator[Upstreams]:
    """The pool as a board has it."""
    made = Upstreams(outbound, children=4, child_memory=2**30, max_bytes=2**20)
    yield made
    await made.close()


@pytest.fixture
async def hasty(outbound: Outbound) -> AsyncIterator[Upstreams]:
    """A pool that gives upstreams little time to come up."""
    made = Upstreams(outbound, children=4, child_memory=2**30, max_bytes=2**20, connect_seconds=0.5)
    yield made
    await made.close()
