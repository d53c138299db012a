"""Converts errors of PostgreSQL and its driver to InsertFault with Prisma's codes, without values of the row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar

import asyncpg

from pegboard.kinds.table.postgresql_schema import find_mentioned_columns
from pegboard.kinds.table.source import InsertFault, InsertRow
from pegboard.kinds.table.table_schema import TableSchema

T = TypeVar("T")

_PRISMA_CODES = {
    "23505": ("P2002", "a row with these values exists already"),
    "23503": ("P2003", "the row that is referred to does not exist"),
    "23502": ("P2011", "a column that must have a value got none"),
    "23514": ("P2004", "a check constraint of the table is not met"),
    "23P01": ("P2004", "an exclusion constraint of the table is not met"),
    "22001": ("P2000", "a value is too long for its column"),
    "22003": ("P2020", "a number is out of its column's range"),
    "42P01": ("P2021", "the table does not exist"),
    "3F000": ("P2021", "the schema does not exist"),
    "42703": ("P2022", "a column does not exist"),
    "57014": ("P1008", "the statement was cancelled before its end"),
    "55P03": ("P1008", "a lock could not be had in time"),
    "40001": ("P2034", "the transaction conflicts with another; it may be tried again"),
    "40P01": ("P2034", "the transaction and another waited for each other; it may be tried again"),
    "53300": ("P2037", "the database has too many connections"),
    "42501": ("P1010", "permission denied"),
    "3D000": ("P1003", "the database does not exist"),
    "0A000": ("P2010", "it cannot do this, perhaps for a rule of the table or for one of its types"),
    "54000": ("P2010", "a value is larger than the database, or an index of the table, can hold"),
    "25006": ("P2010", "the database takes no writes at present"),
}
_PRISMA_CLASSES = {
    "08": ("P1001", "the database cannot be reached"),
    "57P": ("P1001", "the database is shutting down or starting up"),
    "28": ("P1000", "the database refused the user's credentials"),
    "22": ("P2007", "a value does not fit its column's type"),
}
_STALE_SQLSTATES = {"42P01", "42703", "42804", "42704", "3F000", "0A000"}
# Errors that affect every row of a statement, so that retrying rows one by one is useless.
_SHARED_SQLSTATES = ("08", "0A", "25", "28", "3D", "3F", "42P01", "42703", "42804", "42704", "53", "55P03", "57", "58")
_LOST_SQLSTATES = ("08", "57P", "40003")
_RETRY_AFTER_MS = 1000
# Errors of the driver, including those raised if the server cannot be reached.
DRIVER_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, TimeoutError)


class BatchRefused(InsertFault):
    """An error for several rows, with the rows that probably caused it."""

    suspect_rows: tuple[int, ...] = ()


def is_connection_lost(error: Exception) -> bool:
    """True if the connection is lost, so that the result of the last statement is unknown."""
    state = get_sqlstate(error)
    return state is None or state.startswith(_LOST_SQLSTATES)


def get_sqlstate(error: BaseException) -> str | None:
    """Return the SQLSTATE of the server, or the equivalent for a value that the driver could not send."""
    if isinstance(error, asyncpg.DataError) and getattr(error, "severity", None) is None:
        return "22003" if isinstance(error.__cause__, OverflowError) else "22P02"
    if isinstance(error, asyncpg.PostgresError):
        return str(error.sqlstate)
    return None


def is_shared_by_rows(fault: InsertFault) -> bool:
    """True if the other rows of the same statement would fail with this error too."""
    if fault.sqlstate == "23502":  # may be a column without a field, or caused by a trigger
        return False
    return fault.is_stale or fault.sqlstate is None or fault.sqlstate.startswith(_SHARED_SQLSTATES)


def copy_error(fault: InsertFault, row: int | None = None) -> InsertFault:
    """Return a copy of the error, for another caller to raise."""
    return InsertFault(
        fault.code,
        fault.message,
        sqlstate=fault.sqlstate,
        columns=fault.columns,
        constraint=fault.constraint,
        row=fault.row if row is None else row,
        is_unknown=fault.is_unknown,
        is_stale=fault.is_stale,
        retry_after_ms=fault.retry_after_ms,
    )


def explain_postgresql_error(
    error: Exception, facts: TableSchema | None = None, rows: Sequence[InsertRow] = ()
) -> InsertFault:
    """Return the InsertFault for an exception; for a single row, guess the columns if the server does not name them."""
    state = get_sqlstate(error)
    if state is None:
        return _make_unreachable_error(error)
    words = _PRISMA_CODES.get(state) or next(
        (_PRISMA_CLASSES[head] for head in _PRISMA_CLASSES if state.startswith(head)), None
    )
    code, message = words or ("P2010", "an error that nothing more is known of here")
    if state == "P0001" and (text := str(getattr(error, "message", "") or "")):
        message = text[:200]  # written by the author of the trigger for the caller
    constraint = getattr(error, "constraint_name", None)
    if state == "42501" and "row-level security" in str(getattr(error, "message", "")):
        constraint = "a row-level security policy"
    columns = _find_columns(error, state, facts, rows) if facts else ()
    # The server names the column, except for a NOT NULL domain.
    named = getattr(error, "column_name", None)
    unfilled = state == "23502" and bool(rows) and named is not None and named not in rows[0].columns
    fault = BatchRefused(
        code,
        message,
        sqlstate=state,
        columns=columns,
        constraint=constraint,
        is_stale=state in _STALE_SQLSTATES or unfilled,
        retry_after_ms=_RETRY_AFTER_MS if code in {"P1001", "P2037"} else None,
    )
    if facts and len(rows) > 1:
        is_suspect = partial(_is_suspect, state, str(getattr(error, "detail", "")), columns, facts)
        fault.suspect_rows = tuple(place for place, row in enumerate(rows) if is_suspect(row))
    return fault


def split_group(group: list[T], error: Exception) -> list[list[T]]:
    """Split a rejected group for retries: each suspect alone and the rest together, else two halves."""
    suspects = error.suspect_rows if isinstance(error, BatchRefused) else ()
    if 0 < len(suspects) < len(group):
        others = [member for place, member in enumerate(group) if place not in set(suspects)]
        return [*([group[place]] for place in suspects), others]
    half = len(group) // 2
    return [group[half:], group[:half]]


def make_timeout_error() -> InsertFault:
    """Return the error of an entry that timed out before it was committed."""
    return InsertFault("P1008", "the database did not take the row in time; nothing was inserted", sqlstate="57014")


def make_lost_error() -> InsertFault:
    """Return the error of an entry whose connection was lost repeatedly before its COMMIT."""
    return InsertFault(
        "P1017", "the connection to the database was lost; nothing was inserted", retry_after_ms=_RETRY_AFTER_MS
    )


def make_unknown_error() -> InsertFault:
    """Return the error of an entry whose COMMIT has an unknown result."""
    message = "the connection to the database was lost while it committed; it is unknown whether the row is there"
    return InsertFault("P1017", message, is_unknown=True)


def _make_unreachable_error(error: Exception) -> InsertFault:
    if isinstance(error, asyncpg.exceptions.ClientConfigurationError):
        return InsertFault(
            "P1013", "the database URL cannot be used: its host, port or options are not as the driver wants"
        )
    return InsertFault("P1001", "the database cannot be reached", retry_after_ms=_RETRY_AFTER_MS)


def _find_columns(error: Exception, state: str, facts: TableSchema, rows: Sequence[InsertRow]) -> tuple[str, ...]:
    constraint = str(getattr(error, "constraint_name", None))
    if constraint in facts.uniques:
        return facts.uniques[constraint]
    if constraint in facts.foreign_keys:
        return facts.foreign_keys[constraint].columns
    if constraint in facts.checks:
        return find_mentioned_columns(facts.checks[constraint], facts.columns)
    column = str(getattr(error, "column_name", None))
    if column in facts.columns:
        return (column,)
    return (
        _guess_columns(state, facts, dict(zip(rows[0].columns, rows[0].values, strict=True))) if len(rows) == 1 else ()
    )


def _guess_columns(state: str, facts: TableSchema, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns that may have caused the error if the server names none."""
    if state == "23502":  # a NOT NULL domain
        columns = facts.columns.values()
        return tuple(
            column.name
            for column in columns
            if not column.nullable
            and values.get(column.name) is None
            and (column.name in values or not column.has_default)
        )
    if state in {"22001", "22003"} and (
        found := [name for name in values if _exceeds_column(facts, name, values[name])]
    ):
        return tuple(found)
    is_about_a_value = state.startswith("22")
    return tuple(
        name for name in values if is_about_a_value and values[name] is not None and _is_parsed_by_server(facts, name)
    )


def _is_parsed_by_server(facts: TableSchema, name: str) -> bool:
    """True if only the server can parse texts of the column's type."""
    column = facts.columns[name]
    return (column.element or column).family == "other"


def _is_suspect(state: str, detail: str, columns: Sequence[str], facts: TableSchema, row: InsertRow) -> bool:
    """Return True if this row probably caused the error. A wrong guess costs only further retries."""
    values = dict(zip(row.columns, row.values, strict=True))
    if state == "23502":
        return any(values.get(name) is None for name in columns)
    if state in {"22001", "22003"}:
        return any(_exceeds_column(facts, name, value) for name, value in values.items())
    return bool(columns) and f"=({', '.join(str(values.get(name)) for name in columns)})" in detail


def _exceeds_column(facts: TableSchema, name: str, value: object) -> bool:
    column = facts.columns[name]
    if isinstance(value, str):
        return column.max_length is not None and len(value) > column.max_length
    if isinstance(value, int):
        return (column.low is not None and value < column.low) or (column.high is not None and value > column.high)
    # precision - scale is the number of digits before the decimal point.
    whole = (column.precision or 0) - (column.scale or 0)
    return column.precision is not None and isinstance(value, float | Decimal) and abs(value) >= 10**whole
