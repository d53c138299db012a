"""The journal on SQLite: a connection and a thread of its own, and one visit to it a transaction."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import orjson

from pegboard.journal.chain import Place
from pegboard.journal.entries import Count, Held, Intent, OpenIntent
from pegboard.journal.ledger import (
    EXPIRED_AT_ONCE,
    NewWriter,
    ReceiptOf,
    Registered,
    Session,
    Sibling,
    Step,
    WriterCount,
)
from pegboard.store.counts import SQLITE_UPSERT
from pegboard.store.database import Database, settled
from pegboard.store.executions import FIELDS, Row

T = TypeVar("T")

# SQLite takes 32,766 values a statement at most. Few sizes, so that the statements stay prepared.
_SIZES = (512, 128, 32, 8, 4, 2, 1)

_ROWS = ("executions", (*FIELDS, "writer", "seq", "mac"), "")
_UNCOUNTED = f"SELECT {', '.join(FIELDS)} FROM executions WHERE writer = ? AND seq > ?"  # noqa: S608 -- our own names
# Where a key is taken, or the same batch is tried again because nobody knows whether it was committed.
_INTENTS = ("intents", Intent._fields, " ON CONFLICT DO NOTHING")
_MOVE_HEAD = (
    "UPDATE writers SET seq = ?, mac = ?, signature = ?, beat = beat + 1 WHERE number = ? AND closed_at IS NULL"
)


class SqliteLedger:
    """Runs transactions in a thread; the loop waits for one round trip, not for one a statement."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pegboard-journal")
        self._connection: sqlite3.Connection | None = None

    async def transaction(self, work: Callable[[Session], Awaitable[T]]) -> T:
        """What `work` gives, committed and on disk."""
        async with self._database.turn():
            return await settled(asyncio.get_running_loop().run_in_executor(self._thread, self._transact, work))

    async def hold(self, number: int) -> None:
        """Nothing to do: the lock on the spool shows siblings that this process lives."""

    def is_the_rows_own(self, error: Exception) -> bool:
        """Whether trying the same rows again cannot help."""
        own = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.InterfaceError)
        return isinstance(error, own) or not isinstance(error, sqlite3.Error | OSError)

    async def close(self) -> None:
        """Close the connection and end the thread."""
        loop = asyncio.get_running_loop()
        await settled(loop.run_in_executor(self._thread, self._disconnect))
        self._thread.shutdown(wait=False)

    def _transact(self, work: Callable[[Session], Awaitable[T]]) -> T:
        if self._connection is None:
            self._connection = self._database.connect_sqlite()
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            result = _unsuspended(work(SqliteSession(connection)))
            connection.execute("COMMIT")
        except BaseException:
            # A connection that met a full or read-only disk may be of no more use; a new one is cheap.
            self._disconnect()
            raise
        return result

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                if connection.in_transaction:
                    connection.rollback()
            finally:
                connection.close()


class SqliteSession:
    """The statements; nothing in them ever suspends."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def registered(self, writer_id: str) -> Registered | None:
        """The writer with this id."""
        found = self._all("SELECT number, seq, mac, signature, closed_at FROM writers WHERE id = ?", _hex(writer_id))
        return Registered(found[0][0], Place(*found[0][1:3]), found[0][3], found[0][4] is not None) if found else None

    async def writer_count(self) -> WriterCount:
        """How many writers there have been; this transaction is the only one that writes."""
        (row,) = self._all(
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
            *(number, _hex(writer.id), writer.host, writer.pid, writer.started_at, signatures[1]),
        )

    async def restore_head(self, writer_id: str, number: int, head: Place, signature: str) -> None:
        """Set the head of a writer, if it is still there."""
        text = "UPDATE writers SET seq = ?, mac = ?, signature = ? WHERE number = ? AND id = ?"
        self._run(text, *head, signature, number, _hex(writer_id))

    async def known(self, ids: Collection[str]) -> dict[str, str]:
        """Which of these executions are recorded already, and their status."""
        by_hex = {_hex(run_id): run_id for run_id in ids}
        rows = self._all(
            "SELECT id, status FROM executions WHERE id IN (SELECT value FROM json_each(?))", _json(by_hex)
        )
        return {by_hex[row[0]]: row[1] for row in rows}

    async def append(self, step: Step) -> bool:
        """A step of a writer's chain; False, and nothing, if the writer is closed."""
        writer, head, signature, intents, closings, places = step
        if not self._run(_MOVE_HEAD, *head, signature, writer):
            return False
        if intents:
            self._insert(_INTENTS, [(_hex(intent.id), *intent[1:]) for intent in intents])
        if closings:
            rows = ((_hex(one.id), *one.row[1:], writer, *place) for one, place in zip(closings, places, strict=True))
            self._insert(_ROWS, list(rows))
            self._delete("intents", [one.run_id for one in closings if one.intent == "forget"])
            self._delete("receipts", [one.run_id for one in closings if one.receipts])
            self._connection.executemany(
                "UPDATE intents SET state = ?, answer = ?, execution = '' WHERE id = ?",
                [(one.state, one.answer, _hex(one.run_id)) for one in closings if one.intent == "keep"],
            )
        return True

    async def claim(self, intents: Sequence[Intent], now: str) -> dict[str, Held]:
        """Intents with a key, where it is free; who holds each key afterwards."""
        names = _json(intent.claim for intent in intents if intent.claim)
        self._run(
            "DELETE FROM intents WHERE claim IN (SELECT value FROM json_each(?))"
            " AND state = 'done' AND expires_at <= ? AND set_aside_at IS NULL",
            *(names, now),
        )
        self._insert(_INTENTS, [(_hex(intent.id), *intent[1:]) for intent in intents])
        found = self._all(
            "SELECT claim, id, digest, state, answer, claim_mac FROM intents"
            " WHERE claim IN (SELECT value FROM json_each(?))",
            names,
        )
        return {row[0]: Held(_dashed(row[1]), *row[2:]) for row in found}

    async def count(self, writer: int, counted_seq: int, counts: Sequence[Count]) -> None:
        """What the statistics gain, and how far the writer's rows are in them."""
        text = "UPDATE writers SET counted_seq = ? WHERE number = ? AND counted_seq < ?"
        if self._run(text, counted_seq, writer, counted_seq):
            self._connection.executemany(SQLITE_UPSERT, counts)

    async def uncounted(self, number: int) -> tuple[int, list[Row]]:
        """A writer's last seq, and its rows that the statistics do not hold."""
        ((seq, counted),) = self._all("SELECT seq, counted_seq FROM writers WHERE number = ?", number)
        return seq, self._all(_UNCOUNTED, number, counted)

    async def siblings(self, writer: int) -> list[Sibling]:
        """The other writers that are not closed."""
        found = self._all("SELECT number, id, beat FROM writers WHERE closed_at IS NULL AND number <> ?", writer)
        return [Sibling(row[0], _dashed(row[1]), row[2]) for row in found]

    async def close_writer(self, number: int, now: str) -> bool:
        """Whether it was this that closed it."""
        return self._run("UPDATE writers SET closed_at = ? WHERE number = ? AND closed_at IS NULL", now, number) == 1

    async def intents_of(self, number: int) -> list[OpenIntent]:
        """The intents a writer has left open."""
        text = (
            "SELECT id, execution, receipts, claim, digest, mac FROM intents"
            " WHERE state = 'open' AND writer = ? AND set_aside_at IS NULL ORDER BY id"
        )
        return [OpenIntent(_dashed(row[0]), *row[1:]) for row in self._all(text, number)]

    async def receipt(self, run_id: str) -> ReceiptOf | None:
        """The receipt of a call; where there is none, there never will be."""
        self._run("INSERT INTO receipts (id, is_void) VALUES (?, 1) ON CONFLICT (id) DO NOTHING", _hex(run_id))
        (row,) = self._all("SELECT row_id, output, mac, is_void FROM receipts WHERE id = ?", _hex(run_id))
        return None if row[3] else ReceiptOf(*row[:3])

    async def set_aside(self, table: str, ids: Sequence[str], now: str) -> None:
        """Mark intents or receipts that the board did not write."""
        where = "set_aside_at IS NULL AND id IN (SELECT value FROM json_each(?))"
        self._run(f"UPDATE {table} SET set_aside_at = ? WHERE {where}", now, _json(map(_hex, ids)))  # noqa: S608

    async def expire(self, now: str, oldest: str) -> bool:
        """Some kept answers past their time and void receipts of calls before the oldest; whether there may be more."""
        done = self._run(
            "DELETE FROM intents WHERE id IN"
            " (SELECT id FROM intents WHERE state = 'done' AND expires_at <= ? AND set_aside_at IS NULL"
            " ORDER BY expires_at LIMIT ?)",
            *(now, EXPIRED_AT_ONCE),
        )
        self._run("DELETE FROM receipts WHERE is_void AND id < ?", _hex(oldest))
        return done == EXPIRED_AT_ONCE

    def _run(self, text: str, *values: Any) -> int:
        return self._connection.execute(text, values).rowcount

    def _delete(self, table: str, ids: Sequence[str]) -> None:
        if ids:
            text = f"DELETE FROM {table} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608 -- one of ours
            self._run(text, _json(map(_hex, ids)))

    def _all(self, text: str, *values: Any) -> list[Any]:
        return self._connection.execute(text, values).fetchall()

    def _insert(self, into: tuple[str, tuple[str, ...], str], rows: Sequence[tuple[Any, ...]]) -> None:
        """Many rows a statement: each statement gives the interpreter's lock away once, and asks for it back once."""
        table, columns, ending = into
        one = f"({', '.join('?' * len(columns))})"
        done = 0
        for size in _SIZES:
            while len(rows) - done >= size:
                values = [value for row in rows[done : done + size] for value in row]
                text = f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([one] * size)}{ending}"  # noqa: S608
                self._connection.execute(text, values)
                done += size


def _unsuspended(work: Awaitable[T]) -> T:
    """The result of a coroutine that never waits for anything, without a loop."""
    assert isinstance(work, Coroutine)
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise RuntimeError("a transaction on SQLite may not wait for anything but its statements")


def _json(values: Iterable[str]) -> str:
    return orjson.dumps(list(values)).decode()


def _hex(run_id: str) -> str:
    return run_id.replace("-", "")


def _dashed(text: str) -> str:
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
