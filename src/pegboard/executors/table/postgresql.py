"""Tables in a PostgreSQL database."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Any, Literal, TypeVar

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from pegboard.executors.table.facts import Facts
from pegboard.executors.table.lanes import Lanes, Outcome, Waiting
from pegboard.executors.table.postgresql_facts import read_facts, read_tables
from pegboard.executors.table.postgresql_faults import FAILURES, fault_of, is_lost
from pegboard.executors.table.postgresql_insert import Blocked, Inserts
from pegboard.executors.table.postgresql_pool import PATIENCE, Connections
from pegboard.executors.table.postgresql_statements import Statements
from pegboard.executors.table.source import Answered, Entry
from pegboard.store.database import shown
from pegboard.store.receipts import SignReceipt, unsigned

T = TypeVar("T")


class PostgresqlSource:
    """A PostgreSQL database; concurrent rows with the same columns share a statement and a transaction."""

    kind: Literal["sqlite", "postgresql"] = "postgresql"

    def __init__(
        self, url: str, *, is_own: bool = False, sign_receipt: SignReceipt = unsigned, connections: int = 10
    ) -> None:
        try:
            parsed = make_url(url)
        except ArgumentError:
            raise ValueError('not a database URL: "postgresql://USER@HOST/DATABASE" is one') from None
        self.shown_url = shown(parsed)
        self.is_own = is_own
        self._connections = Connections(parsed, is_own=is_own, most=connections)
        self._statements = Statements()
        self._inserts = Inserts(self._connections, self._statements, sign_receipt=sign_receipt if is_own else None)
        self._lanes = Lanes(self._write)
        self._apart = Lanes(self._inserts.write_apart)
        # Those that wait for a lock must leave connections to everybody else, and each table some to the others.
        self._blocked = asyncio.Semaphore(max(1, connections // 2))
        self._places: defaultdict[Hashable, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(max(1, connections // 3))
        )
        self._running = 0
        self._rests = asyncio.Event()
        self._rests.set()

    async def facts(self, schema: str | None, table: str) -> Facts | None:
        """What the catalog says of the table now, None if there is no such; raises Fault."""
        return await self._read(lambda conn: read_facts(conn, schema, table))

    async def tables(self, schema: str | None = None) -> list[str]:
        """The names of the tables in the schema, or of those found without naming one; raises Fault."""
        return await self._read(lambda conn: read_tables(conn, schema))

    async def insert(self, entry: Entry) -> Answered:
        """The answer, its rows committed; raises Fault, whose `row` says which of several is at fault."""
        self._running += 1
        self._rests.clear()
        try:
            async with asyncio.timeout(entry.ends - time.monotonic()):
                is_one = len(entry.rows) == 1
                lane: Hashable = self._statements.get(entry.facts, entry.rows[0].columns) if is_one else object()
                try:
                    return await self._lanes.put(lane, entry)
                except Blocked:
                    async with self._places[entry.facts.schema, entry.facts.table, "blocked"], self._blocked:
                        return await self._apart.put(object(), entry)
        except TimeoutError:
            return await self._inserts.late(entry)
        finally:
            self._inserts.forget(entry)
            self._running -= 1
            if not self._running:
                self._rests.set()

    async def close(self) -> None:
        """Let what runs end, then close every connection."""
        await self._rests.wait()
        await self._lanes.rest()
        await self._apart.rest()
        await self._connections.close()

    async def _write(self, batch: Sequence[Waiting]) -> list[Outcome]:
        facts = batch[0].entry.facts
        async with self._places[facts.schema, facts.table]:
            return await self._inserts.write(batch)

    async def _read(self, look: Callable[[Any], Awaitable[T]]) -> T:
        for is_last in (False, True):
            async with self._connections.lent(time.monotonic() + PATIENCE) as conn:
                try:
                    async with asyncio.timeout(PATIENCE):
                        return await look(conn)
                except FAILURES as error:
                    if is_last or not is_lost(error) or isinstance(error, TimeoutError):
                        raise fault_of(error) from None
            # The server was restarted since the connection was used last.
            await self._connections.expire()
        raise AssertionError
