"""A board in memory, and each of its doors."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pegboard import Pegboard
from pegboard.testing import memory_board
from tests.doors import KEY, Door, opened


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    """A fresh board."""
    async with memory_board(admin_key=KEY) as fresh:
        yield fresh


@pytest.fixture(params=["library", "rest", "cli"])
async def door(request: pytest.FixtureRequest, board: Pegboard) -> AsyncIterator[Door]:
    """Each way to the board in turn."""
    async with opened(request.param, board) as way:
        yield way
