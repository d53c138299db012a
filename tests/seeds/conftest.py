"""A board in memory and each of its surfaces, and a board with tables."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.testing import memory_board
from tests.board_surfaces import KEY, Surface, opened
from tests.seeds.seed_000 import ADD_NOTE, CREATE, LOG_MOOD, SUBMIT_FORM, LibraryWay, RestWay, Way, create
from tests.seeds.seed_004 import Contract, LibraryContract, RestContract
from tests.surfaces.rest.clients import client
from tests.table_databases import write_tables

Listing = Callable[..., Awaitable[None]]


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    """A fresh board."""
    async with memory_board(admin_key=KEY) as fresh:
        yield fresh


@pytest.fixture(params=["library", "rest", "cli"])
async def surface(request: pytest.FixtureRequest, board: Pegboard) -> AsyncIterator[Surface]:
    """Each way to the board in turn."""
    async with opened(request.param, board) as way:
        yield way


@pytest.fixture(params=["sqlite", "postgresql"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of either kind with the tables of seed 000."""
    found = f"sqlite:///{tmp_path}/tables.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    await create(found, *CREATE)
    return str(found)


@pytest.fixture
async def tabled(tmp_path: Path, url: str) -> AsyncIterator[Pegboard]:
    """A board with the tools of those tables."""
    file = write_tables(tmp_path / "tables.json", LOG_MOOD, ADD_NOTE, SUBMIT_FORM, database=url)
    async with memory_board(admin_key=KEY, tables=file, drain_seconds=2) as fresh:
        yield fresh


@pytest.fixture(params=["library", "rest"])
async def way(request: pytest.FixtureRequest, tabled: Pegboard) -> AsyncIterator[Way]:
    """The library and REST, in turn."""
    if request.param == "library":
        yield LibraryWay(tabled)
        return
    async with client(tabled) as opened:
        yield RestWay(opened)


@pytest.fixture
def listing(tmp_path: Path, url: str, way: Way) -> Listing:
    """Activates other tables, of the same database unless configured otherwise."""

    async def put(*tables: dict[str, Any], database: str = url) -> None:
        write_tables(tmp_path / "tables.json", *tables, database=database)
        await way.reload()

    return put


@pytest.fixture(params=["library", "rest"])
async def contract(request: pytest.FixtureRequest, board: Pegboard) -> AsyncIterator[Contract]:
    """Each way to send envelopes to a board in turn."""
    if request.param == "library":
        yield LibraryContract(board)
        return
    async with client(board) as opened:
        yield RestContract(board, opened)
