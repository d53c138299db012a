"""Which reference of a row leads nowhere; SQLite itself says only that one does."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby

from sqlalchemy.dialects.sqlite import dialect

from pegboard.executors.table.facts import Facts
from pegboard.executors.table.source import Row

_quoted = dialect().identifier_preparer.quote_identifier


def broken_reference(connection: sqlite3.Connection, facts: Facts, row: Row) -> tuple[str, ...]:
    """The columns of the first reference that leads to no row; none if it cannot be told."""
    values = dict(zip(row.columns, row.values, strict=True))
    with suppress(sqlite3.Error):
        for columns, other, targets in _references(connection, facts.table):
            wanted = [values.get(column) for column in columns]
            if None not in wanted and not _is_there(connection, other, targets, wanted):
                return tuple(columns)
    return ()


def _references(connection: sqlite3.Connection, table: str) -> list[tuple[list[str], str, list[str]]]:
    query = 'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq'
    found = []
    for _, parts in groupby(connection.execute(query, (table,)).fetchall(), lambda part: part[0]):
        rows = list(parts)
        other, targets = rows[0][1], [target for *_, target in rows]
        found.append(
            ([column for _, _, column, _ in rows], other, targets if all(targets) else _key(connection, other))
        )
    return found


def _key(connection: sqlite3.Connection, table: str) -> list[str]:
    query = "SELECT name FROM pragma_table_info(?) WHERE pk ORDER BY pk"
    return [name for (name,) in connection.execute(query, (table,)).fetchall()]


def _is_there(connection: sqlite3.Connection, table: str, columns: Sequence[str], values: Sequence[object]) -> bool:
    where = " AND ".join(f"{_quoted(table)}.{_quoted(column)} = ?" for column in columns)
    text = f"SELECT 1 FROM {_quoted(table)} WHERE {where} LIMIT 1"  # noqa: S608 -- the database's own names, quoted
    return connection.execute(text, values).fetchone() is not None
