"""Commits inserts into PostgreSQL in batches; if the result of a COMMIT is lost, finds out whether it succeeded, so
that no row is inserted twice or reported wrongly.

Not with `Connection.transaction()` of asyncpg, which does not report whether the server received a COMMIT.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import asyncpg
from sqlalchemy.exc import SQLAlchemyError

from pegboard.journal.backend import JournalSession
from pegboard.journal.entries import ClosingEntry
from pegboard.journal.postgresql_backend import PostgresqlSession
from pegboard.journal.receipts import ExternalReceipt
from pegboard.journal.transactional_journal import TransactionalJournal
from pegboard.journal.writer import RolledBack, WriterFenced
from pegboard.kinds.table.insert_batching import COMMIT_GRACE_SECONDS, InsertOutcome, PendingInsert
from pegboard.kinds.table.postgresql_errors import (
    DRIVER_ERRORS,
    BatchRefused,
    copy_error,
    explain_postgresql_error,
    get_sqlstate,
    is_connection_lost,
    is_shared_by_rows,
    make_lost_error,
    make_timeout_error,
    make_unknown_error,
    split_group,
)
from pegboard.kinds.table.postgresql_pool import PostgresqlPool, terminate_connection
from pegboard.kinds.table.postgresql_statements import KeysUnmatched, StatementCache, format_key_column, quote_table
from pegboard.kinds.table.receipt_table import INSERT_POSTGRESQL, RECEIPT_TABLE, RECORDED_MESSAGE
from pegboard.kinds.table.source import InsertAnswer, InsertEntry, InsertFault, InsertRow, RowKey
from pegboard.kinds.table.table_schema import TableSchema
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

_FIRST_PAUSE_SECONDS = 0.02
_MAX_PAUSE_SECONDS = 1.0
_TERMINATE_AFTER_SECONDS = 0.3
_MAX_CHECKED_KEYS = 20
_XACT_STATUS_QUERY = "SELECT CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_xact_status($1::text::xid8) END"
_COUNT_RECORDED_QUERY = "SELECT count(*) FROM executions WHERE id = ANY($1::uuid[]) AND status = 'succeeded'"

# If the connection is dead only at our end, the server would keep a transaction that waits for our COMMIT open
# forever.
_TERMINATE_QUERY = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_xid::text = $1"
    " AND state = 'idle in transaction' AND application_name = 'pegboard' AND usename = current_user"
)


class SentTransaction(NamedTuple):
    """A transaction for which everything except the COMMIT was sent."""

    answers: list[InsertAnswer]
    keys: list[RowKey]
    xid: str
    facts: TableSchema

    @property
    def closings(self) -> list[ClosingEntry]:
        """The journal entries that are committed in the same transaction."""
        return [answer.closing for answer in self.answers if answer.closing is not None]


async def find_commit_outcome(connections: PostgresqlPool, sent: SentTransaction, until: float) -> bool | None:
    """Return whether the transaction was committed, polling until the server knows; None if `until` passes first."""
    pause = _FIRST_PAUSE_SECONDS
    while time.monotonic() < until:
        try:
            async with connections.acquire(until) as conn, asyncio.timeout(until - time.monotonic()):
                status = await _read_status(conn, sent.xid)
                if status == "aborted":
                    return False
                if status == "committed":
                    return await _has_rows(conn, sent)
                if pause > _TERMINATE_AFTER_SECONDS:
                    await conn.execute(_TERMINATE_QUERY, _shorten_xid(sent.xid))
        except (InsertFault, *DRIVER_ERRORS) as error:
            log.info("commit_not_yet_known", table=sent.facts.table, error=type(error).__name__)
        await asyncio.sleep(pause)
        pause = min(2 * pause, _MAX_PAUSE_SECONDS)
    return None


async def _read_status(conn: Any, xid: str) -> str | None:
    try:
        status: str | None = await conn.fetchval(_XACT_STATUS_QUERY, xid)
    except asyncpg.InvalidParameterValueError:
        # An id that the server has not reached yet: it crashed before the transaction was on disk.
        return "aborted"
    return status


async def _has_rows(conn: Any, sent: SentTransaction) -> bool | None:
    """Return True if its rows exist: after a crash, another transaction may have got the same id."""
    if sent.closings:
        # The journal decides: its rows are in the same transaction, and are not removed for a long time.
        ids = [closing.id for closing in sent.closings]
        return bool(await conn.fetchval(_COUNT_RECORDED_QUERY, ids) == len(ids))
    made_by = _shorten_xid(sent.xid)
    look = f"SELECT 1 FROM {quote_table(sent.facts)} WHERE xmin::text = $1"  # noqa: S608 -- a quoted name
    for place, name in enumerate(sent.facts.key, 2):
        look += f" AND {format_key_column(sent.facts.columns[name])} = ${place}"
    look += " LIMIT 1"
    keys = sent.keys[:_MAX_CHECKED_KEYS] if sent.facts.key else [()]
    for key in keys:
        if await conn.fetchval(look, made_by, *key):
            return True
    return None


def _shorten_xid(xid: str) -> str:
    """Return the 32-bit id that rows and processes have, without its epoch."""
    return str(int(xid) & 0xFFFFFFFF)


_CANCEL_POLL_SECONDS = 0.05
_ROLLBACK_SECONDS = 5.0


@asynccontextmanager
async def limit_transaction_time(
    group: Sequence[PendingInsert], ends: float, patience: float | None
) -> AsyncIterator[None]:
    """Raise TimeoutError if all entries are gone, at the deadline, or after `patience` seconds."""
    loop = asyncio.get_running_loop()
    left = ends - time.monotonic()
    timers: list[asyncio.TimerHandle] = []
    async with asyncio.timeout(left if patience is None else min(left, patience)) as scope:

        def look() -> None:
            if scope.expired():
                return
            if all(member.is_gone for member in group):
                scope.reschedule(loop.time())
            else:
                timers[:] = [loop.call_later(_CANCEL_POLL_SECONDS, look)]

        timers.append(loop.call_later(_CANCEL_POLL_SECONDS, look))
        try:
            yield
        finally:
            timers[0].cancel()


async def commit_transaction(conn: Any, until: float, group: Sequence[PendingInsert]) -> bool | None:
    """Send COMMIT; return True on success, None if the result is unknown; raise InsertFault if it is rejected."""
    # A COMMIT is not cancelled: it might succeed anyway, without the server waiting for its replicas.
    timer = asyncio.get_running_loop().call_later(until - time.monotonic(), terminate_connection, conn)
    try:
        done = await conn.execute("COMMIT")
    except Exception as error:
        if not isinstance(error, DRIVER_ERRORS) or is_connection_lost(error):
            terminate_connection(conn)
            return None
        raise explain_postgresql_error(error, group[0].entry.facts, list_rows(group)) from None
    finally:
        timer.cancel()
    if done != "COMMIT":
        raise InsertFault("P2010", "the database rolled the transaction back", sqlstate="25P02")
    return True


async def roll_back_transaction(conn: Any) -> None:
    """Roll back the transaction; if that fails, terminate the connection, which also discards it."""
    try:
        await conn.execute("ROLLBACK", timeout=_ROLLBACK_SECONDS)
    except DRIVER_ERRORS:
        terminate_connection(conn)


def list_rows(group: Sequence[PendingInsert]) -> list[InsertRow]:
    """Return the rows of all entries in order."""
    return [row for member in group for row in member.entry.rows]


# How long a shared batch waits for a lock; perhaps only one of its entries needs it.
SHARED_WAIT_SECONDS = 1.0
_MAX_TRIES = 2
# SQLSTATEs of the server's own statement and lock timeouts.
_WAIT_SQLSTATES = {"57014", "55P03"}
_EXECUTIONS_KEY = "pk_executions"
_get_columns = attrgetter("columns")
T = TypeVar("T")


class InsertBlocked(Exception):
    """Nothing was inserted for too long: the entry must wait in a queue in which it blocks no other."""


class _RetryInsert(Exception):
    """Nothing was committed, and the remaining entries can be retried immediately."""


class _CommitUnanswered(Exception):
    """The outcome of COMMIT is unknown."""


class TransactionState:
    """The progress of a transaction; the result of `is_committed` is None if the outcome is unknown."""

    __slots__ = ("answers", "is_committed", "stage")

    def __init__(self) -> None:
        self.stage = "connecting"
        self.answers: dict[int, InsertAnswer] = {}
        self.is_committed: asyncio.Future[bool | None] = asyncio.get_running_loop().create_future()


class PostgresqlInserter:
    """Commits the entries of a queue."""

    def __init__(
        self, connections: PostgresqlPool, statements: StatementCache, *, journal: TransactionalJournal | None
    ) -> None:
        self._connections = connections
        self._statements = statements
        self._journal = journal
        self._states: dict[int, TransactionState] = {}

    async def write(self, batch: Sequence[PendingInsert]) -> list[InsertOutcome]:
        """Return an outcome for each entry of a shared batch; InsertBlocked if a lock takes more than 1 s."""
        return await self._write(batch, SHARED_WAIT_SECONDS)

    async def write_alone(self, batch: Sequence[PendingInsert]) -> list[InsertOutcome]:
        """Return the outcome of an entry with its own queue, which may wait until its deadline."""
        return await self._write(batch, None)

    async def late(self, entry: InsertEntry) -> InsertAnswer:
        """Return the answer of a timed-out entry if its COMMIT succeeded; raise InsertFault if not."""
        fate = self._states.get(id(entry))
        if fate is None or fate.stage == "inserting":
            raise (
                self._connections.late() if fate is None and self._connections.are_all_in_use else make_timeout_error()
            )
        if fate.stage == "connecting":
            raise self._connections.late()
        committed = fate.is_committed.result() if fate.is_committed.done() else None
        if committed:
            return fate.answers[id(entry)]
        raise make_unknown_error() if committed is None else make_timeout_error()

    def forget(self, entry: InsertEntry) -> None:
        """Drop the state of an entry that is answered or was cancelled."""
        self._states.pop(id(entry), None)

    async def _write(self, batch: Sequence[PendingInsert], patience: float | None) -> list[InsertOutcome]:
        outcomes: dict[PendingInsert, InsertOutcome] = {}
        groups = [list(batch)]
        tries = 0
        while groups:
            group = [member for member in groups.pop() if not member.is_gone]
            if not group:
                continue
            try:
                outcomes.update(zip(group, await self._commit(group, patience), strict=True))
            except _RetryInsert:
                groups.append(group)
            except ConnectionError:
                tries += 1
                if tries < _MAX_TRIES:
                    groups.append(group)
                else:
                    outcomes.update((member, make_lost_error()) for member in group)
            except Exception as error:
                is_for_all = isinstance(error, InsertBlocked) or (
                    isinstance(error, InsertFault) and is_shared_by_rows(error)
                )
                if len(group) > 1 and not is_for_all:
                    groups += split_group(group, error)
                    continue
                if isinstance(error, InsertFault) and len(group[0].entry.rows) > 1 and not is_shared_by_rows(error):
                    error = await self._add_row_number(group[0].entry, error)
                outcomes.update((member, _copy_for_entry(error)) for member in group)
        return [outcomes.get(member) or make_timeout_error() for member in batch]

    async def _commit(self, group: Sequence[PendingInsert], patience: float | None) -> list[InsertAnswer]:
        """Commit and return the answers; raise if it rolled back, or InsertFault(is_unknown) if that is unknown."""
        fate = TransactionState()
        self._states.update((id(member.entry), fate) for member in group)
        try:
            return await self._transact(group, patience, fate)
        except Exception as error:
            # After COMMIT was sent, a row that may be committed must never be sent again, whatever the error.
            if fate.stage != "committing" or (fate.is_committed.done() and fate.is_committed.result() is False):
                raise
            if not fate.is_committed.done():
                fate.is_committed.set_result(None)
                log.warning("commit_not_known", table=group[0].entry.facts.table, error=type(error).__name__)
            raise make_unknown_error() from error

    async def _transact(
        self, group: Sequence[PendingInsert], patience: float | None, fate: TransactionState
    ) -> list[InsertAnswer]:
        ends = max(member.entry.ends for member in group)
        fault: InsertFault | None = None
        async with self._connections.acquire(ends) as conn:
            fate.stage = "inserting"
            sent = await self._send_transaction(conn, group, ends, patience)
            if any(member.is_gone for member in group):
                await roll_back_transaction(conn)
                raise _RetryInsert
            fate.answers = {id(member.entry): answer for member, answer in zip(group, sent.answers, strict=True)}
            try:
                committed = await self._commit_sent(conn, group, sent, fate, ends + COMMIT_GRACE_SECONDS)
            except InsertFault as refused:
                committed, fault = False, refused
        if committed is None:
            await self._connections.expire()
            committed = await find_commit_outcome(self._connections, sent, ends + COMMIT_GRACE_SECONDS)
        fate.is_committed.set_result(committed)
        if committed is None:
            raise make_unknown_error()
        if not committed:
            for member in group:
                member.is_committing = False
            raise fault or ConnectionResetError
        return sent.answers

    async def _commit_sent(
        self, conn: Any, group: Sequence[PendingInsert], sent: SentTransaction, fate: TransactionState, until: float
    ) -> bool | None:
        """Commit the transaction with its journal entries; raise if it failed, return None if that is unknown."""

        async def commit() -> bool | None:
            fate.stage = "committing"
            for member in group:
                member.is_committing = True
            return await commit_transaction(conn, until, group)

        async def append_and_commit(append: Callable[[JournalSession], Awaitable[T]]) -> T:
            if any(member.is_gone for member in group):
                raise RolledBack(_RetryInsert())
            for member in group:
                member.is_committing = True
            appended = await _append_entries(conn, append, until)
            try:
                committed = await commit()
            except InsertFault as refused:
                raise RolledBack(refused) from None
            if committed is None:
                raise _CommitUnanswered
            return appended

        if self._journal is None or not sent.closings:
            return await commit()
        try:
            await self._journal.commit(append_and_commit, lambda: sent.closings)
        except _CommitUnanswered:
            return None
        except Exception as error:
            await roll_back_transaction(conn)
            for member in group:
                member.is_committing = False
            failure = _explain_rollback(error)
            if isinstance(failure, ConnectionError):
                await self._connections.expire()
            raise failure from None
        return True

    async def _send_transaction(
        self, conn: Any, group: Sequence[PendingInsert], ends: float, patience: float | None
    ) -> SentTransaction:
        """Send everything except the COMMIT; on any error the transaction is rolled back."""
        facts = group[0].entry.facts
        rows = list_rows(group)
        try:
            async with limit_transaction_time(group, ends, patience):
                await conn.execute("BEGIN")
                keys, xid = await self._insert_rows(conn, group[0].entry, rows)
                places = iter(keys)
                answers = [m.entry.build_answer([next(places) for _ in m.entry.rows]) for m in group]
                sent = SentTransaction(answers, keys, xid, facts)
                if sent.closings:
                    # Deferred constraints and triggers must not wait for anything while the journal waits for them.
                    await conn.execute("SET CONSTRAINTS ALL IMMEDIATE")
                await _insert_receipts(conn, [answer.receipt for answer in answers if answer.receipt is not None])
                return sent
        except TimeoutError:
            await roll_back_transaction(conn)
            if patience is not None and time.monotonic() < ends:
                raise InsertBlocked from None
            raise make_timeout_error() from None
        except KeysUnmatched:
            await roll_back_transaction(conn)
            raise _RetryInsert from None
        except DRIVER_ERRORS as error:
            if is_connection_lost(error):
                terminate_connection(conn)
                await self._connections.expire()
                raise ConnectionResetError from None
            await roll_back_transaction(conn)
            if patience is not None and get_sqlstate(error) in _WAIT_SQLSTATES:
                raise InsertBlocked from None
            raise explain_postgresql_error(error, facts, rows) from None
        except BaseException:
            await roll_back_transaction(conn)
            raise

    async def _insert_rows(self, conn: Any, entry: InsertEntry, rows: Sequence[InsertRow]) -> tuple[list[RowKey], str]:
        keys: list[RowKey] = []
        xid = ""
        for columns, alike in groupby(rows, _get_columns):
            statement = self._statements.get(entry.facts, columns)
            try:
                more, xid = await statement.run(conn, list(alike))
            except KeysUnmatched:
                statement.is_grouped = False
                raise
            keys += more
        return keys, xid

    async def _add_row_number(self, entry: InsertEntry, fault: InsertFault) -> InsertFault:
        """Return the error with the number of its row, found by sending rows one by one and rolling back."""
        found = None
        try:
            async with self._connections.acquire(entry.ends) as conn, asyncio.timeout(entry.ends - time.monotonic()):
                await conn.execute("BEGIN")
                try:
                    found = await self._find_first_error(conn, entry)
                finally:
                    await roll_back_transaction(conn)
        except (*DRIVER_ERRORS, InsertFault):
            pass  # the row stays unknown
        # Deferred constraints are checked at COMMIT and fail for no row alone.
        suspects = fault.suspect_rows if isinstance(fault, BatchRefused) else ()
        return found or (copy_error(fault, suspects[-1]) if suspects else fault)

    async def _find_first_error(self, conn: Any, entry: InsertEntry) -> InsertFault | None:
        for place, row in enumerate(entry.rows):
            try:
                await self._statements.get(entry.facts, row.columns).run(conn, [row])
            except asyncpg.PostgresError as error:
                return copy_error(explain_postgresql_error(error, entry.facts, [row]), place)
            except InsertFault as skipped:
                return copy_error(skipped, place)
        return None


async def _append_entries(conn: Any, append: Callable[[JournalSession], Awaitable[T]], until: float) -> T:
    """Append the journal entries of the open transaction; raise RolledBack if one of them is recorded already."""
    timer = asyncio.get_running_loop().call_later(until - time.monotonic(), terminate_connection, conn)
    try:
        return await append(PostgresqlSession(conn))
    except asyncpg.UniqueViolationError as error:
        fault = InsertFault("P2034", RECORDED_MESSAGE, sqlstate="40001")
        # Otherwise the position in the chain is taken: the head has to be read again.
        raise RolledBack(fault) if error.constraint_name == _EXECUTIONS_KEY else fault from None
    finally:
        timer.cancel()


async def _insert_receipts(conn: Any, receipts: Sequence[ExternalReceipt]) -> None:
    if not receipts:
        return
    try:
        await conn.execute(INSERT_POSTGRESQL, *zip(*receipts, strict=True))
    except asyncpg.UniqueViolationError:
        raise InsertFault("P2034", RECORDED_MESSAGE, sqlstate="40001") from None
    except asyncpg.InsufficientPrivilegeError:
        message = f"the user of the database may not insert into {RECEIPT_TABLE}; grant INSERT on it"
        raise InsertFault("P2010", message, sqlstate="42501") from None
    except asyncpg.UndefinedTableError:
        message = f"the table {RECEIPT_TABLE} does not exist any more"
        raise InsertFault("P2010", message, sqlstate="42P01", is_stale=True) from None


def _explain_rollback(error: Exception) -> Exception:
    """Return what to raise after the journal entries of a transaction could not be committed."""
    if isinstance(error, WriterFenced):
        return _RetryInsert()  # the next transaction begins another chain
    reason = error.reason if isinstance(error, RolledBack) else error
    if isinstance(reason, asyncpg.PostgresError) and not is_connection_lost(reason):
        return explain_postgresql_error(reason)
    return ConnectionResetError() if isinstance(reason, (*DRIVER_ERRORS, SQLAlchemyError)) else reason or error


def _copy_for_entry(error: Exception) -> Exception:
    """Return a copy of an error of several entries, for each of them to raise."""
    if isinstance(error, InsertFault):
        return copy_error(error)
    return InsertBlocked() if isinstance(error, InsertBlocked) else error
