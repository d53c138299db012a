"""Reports calls of other processes on the same database to the watchers of this one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.model.journal_row import restore_execution
from pegboard.progress.board_watchers import BoardWatchers
from pegboard.storage import journal_chain_rows
from pegboard.storage.database import Database
from pegboard.storage.execution_rows import list_chain_rows
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# Maximum number of calls reported at a time for each other process.
MAX_ROWS = 500


class OtherProcessWatcher:
    """Reports calls that other processes have recorded, by polling the journal while there are watchers."""

    def __init__(
        self, database: Database, watchers: BoardWatchers, own: Callable[[], set[int | None]], *, pause: float = 0.3
    ) -> None:
        """Create a watcher; `own` returns the writer numbers of this process."""
        self._database = database
        self._watchers = watchers
        self._own = own
        self._pause = pause
        self._own_writers: set[int | None] = set()
        self._seen: dict[int, int] = {}
        self._reading: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        if not database.is_memory:
            watchers.on_watched_change = self._start_or_stop

    async def close(self) -> None:
        """Stop polling."""
        self._start_or_stop(False)
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _start_or_stop(self, has_watchers: bool) -> None:
        if has_watchers:
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
                    await self._read_new_rows(conn, is_first)
                is_first = is_failing = False
            except Exception:
                if not is_failing:  # log once per outage
                    log.warning("others_not_read", exc_info=True)
                is_failing = True
            await asyncio.sleep(self._pause)

    async def _read_new_rows(self, conn: AsyncConnection, is_first: bool) -> None:
        for writer in await journal_chain_rows.list_writers(conn):
            self._own_writers |= self._own()
            seen = self._seen.get(writer.number)
            if seen is None:
                # A new writer is read from the next poll on: if it is our own, its number is known by then.
                self._seen[writer.number] = writer.seq if is_first else writer.pruned_seq
            elif writer.seq > seen and writer.number not in self._own_writers:
                await self._report_rows(conn, writer.number, seen, writer.seq)

    async def _report_rows(self, conn: AsyncConnection, number: int, seen: int, last: int) -> None:
        if last - seen > MAX_ROWS:
            self._watchers.report_missed(last - MAX_ROWS - seen)
            seen = last - MAX_ROWS
        for found in await list_chain_rows(conn, number, after=seen, limit=MAX_ROWS):
            self._watchers.publish_end(restore_execution(found.row))
            self._seen[number] = found.seq
