"""Receipts: a call with its effects in the board's own database is known to have happened, or not to have."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import text

from pegboard import Pegboard
from pegboard.journal import commit_queue
from pegboard.journal.open_journal import open_chain
from pegboard.kinds.base import OpenTool, Prepared
from pegboard.model.call import ReadyCall
from pegboard.model.tool import Kind
from pegboard.storage import receipt_rows
from pegboard.storage.database import Database
from pegboard.testing import calls_of
from tests.surfaces.rest.clients import mock
from tests.unit.journal.boards import board_on, code, intents, is_repeat, no_intents, use
from tests.unit.journal.hands import kill
from tests.waiting import until

OUTPUT = {"id": 7, "ü": [None, 1.5]}
KEYS = pytest.mark.parametrize("key", [None, "k"])


async def nothing() -> None:
    """Wait for no one."""


@dataclass
class Inserting:
    """An executor whose tools insert a row into the board's own database, and a receipt in the same transaction."""

    board: Pegboard
    before: Callable[[], Awaitable[Any]] = nothing
    within: Callable[[], Awaitable[Any]] = nothing
    after: Callable[[], Awaitable[Any]] = nothing
    errors: list[BaseException] = field(default_factory=list)
    ran: int = 0

    def prepare(self, tool: OpenTool) -> Prepared:
        return Prepared(self._run, receipts=True)

    async def close(self) -> None:
        return

    async def _run(self, call: ReadyCall) -> Any:
        self.ran += 1
        sign = open_chain(self.board.vault).sign_receipt
        await self.before()
        try:
            async with self.board.database.write() as conn:
                await conn.execute(text("INSERT INTO notes (n) VALUES (1)"))
                await receipt_rows.add_receipt(conn, call.run_id, sign, row_id="row-7", output=OUTPUT)
                await self.within()
        except BaseException as error:
            self.errors.append(error)
            raise
        await self.after()
        return OUTPUT


class Pause:
    """A place where a user waits until they are let go."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.go = asyncio.Event()

    async def __call__(self) -> None:
        self.reached.set()
        await self.go.wait()


@pytest.fixture(autouse=True)
def siblings_are_looked_after_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller who dies is found at once, which else is every few seconds."""
    monkeypatch.setattr(commit_queue, "MAINTENANCE_SECONDS", 0.1)


@pytest.fixture
async def notes(database: Database) -> Callable[[], Awaitable[int]]:
    """How many effects there are."""
    async with database.write() as conn:
        await conn.execute(text("CREATE TABLE notes (n INTEGER)"))

    async def count() -> int:
        async with database.read() as conn:
            return int((await conn.execute(text("SELECT count(*) FROM notes"))).scalar_one())

    return count


@pytest.fixture
async def board(database_url: str, tmp_path: Path) -> AsyncIterator[Pegboard]:
    async with board_on(database_url, tmp_path / "home") as opened:
        yield opened


@pytest.fixture
async def dead(board: Pegboard, database_url: str, tmp_path: Path) -> AsyncIterator[Pegboard]:
    """A sibling of the board, about to die."""
    await board.add(mock("insert", tool_type="internal", config={"handler": "h"}, result_style="detailed"))
    async with board_on(database_url, tmp_path / "home") as opened:
        yield opened


async def left(database: Database) -> list[str]:
    async with database.read() as conn:
        return await receipt_rows.list_receipts(conn)


async def test_a_call_that_ends_well_leaves_none(
    board: Pegboard, dead: Pegboard, database: Database, notes: Callable[[], Awaitable[int]]
) -> None:
    within = Pause()
    within.go.set()
    use(board, Kind.INTERNAL, Inserting(board, within=within))
    result = await board.call("insert")
    assert (result.output, await notes()) == (OUTPUT, 1)
    assert (await left(database), await intents(database)) == ([], [])
    assert [row.status for row in await calls_of(board)] == ["succeeded"]


async def test_one_that_fails_leaves_neither_receipt_nor_effect(
    board: Pegboard, dead: Pegboard, database: Database, notes: Callable[[], Awaitable[int]]
) -> None:
    async def fail() -> None:
        raise ValueError("no")

    use(board, Kind.INTERNAL, Inserting(board, within=fail))
    assert code(await board.call("insert")) == "execution_failed"
    assert (await notes(), await left(database), await intents(database)) == (0, [], [])


@KEYS
async def test_one_that_was_cut_off_after_its_effect_has_succeeded(
    board: Pegboard, dead: Pegboard, database: Database, notes: Callable[[], Awaitable[int]], key: str | None
) -> None:
    after = Pause()
    executor = Inserting(dead, after=after)
    for each in (dead, board):
        use(each, Kind.INTERNAL, executor)
    call = asyncio.create_task(dead.call("insert", key=key))
    with anyio.fail_after(30):
        await after.reached.wait()
    assert len(await left(database)) == 1
    await kill(dead)
    await until(lambda: is_recorded(board))
    (row,) = await calls_of(board)
    assert (row.status, row.code, row.error, row.row_id, row.attempts) == ("succeeded", None, None, "row-7", 1)
    assert await left(database) == []
    assert await intents(database) == ([("done", True)] if key else [])
    if key:
        again = await board.call("insert", key=key)
        assert (again.success, again.output, again.repeat_of) == (True, OUTPUT, row.id)
        assert (executor.ran, await notes()) == (1, 1)
    after.go.set()
    assert code(await call) == "unrecorded"


async def test_its_answer_has_the_shape_that_its_tool_answers_in(
    board: Pegboard, dead: Pegboard, notes: Callable[[], Awaitable[int]]
) -> None:
    after = Pause()
    for each in (dead, board):
        use(each, Kind.INTERNAL, Inserting(dead, after=after))
    call = asyncio.create_task(dead.call("insert", key="k"))
    await after.reached.wait()
    await kill(dead)
    await until(lambda: is_recorded(board))
    assert (await board.call("insert", key="k")).result_style == "detailed"
    call.cancel()
    assert await notes() == 1


@KEYS
async def test_one_that_was_cut_off_before_it_has_failed_and_its_key_is_free(
    board: Pegboard, dead: Pegboard, database: Database, notes: Callable[[], Awaitable[int]], key: str | None
) -> None:
    before = Pause()
    use(dead, Kind.INTERNAL, Inserting(dead, before=before))
    use(board, Kind.INTERNAL, Inserting(board))
    call = asyncio.create_task(dead.call("insert", key=key))
    with anyio.fail_after(30):
        await before.reached.wait()
    await kill(dead)
    await until(lambda: is_recorded(board))
    (row,) = await calls_of(board)
    assert (row.status, row.code, row.row_id) == ("failed", "interrupted", None)
    assert "safe to call again" in row.error
    assert await no_intents(database)
    again = await board.call("insert", key=key)
    assert (again.output, again.repeat_of, await notes()) == (OUTPUT, None, 1)
    if key:
        assert is_repeat(await board.call("insert", key=key), again)
    call.cancel()


@KEYS
async def test_an_effect_that_comes_after_that_cannot_be_committed(
    board: Pegboard, dead: Pegboard, notes: Callable[[], Awaitable[int]], key: str | None
) -> None:
    before = Pause()
    late = Inserting(dead, before=before)
    use(dead, Kind.INTERNAL, late)
    call = asyncio.create_task(dead.call("insert", key=key))
    with anyio.fail_after(30):
        await before.reached.wait()
    await kill(dead)
    await until(lambda: is_recorded(board))
    before.go.set()
    with anyio.fail_after(30):
        await call
    assert await notes() == 0, "it was said not to have happened, and happened"
    assert [type(error).__name__ for error in late.errors] == ["IntegrityError"]
    assert [(row.status, row.code) for row in await calls_of(board)] == [("failed", "interrupted")]


async def test_an_effect_that_is_being_committed_is_waited_for(postgres_url: str, tmp_path: Path) -> None:
    """On PostgreSQL, where writers do not take turns."""
    async with board_on(postgres_url, tmp_path / "home") as board, board_on(postgres_url, tmp_path / "home") as dead:
        async with board.database.write() as conn:
            await conn.execute(text("CREATE TABLE notes (n INTEGER)"))
        await board.add(mock("insert", tool_type="internal", config={"handler": "h"}))
        await dead.snapshot.refresh()
        within = Pause()
        use(dead, Kind.INTERNAL, Inserting(dead, within=within))
        call = asyncio.create_task(dead.call("insert"))
        with anyio.fail_after(30):
            await within.reached.wait()
        await kill(dead)
        await until(lambda: is_waiting(board))
        assert await calls_of(board) == []
        within.go.set()
        await until(lambda: is_recorded(board))
        (row,) = await calls_of(board)
        assert (row.status, row.row_id) == ("succeeded", "row-7")
        assert code(await call) == "unrecorded"


async def is_recorded(board: Pegboard) -> bool:
    return bool(await calls_of(board))


async def is_waiting(board: Pegboard) -> bool:
    """Whether a user waits for another's transaction to end."""
    async with board.database.read() as conn:
        return bool((await conn.execute(text("SELECT 1 FROM pg_locks WHERE NOT granted"))).first())
