"""Errors for rows that SQLite refuses."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pegboard.kinds.table.source import InsertFault
from pegboard.kinds.table.sqlite_errors import explain_sqlite_error
from pegboard.kinds.table.sqlite_source import SqliteSource
from tests.unit.kinds.table.sqlite_tables import fetch_rows, insert, run

TABLES = """
CREATE TABLE parents (id TEXT PRIMARY KEY);
INSERT INTO parents VALUES ('p'), ('q');
CREATE TABLE log (a TEXT UNIQUE);
INSERT INTO log VALUES ('twice');
CREATE TABLE t (
    id INTEGER PRIMARY KEY,
    "a.b" TEXT, "c, d" TEXT,
    needed TEXT NOT NULL DEFAULT 'x',
    parent TEXT REFERENCES parents,
    other TEXT REFERENCES parents,
    low INT, high INT,
    UNIQUE ("a.b", "c, d"),
    CONSTRAINT "in order" CHECK (low <= high),
    CHECK (length(needed) < 10)
);
CREATE UNIQUE INDEX only_once ON t (upper(parent)) WHERE parent IS NOT NULL;
CREATE TRIGGER logged AFTER INSERT ON t WHEN new.low = 7 BEGIN INSERT INTO log VALUES ('twice'); END;
CREATE TRIGGER refused AFTER INSERT ON t WHEN new.low = 8 BEGIN SELECT RAISE(ABORT, 'not on sundays'); END;
INSERT INTO t (id, "a.b", "c, d", parent) VALUES (1, 'a', 'c', 'p');
CREATE TABLE strict (n INTEGER) STRICT;
"""


@pytest.fixture
async def source(tmp_path: Path) -> AsyncIterator[SqliteSource]:
    """The source of a file with TABLES."""
    run(tmp_path / "data.db", TABLES)
    opened = SqliteSource(tmp_path / "data.db")
    yield opened
    await opened.close()


@pytest.mark.parametrize(
    ("row", "code", "sqlstate", "columns", "constraint"),
    [
        ({"a.b": "a", "c, d": "c"}, "P2002", "23505", ("a.b", "c, d"), "sqlite_autoindex_t_1"),
        ({"id": 1}, "P2002", "23505", ("id",), None),
        ({"parent": "p"}, "P2002", "23505", ("parent",), "only_once"),
        ({"needed": None}, "P2011", "23502", ("needed",), None),
        ({"parent": "nobody", "other": None}, "P2003", "23503", ("parent",), "t_parent_fkey"),
        ({"parent": "q", "other": "nobody"}, "P2003", "23503", ("other",), "t_other_fkey"),
        ({"low": 2, "high": 1}, "P2004", "23514", ("low", "high"), "in order"),
        ({"needed": "x" * 10}, "P2004", "23514", ("needed",), "length(needed) < 10"),
        ({"low": 7}, "P2002", "23505", (), None),
        ({"low": 8}, "P2010", "P0001", (), None),
        ({"id": "seven"}, "P2007", "22P02", ("id",), None),
        ({"low": 2**63}, "P2020", "22003", (), None),
        ({"needed": "\ud800"}, "P2007", "22021", (), None),
    ],
)
async def test_a_row_at_fault_is_reported_with_code_sqlstate_columns_and_constraint(
    source: SqliteSource,
    tmp_path: Path,
    row: dict[str, Any],
    code: str,
    sqlstate: str,
    columns: tuple[str, ...],
    constraint: str | None,
) -> None:
    with pytest.raises(InsertFault) as refused:
        await insert(source, "t", {"low": 1, "high": 2}, row)
    fault = refused.value
    assert (fault.code, fault.sqlstate, fault.columns, fault.constraint) == (code, sqlstate, columns, constraint)
    assert (fault.row, fault.is_unknown, fault.is_stale, fault.retry_after_ms) == (1, False, False, None)
    assert fetch_rows(tmp_path / "data.db", "SELECT count(*) FROM t") == [(1,)]


async def test_a_strict_table_says_which_column_takes_no_such_value(source: SqliteSource) -> None:
    with pytest.raises(InsertFault) as refused:
        await insert(source, "strict", {"n": "many"})
    assert (refused.value.code, refused.value.sqlstate, refused.value.columns) == ("P2007", "42804", ("n",))
    assert refused.value.is_stale


async def test_a_column_that_no_one_fills_and_must_be_means_that_the_table_changed(
    source: SqliteSource, tmp_path: Path
) -> None:
    run(tmp_path / "data.db", "CREATE TABLE n (a TEXT, b TEXT NOT NULL)")
    with pytest.raises(InsertFault) as refused:
        await insert(source, "n", {"a": "x"})
    assert (refused.value.code, refused.value.columns, refused.value.is_stale) == ("P2011", ("b",), True)


def test_no_value_of_a_row_is_reported() -> None:
    with pytest.raises(UnicodeError) as refused:
        "hunter2\ud800".encode()
    assert "hunter2" not in explain_sqlite_error(refused.value).message


@pytest.mark.parametrize(
    ("name", "code", "sqlstate", "is_soon"),
    [
        ("SQLITE_IOERR_WRITE", "P2010", "58030", True),
        ("SQLITE_CORRUPT_INDEX", "P2010", "XX001", False),
        ("SQLITE_BUSY_SNAPSHOT", "P1008", "55P03", True),
        ("SQLITE_LOCKED_SHAREDCACHE", "P1008", "55P03", True),
        ("SQLITE_CONSTRAINT_VTAB", "P2004", "23000", False),
        ("SQLITE_NEW_AND_STRANGE", "P2010", "HY000", False),
    ],
)
def test_errors_that_are_hard_to_provoke_are_known_by_name(name: str, code: str, sqlstate: str, is_soon: bool) -> None:
    error = sqlite3.OperationalError("something happened")
    error.sqlite_errorname = name
    fault = explain_sqlite_error(error)
    assert (fault.code, fault.sqlstate, fault.retry_after_ms is not None) == (code, sqlstate, is_soon)
