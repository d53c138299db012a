"""Tables in a PostgreSQL database."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Any, Literal, TypeVar

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from pegboard.journal.receipts import ReceiptStore
from pegboard.journal.transactional_journal import TransactionalJournal
from pegboard.kinds.table.insert_batching import InsertOutcome, InsertQueues, PendingInsert
from pegboard.kinds.table.postgresql_errors import DRIVER_ERRORS, explain_postgresql_error, is_connection_lost
from pegboard.kinds.table.postgresql_insert import InsertBlocked, PostgresqlInserter
from pegboard.kinds.table.postgresql_pool import CONNECT_SECONDS, PostgresqlPool
from pegboard.kinds.table.postgresql_schema import read_postgresql_schema, read_postgresql_tables
from pegboard.kinds.table.postgresql_statements import StatementCache
from pegboard.kinds.table.receipt_table import ReceiptTable
from pegboard.kinds.table.source import InsertAnswer, InsertEntry
from pegboard.kinds.table.table_schema import TableSchema
from pegboard.storage.database import format_url

T = TypeVar("T")


class PostgresqlSource:
    """A PostgreSQL database; concurrent rows with the same columns share a statement and a transaction."""

    kind: Literal["sqlite", "postgresql"] = "postgresql"

    def __init__(
        self, url: str, *, is_own: bool = False, journal: TransactionalJournal | None = None, connections: int = 10
    ) -> None:
        """Create a source; `journal` is that of the board if this is its own database."""
        try:
            parsed = make_url(url)
        except ArgumentError:
            raise ValueError('not a database URL: "postgresql://USER@HOST/DATABASE" is one') from None
        self.shown_url = format_url(parsed)
        self.is_own = is_own
        self._connections = PostgresqlPool(parsed, is_own=is_own, most=connections)
        self._statements = StatementCache()
        self.is_transactional = journal is not None
        self._inserts = PostgresqlInserter(self._connections, self._statements, journal=journal)
        self._insert_queues = InsertQueues(self._write)
        self._blocked_queues = InsertQueues(self._inserts.write_alone)
        # Entries that wait for a lock must leave connections to others, and each table must leave some to other
        # tables.
        self._blocked_slots = asyncio.Semaphore(max(1, connections // 2))
        self._places: defaultdict[Hashable, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(max(1, connections // 3))
        )
        self.receipts: ReceiptStore = ReceiptTable(self.shown_url, "postgresql", self._run_statement)
        self._running = 0
        self._idle_event = asyncio.Event()
        self._idle_event.set()

    async def facts(self, schema: str | None, table: str) -> TableSchema | None:
        """Read the current schema of the table, None if it does not exist; raise InsertFault."""
        return await self._read(lambda conn: read_postgresql_schema(conn, schema, table))

    async def tables(self, schema: str | None = None) -> list[str]:
        """Return the names of the tables in the schema, or of those on the search path; raise InsertFault."""
        return await self._read(lambda conn: read_postgresql_tables(conn, schema))

    async def insert(self, entry: InsertEntry) -> InsertAnswer:
        """Insert and commit the rows and return the answer; raise InsertFault with the number of the failed row."""
        self._running += 1
        self._idle_event.clear()
        try:
            async with asyncio.timeout(entry.ends - time.monotonic()):
                is_one = len(entry.rows) == 1
                queue_key: Hashable = self._statements.get(entry.facts, entry.rows[0].columns) if is_one else object()
                try:
                    return await self._insert_queues.put(queue_key, entry)
                except InsertBlocked:
                    async with self._places[entry.facts.schema, entry.facts.table, "blocked"], self._blocked_slots:
                        return await self._blocked_queues.put(object(), entry)
        except TimeoutError:
            return await self._inserts.late(entry)
        finally:
            self._inserts.forget(entry)
            self._running -= 1
            if not self._running:
                self._idle_event.set()

    async def close(self) -> None:
        """Wait for running inserts, then close all connections."""
        await self._idle_event.wait()
        await self._insert_queues.rest()
        await self._blocked_queues.rest()
        await self._connections.close()

    async def _write(self, batch: Sequence[PendingInsert]) -> list[InsertOutcome]:
        facts = batch[0].entry.facts
        async with self._places[facts.schema, facts.table]:
            return await self._inserts.write(batch)

    async def _run_statement(self, statement: str, *values: object) -> list[Any]:
        found: list[Any] = await self._read(lambda conn: conn.fetch(statement, *values))
        return found

    async def _read(self, look: Callable[[Any], Awaitable[T]]) -> T:
        for is_last in (False, True):
            async with self._connections.acquire(time.monotonic() + CONNECT_SECONDS) as conn:
                try:
                    async with asyncio.timeout(CONNECT_SECONDS):
                        return await look(conn)
                except DRIVER_ERRORS as error:
                    if is_last or not is_connection_lost(error) or isinstance(error, TimeoutError):
                        raise explain_postgresql_error(error) from None
            # The server was restarted since the last use of the connection.
            await self._connections.expire()
        raise AssertionError
