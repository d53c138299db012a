"""Two boards on one database, like two processes, and tools that count how often they ran."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from sqlalchemy import inspect, text

from pegboard import Pegboard, ToolResult
from pegboard.dialects.catalog import load_dialects
from pegboard.journal.journal import StoredAnswer
from pegboard.kinds.base import Executor
from pegboard.model.filters import ExecutionFilter
from pegboard.model.tool import Kind
from pegboard.storage import execution_rows
from pegboard.storage.database import Database
from pegboard.testing import NoSettings
from tests.unit.dialects.rendering import answer_of

Boards = tuple[Pegboard, Pegboard]


@asynccontextmanager
async def board_on(url: str, home: Path, **settings: Any) -> AsyncIterator[Pegboard]:
    """A board on this database, with its state in this folder."""
    async with Pegboard.open(url, settings=NoSettings(home=home, drain_seconds=0.2, **settings)) as opened:
        yield opened


@asynccontextmanager
async def two_boards(url: str, home: Path) -> AsyncIterator[Boards]:
    """Two boards with the same database and home."""
    async with board_on(url, home) as one, board_on(url, home) as other:
        yield one, other


class CountingTool:
    """A tool that records each time it runs, and can wait for `go`."""

    def __init__(self, *boards: Pegboard, waits: bool = False, **fields: Any) -> None:
        self.ran: list[int] = []
        self.started = asyncio.Event()
        self.go = asyncio.Event()
        if not waits:
            self.go.set()
        for board in boards:
            self.register(board, **fields)

    def register(self, board: Pegboard, **fields: Any) -> None:
        """Register the tool on a board; it is the same tool on each."""

        async def note(n: int = 0) -> dict[str, int]:
            self.ran.append(n)
            self.started.set()
            await self.go.wait()
            return {"n": n, "run": len(self.ran)}

        board.tool(**fields)(note)


def use(board: Pegboard, kind: Kind, executor: Executor) -> None:
    """Let this executor run the tools of a kind."""
    cast("dict[Kind, Executor]", board.executors)[kind] = executor


def code(result: ToolResult) -> str | None:
    """The error code."""
    return result.problem.code if result.problem is not None else None


def is_repeat(again: ToolResult, first: ToolResult) -> bool:
    """Return True if a call got the recorded result of an earlier one, byte for byte, marked as a repeat."""
    assert StoredAnswer.of(again) == StoredAnswer.of(first)
    for dialect in load_dialects().values():
        assert dialect.render_json(answer_of(again)) == dialect.render_json(answer_of(first))
    assert again.run_id != first.run_id
    return again.repeat_of == first.run_id


async def stored(url: str) -> str:
    """Return every row of every table as it is stored, and for SQLite the bytes of its files."""
    database = Database.create(url)
    found = []
    async with database.read() as conn:
        for table in await conn.run_sync(lambda sync: inspect(sync).get_table_names()):
            found += [str(tuple(row)) for row in await conn.execute(text(f'SELECT * FROM "{table}"'))]
    await database.close()
    return "\n".join([*found, *_files(database.file)])


def _files(file: Path | None) -> list[str]:
    if file is None:
        return []
    paths = [each for path in file.parent.glob(f"{file.name}*") for each in (path, *path.rglob("*"))]
    return [path.read_bytes().decode("latin-1") for path in paths if path.is_file()]


async def intents(database: Database) -> list[tuple[str, bool]]:
    """Return the state of every intent, oldest first, and whether it has a key."""
    async with database.read() as conn:
        rows = await conn.execute(text("SELECT state, claim IS NOT NULL FROM intents ORDER BY id"))
        return [(state, bool(claimed)) for state, claimed in rows]


async def no_intents(database: Database) -> bool:
    """Whether every call is over."""
    return await intents(database) == []


async def rows(database: Database) -> list[tuple[str, str]]:
    """Return the id and status of every row of the journal, oldest first."""
    async with database.read() as conn:
        found = await execution_rows.list_executions(conn, ExecutionFilter(), limit=100)
    return [(row.id, row.status) for row in reversed(found)]
