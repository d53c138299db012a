"""Boards with conversations."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pegboard import Pegboard
from pegboard.testing import NoSettings, memory_board
from tests.board_surfaces import KEY


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    """A fresh board in memory."""
    async with memory_board(admin_key=KEY) as fresh:
        yield fresh


@pytest.fixture
async def stored_board(database_url: str, tmp_path: Path) -> AsyncIterator[Pegboard]:
    """A fresh board on a real database of either kind."""
    settings = NoSettings(home=tmp_path / "home", admin_key=KEY, drain_seconds=2)
    async with Pegboard.open(database_url, settings=settings) as fresh:
        yield fresh
