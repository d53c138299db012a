"""Maps SQLite errors to Prisma's codes and PostgreSQL's SQLSTATEs."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from typing import NamedTuple

from pegboard.kinds.table.source import InsertFault, InsertRow
from pegboard.kinds.table.sqlite_schema import find_columns
from pegboard.kinds.table.table_schema import TableSchema

_RETRY_AFTER_MS = 1000


class _ErrorMeaning(NamedTuple):
    code: str
    sqlstate: str
    message: str | None = None
    retry_after_ms: int | None = None
    is_stale: bool = False


# By SQLite's error name or its longest known prefix.
_MEANING_BY_NAME: Mapping[str, _ErrorMeaning] = {
    "SQLITE_CONSTRAINT_UNIQUE": _ErrorMeaning("P2002", "23505"),
    "SQLITE_CONSTRAINT_PRIMARYKEY": _ErrorMeaning("P2002", "23505"),
    "SQLITE_CONSTRAINT_ROWID": _ErrorMeaning("P2002", "23505"),
    "SQLITE_CONSTRAINT_FOREIGNKEY": _ErrorMeaning("P2003", "23503"),
    "SQLITE_CONSTRAINT_NOTNULL": _ErrorMeaning("P2011", "23502"),
    "SQLITE_CONSTRAINT_CHECK": _ErrorMeaning("P2004", "23514"),
    "SQLITE_CONSTRAINT_TRIGGER": _ErrorMeaning("P2010", "P0001"),
    "SQLITE_CONSTRAINT": _ErrorMeaning("P2004", "23000"),
    "SQLITE_MISMATCH": _ErrorMeaning("P2007", "22P02", "A value is not of its column's type"),
    "SQLITE_TOOBIG": _ErrorMeaning("P2000", "22001", "A value is larger than SQLite can hold"),
    "SQLITE_BUSY": _ErrorMeaning("P1008", "55P03", "Another connection holds the database's lock", _RETRY_AFTER_MS),
    "SQLITE_LOCKED": _ErrorMeaning("P1008", "55P03", "Another connection holds the table's lock", _RETRY_AFTER_MS),
    "SQLITE_INTERRUPT": _ErrorMeaning("P1008", "57014", "The database did not take the row in time", _RETRY_AFTER_MS),
    "SQLITE_SCHEMA": _ErrorMeaning("P2010", "0A000", "The table is being changed", _RETRY_AFTER_MS, is_stale=True),
    "SQLITE_READONLY": _ErrorMeaning("P2010", "25006", "The database file is read-only"),
    "SQLITE_FULL": _ErrorMeaning("P2010", "53100", "There is no more space for the database file", _RETRY_AFTER_MS),
    "SQLITE_NOMEM": _ErrorMeaning("P2010", "53200", "SQLite is out of memory", _RETRY_AFTER_MS),
    "SQLITE_IOERR": _ErrorMeaning("P2010", "58030", "The database file could not be read or written", _RETRY_AFTER_MS),
    "SQLITE_CORRUPT": _ErrorMeaning("P2010", "XX001", "The database file is damaged"),
    "SQLITE_NOTADB": _ErrorMeaning("P2010", "XX001", "The file is not an SQLite database"),
    "SQLITE_CANTOPEN": _ErrorMeaning("P1001", "08001", "The database file cannot be opened", _RETRY_AFTER_MS),
    "SQLITE_PERM": _ErrorMeaning("P1010", "42501", "The database file may not be written by this process"),
    "SQLITE_AUTH": _ErrorMeaning("P1010", "42501"),
}
# By message: errors for which SQLite or Python's sqlite3 has no specific name.
_MEANING_BY_MESSAGE: tuple[tuple[re.Pattern[str], _ErrorMeaning], ...] = (
    (re.compile(r"no such table: "), _ErrorMeaning("P2021", "42P01", is_stale=True)),
    (re.compile(r"table .* has no column named ", re.DOTALL), _ErrorMeaning("P2022", "42703", is_stale=True)),
    (re.compile(r"no such column: "), _ErrorMeaning("P2022", "42703", is_stale=True)),
    (re.compile(r"cannot INSERT into generated column "), _ErrorMeaning("P2010", "428C9", is_stale=True)),
    (re.compile(r"cannot modify .* because it is a view", re.DOTALL), _ErrorMeaning("P2010", "42809", is_stale=True)),
    (re.compile(r"table .* may not be modified", re.DOTALL), _ErrorMeaning("P1010", "42501")),
    (re.compile(r"cannot store \w+ value in \w+ column "), _ErrorMeaning("P2007", "42804", is_stale=True)),
    (re.compile(r"foreign key mismatch"), _ErrorMeaning("P2010", "42830")),
    (re.compile(r"no such function: "), _ErrorMeaning("P2010", "42883")),
)
_OTHER_MEANING = _ErrorMeaning("P2010", "HY000")
_COLUMN_PATTERNS = (
    re.compile(r"NOT NULL constraint failed: (.+)", re.DOTALL),
    re.compile(r"cannot store \w+ value in \w+ column (.+)", re.DOTALL),
    re.compile(r"table .* has no column named (.+)", re.DOTALL),
    re.compile(r"no such column: (.+)", re.DOTALL),
    re.compile(r'cannot INSERT into generated column "(.+)"', re.DOTALL),
)
# After one of these errors the connection is replaced.
_CONNECTION_SQLSTATES = ("08", "25", "53", "58", "XX")


def explain_sqlite_error(
    error: Exception, facts: TableSchema | None = None, row: InsertRow | None = None, index: int | None = None
) -> InsertFault:
    """Return the InsertFault for an error, with the columns of the table if they can be determined."""
    meaning = _find_meaning(error)
    columns, constraint = _find_columns_and_constraint(error, facts) if facts else ((), None)
    is_stale = meaning.is_stale
    if meaning.sqlstate == "23502" and facts and row is not None:
        is_new = not columns and str(error).partition(": ")[2].startswith(f"{facts.table}.")
        is_stale = is_new or not set(columns) <= set(row.columns)
    return InsertFault(
        meaning.code,
        meaning.message or str(error),
        sqlstate=meaning.sqlstate,
        columns=columns,
        constraint=constraint,
        row=index,
        is_stale=is_stale,
        retry_after_ms=meaning.retry_after_ms,
    )


def add_reference(fault: InsertFault, facts: TableSchema, columns: tuple[str, ...]) -> InsertFault:
    """Add the columns and the constraint of the broken foreign key to the error."""
    fault.columns = columns
    fault.constraint = next((name for name, key in facts.foreign_keys.items() if key.columns == columns), None)
    return fault


def is_connection_error(fault: InsertFault) -> bool:
    """True if the file or the disk caused the error, not the statement."""
    return (fault.sqlstate or "").startswith(_CONNECTION_SQLSTATES)


def is_constraint_error(error: sqlite3.Error) -> bool:
    """True if a COMMIT failed because of a constraint."""
    return _get_error_name(error).startswith("SQLITE_CONSTRAINT")


def _find_meaning(error: Exception) -> _ErrorMeaning:
    if isinstance(error, OverflowError):
        return _ErrorMeaning("P2020", "22003", "An integer has more than 64 bits")
    if isinstance(error, UnicodeError):
        return _ErrorMeaning("P2007", "22021", "A text has characters that cannot be stored")
    worded = (meaning for pattern, meaning in _MEANING_BY_MESSAGE if pattern.match(str(error)))
    name = _get_error_name(error)
    while name and name not in _MEANING_BY_NAME:
        name = name.rpartition("_")[0]
    return next(worded, None) or _MEANING_BY_NAME.get(name, _OTHER_MEANING)


def _find_columns_and_constraint(error: Exception, facts: TableSchema) -> tuple[tuple[str, ...], str | None]:
    """Return the columns and the constraint in the error message."""
    name, message = _get_error_name(error), str(error)
    constraint = message.partition(": ")[2]
    if name == "SQLITE_CONSTRAINT_CHECK":
        return find_columns(facts.checks.get(constraint, ""), facts.columns), constraint
    if name == "SQLITE_MISMATCH":
        return tuple(column.name for column in facts.columns.values() if column.counts), None
    if match := next(filter(None, (pattern.match(message) for pattern in _COLUMN_PATTERNS)), None):
        return _find_known_column(facts, match.group(1)), None
    return _find_unique_constraint(facts, constraint)


def _find_unique_constraint(facts: TableSchema, constraint: str) -> tuple[tuple[str, ...], str | None]:
    # Compared as a whole: names may contain dots and commas, and a trigger may name another table.
    for name, columns in facts.uniques.items():
        shown = ", ".join(f"{facts.table}.{column}" for column in columns)
        if constraint == f"index '{name}'" or (constraint and constraint == shown):
            return columns, name
    return _find_known_column(facts, constraint) if constraint.startswith(f"{facts.table}.") else (), None


def _find_known_column(facts: TableSchema, constraint: str) -> tuple[str, ...]:
    column = constraint.removeprefix(f"{facts.table}.")
    return (column,) if column in facts.columns else ()


def _get_error_name(error: Exception) -> str:
    name = str(getattr(error, "sqlite_errorname", None) or "")
    if name.startswith("SQLITE_"):
        return name
    # An error that this Python version does not know: its low byte is the primary error code.
    sort = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return next((known for known in _MEANING_BY_NAME if getattr(sqlite3, known, None) == sort), "")
