"""A board in memory and each of its surfaces, and a board with tables."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.testing import memory_board
from tests.board_surfaces import KEY, Surface, opened
from tests.seeds.seed_000 import ADD_NOTE, CREATE, LOG_MOOD, SUBMIT_FORM, LibraryWay, RestWay, Way, create
from tests.seeds.seed_004 import Contract, LibraryContract, RestContract
from tests.servers import PostgresServer
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


@pytest.fixture(scope="session")
def sqlite_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a SQLite database with the tables of seed 000."""
    file = tmp_path_factory.mktemp("tables") / "tables.db"
    asyncio.run(create(f"sqlite:///{file}", *CREATE))
    return file


@pytest.fixture(scope="session")
def postgres_tables(shared_postgres: PostgresServer) -> Iterator[str]:
    """The name of a PostgreSQL database with the tables of seed 000, used as a template."""
    with shared_postgres.fresh_database() as url:
        asyncio.run(create(url, *CREATE))
        yield url.rpartition("/")[2]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database of either kind with the tables of seed 000."""
    if request.param == "sqlite":
        shutil.copyfile(request.getfixturevalue("sqlite_tables"), tmp_path / "tables.db")
        yield f"sqlite:///{tmp_path}/tables.db"
        return
    template: str = request.getfixturevalue("postgres_tables")
    shared: PostgresServer = request.getfixturevalue("shared_postgres")
    with shared.fresh_database(template) as found:
        yield found


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
