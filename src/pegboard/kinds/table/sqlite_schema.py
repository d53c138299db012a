"""Reads the schema of an SQLite table from pragmas, and CHECKs and index expressions from CREATE statements.

sqlglot would lose the exact text of a CHECK, which SQLite reports: docs/decisions/0031-sql.md.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Container, Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from pegboard.kinds.table.table_schema import Column, ColumnFamily, ForeignKey, TableSchema

_SQL_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])
    |(?P<string>'(?:[^']|'')*')
    |(?P<word>[^\W\d][\w$]*)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


class _SqlToken(NamedTuple):
    kind: str
    text: str
    start: int


def read_checks(statement: str) -> dict[str, str]:
    """Return the text of each CHECK by the name that SQLite reports a violation with."""
    found: dict[str, str] = {}
    depth, name, opened, is_check = 0, "", -1, False
    tokens = list(_tokenize(statement))
    for place, token in enumerate(tokens):
        if token.text == "(":
            depth += 1
            if is_check:
                opened = token.start
        elif token.text == ")":
            depth -= 1
            if opened >= 0 and depth == 1:
                text = statement[opened + 1 : token.start].strip()
                key = name or _unquote_name(text)
                found[key] = f"({found[key]}) AND ({text})" if key in found else text
                opened = -1
        elif depth == 1 and token.text == ",":
            name = ""
        elif depth == 1 and _is_word(token, "CONSTRAINT") and place + 1 < len(tokens):
            name = _unquote_name(tokens[place + 1].text)
        is_check = depth == 1 and _is_word(token, "CHECK")
    return found


def find_columns(text: str, columns: Container[str]) -> tuple[str, ...]:
    """Return the columns that occur in an expression, in order."""
    names = (_unquote_name(token.text) for token in _tokenize(text) if token.kind in {"word", "quoted"})
    return tuple(dict.fromkeys(name for name in names if name in columns))


def find_indexed_columns(statement: str, columns: Container[str]) -> tuple[str, ...]:
    """Return the columns of an index, including those in expressions but not those in its WHERE."""
    depth, start = 0, 0
    for token in _tokenize(statement):
        if token.text == "(":
            depth += 1
            start = start or token.start
        elif token.text == ")":
            depth -= 1
            if depth == 0:
                return find_columns(statement[start : token.start], columns)
    return ()


def _tokenize(text: str) -> Iterator[_SqlToken]:
    for match in _SQL_TOKEN.finditer(text):
        if (kind := str(match.lastgroup)) != "space":
            yield _SqlToken(kind, match.group(), match.start())


def _is_word(token: _SqlToken, word: str) -> bool:
    return token.kind == "word" and token.text.upper() == word


def _unquote_name(text: str) -> str:
    """Return a name like SQLite does: if the text begins with a quoted part, that part alone."""
    match = _SQL_TOKEN.match(text)
    if match is None or match.lastgroup not in {"quoted", "string"}:
        return text
    token = match.group()
    return token[1:-1].replace(token[-1] * 2, token[-1])


_TYPE_FAMILIES: dict[str, ColumnFamily] = {
    "BOOLEAN": "boolean", "BOOL": "boolean", "DATE": "date", "TIME": "time", "DATETIME": "instant",
    "TIMESTAMP": "instant", "TIMESTAMPTZ": "instant", "JSON": "json", "JSONB": "json", "UUID": "uuid", "GUID": "uuid",
    "DECIMAL": "numeric", "DEC": "numeric", "NUMERIC": "numeric", "NUMBER": "numeric", "MONEY": "numeric",
}  # fmt: skip
# If the name is none of the above: SQLite's rules of type affinity.
_TYPE_AFFINITIES: tuple[tuple[str, ColumnFamily], ...] = (
    ("INT", "integer"), ("CHAR", "text"), ("CLOB", "text"), ("TEXT", "text"), ("BLOB", "bytes"), ("REAL", "float"),
    ("FLOA", "float"), ("DOUB", "float"),
)  # fmt: skip
_TYPE_PATTERN = re.compile(r"(?P<name>[^(]*)(?:\(\s*(?P<first>\d+)\s*(?:,\s*(?P<second>\d+)\s*)?\))?[^(]*")
_INTEGER_RANGE = (-(2**63), 2**63 - 1)
_UNUSABLE_REASONS = {
    "view": "it is a view",
    "virtual": "it is a virtual table",
    "shadow": "it belongs to a virtual table",
}


class _ColumnInfo(NamedTuple):
    name: str
    type: str
    not_null: int
    default: str | None
    # Position in the primary key, from 1.
    number: int
    hidden: int


def read_sqlite_tables(connection: sqlite3.Connection) -> list[str]:
    """Return the names of the user's tables."""
    query = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name"
    return [name for (name,) in connection.execute(query).fetchall() if not _is_sqlite_table(name)]


def read_sqlite_schema(connection: sqlite3.Connection, schema: str | None, table: str) -> TableSchema | None:
    """Read the schema of a table in one transaction; None if the table does not exist."""
    if schema not in {None, "main"}:
        return None
    connection.execute("BEGIN")
    try:
        query = "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE"
        found = connection.execute(query, (table,)).fetchall()
        return _build_schema(connection, schema, *found[0]) if found else None
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _build_schema(connection: sqlite3.Connection, schema: str | None, table: str, kind: str) -> TableSchema:
    query = 'SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?)'
    described = [_ColumnInfo(*row) for row in connection.execute(query, (table,)).fetchall()]
    indexes = connection.execute(
        'SELECT name, origin FROM pragma_index_list(?) WHERE "unique" ORDER BY seq', (table,)
    ).fetchall()
    key = tuple(item.name for item in sorted(described, key=lambda item: item.number) if item.number)
    # A key that is the rowid itself has no index.
    is_rowid = len(key) == 1 and kind == "table" and not any(origin == "pk" for _, origin in indexes)
    columns = {item.name: _build_column(item, is_rowid=is_rowid) for item in described}
    return TableSchema(
        schema,
        table,
        columns,
        key,
        {name: _read_index_columns(connection, name, columns) for name, _ in indexes},
        _read_foreign_keys(connection, table),
        read_checks(_read_create_statement(connection, table)) if kind == "table" else {},
        unfit="it is SQLite's own" if _is_sqlite_table(table) else _UNUSABLE_REASONS.get(kind),
    )


def _build_column(info: _ColumnInfo, *, is_rowid: bool) -> Column:
    match = _TYPE_PATTERN.fullmatch(info.type)
    word, *sizes = match.group("name", "first", "second") if match else (info.type, None, None)
    size, scale = (None if text is None else int(text) for text in sizes)
    family = _find_family(word.strip().upper())
    counts = is_rowid and info.number > 0
    low, high = _INTEGER_RANGE if family == "integer" else (None, None)
    return Column(
        info.name,
        info.type,
        family,
        # Because of an old bug, SQLite allows NULL in most primary keys; rows must not use that.
        nullable=not (info.not_null or info.number),
        has_default=counts or (info.default or "NULL").upper() != "NULL",
        is_generated=info.hidden in {2, 3},
        counts=counts,
        max_length=size if family in {"text", "uuid"} else None,
        precision=size if family == "numeric" else None,
        scale=(scale or 0) if family == "numeric" and size else None,
        low=low,
        high=high,
    )


def _find_family(word: str) -> ColumnFamily:
    for name in (word, word.partition(" ")[0]):
        if name in _TYPE_FAMILIES:
            return _TYPE_FAMILIES[name]
    if word in {"", "ANY"}:
        return "text"  # stores any value unchanged
    return next((family for part, family in _TYPE_AFFINITIES if part in word), "other")


def _read_index_columns(connection: sqlite3.Connection, index: str, columns: Container[str]) -> tuple[str, ...]:
    query = "SELECT name FROM pragma_index_info(?) ORDER BY seqno"
    names = [name for (name,) in connection.execute(query, (index,)).fetchall()]
    if None not in names:
        return tuple(names)
    return find_indexed_columns(_read_create_statement(connection, index), columns)


def _read_create_statement(connection: sqlite3.Connection, name: str) -> str:
    found = connection.execute("SELECT sql FROM main.sqlite_master WHERE name = ?", (name,)).fetchone()
    return (found and found[0]) or ""


def _read_foreign_keys(connection: sqlite3.Connection, table: str) -> dict[str, ForeignKey]:
    query = 'SELECT id, "table", "from" FROM pragma_foreign_key_list(?) ORDER BY id, seq'
    found: Iterable[tuple[int, str, str]] = connection.execute(query, (table,)).fetchall()
    keys = [
        ForeignKey(tuple(name for _, _, name in rows), other)
        for (_, other), rows in groupby(found, lambda row: (row[0], row[1]))
    ]
    # SQLite does not name foreign keys: use names in PostgreSQL's form.
    return {f"{table}_{'_'.join(key.columns)}_fkey": key for key in keys}


def _is_sqlite_table(table: str) -> bool:
    return table.lower().startswith("sqlite_")
