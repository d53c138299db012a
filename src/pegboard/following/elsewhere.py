"""Calls of other processes on the same database, for those who watch this one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.live.onlookers import Onlookers
from pegboard.store import writers
from pegboard.store.database import Database
from pegboard.store.executions import linked, restored
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# Of each other process, at most so many calls are told of at a time.
MOST_ROWS = 500


class Elsewhere:
    """Tells onlookers of calls that other processes have recorded, by reading the journal while somebody watches."""

    def __init__(
        self, database: Database, onlookers: Onlookers, own: Callable[[], int | None], *, pause: float = 0.3
    ) -> None:
        """`own` gives the number under which this process writes, once it has one."""
        self._database = database
        self._onlookers = onlookers
        self._own = own
        self._pause = pause
        self._ours: set[int] = set()
        self._seen: dict[int, int] = {}
        self._reading: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        if not database.is_memory:
            onlookers.on_attention = self._attend

    async def close(self) -> None:
        """Read no more."""
        self._attend(False)
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _attend(self, are_there: bool) -> None:
        if are_there:
            self._reading = asyncio.create_task(self._read(), name="pegboard-elsewhere")
        elif self._reading is not None:
            self._reading.cancel()
            self._ending.add(self._reading)
            self._reading.add_done_callback(self._ending.discard)
            self._reading = None

    async def _read(self) -> None:
        self._seen = {}
        is_first, is_failing = True, False
        while True:
            try:
                async with self._database.read() as conn:
                    await self._look(conn, is_first)
                is_first = is_failing = False
            except Exception:
                if not is_failing:  # once is enough while it lasts
                    log.warning("others_not_read", exc_info=True)
                is_failing = True
            await asyncio.sleep(self._pause)

    async def _look(self, conn: AsyncConnection, is_first: bool) -> None:
        for writer in await writers.all_of(conn):
            if (own := self._own()) is not None:
                self._ours.add(own)
            seen = self._seen.get(writer.number)
            if seen is None:
                # One that is new is read from the next time on: if it is our own, we know its number by then.
                self._seen[writer.number] = writer.seq if is_first else writer.pruned_seq
            elif writer.seq > seen and writer.number not in self._ours:
                await self._tell(conn, writer.number, seen, writer.seq)

    async def _tell(self, conn: AsyncConnection, number: int, seen: int, last: int) -> None:
        if last - seen > MOST_ROWS:
            self._onlookers.missed(last - MOST_ROWS - seen)
            seen = last - MOST_ROWS
        for found in await linked(conn, number, after=seen, limit=MOST_ROWS):
            self._onlookers.ended(restored(found.row))
            self._seen[number] = found.seq
