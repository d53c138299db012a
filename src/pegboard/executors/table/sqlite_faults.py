"""What SQLite's errors mean, as Prisma and PostgreSQL would call them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from typing import NamedTuple

from pegboard.executors.table.facts import Facts
from pegboard.executors.table.source import Fault, Row
from pegboard.executors.table.sqlite_checks import columns_in

_SOON = 1000


class _Meaning(NamedTuple):
    code: str
    sqlstate: str
    message: str | None = None
    retry_after_ms: int | None = None
    is_stale: bool = False


# By SQLite's name for the error, or the beginning of it: the longest that fits.
_NAMED: Mapping[str, _Meaning] = {
    "SQLITE_CONSTRAINT_UNIQUE": _Meaning("P2002", "23505"),
    "SQLITE_CONSTRAINT_PRIMARYKEY": _Meaning("P2002", "23505"),
    "SQLITE_CONSTRAINT_ROWID": _Meaning("P2002", "23505"),
    "SQLITE_CONSTRAINT_FOREIGNKEY": _Meaning("P2003", "23503"),
    "SQLITE_CONSTRAINT_NOTNULL": _Meaning("P2011", "23502"),
    "SQLITE_CONSTRAINT_CHECK": _Meaning("P2004", "23514"),
    "SQLITE_CONSTRAINT_TRIGGER": _Meaning("P2010", "P0001"),
    "SQLITE_CONSTRAINT": _Meaning("P2004", "23000"),
    "SQLITE_MISMATCH": _Meaning("P2007", "22P02", "A value is not of its column's type"),
    "SQLITE_TOOBIG": _Meaning("P2000", "22001", "A value is larger than SQLite can hold"),
    "SQLITE_BUSY": _Meaning("P1008", "55P03", "Another connection holds the database's lock", _SOON),
    "SQLITE_LOCKED": _Meaning("P1008", "55P03", "Another connection holds the table's lock", _SOON),
    "SQLITE_INTERRUPT": _Meaning("P1008", "57014", "The database did not take the row in time", _SOON),
    "SQLITE_SCHEMA": _Meaning("P2010", "0A000", "The table is being changed", _SOON, is_stale=True),
    "SQLITE_READONLY": _Meaning("P2010", "25006", "The database file is read-only"),
    "SQLITE_FULL": _Meaning("P2010", "53100", "There is no more space for the database file", _SOON),
    "SQLITE_NOMEM": _Meaning("P2010", "53200", "SQLite is out of memory", _SOON),
    "SQLITE_IOERR": _Meaning("P2010", "58030", "The database file could not be read or written", _SOON),
    "SQLITE_CORRUPT": _Meaning("P2010", "XX001", "The database file is damaged"),
    "SQLITE_NOTADB": _Meaning("P2010", "XX001", "The file is not an SQLite database"),
    "SQLITE_CANTOPEN": _Meaning("P1001", "08001", "The database file cannot be opened", _SOON),
    "SQLITE_PERM": _Meaning("P1010", "42501", "The database file may not be written by this process"),
    "SQLITE_AUTH": _Meaning("P1010", "42501"),
}
# What SQLite, or Python's module for it, has no name for: by the message.
_WORDED: tuple[tuple[re.Pattern[str], _Meaning], ...] = (
    (re.compile(r"no such table: "), _Meaning("P2021", "42P01", is_stale=True)),
    (re.compile(r"table .* has no column named ", re.DOTALL), _Meaning("P2022", "42703", is_stale=True)),
    (re.compile(r"no such column: "), _Meaning("P2022", "42703", is_stale=True)),
    (re.compile(r"cannot INSERT into generated column "), _Meaning("P2010", "428C9", is_stale=True)),
    (re.compile(r"cannot modify .* because it is a view", re.DOTALL), _Meaning("P2010", "42809", is_stale=True)),
    (re.compile(r"table .* may not be modified", re.DOTALL), _Meaning("P1010", "42501")),
    (re.compile(r"cannot store \w+ value in \w+ column "), _Meaning("P2007", "42804", is_stale=True)),
    (re.compile(r"foreign key mismatch"), _Meaning("P2010", "42830")),
    (re.compile(r"no such function: "), _Meaning("P2010", "42883")),
)
_OTHER = _Meaning("P2010", "HY000")
_COLUMN = (
    re.compile(r"NOT NULL constraint failed: (.+)", re.DOTALL),
    re.compile(r"cannot store \w+ value in \w+ column (.+)", re.DOTALL),
    re.compile(r"table .* has no column named (.+)", re.DOTALL),
    re.compile(r"no such column: (.+)", re.DOTALL),
    re.compile(r'cannot INSERT into generated column "(.+)"', re.DOTALL),
)
# Where a connection met one of these, the next does better with another.
_UNWELL = ("08", "25", "53", "58", "XX")


def fault_of(error: Exception, facts: Facts | None = None, row: Row | None = None, index: int | None = None) -> Fault:
    """The error as every source tells it, its columns those of the table where they can be known."""
    meaning = _meaning(error)
    columns, constraint = _in_the_way(error, facts) if facts else ((), None)
    is_stale = meaning.is_stale
    if meaning.sqlstate == "23502" and facts and row is not None:
        is_new = not columns and str(error).partition(": ")[2].startswith(f"{facts.table}.")
        is_stale = is_new or not set(columns) <= set(row.columns)
    return Fault(
        meaning.code,
        meaning.message or str(error),
        sqlstate=meaning.sqlstate,
        columns=columns,
        constraint=constraint,
        row=index,
        is_stale=is_stale,
        retry_after_ms=meaning.retry_after_ms,
    )


def referring(fault: Fault, facts: Facts, columns: tuple[str, ...]) -> Fault:
    """The fault of a reference, once it is known which leads nowhere."""
    fault.columns = columns
    fault.constraint = next((name for name, key in facts.foreign_keys.items() if key.columns == columns), None)
    return fault


def is_of_the_connection(fault: Fault) -> bool:
    """Whether the file or the disk is at fault, and not what was asked of it."""
    return (fault.sqlstate or "").startswith(_UNWELL)


def is_deferred(error: sqlite3.Error) -> bool:
    """Whether a COMMIT failed for what one of its rows lacks."""
    return _name(error).startswith("SQLITE_CONSTRAINT")


def _meaning(error: Exception) -> _Meaning:
    if isinstance(error, OverflowError):
        return _Meaning("P2020", "22003", "An integer has more than 64 bits")
    if isinstance(error, UnicodeError):
        return _Meaning("P2007", "22021", "A text has characters that cannot be stored")
    worded = (meaning for pattern, meaning in _WORDED if pattern.match(str(error)))
    name = _name(error)
    while name and name not in _NAMED:
        name = name.rpartition("_")[0]
    return next(worded, None) or _NAMED.get(name, _OTHER)


def _in_the_way(error: Exception, facts: Facts) -> tuple[tuple[str, ...], str | None]:
    """The columns of the table that the error speaks of, and its constraint."""
    name, message = _name(error), str(error)
    told = message.partition(": ")[2]
    if name == "SQLITE_CONSTRAINT_CHECK":
        return columns_in(facts.checks.get(told, ""), facts.columns), told
    if name == "SQLITE_MISMATCH":
        return tuple(column.name for column in facts.columns.values() if column.counts), None
    if match := next(filter(None, (pattern.match(message) for pattern in _COLUMN)), None):
        return _known(facts, match.group(1)), None
    return _unique(facts, told)


def _unique(facts: Facts, told: str) -> tuple[tuple[str, ...], str | None]:
    # Compared as a whole: names may hold dots and commas, and a trigger may speak of another table.
    for name, columns in facts.uniques.items():
        shown = ", ".join(f"{facts.table}.{column}" for column in columns)
        if told == f"index '{name}'" or (told and told == shown):
            return columns, name
    return _known(facts, told) if told.startswith(f"{facts.table}.") else (), None


def _known(facts: Facts, told: str) -> tuple[str, ...]:
    column = told.removeprefix(f"{facts.table}.")
    return (column,) if column in facts.columns else ()


def _name(error: Exception) -> str:
    name = str(getattr(error, "sqlite_errorname", None) or "")
    if name.startswith("SQLITE_"):
        return name
    # Newer than Python knows: the lowest byte of its number says of which sort it is.
    sort = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return next((known for known in _NAMED if getattr(sqlite3, known, None) == sort), "")
