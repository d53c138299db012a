"""A board, its surfaces, and a folder that its commands may see."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pegboard import Pegboard
from pegboard.testing import NoSettings
from tests.board_surfaces import KEY
from tests.integration.confined_board import SURFACES, ConfinedSurface, way_into


@pytest.fixture(params=SURFACES)
def through(request: pytest.FixtureRequest) -> str:
    """A surface, and the URL of its database if that is not SQLite."""
    words: str = request.param
    return words


@pytest.fixture
async def board(through: str, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Pegboard]:
    """A fresh board on a real database."""
    settings = NoSettings(home=tmp_path / "home", admin_key=KEY, drain_seconds=2)
    sqlite = f"sqlite:///{tmp_path}/data/board.db"
    (tmp_path / "data").mkdir()
    url = request.getfixturevalue("postgres_url") if through.endswith("postgresql") else sqlite
    async with Pegboard.open(url, settings=settings) as fresh:
        yield fresh


@pytest.fixture
async def way(through: str, board: Pegboard) -> AsyncIterator[ConfinedSurface]:
    """The way in."""
    async with way_into(through.partition(" ")[0], board) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder outside of the board's own, which commands may see and any user can read."""
    made = tmp_path_factory.mktemp("shown")
    made.chmod(0o777)
    return made
