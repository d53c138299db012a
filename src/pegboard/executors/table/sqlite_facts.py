"""What SQLite says of a table: its pragmas, and the CREATE statement for the rest."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Container, Iterable
from itertools import groupby
from typing import NamedTuple

from pegboard.executors.table.facts import Column, Facts, Family, ForeignKey
from pegboard.executors.table.sqlite_checks import checks_of, indexed_in

_FAMILIES: dict[str, Family] = {
    "BOOLEAN": "boolean", "BOOL": "boolean", "DATE": "date", "TIME": "time", "DATETIME": "instant",
    "TIMESTAMP": "instant", "TIMESTAMPTZ": "instant", "JSON": "json", "JSONB": "json", "UUID": "uuid", "GUID": "uuid",
    "DECIMAL": "numeric", "DEC": "numeric", "NUMERIC": "numeric", "NUMBER": "numeric", "MONEY": "numeric",
}  # fmt: skip
# Where the name is none of those: what SQLite itself goes by.
_AFFINITIES: tuple[tuple[str, Family], ...] = (
    ("INT", "integer"), ("CHAR", "text"), ("CLOB", "text"), ("TEXT", "text"), ("BLOB", "bytes"), ("REAL", "float"),
    ("FLOA", "float"), ("DOUB", "float"),
)  # fmt: skip
_TYPE = re.compile(r"(?P<name>[^(]*)(?:\(\s*(?P<first>\d+)\s*(?:,\s*(?P<second>\d+)\s*)?\))?[^(]*")
_INTEGERS = (-(2**63), 2**63 - 1)
_UNFIT = {
    "view": "it is a view",
    "virtual": "it is a virtual table",
    "shadow": "it belongs to a virtual table",
}


class _Described(NamedTuple):
    name: str
    type: str
    not_null: int
    default: str | None
    # Its place in the key, from 1.
    number: int
    hidden: int


def read_tables(connection: sqlite3.Connection) -> list[str]:
    """The names of the tables that people made."""
    query = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name"
    return [name for (name,) in connection.execute(query).fetchall() if not _is_inner(name)]


def read_facts(connection: sqlite3.Connection, schema: str | None, table: str) -> Facts | None:
    """What there is to know of a table, seen at one moment; None if there is no such."""
    if schema not in {None, "main"}:
        return None
    connection.execute("BEGIN")
    try:
        query = "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE"
        found = connection.execute(query, (table,)).fetchall()
        return _facts(connection, schema, *found[0]) if found else None
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _facts(connection: sqlite3.Connection, schema: str | None, table: str, kind: str) -> Facts:
    query = 'SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?)'
    described = [_Described(*row) for row in connection.execute(query, (table,)).fetchall()]
    indexes = connection.execute(
        'SELECT name, origin FROM pragma_index_list(?) WHERE "unique" ORDER BY seq', (table,)
    ).fetchall()
    key = tuple(said.name for said in sorted(described, key=lambda said: said.number) if said.number)
    # A key that is the rowid itself has no index.
    is_rowid = len(key) == 1 and kind == "table" and not any(origin == "pk" for _, origin in indexes)
    columns = {said.name: _column(said, is_rowid=is_rowid) for said in described}
    return Facts(
        schema,
        table,
        columns,
        key,
        {name: _indexed(connection, name, columns) for name, _ in indexes},
        _foreign_keys(connection, table),
        checks_of(_statement(connection, table)) if kind == "table" else {},
        unfit="it is SQLite's own" if _is_inner(table) else _UNFIT.get(kind),
    )


def _column(said: _Described, *, is_rowid: bool) -> Column:
    match = _TYPE.fullmatch(said.type)
    word, *sizes = match.group("name", "first", "second") if match else (said.type, None, None)
    size, scale = (None if text is None else int(text) for text in sizes)
    family = _family(word.strip().upper())
    counts = is_rowid and said.number > 0
    low, high = _INTEGERS if family == "integer" else (None, None)
    return Column(
        said.name,
        said.type,
        family,
        # SQLite lets most keys be NULL, by an old mistake of its own; no row should make use of that.
        nullable=not (said.not_null or said.number),
        has_default=counts or (said.default or "NULL").upper() != "NULL",
        is_generated=said.hidden in {2, 3},
        counts=counts,
        max_length=size if family in {"text", "uuid"} else None,
        precision=size if family == "numeric" else None,
        scale=(scale or 0) if family == "numeric" and size else None,
        low=low,
        high=high,
    )


def _family(word: str) -> Family:
    for name in (word, word.partition(" ")[0]):
        if name in _FAMILIES:
            return _FAMILIES[name]
    if word in {"", "ANY"}:
        return "text"  # it keeps whatever it is given, as it is given
    return next((family for part, family in _AFFINITIES if part in word), "other")


def _indexed(connection: sqlite3.Connection, index: str, columns: Container[str]) -> tuple[str, ...]:
    query = "SELECT name FROM pragma_index_info(?) ORDER BY seqno"
    names = [name for (name,) in connection.execute(query, (index,)).fetchall()]
    if None not in names:
        return tuple(names)
    return indexed_in(_statement(connection, index), columns)


def _statement(connection: sqlite3.Connection, name: str) -> str:
    found = connection.execute("SELECT sql FROM main.sqlite_master WHERE name = ?", (name,)).fetchone()
    return (found and found[0]) or ""


def _foreign_keys(connection: sqlite3.Connection, table: str) -> dict[str, ForeignKey]:
    query = 'SELECT id, "table", "from" FROM pragma_foreign_key_list(?) ORDER BY id, seq'
    found: Iterable[tuple[int, str, str]] = connection.execute(query, (table,)).fetchall()
    keys = [
        ForeignKey(tuple(name for _, _, name in rows), other)
        for (_, other), rows in groupby(found, lambda row: (row[0], row[1]))
    ]
    # They have no names here: one like PostgreSQL would give them.
    return {f"{table}_{'_'.join(key.columns)}_fkey": key for key in keys}


def _is_inner(table: str) -> bool:
    return table.lower().startswith("sqlite_")
