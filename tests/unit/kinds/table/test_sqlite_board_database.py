"""Inserts into tables in the board's own SQLite database, each committed with its journal entry."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from pegboard.kinds.table.source import InsertAnswer, InsertEntry, InsertFault
from pegboard.kinds.table.sqlite_source import SqliteSource
from pegboard.storage.database import Database
from pegboard.storage.migrate import migrate
from tests.unit.journal.standalone_journals import opened
from tests.unit.kinds.table.journaled import build_entry, opened_journal, recorded, strip_id
from tests.unit.kinds.table.sqlite_tables import entry
from tests.unit.storage.sample_rows import an_execution

TABLE = "CREATE TABLE notes (id INTEGER PRIMARY KEY, note TEXT UNIQUE)"


@pytest.fixture(params=["file", "memory"])
async def board(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    """The database of a board, on disk or in memory, with a user's table in it."""
    database = Database.create("memory" if request.param == "memory" else f"sqlite:///{tmp_path}/board.db")
    await migrate(database)
    async with database.write() as conn:
        await conn.execute(text(TABLE))
    yield database
    await database.close()


@pytest.fixture
async def own(board: Database, tmp_path: Path) -> AsyncIterator[SqliteSource]:
    """The board's own database as a source."""
    async with opened_journal(board, tmp_path / "spools") as journal:
        source = SqliteSource.own(board, journal)
        yield source
        await source.close()


async def rows(board: Database, query: str) -> list[Any]:
    """Return the rows that the board reads."""
    async with board.read() as conn:
        return [tuple(row) for row in await conn.execute(text(query))]


async def notes_of(own: SqliteSource, *notes: str) -> list[InsertEntry]:
    """Entries that are recorded in the journal with their rows."""
    return [build_entry(await entry(own, "notes", {"note": note})) for note in notes]


async def test_a_row_and_its_journal_entry_are_there_together(board: Database, own: SqliteSource) -> None:
    (one,) = await notes_of(own, "buy milk")
    assert own.is_own
    assert own.is_transactional
    assert (await own.insert(one)).output == [[1]]
    assert await rows(board, "SELECT note FROM notes") == [("buy milk",)]
    assert await recorded(board) == {strip_id(one.run_id): "1"}


async def test_neither_is_there_if_the_journal_takes_no_entry(board: Database, own: SqliteSource) -> None:
    async with board.write() as conn:
        await conn.execute(text("CREATE TRIGGER full BEFORE INSERT ON executions BEGIN SELECT raise(ABORT, 'no'); END"))
    (one,) = await notes_of(own, "buy milk")
    with pytest.raises(InsertFault):
        await own.insert(one)
    assert await rows(board, "SELECT note FROM notes") == []
    async with board.write() as conn:
        await conn.execute(text("DROP TRIGGER full"))
    assert (await own.insert(one)).output == [[1]]
    assert await recorded(board) == {strip_id(one.run_id): "1"}


async def test_a_row_that_fails_leaves_no_entry_and_hurts_no_other(board: Database, own: SqliteSource) -> None:
    entries = await notes_of(own, "a", "a", "b")
    outcomes = await asyncio.gather(*map(own.insert, entries), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [InsertAnswer, InsertFault, InsertAnswer]
    assert (await recorded(board)).keys() == {strip_id(entries[0].run_id), strip_id(entries[2].run_id)}


async def test_a_call_that_recovery_gave_up_is_never_committed(
    board: Database, own: SqliteSource, tmp_path: Path
) -> None:
    entries = await notes_of(own, "a", "given up", "b")
    async with opened(board, tmp_path / "spools") as standalone:
        await standalone.record(an_execution(id=entries[1].run_id, status="failed", attempts=1))
        outcomes = await asyncio.gather(*map(own.insert, entries), return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [InsertAnswer, InsertFault, InsertAnswer]
        with pytest.raises(InsertFault, match="given up") as refused:
            await own.insert(entries[1])
        assert not refused.value.is_unknown
    assert await rows(board, "SELECT note FROM notes ORDER BY id") == [("a",), ("b",)]
    assert len(await recorded(board)) == 3


async def test_a_journal_that_was_closed_by_another_process_begins_another_chain(
    board: Database, own: SqliteSource
) -> None:
    entries = await notes_of(own, "a", "b")
    await own.insert(entries[0])
    async with board.write() as conn:
        await conn.execute(text("UPDATE writers SET closed_at = started_at"))
    await own.insert(entries[1])
    assert await rows(board, "SELECT count(DISTINCT writer) FROM executions") == [(2,)]
    assert await recorded(board) == {strip_id(one.run_id): str(n) for n, one in enumerate(entries, 1)}


async def test_inserts_take_turns_with_the_boards_own_changes(board: Database, own: SqliteSource) -> None:
    entries = [await entry(own, "notes", {"note": f"n{number}"}) for number in range(40)]

    async def change() -> None:
        async with board.change():
            await asyncio.sleep(0)

    async def look() -> None:
        await own.facts(None, "notes")

    outcomes = await asyncio.gather(*map(own.insert, entries), *(change() for _ in range(20)), *(look() for _ in "abc"))
    assert sorted(outcome.output[0][0] for outcome in outcomes[:40] if outcome) == list(range(1, 41))
    assert await rows(board, "SELECT revision FROM board_state") == [(20,)]


async def test_a_full_disk_is_reported_by_what_did_not_fit_and_the_rest_is_there(
    board: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = board.connect_sqlite

    def connected(more: int) -> sqlite3.Connection:
        connection = connect()
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + more}")
        return connection

    monkeypatch.setattr(board, "connect_sqlite", lambda: connected(2))
    own = SqliteSource.own(board)
    entries = [await entry(own, "notes", {"note": note}) for note in ("small", "x" * 100_000, "little")]
    small, large, little = await asyncio.gather(*map(own.insert, entries), return_exceptions=True)
    assert isinstance(small, InsertAnswer)
    assert isinstance(little, InsertAnswer)
    assert isinstance(large, InsertFault)
    assert (large.code, large.sqlstate, large.is_unknown) == ("P2010", "53100", False)
    monkeypatch.setattr(board, "connect_sqlite", lambda: connected(1000))
    assert (await own.insert(entries[1])).output == [[3]]
    assert await rows(board, "SELECT length(note) FROM notes ORDER BY id") == [(5,), (6,), (100_000,)]
    await own.close()


async def test_a_caller_that_disconnects_leaves_neither_row_nor_entry(board: Database, own: SqliteSource) -> None:
    before, *entries = await notes_of(own, "before", "gone", "here")
    await own.insert(before)
    async with board.turn():
        tasks = [asyncio.create_task(own.insert(one)) for one in entries]
        await asyncio.sleep(0)
        tasks[0].cancel()
        await asyncio.wait(tasks[:1])
    assert (await tasks[1]).output == [[2]]
    assert await rows(board, "SELECT note FROM notes ORDER BY id") == [("before",), ("here",)]
    assert (await recorded(board)).keys() == {strip_id(before.run_id), strip_id(entries[1].run_id)}
