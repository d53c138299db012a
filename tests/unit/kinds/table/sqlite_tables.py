"""Tables on SQLite to insert into, and entries for them."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from pegboard.kinds.table.source import InsertAnswer, InsertEntry, InsertRow, RowKey, TableSource
from pegboard.model.ids import new_id

MOODS = """
CREATE TABLE users (id TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE moods (
    id INTEGER PRIMARY KEY,
    user_id TEXT NOT NULL,
    mood TEXT CONSTRAINT known_mood CHECK (mood IN ('happy', 'sad')),
    intensity INTEGER CHECK (intensity BETWEEN 1 AND 10),
    UNIQUE (user_id, mood)
);
"""


def run(file: Path, script: str) -> None:
    """Have another connection run statements and close."""
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(script)


def fetch_rows(file: Path, query: str) -> list[Any]:
    """Run a query over another connection and return the rows."""
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(query).fetchall()


def overwritten(file: Path, start: int, data: bytes) -> bytes:
    """Overwrite some bytes of a file; return the original ones."""
    whole = file.read_bytes()
    file.write_bytes(whole[:start] + data + whole[start + len(data) :])
    return whole


def names_in(folder: Path) -> list[str]:
    """The files of a folder."""
    return sorted(file.name for file in folder.iterdir())


async def entry(
    source: TableSource, table: str, *rows: dict[str, Any], run_id: str | None = None, seconds: float = 30
) -> InsertEntry:
    """Return rows for a table with its current schema, with their keys as the result."""
    facts = await source.facts(None, table)
    assert facts is not None
    return InsertEntry(
        facts,
        tuple(InsertRow(tuple(row), tuple(row.values())) for row in rows),
        run_id or new_id(),
        return_keys,
        time.monotonic() + seconds,
    )


def return_keys(keys: Sequence[RowKey]) -> InsertAnswer:
    """Return the keys unchanged, the first one as the row's id."""
    return InsertAnswer([list(key) for key in keys], str(keys[0][0]) if keys and keys[0] else None)


async def insert(source: TableSource, table: str, *rows: dict[str, Any], **options: Any) -> Any:
    """The keys of rows that are committed now; raises Fault."""
    return (await source.insert(await entry(source, table, *rows, **options))).output
