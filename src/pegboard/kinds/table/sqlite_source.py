"""Tables in SQLite, in the board's own file or another: one thread and one connection per file, all waiting entries
in one transaction, in which a failed entry rolls back only itself.

Not with aiosqlite, which switches threads for each statement: a whole transaction runs in the thread.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import quote

from sqlalchemy.dialects.sqlite import dialect

from pegboard.journal.backend import JournalSession
from pegboard.journal.entries import ClosingEntry
from pegboard.journal.receipts import ReceiptStore
from pegboard.journal.sqlite_backend import SqliteSession, run_synchronously
from pegboard.journal.transactional_journal import TransactionalJournal
from pegboard.journal.writer import RolledBack, WriterFenced
from pegboard.kinds.table.insert_batching import InsertOutcome, InsertQueues, PendingInsert
from pegboard.kinds.table.receipt_table import INSERT_SQLITE, ReceiptTable
from pegboard.kinds.table.source import InsertAnswer, InsertEntry, InsertFault, InsertRow, RowKey
from pegboard.kinds.table.sqlite_errors import (
    add_reference,
    explain_sqlite_error,
    is_connection_error,
    is_constraint_error,
)
from pegboard.kinds.table.sqlite_schema import read_sqlite_schema, read_sqlite_tables
from pegboard.kinds.table.table_schema import TableSchema
from pegboard.storage.database import (
    SQLITE_PRAGMAS,
    Database,
    close_sqlite,
    finish_despite_cancellation,
    open_sqlite,
)

_quote_identifier = dialect().identifier_preparer.quote_identifier


def find_broken_reference(connection: sqlite3.Connection, facts: TableSchema, row: InsertRow) -> tuple[str, ...]:
    """Return the columns of the first foreign key without a target row; empty if unknown. SQLite does not name it."""
    values = dict(zip(row.columns, row.values, strict=True))
    with suppress(sqlite3.Error):
        for columns, other, targets in _read_references(connection, facts.table):
            wanted = [values.get(column) for column in columns]
            if None not in wanted and not _has_row(connection, other, targets, wanted):
                return tuple(columns)
    return ()


def _read_references(connection: sqlite3.Connection, table: str) -> list[tuple[list[str], str, list[str]]]:
    query = 'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq'
    found = []
    for _, parts in groupby(connection.execute(query, (table,)).fetchall(), lambda part: part[0]):
        rows = list(parts)
        other, targets = rows[0][1], [target for *_, target in rows]
        found.append(
            (
                [column for _, _, column, _ in rows],
                other,
                targets if all(targets) else _read_primary_key(connection, other),
            )
        )
    return found


def _read_primary_key(connection: sqlite3.Connection, table: str) -> list[str]:
    query = "SELECT name FROM pragma_table_info(?) WHERE pk ORDER BY pk"
    return [name for (name,) in connection.execute(query, (table,)).fetchall()]


def _has_row(connection: sqlite3.Connection, table: str, columns: Sequence[str], values: Sequence[object]) -> bool:
    where = " AND ".join(f"{_quote_identifier(table)}.{_quote_identifier(column)} = ?" for column in columns)
    text = f"SELECT 1 FROM {_quote_identifier(table)} WHERE {where} LIMIT 1"  # noqa: S608 -- the database's own names, quoted
    return connection.execute(text, values).fetchone() is not None


# SQLite instructions between two checks of the deadline: far more than a common row takes.
_PROGRESS_STEPS = 100_000


class InsertGroup(NamedTuple):
    """Entries for one transaction; with `is_careful` each has a savepoint."""

    members: Sequence[PendingInsert]
    is_careful: bool = False


class GroupResult(NamedTuple):
    """The outcome of a group."""

    outcomes: dict[PendingInsert, InsertOutcome]
    # The entries without an outcome, in groups to try next.
    retry_groups: Sequence[InsertGroup] = ()
    is_committed: bool = False


class _CommitFailed(Exception):
    """Entries were appended, and the transaction failed: the head of the chain has to be read again."""


AppendEntries = Callable[[Sequence[ClosingEntry]], None]


async def commit_inserts(
    members: Sequence[PendingInsert], commit: Callable[[InsertGroup], Awaitable[GroupResult]]
) -> list[InsertOutcome]:
    """Commit the entries and return an outcome for each; those with an answer are committed, the others rolled back."""
    outcomes: dict[PendingInsert, InsertOutcome] = {}
    groups = deque([InsertGroup(members)])
    while groups:
        try:
            tried = await commit(groups.popleft())
        except (sqlite3.Error, InsertFault) as error:
            # The database is not writable at all, so the other groups would fail too.
            fault = error if isinstance(error, InsertFault) else explain_sqlite_error(error)
            return [outcomes.get(waiting) or fault for waiting in members]
        outcomes |= tried.outcomes
        groups.extendleft(reversed(tried.retry_groups))
    return [outcomes[waiting] for waiting in members]


def commit_group(
    connection: sqlite3.Connection, group: InsertGroup, append: AppendEntries | None = None
) -> GroupResult:
    """Commit a group or roll it back; `append` adds the journal entries of those that are committed."""
    try:
        return _try_group(connection, group, append)
    finally:
        connection.set_progress_handler(None, 0)
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _try_group(connection: sqlite3.Connection, group: InsertGroup, append: AppendEntries | None) -> GroupResult:
    members = group.members
    outcomes: dict[PendingInsert, InsertOutcome] = {}
    connection.execute("BEGIN IMMEDIATE")
    for waiting in members:
        if late := _find_timeout(waiting):
            outcomes[waiting] = late
            continue
        if group.is_careful:
            connection.execute("SAVEPOINT entry")
        try:
            connection.set_progress_handler(partial(_should_interrupt, waiting), _PROGRESS_STEPS)
            outcomes[waiting] = _insert_entry(connection, waiting.entry)
        except Exception as error:
            if len(members) == 1:
                return GroupResult({waiting: error})
            if not group.is_careful:
                return GroupResult({}, [InsertGroup(members, is_careful=True)])
            if not connection.in_transaction:
                return GroupResult({}, _split_group(members, waiting))
            connection.execute("ROLLBACK TO entry")
            outcomes[waiting] = error
        if group.is_careful:
            connection.execute("RELEASE entry")
    return _commit_outcomes(connection, group, outcomes, append)


def _commit_outcomes(
    connection: sqlite3.Connection,
    group: InsertGroup,
    outcomes: dict[PendingInsert, InsertOutcome],
    append: AppendEntries | None,
) -> GroupResult:
    members = group.members
    for waiting in members:
        waiting.is_committing = True
    if any(waiting.is_gone and isinstance(outcomes[waiting], InsertAnswer) for waiting in members):
        return GroupResult({}, [group])
    connection.set_progress_handler(None, 0)  # no deadline interrupts the journal
    entries = [outcome.closing for outcome in outcomes.values() if isinstance(outcome, InsertAnswer)]
    closings = [closing for closing in entries if closing is not None]
    made = [outcome.receipt for outcome in outcomes.values() if isinstance(outcome, InsertAnswer)]
    receipts = [receipt for receipt in made if receipt is not None]
    try:
        if append is not None and closings:
            append(closings)
        if receipts:
            connection.executemany(INSERT_SQLITE, receipts)
    except sqlite3.IntegrityError:
        return _explain_recorded(members)
    try:
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        return _explain_failed_commit(connection, members, error)
    return GroupResult(outcomes, is_committed=True)


def _split_group(members: Sequence[PendingInsert], from_: PendingInsert) -> list[InsertGroup]:
    """Split the group after one entry ended the transaction: first the others, then that entry alone."""
    others = [waiting for waiting in members if waiting is not from_]
    return [InsertGroup(others, is_careful=len(others) > 1), InsertGroup([from_])]


def _explain_recorded(members: Sequence[PendingInsert]) -> GroupResult:
    """Return the result of a group with a call that recovery has recorded: it is not committed."""
    if len(members) > 1:
        return GroupResult({}, [InsertGroup([waiting]) for waiting in members])
    message = "The call was given up before its row was committed; nothing was inserted"
    return GroupResult({members[0]: InsertFault("P2010", message, sqlstate="40000")})


def _explain_failed_commit(
    connection: sqlite3.Connection, members: Sequence[PendingInsert], error: sqlite3.Error
) -> GroupResult:
    if not is_constraint_error(error):
        return GroupResult({waiting: explain_sqlite_error(error) for waiting in members})
    if len(members) > 1:
        return GroupResult({}, [InsertGroup([waiting]) for waiting in members])
    (waiting,) = members
    entry = waiting.entry
    rows = enumerate(entry.rows)
    broken = (index for index, row in rows if find_broken_reference(connection, entry.facts, row))
    return GroupResult({waiting: _explain_row_error(connection, error, entry, next(broken, 0))})


def _explain_row_error(connection: sqlite3.Connection, error: Exception, entry: InsertEntry, index: int) -> InsertFault:
    row = entry.rows[index]
    fault = explain_sqlite_error(error, entry.facts, row, index)
    if fault.sqlstate == "23503" and connection.in_transaction:
        return add_reference(fault, entry.facts, find_broken_reference(connection, entry.facts, row))
    return fault


def _should_interrupt(waiting: PendingInsert) -> bool:
    """True if SQLite should abort: a trigger may take any time, and all other entries wait for it."""
    return waiting.is_gone or time.monotonic() >= waiting.entry.ends


def _find_timeout(waiting: PendingInsert) -> InsertFault | None:
    if waiting.is_gone:
        return InsertFault("P2024", "The call was given up before its turn to be inserted", sqlstate="57014")
    if time.monotonic() >= waiting.entry.ends:
        return InsertFault(
            "P2024",
            "The call's time was up before its turn to be inserted",
            sqlstate="57014",
            retry_after_ms=1000,
        )
    return None


def _insert_entry(connection: sqlite3.Connection, entry: InsertEntry) -> InsertAnswer:
    facts = entry.facts
    keys: list[RowKey] = []
    changes = connection.total_changes
    for index, row in enumerate(entry.rows):
        try:
            found = connection.execute(_get_insert_sql(facts, row), row.values).fetchall()
        except (sqlite3.Error, OverflowError, UnicodeError) as error:
            raise _explain_row_error(connection, error, entry, index) from error
        if not found:
            message = "a trigger of the table, or ON CONFLICT IGNORE, kept the row out of it"
            raise InsertFault("P2010", message, sqlstate="02000", row=index)
        keys.append(found[0] if facts.key else ())
    if connection.total_changes - changes < len(keys):
        # With RETURNING, SQLite silently drops rows for a view instead of rejecting them.
        raise InsertFault("P2010", f"'{facts.table}' is a view now", sqlstate="42809", is_stale=True)
    return entry.build_answer(keys)


def _get_insert_sql(facts: TableSchema, row: InsertRow) -> str:
    if not facts.columns.keys() >= {*row.columns}:
        raise ValueError(f"a row for '{facts.table}' names columns that the table does not have")
    return _build_insert_sql(facts.table, facts.key, row.columns)


@lru_cache(1024)
def _build_insert_sql(table: str, key: tuple[str, ...], columns: tuple[str, ...]) -> str:
    """Return the statement; key columns have the table's prefix, because SQLite may read a bare quoted name as text."""
    into = _quote_identifier(table)
    names = ", ".join(map(_quote_identifier, columns))
    values = f"({names}) VALUES ({', '.join('?' * len(columns))})" if columns else "DEFAULT VALUES"
    returned = ", ".join(f"{into}.{_quote_identifier(name)}" for name in key) or "1"
    return f"INSERT INTO {into} {values} RETURNING {returned}"


T = TypeVar("T")

# SQLite has one writer at a time, so all waiting entries go together, whatever their table.
_QUEUE_NAME = "entries"


class SqliteSource:
    """The tables of an existing SQLite file or, with `own`, of the board's database."""

    kind: Literal["sqlite", "postgresql"] = "sqlite"

    def __init__(
        self,
        file: Path | None,
        *,
        database: Database | None = None,
        journal: TransactionalJournal | None = None,
        pragmas: Sequence[str] = SQLITE_PRAGMAS,
    ) -> None:
        self.shown_url = database.shown_url if database else f"sqlite:///{file}"
        self.is_own = database is not None
        self._file = file
        self._database = database
        self._pragmas = pragmas
        self._journal = journal
        self.is_transactional = journal is not None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pegboard-tables")
        self._connection: sqlite3.Connection | None = None
        # Device and inode of the open file, to notice if another file has replaced it.
        self._opened: tuple[int, int] | None = None
        self._insert_queues = InsertQueues(self._write)
        self.receipts: ReceiptStore = ReceiptTable(self.shown_url, "sqlite", self._run_statement)

    @classmethod
    def own(cls, database: Database, journal: TransactionalJournal | None = None) -> SqliteSource:
        """Return the source for the board's own database, with which it shares the write lock and the transactions."""
        return cls(database.file, database=database, journal=journal)

    async def facts(self, schema: str | None, table: str) -> TableSchema | None:
        """Read the current schema of the table, None if it does not exist; raise InsertFault if that fails."""
        return await self._ask(lambda connection: read_sqlite_schema(connection, schema, table))

    async def tables(self, schema: str | None = None) -> list[str]:
        """Return the names of the tables; raise InsertFault."""
        return await self._ask(read_sqlite_tables) if schema in {None, "main"} else []

    async def insert(self, entry: InsertEntry) -> InsertAnswer:
        """Insert and commit the rows and return the answer; raise InsertFault with the number of the failed row."""
        return await self._insert_queues.put(_QUEUE_NAME, entry)

    async def close(self) -> None:
        """Commit waiting entries, then close the connection and end the thread."""
        await self._insert_queues.rest()
        await finish_despite_cancellation(asyncio.get_running_loop().run_in_executor(self._thread, self._disconnect))
        self._thread.shutdown(wait=False)

    async def _write(self, members: Sequence[PendingInsert]) -> list[InsertOutcome]:
        return await commit_inserts(members, self._commit_alone if self._journal is None else self._commit_with_journal)

    async def _run_statement(self, statement: str, *values: object) -> list[Any]:
        return await self._ask(lambda connection: connection.execute(statement, values).fetchall())

    async def _ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        return await self._run_in_thread(lambda: self._answer(question))

    async def _run_in_thread(self, work: Callable[[], T]) -> T:
        turn: AbstractAsyncContextManager[None] = self._database.turn() if self._database else nullcontext()
        async with turn:
            return await finish_despite_cancellation(asyncio.get_running_loop().run_in_executor(self._thread, work))

    async def _commit_alone(self, group: InsertGroup) -> GroupResult:
        return await self._run_in_thread(lambda: self._commit(group))

    async def _commit_with_journal(self, group: InsertGroup) -> GroupResult:
        """Commit a group and its journal entries in one transaction."""
        closings: Sequence[ClosingEntry] = ()
        tried = GroupResult({}, [group])

        async def transaction(write: Callable[[JournalSession], Awaitable[T]]) -> T:
            written: list[T] = []

            def append(session: JournalSession, entries: Sequence[ClosingEntry]) -> None:
                nonlocal closings
                closings = entries
                written.append(run_synchronously(write(session)))

            nonlocal tried
            tried = await self._run_in_thread(lambda: self._commit(group, append))
            if not closings:
                raise RolledBack
            if not tried.is_committed:
                raise _CommitFailed
            return written[0]

        assert self._journal is not None
        try:
            await self._journal.commit(transaction, lambda: closings)
        except RolledBack as rolled_back:
            if rolled_back.reason is not None:
                raise rolled_back.reason from None
        except _CommitFailed:
            pass  # the outcomes in `tried` contain the error
        except WriterFenced:
            return GroupResult({}, [group])  # the next transaction begins another chain
        return tried

    def _commit(
        self, group: InsertGroup, append: Callable[[JournalSession, Sequence[ClosingEntry]], None] | None = None
    ) -> GroupResult:
        try:
            connection = self._get_connection()
            tried = commit_group(connection, group, partial(append, SqliteSession(connection)) if append else None)
        except BaseException:
            self._disconnect()
            raise
        outcomes = tried.outcomes.values()
        unwell = any(isinstance(outcome, InsertFault) and is_connection_error(outcome) for outcome in outcomes)
        if unwell or connection.in_transaction:
            self._disconnect()
        return tried

    def _answer(self, question: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._get_connection()
        try:
            return question(connection)
        except sqlite3.Error as error:
            self._disconnect()
            raise explain_sqlite_error(error) from error

    def _get_connection(self) -> sqlite3.Connection:
        """Return the connection, reopened if the file was replaced; raise InsertFault."""
        if self._file and not self._database and _get_file_identity(self._file) != self._opened:
            self._disconnect()
        if self._connection is None:
            try:
                self._connection = self._connect()
            except sqlite3.Error as error:
                raise explain_sqlite_error(error) from error
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        if self._database:
            return self._database.connect_sqlite()
        assert self._file is not None
        self._opened = _get_file_identity(self._file)
        where = f"file:{quote(str(self._file.absolute()))}?mode=rw"
        return open_sqlite(where, self._pragmas, is_uri=True)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            close_sqlite(connection)


def _get_file_identity(file: Path) -> tuple[int, int]:
    """Return device and inode of the file; raise InsertFault if it does not exist or is not readable."""
    try:
        found = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise InsertFault("P1003", f"Database file {file} does not exist", sqlstate="3D000") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InsertFault("P1001", f"Database file {file}: {reason}", sqlstate="08001", retry_after_ms=1000) from None
    if not os.access(file, os.R_OK):
        raise InsertFault("P1010", f"Database file {file} may not be read by this process", sqlstate="42501")
    return found.st_dev, found.st_ino
