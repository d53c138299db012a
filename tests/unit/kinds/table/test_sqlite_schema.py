"""The schemas of tables that are read from SQLite."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pegboard.kinds.table.source import InsertFault
from pegboard.kinds.table.sqlite_source import SqliteSource
from pegboard.kinds.table.table_schema import Column, ForeignKey
from tests.unit.kinds.table.sqlite_tables import fetch_rows, names_in, run

LOW, HIGH = -(2**63), 2**63 - 1


@pytest.fixture
async def source(tmp_path: Path) -> AsyncIterator[SqliteSource]:
    """A file without tables."""
    (tmp_path / "data.db").touch()
    opened = SqliteSource(tmp_path / "data.db")
    yield opened
    await opened.close()


async def facts_of(source: SqliteSource, script: str, table: str = "t") -> Any:
    """Return the schema of a new table."""
    run(Path(source.shown_url.removeprefix("sqlite:///")), script)
    found = await source.facts(None, table)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("declared", "fact"),
    [
        ("TEXT", {"family": "text"}),
        ("VARCHAR(50)", {"family": "text", "max_length": 50}),
        ("character varying ( 20 )", {"family": "text", "max_length": 20}),
        ("CHAR(32)", {"family": "text", "max_length": 32}),
        ("CHAR(36)", {"family": "text", "max_length": 36}),
        ("UUID", {"family": "uuid"}),
        ("DECIMAL(10,2)", {"family": "numeric", "precision": 10, "scale": 2}),
        ("numeric(6)", {"family": "numeric", "precision": 6, "scale": 0}),
        ("NUMERIC", {"family": "numeric"}),
        ("BOOLEAN", {"family": "boolean"}),
        ("DATETIME", {"family": "instant"}),
        ("timestamp with time zone", {"family": "instant"}),
        ("DATE", {"family": "date"}),
        ("TIME", {"family": "time"}),
        ("JSON", {"family": "json"}),
        ("BIGINT", {"family": "integer", "low": LOW, "high": HIGH}),
        ("UNSIGNED BIG INT", {"family": "integer", "low": LOW, "high": HIGH}),
        ("DOUBLE PRECISION", {"family": "float"}),
        ("FLOAT", {"family": "float"}),
        ("BLOB", {"family": "bytes"}),
        ("", {"family": "text"}),
        ("GEOGRAPHY", {"family": "other"}),
    ],
)
async def test_a_declared_type_says_what_a_column_holds(
    source: SqliteSource, declared: str, fact: dict[str, Any]
) -> None:
    facts = await facts_of(source, f"CREATE TABLE t (a {declared})")
    assert facts.columns == {"a": Column("a", declared, **fact)}


async def test_the_key_that_is_the_rowid_is_counted_and_others_are_not(source: SqliteSource) -> None:
    counted = await facts_of(source, "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)")
    assert counted.key == ("id",)
    assert counted.columns["id"] == Column(
        "id", "INTEGER", "integer", nullable=False, has_default=True, counts=True, low=LOW, high=HIGH
    )
    for number, declared in enumerate(
        ("(id INTEGER PRIMARY KEY DESC)", "(id INT PRIMARY KEY)", "(id INTEGER PRIMARY KEY) WITHOUT ROWID")
    ):
        given = await facts_of(source, f"CREATE TABLE t{number} {declared}", f"t{number}")
        assert given.key == ("id",)
        assert (given.columns["id"].counts, given.columns["id"].has_default) == (False, False)
        assert not given.columns["id"].nullable


async def test_composite_keys_keep_the_order_of_the_key(source: SqliteSource) -> None:
    facts = await facts_of(source, "CREATE TABLE t (a TEXT, b INTEGER, PRIMARY KEY (b, a)) WITHOUT ROWID")
    assert facts.key == ("b", "a")
    assert not facts.columns["a"].nullable


async def test_defaults_nulls_and_generated_columns_are_reported(source: SqliteSource) -> None:
    facts = await facts_of(
        source,
        "CREATE TABLE t (a TEXT NOT NULL, b TEXT DEFAULT 'x', c TEXT DEFAULT NULL, d AS (a || b), e AS (a) STORED)",
    )
    columns = facts.columns.values()
    assert {column.name: column.nullable for column in columns} == {
        "a": False, "b": True, "c": True, "d": True, "e": True,
    }  # fmt: skip
    assert [column.name for column in columns if column.has_default] == ["b"]
    assert [column.name for column in columns if column.is_generated] == ["d", "e"]
    assert facts.key == ()


async def test_strict_tables_are_reported_like_others(source: SqliteSource) -> None:
    facts = await facts_of(source, "CREATE TABLE t (id TEXT PRIMARY KEY, n INT, x REAL, y ANY) STRICT")
    families = [column.family for column in facts.columns.values()]
    assert families == ["text", "integer", "float", "text"]
    assert facts.unfit is None


async def test_uniques_foreign_keys_and_checks_are_reported(source: SqliteSource) -> None:
    facts = await facts_of(
        source,
        """
        CREATE TABLE people (id TEXT PRIMARY KEY);
        CREATE TABLE t (
            id INTEGER PRIMARY KEY, a TEXT REFERENCES people, b TEXT, c INT CHECK (c >= 0),
            UNIQUE (a, b), CONSTRAINT short CHECK (length(b) <= 5)
        );
        CREATE UNIQUE INDEX lower_b ON t (lower(b), a) WHERE c > 0;
        CREATE INDEX plain ON t (b);
        """,
    )
    assert facts.uniques == {"lower_b": ("b", "a"), "sqlite_autoindex_t_1": ("a", "b")}
    assert facts.foreign_keys == {"t_a_fkey": ForeignKey(("a",), "people")}
    assert facts.checks == {"c >= 0": "c >= 0", "short": "length(b) <= 5"}


@pytest.mark.parametrize(
    ("script", "table", "reason"),
    [
        ("CREATE TABLE a (b); CREATE VIEW t AS SELECT b FROM a", "t", "a view"),
        ("CREATE VIRTUAL TABLE t USING fts5(words)", "t", "a virtual table"),
        ("CREATE VIRTUAL TABLE t USING fts5(words)", "t_data", "belongs to a virtual table"),
        ("CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT)", "sqlite_sequence", "SQLite's own"),
    ],
)
async def test_what_takes_no_rows_says_why(source: SqliteSource, script: str, table: str, reason: str) -> None:
    facts = await facts_of(source, script, table)
    assert reason in facts.unfit


async def test_a_table_is_found_as_sqlite_finds_it_and_reported_in_its_own_spelling(source: SqliteSource) -> None:
    facts = await facts_of(
        source, 'CREATE TABLE "Mood; DROP TABLE x""" (id INTEGER PRIMARY KEY)', 'mood; drop table x"'
    )
    assert facts.table == 'Mood; DROP TABLE x"'
    assert await source.facts("main", 'Mood; DROP TABLE x"') is not None
    assert await source.facts("other", 'Mood; DROP TABLE x"') is None
    assert await source.facts(None, "nowhere") is None


async def test_the_tables_that_people_made_are_listed(source: SqliteSource, tmp_path: Path) -> None:
    run(
        tmp_path / "data.db",
        "CREATE TABLE b (id INTEGER PRIMARY KEY AUTOINCREMENT); CREATE TABLE a (x); CREATE VIEW v AS SELECT 1;"
        "CREATE VIRTUAL TABLE words USING fts5(word)",
    )
    assert await source.tables() == ["a", "b"]
    assert await source.tables("main") == ["a", "b"]
    assert await source.tables("public") == []


async def test_a_file_that_is_missing_is_reported_and_not_made(tmp_path: Path) -> None:
    source = SqliteSource(tmp_path / "none.db")
    for ask in (source.facts(None, "t"), source.tables()):
        with pytest.raises(InsertFault, match=r"Database file .*none\.db does not exist") as missing:
            await ask
        assert (missing.value.code, missing.value.sqlstate) == ("P1003", "3D000")
    assert names_in(tmp_path) == []
    run(tmp_path / "none.db", "CREATE TABLE t (a)")
    assert await source.tables() == ["t"]
    await source.close()


async def test_a_file_that_is_no_database_is_reported(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("These are not rows. " * 100)
    source = SqliteSource(tmp_path / "notes.txt")
    with pytest.raises(InsertFault, match="not an SQLite database"):
        await source.tables()
    folder = SqliteSource(tmp_path)
    with pytest.raises(InsertFault) as refused:
        await folder.tables()
    assert refused.value.code == "P1001"
    await source.close()
    await folder.close()


async def test_looking_leaves_the_journal_mode_unchanged(source: SqliteSource, tmp_path: Path) -> None:
    await facts_of(source, "CREATE TABLE t (a)")
    assert fetch_rows(tmp_path / "data.db", "PRAGMA journal_mode") == [("delete",)]
