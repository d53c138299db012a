"""What PostgreSQL and its driver raise, as faults: Prisma's codes, and never a value of the row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar

import asyncpg

from pegboard.executors.table.facts import Facts
from pegboard.executors.table.postgresql_facts import mentioned
from pegboard.executors.table.source import Fault, Row

T = TypeVar("T")

_CODES = {
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
_CLASSES = {
    "08": ("P1001", "the database cannot be reached"),
    "57P": ("P1001", "the database is shutting down or starting up"),
    "28": ("P1000", "the database refused the user's credentials"),
    "22": ("P2007", "a value does not fit its column's type"),
}
_STALE = {"42P01", "42703", "42804", "42704", "3F000", "0A000"}
# Faults that every row of a statement would meet, so that trying them one by one is of no use.
_SHARED = ("08", "0A", "25", "28", "3D", "3F", "42P01", "42703", "42804", "42704", "53", "55P03", "57", "58")
_LOST = ("08", "57P", "40003")
_WAIT_MS = 1000
# What the driver raises, besides what the server says, when there is no server to talk to.
FAILURES = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, TimeoutError)


class Refused(Fault):
    """What the server said of several rows, and which of them it seems to be about."""

    suspects: tuple[int, ...] = ()


def is_lost(error: Exception) -> bool:
    """Whether the connection is gone, and with it the server's word on what it did last."""
    state = sqlstate_of(error)
    return state is None or state.startswith(_LOST)


def sqlstate_of(error: BaseException) -> str | None:
    """The SQLSTATE that the server gave, or would have given for what the driver could not even send."""
    if isinstance(error, asyncpg.DataError) and getattr(error, "severity", None) is None:
        return "22003" if isinstance(error.__cause__, OverflowError) else "22P02"
    if isinstance(error, asyncpg.PostgresError):
        return str(error.sqlstate)
    return None


def is_shared(fault: Fault) -> bool:
    """Whether the other rows of the same statement would meet this fault as well."""
    if fault.sqlstate == "23502":  # perhaps of a column that no field fills, perhaps of a trigger's doing
        return False
    return fault.is_stale or fault.sqlstate is None or fault.sqlstate.startswith(_SHARED)


def copied(fault: Fault, row: int | None = None) -> Fault:
    """The same fault, for another to raise."""
    return Fault(
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


def fault_of(error: Exception, facts: Facts | None = None, rows: Sequence[Row] = ()) -> Fault:
    """The fault for what was raised; with a single row it names the columns that the server does not."""
    state = sqlstate_of(error)
    if state is None:
        return _unreachable(error)
    words = _CODES.get(state) or next((_CLASSES[head] for head in _CLASSES if state.startswith(head)), None)
    code, message = words or ("P2010", "an error that nothing more is known of here")
    if state == "P0001" and (said := str(getattr(error, "message", "") or "")):
        message = said[:200]  # written by whoever wrote the trigger, for whoever inserts
    constraint = getattr(error, "constraint_name", None)
    if state == "42501" and "row-level security" in str(getattr(error, "message", "")):
        constraint = "a row-level security policy"
    columns = _columns(error, state, facts, rows) if facts else ()
    # The server names the column, unless it is a domain that takes no null.
    named = getattr(error, "column_name", None)
    unfilled = state == "23502" and bool(rows) and named is not None and named not in rows[0].columns
    fault = Refused(
        code,
        message,
        sqlstate=state,
        columns=columns,
        constraint=constraint,
        is_stale=state in _STALE or unfilled,
        retry_after_ms=_WAIT_MS if code in {"P1001", "P2037"} else None,
    )
    if facts and len(rows) > 1:
        is_suspect = partial(_is_suspect, state, str(getattr(error, "detail", "")), columns, facts)
        fault.suspects = tuple(place for place, row in enumerate(rows) if is_suspect(row))
    return fault


def parted(group: list[T], error: Exception) -> list[list[T]]:
    """A group that was refused, in parts to be tried apart: the suspects one by one, else two halves."""
    suspects = error.suspects if isinstance(error, Refused) else ()
    if 0 < len(suspects) < len(group):
        others = [member for place, member in enumerate(group) if place not in set(suspects)]
        return [*([group[place]] for place in suspects), others]
    half = len(group) // 2
    return [group[half:], group[:half]]


def late() -> Fault:
    """The fault of an entry whose time was up before anything of it was committed."""
    return Fault("P1008", "the database did not take the row in time; nothing was inserted", sqlstate="57014")


def lost() -> Fault:
    """The fault of an entry whose connection died again and again before its COMMIT."""
    return Fault("P1017", "the connection to the database was lost; nothing was inserted", retry_after_ms=_WAIT_MS)


def unknown() -> Fault:
    """The fault of an entry whose COMMIT nobody has answered for."""
    message = "the connection to the database was lost while it committed; nobody can say whether the row is there"
    return Fault("P1017", message, is_unknown=True)


def _unreachable(error: Exception) -> Fault:
    if isinstance(error, asyncpg.exceptions.ClientConfigurationError):
        return Fault("P1013", "the database URL cannot be used: its host, port or options are not as the driver wants")
    return Fault("P1001", "the database cannot be reached", retry_after_ms=_WAIT_MS)


def _columns(error: Exception, state: str, facts: Facts, rows: Sequence[Row]) -> tuple[str, ...]:
    constraint = str(getattr(error, "constraint_name", None))
    if constraint in facts.uniques:
        return facts.uniques[constraint]
    if constraint in facts.foreign_keys:
        return facts.foreign_keys[constraint].columns
    if constraint in facts.checks:
        return mentioned(facts.checks[constraint], facts.columns)
    column = str(getattr(error, "column_name", None))
    if column in facts.columns:
        return (column,)
    return _meant(state, facts, dict(zip(rows[0].columns, rows[0].values, strict=True))) if len(rows) == 1 else ()


def _meant(state: str, facts: Facts, values: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns that the server may mean with what it says of a row, where it does not name any."""
    if state == "23502":  # of a domain
        columns = facts.columns.values()
        return tuple(
            column.name
            for column in columns
            if not column.nullable
            and values.get(column.name) is None
            and (column.name in values or not column.has_default)
        )
    if state in {"22001", "22003"} and (found := [name for name in values if _exceeds(facts, name, values[name])]):
        return tuple(found)
    is_about_a_value = state.startswith("22")
    return tuple(name for name in values if is_about_a_value and values[name] is not None and _is_read(facts, name))


def _is_read(facts: Facts, name: str) -> bool:
    """Whether the server alone knows which texts stand for a value of the column."""
    column = facts.columns[name]
    return (column.element or column).family == "other"


def _is_suspect(state: str, detail: str, columns: Sequence[str], facts: Facts, row: Row) -> bool:
    """A guess that saves trying many rows apart; a wrong one costs no more than that."""
    values = dict(zip(row.columns, row.values, strict=True))
    if state == "23502":
        return any(values.get(name) is None for name in columns)
    if state in {"22001", "22003"}:
        return any(_exceeds(facts, name, value) for name, value in values.items())
    return bool(columns) and f"=({', '.join(str(values.get(name)) for name in columns)})" in detail


def _exceeds(facts: Facts, name: str, value: object) -> bool:
    column = facts.columns[name]
    if isinstance(value, str):
        return column.max_length is not None and len(value) > column.max_length
    if isinstance(value, int):
        return (column.low is not None and value < column.low) or (column.high is not None and value > column.high)
    # A numeric has as many digits before its point as precision and scale leave it.
    whole = (column.precision or 0) - (column.scale or 0)
    return column.precision is not None and isinstance(value, float | Decimal) and abs(value) >= 10**whole
