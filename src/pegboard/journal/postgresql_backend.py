"""The journal backend for PostgreSQL: one connection, and arrays instead of one statement per row.

Not with `asyncpg.Pool`: the lock that shows that the writer is alive belongs to the connection. Not with SQLAlchemy: a
row would cost four times the CPU (docs/decisions/0011-journal-connection.md).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack
from typing import Any, TypeVar

import asyncpg
from sqlalchemy.exc import SQLAlchemyError

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
from pegboard.journal.writer_locks import hold_writer_lock
from pegboard.model.journal_row import COLUMNS, FIELDS, ColumnType, StoredRow
from pegboard.storage.database import Database
from pegboard.storage.statistics_rows import POSTGRESQL_UPSERT
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

T = TypeVar("T")

# The types of columns that are not text, and the expressions that convert the text that is sent.
_TYPES = {ColumnType.INTEGER: "int4", ColumnType.FLOAT: "float8"}
_CASTS = {
    ColumnType.UUID: "{}::uuid",
    ColumnType.NATIVE_JSON: "{}::json",
    ColumnType.MOMENT: "({} || '+00')::timestamptz",
}
_PARAMETER_TYPES = {
    **{column.name: _TYPES[column.type] for column in COLUMNS if column.type in _TYPES},
    "writer": "int4",
    "seq": "int8",
    "receipts": "bool",
}
_COLUMN_CASTS = {
    **{column.name: _CASTS[column.type] for column in COLUMNS if column.type in _CASTS},
    "expires_at": _CASTS[ColumnType.MOMENT],
}


def _build_insert(table: str, columns: Sequence[str], ending: str = "", *, first: int = 1) -> str:
    """Return an INSERT for any number of rows, one array per column; its parameters are numbered from `first`."""
    arrays = ", ".join(f"${place}::{_PARAMETER_TYPES.get(name, 'text')}[]" for place, name in enumerate(columns, first))
    names = ", ".join(columns)
    values = ", ".join(_COLUMN_CASTS.get(name, "{}").format(f"sent.{name}") for name in columns)
    return f"INSERT INTO {table} ({names}) SELECT {values} FROM unnest({arrays}) AS sent({names}){ending}"  # noqa: S608


_ROW_FIELDS = (*FIELDS, "writer", "seq", "mac")
# Only the columns that are counted need the stored format.
_MOMENT_EXPRESSION = "to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')"
_SELECT_UNCOUNTED = (
    f"SELECT {', '.join(_MOMENT_EXPRESSION if name == 'started_at' else name for name in FIELDS)}"  # noqa: S608 -- our own names
    " FROM executions WHERE writer = $1 AND seq > $2"
)
_INTENT_FIELDS = IntentRow._fields
# On conflict: the key is taken, or the batch is retried because the outcome of its commit is unknown.
_INSERT_INTENTS = _build_insert("intents", _INTENT_FIELDS, " ON CONFLICT DO NOTHING")
# Writes a whole batch in one round trip, or nothing if the writer is closed. Always run it in a transaction: without
# one, a statement that is given up while it waits for a lock would still be committed later.
_IF_WRITER_OPEN = "EXISTS (SELECT FROM head)"
_APPEND = f"""
WITH head AS (
  UPDATE writers SET seq = $2, mac = $3, signature = $4, beat = beat + 1
  WHERE number = $1 AND closed_at IS NULL RETURNING 1
), forgotten AS (
  DELETE FROM intents WHERE id = ANY($5::uuid[]) AND {_IF_WRITER_OPEN}
), kept AS (
  UPDATE intents SET state = sent.state, answer = sent.answer, execution = ''
  FROM unnest($6::uuid[], $7::text[], $8::text[]) AS sent(id, state, answer)
  WHERE intents.id = sent.id AND {_IF_WRITER_OPEN}
), dropped AS (
  DELETE FROM receipts WHERE id = ANY($9::uuid[]) AND {_IF_WRITER_OPEN}
), opened AS (
  {_build_insert("intents", _INTENT_FIELDS, f" WHERE {_IF_WRITER_OPEN} ON CONFLICT DO NOTHING", first=10)}
), appended AS (
  {_build_insert("executions", _ROW_FIELDS, f" WHERE {_IF_WRITER_OPEN}", first=10 + len(_INTENT_FIELDS))}
) SELECT count(*) FROM head
"""  # noqa: S608 -- our own names


class PostgresqlBackend:
    """Runs transactions on one connection, which is reopened after any error."""

    def __init__(self, database: Database, *, patience: float = 10.0) -> None:
        self._database = database
        self._patience = patience
        self._held: int | None = None
        self._open = AsyncExitStack()
        self._driver: Any = None

    async def transaction(self, work: Callable[[JournalSession], Awaitable[T]]) -> T:
        """Run `work` in a transaction and return its result once it is committed and on disk."""
        try:
            # A frozen server or a network that drops packets would never report an error.
            async with asyncio.timeout(self._patience):
                driver = await self._connect_driver()
                async with driver.transaction():
                    return await work(PostgresqlSession(driver))
        except BaseException:
            await self._disconnect()
            raise

    async def hold(self, number: int) -> None:
        """Show other writers that this one is alive, by a lock that ends with the connection."""
        self._held = number
        try:
            async with asyncio.timeout(self._patience):
                await hold_writer_lock(await self._connect_driver(), number)
        except Exception:
            # No harm: the lock is acquired again whenever the connection is reopened.
            log.warning("lease_not_held", writer=number, exc_info=True)
            await self._disconnect()

    def is_the_rows_own(self, error: Exception) -> bool:
        """True if the error is caused by the rows themselves, so that a retry cannot help."""
        # ValueError: a value that the driver cannot encode.
        own = (
            asyncpg.DataError,
            asyncpg.IntegrityConstraintViolationError,
            asyncpg.ProgramLimitExceededError,
            ValueError,
        )
        # SQLAlchemy is used only to connect: its pool raises its own errors if the server goes away.
        elsewhere = (asyncpg.PostgresError, asyncpg.InterfaceError, SQLAlchemyError, OSError, TimeoutError)
        return isinstance(error, own) or not isinstance(error, elsewhere)

    async def close(self) -> None:
        """Close the connection."""
        self._held = None
        await self._disconnect()

    async def _connect_driver(self) -> Any:
        if self._driver is None:
            self._driver = await self._open.enter_async_context(self._database.connect_driver())
            if self._held is not None:
                await hold_writer_lock(self._driver, self._held)
        return self._driver

    async def _disconnect(self) -> None:
        driver, self._driver = self._driver, None
        if driver is not None:
            driver.terminate()
        await self._open.aclose()


class PostgresqlSession:
    """The SQL statements of a transaction."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver

    async def append(self, step: ChainAppend) -> bool:
        """Append to a writer's chain; write nothing and return False if the writer is closed."""
        writer, head, signature, opened, closings, places = step
        # The intent of a call that was cancelled at once may be opened and closed in the same batch; the statement does
        # not see its own inserts.
        closed = {closing.run_id for closing in closings}
        intents = [intent for intent in opened if intent.id not in closed]
        rows = [(*closing.row, writer, *place) for closing, place in zip(closings, places, strict=True)]
        kept = [(one.run_id, one.state, one.answer) for one in closings if one.intent == "keep"]
        done = await self._driver.fetchval(
            _APPEND,
            *(writer, *head, signature),
            [one.run_id for one in closings if one.intent == "forget"],
            *_transpose_rows(kept, 3),
            [one.run_id for one in closings if one.receipts],
            *_transpose_rows(intents, len(_INTENT_FIELDS)),
            *_transpose_rows(rows, len(_ROW_FIELDS)),
        )
        return bool(done)

    async def find_writer(self, writer_id: str) -> RegisteredWriter | None:
        """Return the writer with this id, or None."""
        # Locked: a transaction of this writer whose outcome is unknown must have ended.
        row = await self._driver.fetchrow(
            "SELECT number, seq, mac, signature, closed_at IS NOT NULL FROM writers WHERE id = $1 FOR UPDATE", writer_id
        )
        return RegisteredWriter(row[0], ChainPosition(row[1], row[2]), row[3], row[4]) if row else None

    async def read_writer_count(self) -> WriterCount:
        """Return the number of writers; other processes that register one wait for this transaction."""
        # Lock first: the highest number must be read after other transactions that held the lock have ended.
        await self._driver.execute("SELECT FROM board_state WHERE id = 1 FOR UPDATE")
        row = await self._driver.fetchrow(
            "SELECT writers, writers_signature, (SELECT max(number) FROM writers), (SELECT max(writer) FROM executions)"
            " FROM board_state WHERE id = 1"
        )
        return WriterCount.of(*row)

    async def register(self, number: int, writer: NewWriter, signatures: tuple[str, str]) -> None:
        """Add a writer."""
        await self._driver.execute(
            "UPDATE board_state SET writers = $1, writers_signature = $2 WHERE id = 1", number, signatures[0]
        )
        await self._driver.execute(
            "INSERT INTO writers (number, id, host, pid, started_at, beat, seq, mac, signature, pruned_seq, pruned_mac,"
            " pruned_signature, counted_seq)"
            " VALUES ($1, $2, $3, $4, ($5::text || '+00')::timestamptz, 0, 0, '', $6, 0, '', '', 0)",
            *(number, *writer, signatures[1]),
        )

    async def restore_head(self, writer_id: str, number: int, head: ChainPosition, signature: str) -> None:
        """Set the head of a writer if its row exists."""
        await self._driver.execute(
            "UPDATE writers SET seq = $1, mac = $2, signature = $3 WHERE number = $4 AND id = $5",
            *(*head, signature, number, writer_id),
        )

    async def find_recorded(self, ids: Collection[str]) -> dict[str, str]:
        """Return those of these executions that are recorded already, with their status."""
        rows = await self._driver.fetch("SELECT id::text, status FROM executions WHERE id = ANY($1::uuid[])", list(ids))
        return {row[0]: row[1] for row in rows}

    async def claim(self, intents: Sequence[IntentRow], now: str) -> dict[str, ClaimHolder]:
        """Insert the intents whose key is free and return the holder of each key."""
        # In a fixed order, otherwise two writers that claim the same two keys could deadlock.
        rows = sorted(intents, key=lambda intent: str(intent.claim))
        names = [intent.claim for intent in rows]
        await self._driver.execute(
            "DELETE FROM intents WHERE claim = ANY($1::text[]) AND state = 'done'"
            " AND expires_at <= ($2::text || '+00')::timestamptz AND set_aside_at IS NULL",
            names,
            now,
        )
        await self._driver.execute(_INSERT_INTENTS, *_transpose_rows(rows, len(_INTENT_FIELDS)))
        found = await self._driver.fetch(
            "SELECT claim, id::text, digest, state, answer, claim_mac FROM intents WHERE claim = ANY($1::text[])", names
        )
        return {row[0]: ClaimHolder(*row[1:]) for row in map(tuple, found)}

    async def count(self, writer: int, counted_seq: int, counts: Sequence[CountRow]) -> None:
        """Add counts to the statistics and set how far the writer's rows are included."""
        done = await self._driver.execute(
            "UPDATE writers SET counted_seq = $1 WHERE number = $2 AND counted_seq < $1", counted_seq, writer
        )
        if done == "UPDATE 1" and counts:
            await self._driver.execute(POSTGRESQL_UPSERT, *_transpose_rows(counts, 7))

    async def read_uncounted(self, number: int) -> tuple[int, list[StoredRow]]:
        """Return a writer's last seq and its rows that are not in the statistics yet."""
        seq, counted = await self._driver.fetchrow("SELECT seq, counted_seq FROM writers WHERE number = $1", number)
        return seq, [tuple(row) for row in await self._driver.fetch(_SELECT_UNCOUNTED, number, counted)]

    async def list_siblings(self, writer: int) -> list[SiblingWriter]:
        """Return the other writers that are not closed."""
        found = await self._driver.fetch(
            "SELECT number, id::text, beat FROM writers WHERE closed_at IS NULL AND number <> $1", writer
        )
        return [SiblingWriter(*row) for row in map(tuple, found)]

    async def close_writer(self, number: int, now: str) -> bool:
        """Close a writer; return True if this call closed it."""
        done = await self._driver.execute(
            "UPDATE writers SET closed_at = ($1::text || '+00')::timestamptz WHERE number = $2 AND closed_at IS NULL",
            now,
            number,
        )
        return bool(done == "UPDATE 1")

    async def list_open_intents(self, number: int) -> list[OpenIntent]:
        """Return the intents that a writer has left open."""
        found = await self._driver.fetch(
            "SELECT id::text, execution, receipts, claim, digest, mac FROM intents"
            " WHERE state = 'open' AND writer = $1 AND set_aside_at IS NULL ORDER BY id",
            number,
        )
        return [OpenIntent(*row) for row in found]

    async def find_receipt(self, run_id: str) -> CallReceipt | None:
        """Return the receipt of a call, waiting for one being written; if there is none, insert a void one."""
        await self._driver.execute(
            "INSERT INTO receipts (id, is_void) VALUES ($1, true) ON CONFLICT (id) DO NOTHING", run_id
        )
        row = await self._driver.fetchrow("SELECT row_id, output, mac, is_void FROM receipts WHERE id = $1", run_id)
        return None if row[3] else CallReceipt(*row[:3])

    async def set_aside(self, table: str, ids: Sequence[str], now: str) -> None:
        """Mark intents or receipts that the board did not write."""
        where = "set_aside_at IS NULL AND id = ANY($2::uuid[])"
        text = f"UPDATE {table} SET set_aside_at = ($1::text || '+00')::timestamptz WHERE {where}"  # noqa: S608
        await self._driver.execute(text, now, list(ids))

    async def expire(self, now: str, oldest: str) -> bool:
        """Delete some expired answers and void receipts of calls before `oldest`; return whether more may be left."""
        done = await self._driver.execute(
            "DELETE FROM intents WHERE id IN (SELECT id FROM intents WHERE state = 'done'"
            " AND expires_at <= ($1::text || '+00')::timestamptz AND set_aside_at IS NULL"
            " ORDER BY expires_at LIMIT $2)",
            *(now, MAX_EXPIRED_PER_RUN),
        )
        await self._driver.execute("DELETE FROM receipts WHERE is_void AND id < $1", oldest)
        return bool(done == f"DELETE {MAX_EXPIRED_PER_RUN}")


def _transpose_rows(rows: Sequence[tuple[Any, ...]], width: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(width)]
