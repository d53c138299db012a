"""The journal backend for SQLite: one connection and one OS thread, and one thread round trip per transaction.

Not with aiosqlite, which has one round trip per statement (docs/decisions/0011-journal-connection.md).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import orjson

from pegboard.journal.backend import (
    MAX_EXPIRED_PER_RUN,
    CallReceipt,
    ChainAppend,
    JournalSession,
    NewWriter,
    RegisteredWriter,
    SiblingWriter,
    WriterCount,
)
from pegboard.journal.entries import ClaimHolder, CountRow, IntentRow, OpenIntent
from pegboard.journal.hash_chain import ChainPosition
from pegboard.model.journal_row import FIELDS, StoredRow
from pegboard.storage.database import Database, close_sqlite, finish_despite_cancellation
from pegboard.storage.statistics_rows import SQLITE_UPSERT

T = TypeVar("T")

# SQLite allows 32,766 parameters per statement. Few sizes, so that the prepared statements stay cached.
_ROWS_PER_INSERT = (512, 128, 32, 8, 4, 2, 1)

_ROW_INSERT = ("executions", (*FIELDS, "writer", "seq", "mac"), "")
_SELECT_UNCOUNTED = f"SELECT {', '.join(FIELDS)} FROM executions WHERE writer = ? AND seq > ?"  # noqa: S608 -- our own names
# On conflict: the key is taken, or the batch is retried because the outcome of its commit is unknown.
_INTENT_INSERT = ("intents", IntentRow._fields, " ON CONFLICT DO NOTHING")
_MOVE_HEAD = (
    "UPDATE writers SET seq = ?, mac = ?, signature = ?, beat = beat + 1 WHERE number = ? AND closed_at IS NULL"
)


class SqliteBackend:
    """Runs transactions in an OS thread; the event loop waits for one round trip per transaction, not per statement."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pegboard-journal")
        self._connection: sqlite3.Connection | None = None

    async def transaction(self, work: Callable[[JournalSession], Awaitable[T]]) -> T:
        """Run `work` in a transaction and return its result once it is committed and on disk."""
        async with self._database.turn():
            return await finish_despite_cancellation(
                asyncio.get_running_loop().run_in_executor(self._thread, self._transact, work)
            )

    async def hold(self, number: int) -> None:
        """Do nothing: the lock on the spool shows other writers that this process is alive."""

    def is_the_rows_own(self, error: Exception) -> bool:
        """True if the error is caused by the rows themselves, so that a retry cannot help."""
        own = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.InterfaceError)
        return isinstance(error, own) or not isinstance(error, sqlite3.Error | OSError)

    async def close(self) -> None:
        """Close the connection and stop the thread."""
        loop = asyncio.get_running_loop()
        await finish_despite_cancellation(loop.run_in_executor(self._thread, self._disconnect))
        self._thread.shutdown(wait=False)

    def _transact(self, work: Callable[[JournalSession], Awaitable[T]]) -> T:
        if self._connection is None:
            self._connection = self._database.connect_sqlite()
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            result = run_synchronously(work(SqliteSession(connection)))
            connection.execute("COMMIT")
        except BaseException:
            # After a full or read-only disk the connection may be unusable; a new one is cheap.
            self._disconnect()
            raise
        return result

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            close_sqlite(connection)


class SqliteSession:
    """The SQL statements of a transaction; none of these coroutines suspends."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def find_writer(self, writer_id: str) -> RegisteredWriter | None:
        """Return the writer with this id, or None."""
        found = self._fetch_all(
            "SELECT number, seq, mac, signature, closed_at FROM writers WHERE id = ?", _remove_dashes(writer_id)
        )
        return (
            RegisteredWriter(found[0][0], ChainPosition(*found[0][1:3]), found[0][3], found[0][4] is not None)
            if found
            else None
        )

    async def read_writer_count(self) -> WriterCount:
        """Return the number of writers; no other transaction can write during this one."""
        (row,) = self._fetch_all(
            "SELECT writers, writers_signature, (SELECT max(number) FROM writers), (SELECT max(writer) FROM executions)"
            " FROM board_state WHERE id = 1"
        )
        return WriterCount.of(*row)

    async def register(self, number: int, writer: NewWriter, signatures: tuple[str, str]) -> None:
        """Add a writer."""
        self._run("UPDATE board_state SET writers = ?, writers_signature = ? WHERE id = 1", number, signatures[0])
        self._run(
            "INSERT INTO writers (number, id, host, pid, started_at, beat, seq, mac, signature, pruned_seq, pruned_mac,"
            " pruned_signature, counted_seq) VALUES (?, ?, ?, ?, ?, 0, 0, '', ?, 0, '', '', 0)",
            *(number, _remove_dashes(writer.id), writer.host, writer.pid, writer.started_at, signatures[1]),
        )

    async def restore_head(self, writer_id: str, number: int, head: ChainPosition, signature: str) -> None:
        """Set the head of a writer if its row exists."""
        text = "UPDATE writers SET seq = ?, mac = ?, signature = ? WHERE number = ? AND id = ?"
        self._run(text, *head, signature, number, _remove_dashes(writer_id))

    async def find_recorded(self, ids: Collection[str]) -> dict[str, str]:
        """Return those of these executions that are recorded already, with their status."""
        by_hex = {_remove_dashes(run_id): run_id for run_id in ids}
        rows = self._fetch_all(
            "SELECT id, status FROM executions WHERE id IN (SELECT value FROM json_each(?))", _dump_json(by_hex)
        )
        return {by_hex[row[0]]: row[1] for row in rows}

    async def append(self, step: ChainAppend) -> bool:
        """Append to a writer's chain; write nothing and return False if the writer is closed."""
        writer, head, signature, intents, closings, places = step
        if not self._run(_MOVE_HEAD, *head, signature, writer):
            return False
        if intents:
            self._insert(_INTENT_INSERT, [(_remove_dashes(intent.id), *intent[1:]) for intent in intents])
        if closings:
            rows = (
                (_remove_dashes(one.id), *one.row[1:], writer, *place)
                for one, place in zip(closings, places, strict=True)
            )
            self._insert(_ROW_INSERT, list(rows))
            self._delete("intents", [one.run_id for one in closings if one.intent == "forget"])
            self._delete("receipts", [one.run_id for one in closings if one.receipts])
            self._connection.executemany(
                "UPDATE intents SET state = ?, answer = ?, execution = '' WHERE id = ?",
                [(one.state, one.answer, _remove_dashes(one.run_id)) for one in closings if one.intent == "keep"],
            )
        return True

    async def claim(self, intents: Sequence[IntentRow], now: str) -> dict[str, ClaimHolder]:
        """Insert the intents whose key is free and return the holder of each key."""
        names = _dump_json(intent.claim for intent in intents if intent.claim)
        self._run(
            "DELETE FROM intents WHERE claim IN (SELECT value FROM json_each(?))"
            " AND state = 'done' AND expires_at <= ? AND set_aside_at IS NULL",
            *(names, now),
        )
        self._insert(_INTENT_INSERT, [(_remove_dashes(intent.id), *intent[1:]) for intent in intents])
        found = self._fetch_all(
            "SELECT claim, id, digest, state, answer, claim_mac FROM intents"
            " WHERE claim IN (SELECT value FROM json_each(?))",
            names,
        )
        return {row[0]: ClaimHolder(_add_dashes(row[1]), *row[2:]) for row in found}

    async def count(self, writer: int, counted_seq: int, counts: Sequence[CountRow]) -> None:
        """Add counts to the statistics and set how far the writer's rows are included."""
        text = "UPDATE writers SET counted_seq = ? WHERE number = ? AND counted_seq < ?"
        if self._run(text, counted_seq, writer, counted_seq):
            self._connection.executemany(SQLITE_UPSERT, counts)

    async def read_uncounted(self, number: int) -> tuple[int, list[StoredRow]]:
        """Return a writer's last seq and its rows that are not in the statistics yet."""
        ((seq, counted),) = self._fetch_all("SELECT seq, counted_seq FROM writers WHERE number = ?", number)
        return seq, self._fetch_all(_SELECT_UNCOUNTED, number, counted)

    async def list_siblings(self, writer: int) -> list[SiblingWriter]:
        """Return the other writers that are not closed."""
        found = self._fetch_all("SELECT number, id, beat FROM writers WHERE closed_at IS NULL AND number <> ?", writer)
        return [SiblingWriter(row[0], _add_dashes(row[1]), row[2]) for row in found]

    async def close_writer(self, number: int, now: str) -> bool:
        """Close a writer; return True if this call closed it."""
        return self._run("UPDATE writers SET closed_at = ? WHERE number = ? AND closed_at IS NULL", now, number) == 1

    async def list_open_intents(self, number: int) -> list[OpenIntent]:
        """Return the intents that a writer has left open."""
        text = (
            "SELECT id, execution, receipts, claim, digest, mac FROM intents"
            " WHERE state = 'open' AND writer = ? AND set_aside_at IS NULL ORDER BY id"
        )
        return [OpenIntent(_add_dashes(row[0]), *row[1:]) for row in self._fetch_all(text, number)]

    async def find_receipt(self, run_id: str) -> CallReceipt | None:
        """Return the receipt of a call; if there is none, insert a void one so that none can be written later."""
        self._run(
            "INSERT INTO receipts (id, is_void) VALUES (?, 1) ON CONFLICT (id) DO NOTHING", _remove_dashes(run_id)
        )
        (row,) = self._fetch_all(
            "SELECT row_id, output, mac, is_void FROM receipts WHERE id = ?", _remove_dashes(run_id)
        )
        return None if row[3] else CallReceipt(*row[:3])

    async def set_aside(self, table: str, ids: Sequence[str], now: str) -> None:
        """Mark intents or receipts that the board did not write."""
        where = "set_aside_at IS NULL AND id IN (SELECT value FROM json_each(?))"
        self._run(f"UPDATE {table} SET set_aside_at = ? WHERE {where}", now, _dump_json(map(_remove_dashes, ids)))  # noqa: S608

    async def expire(self, now: str, oldest: str) -> bool:
        """Delete some expired answers and void receipts of calls before `oldest`; return whether more may be left."""
        done = self._run(
            "DELETE FROM intents WHERE id IN"
            " (SELECT id FROM intents WHERE state = 'done' AND expires_at <= ? AND set_aside_at IS NULL"
            " ORDER BY expires_at LIMIT ?)",
            *(now, MAX_EXPIRED_PER_RUN),
        )
        self._run("DELETE FROM receipts WHERE is_void AND id < ?", _remove_dashes(oldest))
        return done == MAX_EXPIRED_PER_RUN

    def _run(self, text: str, *values: Any) -> int:
        return self._connection.execute(text, values).rowcount

    def _delete(self, table: str, ids: Sequence[str]) -> None:
        if ids:
            text = f"DELETE FROM {table} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608 -- one of ours
            self._run(text, _dump_json(map(_remove_dashes, ids)))

    def _fetch_all(self, text: str, *values: Any) -> list[Any]:
        return self._connection.execute(text, values).fetchall()

    def _insert(self, into: tuple[str, tuple[str, ...], str], rows: Sequence[tuple[Any, ...]]) -> None:
        """Insert many rows per statement: each statement releases and reacquires the GIL once."""
        table, columns, ending = into
        one = f"({', '.join('?' * len(columns))})"
        done = 0
        for size in _ROWS_PER_INSERT:
            while len(rows) - done >= size:
                values = [value for row in rows[done : done + size] for value in row]
                text = f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([one] * size)}{ending}"  # noqa: S608
                self._connection.execute(text, values)
                done += size


def run_synchronously(work: Awaitable[T]) -> T:
    """Return the result of a coroutine that never suspends, without an event loop."""
    assert isinstance(work, Coroutine)
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise RuntimeError("a transaction on SQLite may not wait for anything but its statements")


def _dump_json(values: Iterable[str]) -> str:
    return orjson.dumps(list(values)).decode()


def _remove_dashes(run_id: str) -> str:
    return run_id.replace("-", "")


def _add_dashes(text: str) -> str:
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
