"""Entries into SQLite: as many as wait in one transaction, where a failed one undoes only itself."""

from __future__ import annotations

import sqlite3
import time
from collections import deque
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from sqlalchemy.dialects.sqlite import dialect

from pegboard.executors.table.facts import Facts
from pegboard.executors.table.lanes import Outcome, Waiting
from pegboard.executors.table.source import Answered, Entry, Fault, Key, Row
from pegboard.executors.table.sqlite_faults import fault_of, is_deferred, referring
from pegboard.executors.table.sqlite_references import broken_reference
from pegboard.store.receipts import SignReceipt
from pegboard.store.types import json_text

_RECEIPT = "INSERT INTO receipts (id, row_id, output, mac, is_void) VALUES (?, ?, ?, ?, 0) ON CONFLICT (id) DO NOTHING"
# How much SQLite does between two looks at the clock: far more than any common row takes.
_STEPS = 100_000
_quoted = dialect().identifier_preparer.quote_identifier


class _Group(NamedTuple):
    """Entries to be tried in one transaction; `is_careful` where any of them may be undone by itself."""

    members: Sequence[Waiting]
    is_careful: bool = False


class _Tried(NamedTuple):
    outcomes: dict[Waiting, Outcome]
    # What has no outcome yet, and how to go on with it.
    again: Sequence[_Group] = ()


def commit(
    connection: sqlite3.Connection, members: Sequence[Waiting], *, sign_receipt: SignReceipt | None
) -> list[Outcome]:
    """What became of each entry; those that are answered are committed, and nothing of the others is there.

    With `sign_receipt` each entry leaves a receipt.
    """
    outcomes: dict[Waiting, Outcome] = {}
    groups = deque([_Group(members)])
    while groups:
        group = groups.popleft()
        try:
            try:
                tried = _try(connection, group, sign_receipt)
            finally:
                connection.set_progress_handler(None, 0)
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            # The database cannot be written at all: it would not be for the others either.
            return [outcomes.get(waiting) or fault_of(error) for waiting in members]
        outcomes |= tried.outcomes
        groups.extendleft(reversed(tried.again))
    return [outcomes[waiting] for waiting in members]


def _try(connection: sqlite3.Connection, group: _Group, sign_receipt: SignReceipt | None) -> _Tried:
    members = group.members
    outcomes: dict[Waiting, Outcome] = {}
    connection.execute("BEGIN IMMEDIATE")
    for waiting in members:
        if late := _late(waiting):
            outcomes[waiting] = late
            continue
        if group.is_careful:
            connection.execute("SAVEPOINT entry")
        try:
            connection.set_progress_handler(partial(_is_over, waiting), _STEPS)
            outcomes[waiting] = _insert(connection, waiting.entry, sign_receipt)
        except Exception as error:
            if len(members) == 1:
                return _Tried({waiting: error})
            if not group.is_careful:
                return _Tried({}, [_Group(members, is_careful=True)])
            if not connection.in_transaction:
                return _Tried({}, _parted(members, waiting))
            connection.execute("ROLLBACK TO entry")
            outcomes[waiting] = error
        if group.is_careful:
            connection.execute("RELEASE entry")
    for waiting in members:
        waiting.is_committing = True
    if any(waiting.is_gone and isinstance(outcomes[waiting], Answered) for waiting in members):
        return _Tried({}, [group])
    try:
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        return _uncommitted(connection, members, error)
    return _Tried(outcomes)


def _parted(members: Sequence[Waiting], from_: Waiting) -> list[_Group]:
    """One entry ended the transaction for all: the others go first, and it is told what it meets by itself."""
    others = [waiting for waiting in members if waiting is not from_]
    return [_Group(others, is_careful=len(others) > 1), _Group([from_])]


def _uncommitted(connection: sqlite3.Connection, members: Sequence[Waiting], error: sqlite3.Error) -> _Tried:
    if not is_deferred(error):
        return _Tried({waiting: fault_of(error) for waiting in members})
    if len(members) > 1:
        return _Tried({}, [_Group([waiting]) for waiting in members])
    (waiting,) = members
    entry = waiting.entry
    rows = enumerate(entry.rows)
    broken = (index for index, row in rows if broken_reference(connection, entry.facts, row))
    return _Tried({waiting: _told(connection, error, entry, next(broken, 0))})


def _told(connection: sqlite3.Connection, error: Exception, entry: Entry, index: int) -> Fault:
    row = entry.rows[index]
    fault = fault_of(error, entry.facts, row, index)
    if fault.sqlstate == "23503" and connection.in_transaction:
        return referring(fault, entry.facts, broken_reference(connection, entry.facts, row))
    return fault


def _is_over(waiting: Waiting) -> bool:
    """Whether SQLite had better stop: a trigger may take any time, and everybody else waits for it."""
    return waiting.is_gone or time.monotonic() >= waiting.entry.ends


def _late(waiting: Waiting) -> Fault | None:
    if waiting.is_gone:
        return Fault("P2024", "The call was given up before its turn to be inserted", sqlstate="57014")
    if time.monotonic() >= waiting.entry.ends:
        return Fault(
            "P2024",
            "The call's time was up before its turn to be inserted",
            sqlstate="57014",
            retry_after_ms=1000,
        )
    return None


def _insert(connection: sqlite3.Connection, entry: Entry, sign_receipt: SignReceipt | None) -> Answered:
    facts = entry.facts
    keys: list[Key] = []
    changes = connection.total_changes
    for index, row in enumerate(entry.rows):
        try:
            found = connection.execute(_statement(facts, row), row.values).fetchall()
        except (sqlite3.Error, OverflowError, UnicodeError) as error:
            raise _told(connection, error, entry, index) from error
        if not found:
            message = "a trigger of the table, or ON CONFLICT IGNORE, kept the row out of it"
            raise Fault("P2010", message, sqlstate="02000", row=index)
        keys.append(found[0] if facts.key else ())
    if connection.total_changes - changes < len(keys):
        # SQLite refuses rows for a view, unless asked what it returns: then it drops them without a word.
        raise Fault("P2010", f"'{facts.table}' is a view now", sqlstate="42809", is_stale=True)
    answered = entry.answered(keys)
    if sign_receipt is not None:
        _leave_receipt(connection, entry, answered, sign_receipt)
    return answered


def _leave_receipt(connection: sqlite3.Connection, entry: Entry, answered: Answered, sign: SignReceipt) -> None:
    output = None if answered.output is None else json_text(answered.output)
    mac = sign(entry.run_id, answered.row_id, output)
    try:
        done = connection.execute(_RECEIPT, (entry.run_id.replace("-", ""), answered.row_id, output, mac)).rowcount
    except sqlite3.Error as error:
        raise fault_of(error) from error
    if not done:
        raise Fault(
            "P2010", "The call was given up before its row was committed; nothing was inserted", sqlstate="40000"
        )


def _statement(facts: Facts, row: Row) -> str:
    if not facts.columns.keys() >= {*row.columns}:
        raise ValueError(f"a row for '{facts.table}' names columns that the table does not have")
    return _insert_text(facts.table, facts.key, row.columns)


@lru_cache(1024)
def _insert_text(table: str, key: tuple[str, ...], columns: tuple[str, ...]) -> str:
    """The statement; a bare name in quotes might be taken for a text, so the key is asked for with its table's."""
    into = _quoted(table)
    names = ", ".join(map(_quoted, columns))
    values = f"({names}) VALUES ({', '.join('?' * len(columns))})" if columns else "DEFAULT VALUES"
    returned = ", ".join(f"{into}.{_quoted(name)}" for name in key) or "1"
    return f"INSERT INTO {into} {values} RETURNING {returned}"
