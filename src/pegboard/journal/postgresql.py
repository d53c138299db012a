"""The journal on PostgreSQL: a connection of its own, and arrays instead of a statement a row."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack
from typing import Any, TypeVar

import asyncpg
from sqlalchemy.exc import SQLAlchemyError

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
from pegboard.journal.locks import hold
from pegboard.store.counts import POSTGRESQL_UPSERT
from pegboard.store.database import Database
from pegboard.store.executions import FIELDS, Row
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

T = TypeVar("T")

# What the columns are, where they are not text; and how they are read from the text they are sent as.
_SENT = {
    "elapsed_ms": "float8",
    "attempts": "int4",
    "tool_version": "int4",
    "writer": "int4",
    "seq": "int8",
    "receipts": "bool",
}
_READ = {
    "id": "{}::uuid",
    "arguments": "{}::json",
    **dict.fromkeys(("started_at", "finished_at", "expires_at"), "({} || '+00')::timestamptz"),
}


def _insert(table: str, columns: Sequence[str], ending: str = "", *, first: int = 1) -> str:
    """One statement for any number of rows, each column of them an array; its parameters count from `first`."""
    arrays = ", ".join(f"${place}::{_SENT.get(name, 'text')}[]" for place, name in enumerate(columns, first))
    names = ", ".join(columns)
    values = ", ".join(_READ.get(name, "{}").format(f"sent.{name}") for name in columns)
    return f"INSERT INTO {table} ({names}) SELECT {values} FROM unnest({arrays}) AS sent({names}){ending}"  # noqa: S608


_ROW_FIELDS = (*FIELDS, "writer", "seq", "mac")
# Only what is counted has to be as it was stored.
_MOMENT = "to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')"
_UNCOUNTED = (
    f"SELECT {', '.join(_MOMENT if name == 'started_at' else name for name in FIELDS)}"  # noqa: S608 -- our own names
    " FROM executions WHERE writer = $1 AND seq > $2"
)
_INTENT_FIELDS = Intent._fields
# Where a key is taken, or the same batch is tried again because nobody knows whether it was committed.
_INSERT_INTENTS = _insert("intents", _INTENT_FIELDS, " ON CONFLICT DO NOTHING")
# A whole batch in one round trip, and nothing of it where the writer was closed and its head stays where it is. Never
# without a transaction around it: what is given up while it waits for a lock would be committed by itself later.
_UNLESS_CLOSED = "EXISTS (SELECT FROM head)"
_APPEND = f"""
WITH head AS (
  UPDATE writers SET seq = $2, mac = $3, signature = $4, beat = beat + 1
  WHERE number = $1 AND closed_at IS NULL RETURNING 1
), forgotten AS (
  DELETE FROM intents WHERE id = ANY($5::uuid[]) AND {_UNLESS_CLOSED}
), kept AS (
  UPDATE intents SET state = sent.state, answer = sent.answer, execution = ''
  FROM unnest($6::uuid[], $7::text[], $8::text[]) AS sent(id, state, answer)
  WHERE intents.id = sent.id AND {_UNLESS_CLOSED}
), dropped AS (
  DELETE FROM receipts WHERE id = ANY($9::uuid[]) AND {_UNLESS_CLOSED}
), opened AS (
  {_insert("intents", _INTENT_FIELDS, f" WHERE {_UNLESS_CLOSED} ON CONFLICT DO NOTHING", first=10)}
), appended AS (
  {_insert("executions", _ROW_FIELDS, f" WHERE {_UNLESS_CLOSED}", first=10 + len(_INTENT_FIELDS))}
) SELECT count(*) FROM head
"""  # noqa: S608 -- our own names


class PostgresqlLedger:
    """Runs transactions on one connection, made anew whenever something went wrong on it."""

    def __init__(self, database: Database, *, patience: float = 10.0) -> None:
        self._database = database
        self._patience = patience
        self._held: int | None = None
        self._open = AsyncExitStack()
        self._driver: Any = None

    async def transaction(self, work: Callable[[Session], Awaitable[T]]) -> T:
        """What `work` gives, committed and on disk."""
        try:
            # A server that is frozen, or a network that swallows everything, would never say that it failed.
            async with asyncio.timeout(self._patience):
                driver = await self._connected()
                async with driver.transaction():
                    return await work(PostgresqlSession(driver))
        except BaseException:
            await self._disconnect()
            raise

    async def hold(self, number: int) -> None:
        """Show siblings that this writer lives, by a lock that ends with the connection."""
        self._held = number
        try:
            async with asyncio.timeout(self._patience):
                await hold(await self._connected(), number)
        except Exception:
            # Nothing is lost: whenever the connection is made anew, the lock is asked for again.
            log.warning("lease_not_held", writer=number, exc_info=True)
            await self._disconnect()

    def is_the_rows_own(self, error: Exception) -> bool:
        """Whether trying the same rows again cannot help."""
        # ValueError: what the driver itself cannot send.
        own = (
            asyncpg.DataError,
            asyncpg.IntegrityConstraintViolationError,
            asyncpg.ProgramLimitExceededError,
            ValueError,
        )
        # SQLAlchemy only ever connects here: its pool greets a server that goes away with errors of its own.
        elsewhere = (asyncpg.PostgresError, asyncpg.InterfaceError, SQLAlchemyError, OSError, TimeoutError)
        return isinstance(error, own) or not isinstance(error, elsewhere)

    async def close(self) -> None:
        """Close the connection."""
        self._held = None
        await self._disconnect()

    async def _connected(self) -> Any:
        if self._driver is None:
            self._driver = await self._open.enter_async_context(self._database.apart())
            if self._held is not None:
                await hold(self._driver, self._held)
        return self._driver

    async def _disconnect(self) -> None:
        driver, self._driver = self._driver, None
        if driver is not None:
            driver.terminate()
        await self._open.aclose()


class PostgresqlSession:
    """The statements."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver

    async def append(self, step: Step) -> bool:
        """A step of a writer's chain; False, and nothing, if the writer is closed."""
        writer, head, signature, opened, closings, places = step
        # One whose call was cut off at once is closed before it was ever open, and a statement sees nothing of itself.
        closed = {closing.run_id for closing in closings}
        intents = [intent for intent in opened if intent.id not in closed]
        rows = [(*closing.row, writer, *place) for closing, place in zip(closings, places, strict=True)]
        kept = [(one.run_id, one.state, one.answer) for one in closings if one.intent == "keep"]
        done = await self._driver.fetchval(
            _APPEND,
            *(writer, *head, signature),
            [one.run_id for one in closings if one.intent == "forget"],
            *_columns(kept, 3),
            [one.run_id for one in closings if one.receipts],
            *_columns(intents, len(_INTENT_FIELDS)),
            *_columns(rows, len(_ROW_FIELDS)),
        )
        return bool(done)

    async def registered(self, writer_id: str) -> Registered | None:
        """The writer with this id."""
        row = await self._driver.fetchrow(
            "SELECT number, seq, mac, signature, closed_at IS NOT NULL FROM writers WHERE id = $1", writer_id
        )
        return Registered(row[0], Place(row[1], row[2]), row[3], row[4]) if row else None

    async def writer_count(self) -> WriterCount:
        """How many writers there have been; other processes that register one wait for this transaction."""
        # The lock first: the highest number must be read after other transactions that held it have ended.
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

    async def restore_head(self, writer_id: str, number: int, head: Place, signature: str) -> None:
        """Set the head of a writer, if it is still there."""
        await self._driver.execute(
            "UPDATE writers SET seq = $1, mac = $2, signature = $3 WHERE number = $4 AND id = $5",
            *(*head, signature, number, writer_id),
        )

    async def known(self, ids: Collection[str]) -> dict[str, str]:
        """Which of these executions are recorded already, and their status."""
        rows = await self._driver.fetch("SELECT id::text, status FROM executions WHERE id = ANY($1::uuid[])", list(ids))
        return {row[0]: row[1] for row in rows}

    async def claim(self, intents: Sequence[Intent], now: str) -> dict[str, Held]:
        """Intents with a key, where it is free; who holds each key afterwards."""
        # In one order everywhere, or two writers that want the same two keys would wait for each other.
        rows = sorted(intents, key=lambda intent: str(intent.claim))
        names = [intent.claim for intent in rows]
        await self._driver.execute(
            "DELETE FROM intents WHERE claim = ANY($1::text[]) AND state = 'done'"
            " AND expires_at <= ($2::text || '+00')::timestamptz AND set_aside_at IS NULL",
            names,
            now,
        )
        await self._driver.execute(_INSERT_INTENTS, *_columns(rows, len(_INTENT_FIELDS)))
        found = await self._driver.fetch(
            "SELECT claim, id::text, digest, state, answer, claim_mac FROM intents WHERE claim = ANY($1::text[])", names
        )
        return {row[0]: Held(*row[1:]) for row in map(tuple, found)}

    async def count(self, writer: int, counted_seq: int, counts: Sequence[Count]) -> None:
        """What the statistics gain, and how far the writer's rows are in them."""
        done = await self._driver.execute(
            "UPDATE writers SET counted_seq = $1 WHERE number = $2 AND counted_seq < $1", counted_seq, writer
        )
        if done == "UPDATE 1" and counts:
            await self._driver.execute(POSTGRESQL_UPSERT, *_columns(counts, 7))

    async def uncounted(self, number: int) -> tuple[int, list[Row]]:
        """A writer's last seq, and its rows that the statistics do not hold."""
        seq, counted = await self._driver.fetchrow("SELECT seq, counted_seq FROM writers WHERE number = $1", number)
        return seq, [tuple(row) for row in await self._driver.fetch(_UNCOUNTED, number, counted)]

    async def siblings(self, writer: int) -> list[Sibling]:
        """The other writers that are not closed."""
        found = await self._driver.fetch(
            "SELECT number, id::text, beat FROM writers WHERE closed_at IS NULL AND number <> $1", writer
        )
        return [Sibling(*row) for row in map(tuple, found)]

    async def close_writer(self, number: int, now: str) -> bool:
        """Whether it was this that closed it."""
        done = await self._driver.execute(
            "UPDATE writers SET closed_at = ($1::text || '+00')::timestamptz WHERE number = $2 AND closed_at IS NULL",
            now,
            number,
        )
        return bool(done == "UPDATE 1")

    async def intents_of(self, number: int) -> list[OpenIntent]:
        """The intents a writer has left open."""
        found = await self._driver.fetch(
            "SELECT id::text, execution, receipts, claim, digest, mac FROM intents"
            " WHERE state = 'open' AND writer = $1 AND set_aside_at IS NULL ORDER BY id",
            number,
        )
        return [OpenIntent(*row) for row in found]

    async def receipt(self, run_id: str) -> ReceiptOf | None:
        """The receipt of a call; where there is none, there never will be: it waits for one being written now."""
        await self._driver.execute(
            "INSERT INTO receipts (id, is_void) VALUES ($1, true) ON CONFLICT (id) DO NOTHING", run_id
        )
        row = await self._driver.fetchrow("SELECT row_id, output, mac, is_void FROM receipts WHERE id = $1", run_id)
        return None if row[3] else ReceiptOf(*row[:3])

    async def set_aside(self, table: str, ids: Sequence[str], now: str) -> None:
        """Mark intents or receipts that the board did not write."""
        where = "set_aside_at IS NULL AND id = ANY($2::uuid[])"
        text = f"UPDATE {table} SET set_aside_at = ($1::text || '+00')::timestamptz WHERE {where}"  # noqa: S608
        await self._driver.execute(text, now, list(ids))

    async def expire(self, now: str, oldest: str) -> bool:
        """Some kept answers past their time and void receipts of calls before the oldest; whether there may be more."""
        done = await self._driver.execute(
            "DELETE FROM intents WHERE id IN (SELECT id FROM intents WHERE state = 'done'"
            " AND expires_at <= ($1::text || '+00')::timestamptz AND set_aside_at IS NULL"
            " ORDER BY expires_at LIMIT $2)",
            *(now, EXPIRED_AT_ONCE),
        )
        await self._driver.execute("DELETE FROM receipts WHERE is_void AND id < $1", oldest)
        return bool(done == f"DELETE {EXPIRED_AT_ONCE}")


def _columns(rows: Sequence[tuple[Any, ...]], width: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(width)]
