"""Rows into tables beside the board's own, each call with a receipt."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from pegboard.kinds.table.source import InsertAnswer, InsertFault
from pegboard.kinds.table.sqlite_source import SqliteSource
from pegboard.model.ids import new_id
from pegboard.storage import receipt_rows
from pegboard.storage.database import Database
from pegboard.storage.migrate import migrate
from tests.unit.kinds.table.sqlite_tables import entry, insert

TABLE = "CREATE TABLE notes (id INTEGER PRIMARY KEY, note TEXT UNIQUE)"


@pytest.fixture(params=["file", "memory"])
async def board(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    """The database of a board, on disk or not, with a user's table beside its own."""
    database = Database.create("memory" if request.param == "memory" else f"sqlite:///{tmp_path}/board.db")
    await migrate(database)
    async with database.write() as conn:
        await conn.execute(text(TABLE))
    yield database
    await database.close()


@pytest.fixture
async def own(board: Database) -> AsyncIterator[SqliteSource]:
    """The board's own database as a source."""
    source = SqliteSource.own(board)
    yield source
    await source.close()


async def rows(board: Database, query: str) -> list[Any]:
    """What the board reads."""
    async with board.read() as conn:
        return [tuple(row) for row in await conn.execute(text(query))]


async def give_up(board: Database, run_id: str) -> None:
    """Do as recovery does with a call that no process seems to run any more."""
    async with board.write() as conn:
        statement = text("INSERT INTO receipts (id, is_void) VALUES (:id, 1)")
        await conn.execute(statement, {"id": run_id.replace("-", "")})


async def test_a_row_and_its_receipt_are_there_together(board: Database, own: SqliteSource) -> None:
    run_id = new_id()
    assert own.is_own
    assert await insert(own, "notes", {"note": "buy milk"}, run_id=run_id) == [[1]]
    assert await rows(board, "SELECT note FROM notes") == [("buy milk",)]
    async with board.read() as conn:
        assert await receipt_rows.list_receipts(conn) == [run_id]
    ((row_id, output, is_void),) = await rows(board, "SELECT row_id, output, is_void FROM receipts")
    assert (row_id, json.loads(output), is_void) == ("1", [[1]], 0)


async def test_a_row_that_fails_leaves_no_receipt(board: Database, own: SqliteSource) -> None:
    entries = [await entry(own, "notes", {"note": note}) for note in ("a", "a", "b")]
    outcomes = await asyncio.gather(*map(own.insert, entries), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [InsertAnswer, InsertFault, InsertAnswer]
    async with board.read() as conn:
        assert await receipt_rows.list_receipts(conn) == sorted([entries[0].run_id, entries[2].run_id])


async def test_a_call_that_recovery_gave_up_is_never_committed(board: Database, own: SqliteSource) -> None:
    entries = [await entry(own, "notes", {"note": note}) for note in ("a", "given up", "b")]
    await give_up(board, entries[1].run_id)
    outcomes = await asyncio.gather(*map(own.insert, entries), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [InsertAnswer, InsertFault, InsertAnswer]
    with pytest.raises(InsertFault, match="given up") as refused:
        await own.insert(entries[1])
    assert not refused.value.is_unknown
    assert await rows(board, "SELECT note FROM notes ORDER BY id") == [("a",), ("b",)]


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


async def test_a_caller_that_goes_leaves_neither_row_nor_receipt(board: Database, own: SqliteSource) -> None:
    entries = [await entry(own, "notes", {"note": note}) for note in ("gone", "here")]
    async with board.turn():
        tasks = [asyncio.create_task(own.insert(one)) for one in entries]
        await asyncio.sleep(0)
        tasks[0].cancel()
        await asyncio.wait(tasks[:1])
    assert (await tasks[1]).output == [[1]]
    assert await rows(board, "SELECT note FROM notes") == [("here",)]
    assert await rows(board, "SELECT count(*) FROM receipts") == [(1,)]
