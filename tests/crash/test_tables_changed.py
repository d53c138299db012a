"""Tables that are dropped, changed and locked while calls run: clear errors, and calls work again afterwards."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from pegboard import Pegboard
from pegboard.testing import memory_board
from tests.crash.table_server import ledger, ledger_table
from tests.crash.table_traffic import traffic
from tests.table_databases import driver_url, rows_of, run_sql, write_tables
from tests.waiting import until


@pytest.fixture(params=["sqlite", "postgresql"])
async def tables(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of either kind with two tables."""
    is_file = request.param == "sqlite"
    url = f"sqlite:///{tmp_path}/tables.db" if is_file else str(request.getfixturevalue("postgres_url"))
    await run_sql(url, ledger_table(url), ledger_table(url, "others"))
    return url


@pytest.fixture
async def board(tables: str, tmp_path: Path) -> AsyncIterator[Pegboard]:
    """A board with tools for both tables."""
    file = write_tables(
        tmp_path / "tables.json", ledger(batch=True), ledger("other", "others"), database=driver_url(tables)
    )
    async with memory_board(tables=file, drain_seconds=2) as opened:
        yield opened


async def alter(url: str, *statements: str) -> None:
    """Run statements in one transaction, once the calls let it have the table."""

    async def done() -> bool:
        try:
            await run_sql(url, "BEGIN", *statements, "COMMIT")
        except sqlite3.OperationalError as error:
            assert "locked" in str(error), error
            return False
        return True

    await until(done, 20)


class Change(NamedTuple):
    """A change of a table, the result of calls during it, and how to undo it."""

    statements: Sequence[str]
    code: str
    undo: Sequence[str]


SET_ASIDE = "ALTER TABLE notes RENAME TO aside"
TAKEN_BACK = "ALTER TABLE aside RENAME TO notes"
CHANGES = {
    "dropped": Change(["DROP TABLE notes"], "table_not_found", []),
    "renamed": Change([SET_ASIDE], "table_not_found", [TAKEN_BACK]),
    "another": Change(
        [SET_ASIDE, "CREATE TABLE notes (id INTEGER PRIMARY KEY, m INTEGER NOT NULL)"],
        "column_not_found",
        ["DROP TABLE notes", TAKEN_BACK],
    ),
    "column renamed": Change(
        ["ALTER TABLE notes RENAME COLUMN n TO m"], "column_not_found", ["ALTER TABLE notes RENAME COLUMN m TO n"]
    ),
    "column added": Change(
        [SET_ASIDE, "CREATE TABLE notes (id INTEGER PRIMARY KEY, n VARCHAR(60) NOT NULL, m INTEGER NOT NULL)"],
        "column_required",
        ["DROP TABLE notes", TAKEN_BACK],
    ),
    "type changed": Change(
        ["ALTER TABLE notes ALTER COLUMN n TYPE bytea USING n::bytea"],
        "type_mismatch",
        ["ALTER TABLE notes ALTER COLUMN n TYPE varchar(60) USING convert_from(n, 'UTF8')"],
    ),
    "column added in place": Change(
        ["ALTER TABLE notes ADD COLUMN m INTEGER NOT NULL DEFAULT 0", "ALTER TABLE notes ALTER COLUMN m DROP DEFAULT"],
        "column_required",
        ["ALTER TABLE notes DROP COLUMN m"],
    ),
}
NOT_IN_SQLITE = {"type changed", "column added in place"}


@pytest.mark.parametrize("change", CHANGES)
async def test_calls_of_a_changed_table_name_the_change_and_recover(board: Pegboard, tables: str, change: str) -> None:
    if tables.startswith("sqlite") and change in NOT_IN_SQLITE:
        pytest.skip("SQLite has no such change")
    statements, code, undo = CHANGES[change]
    async with traffic(board, "note", "note-batch", "other") as (notes, batches, others):
        await alter(tables, *statements)
        for one in (notes, batches):
            await one.answered(code)
        await others.answered()
        await alter(tables, *(undo or [ledger_table(tables)]))
        for one in (notes, batches, others):
            await one.answered()
    assert (set(notes.codes), set(batches.codes), others.codes) == ({code}, {code}, [])
    kept = [n for (n,) in await rows_of(tables, "SELECT n FROM notes")]
    received = notes.there + batches.there
    if change == "dropped":
        assert len(kept) == len({*kept} & {*received}) > 0
    else:
        assert sorted(kept) == sorted(received)
    assert sorted(n for (n,) in await rows_of(tables, "SELECT n FROM others")) == sorted(others.there)
