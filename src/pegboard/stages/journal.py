"""Record every call before its caller is answered."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Protocol

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError, StatementError

from pegboard.core.call import Execution, ReadyCall
from pegboard.core.errors import Unavailable
from pegboard.store import executions
from pegboard.store.database import Database
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

RETRY_AFTER_MS = 1000
_Waiting = tuple[Execution, asyncio.Future[None]]


class Journal(Protocol):
    """Where executions go; a caller is answered only after `record` has returned."""

    async def begin(self, ready: ReadyCall) -> None:
        """Promise that this call can be recorded; raises Unavailable before anything has run."""
        ...

    async def record(self, execution: Execution) -> None:
        """Make the row durable; raises Unavailable where that failed."""
        ...

    async def close(self) -> None:
        """Finish what was handed in, then stop."""
        ...


class StoreJournal:
    """Writes rows to the board's database, those that wait together in one commit.

    At most `max_waiting` rows are held in memory. While the database is away they are tried again for
    `patience` seconds; after that their calls are answered as unavailable and new calls are refused
    before they run, until a commit succeeds again.
    """

    def __init__(self, database: Database, *, max_waiting: int = 10_000, patience: float = 5.0) -> None:
        self._database = database
        self._max_waiting = max_waiting
        self._patience = patience
        self._waiting: list[_Waiting] = []
        self._wake = asyncio.Event()
        self._down: str | None = None
        self._closing = False
        self._writer = asyncio.create_task(self._write(), name="pegboard-journal")

    async def begin(self, ready: ReadyCall) -> None:
        """Refuse while rows cannot be written."""
        if self._down is not None:
            raise Unavailable(f"The journal cannot record calls: {self._down}", retry_after_ms=RETRY_AFTER_MS)
        if len(self._waiting) >= self._max_waiting:
            raise Unavailable("The journal is behind with its work", retry_after_ms=RETRY_AFTER_MS)

    async def record(self, execution: Execution) -> None:
        """Hand the row to the writer and wait for its commit; the row is kept even if the caller goes away."""
        if self._writer.done() or self._closing or len(self._waiting) >= 2 * self._max_waiting:
            raise self._lost(execution, "the journal takes no more rows")
        if self._down is not None and not execution.attempts:
            raise self._lost(execution, self._down)  # it did not run, and waiting would only hold its caller up
        done = asyncio.get_running_loop().create_future()
        self._waiting.append((execution, done))
        self._wake.set()
        await done

    async def close(self) -> None:
        """Write what is waiting, then end the writer."""
        self._closing = True
        self._wake.set()
        await asyncio.wait({self._writer})

    async def _write(self) -> None:
        batch: list[_Waiting] = []
        try:
            while not self._closing or self._waiting:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), RETRY_AFTER_MS / 1000 if self._down else None)
                self._wake.clear()
                batch, self._waiting = self._waiting, []
                if batch or self._down is not None:
                    await self._commit(batch)
        finally:
            # Also when the event loop ends under it: nobody may wait for a writer that is gone.
            for execution, done in (*batch, *self._waiting):
                if not done.done():
                    done.set_exception(self._lost(execution, "the journal was closed"))

    async def _commit(self, batch: list[_Waiting]) -> None:
        failure = await self._kept([execution for execution, _ in batch])
        if isinstance(failure, _BadRow):
            if len(batch) > 1:
                for one in batch:
                    await self._commit([one])  # so that one bad row does not cost its neighbours theirs
                return
        elif failure is None and self._down is not None:
            log.info("journal_up")
        self._down = None if failure is None or isinstance(failure, _BadRow) else failure
        for execution, done in batch:
            if failure is not None:
                lost = self._lost(execution, failure)
                if not done.done():
                    done.set_exception(lost)
            elif not done.done():  # else the caller has gone away
                done.set_result(None)

    async def _kept(self, rows: list[Execution]) -> str | None:
        """None once the rows are committed, or why they are not, after as many tries as there is patience for."""
        give_up = time.monotonic() + (0.0 if self._down or self._closing else self._patience)
        while True:
            try:
                await self._store(rows)
            except Exception as error:
                if _is_the_rows_own(error):
                    log.exception("row_not_storable")
                    return _BadRow(type(error).__name__)
                if time.monotonic() >= give_up:
                    log.exception("journal_down")
                    return type(error).__name__
                await asyncio.sleep(0.1)
            else:
                return None

    async def _store(self, rows: list[Execution]) -> None:
        if not rows:
            await self._database.ping()
            return
        async with self._database.write() as conn:
            await executions.add_all(conn, rows)

    def _lost(self, execution: Execution, why: str) -> Unavailable:
        log.error("execution_not_recorded", why=str(why), execution=_shown(execution))
        return Unavailable(f"The call could not be recorded: {why}", retry_after_ms=RETRY_AFTER_MS)


def _is_the_rows_own(error: Exception) -> bool:
    """Whether trying again cannot help; anything else may be a database that comes back."""
    if isinstance(error, StatementError) and not isinstance(error, DBAPIError):
        return True
    return isinstance(error, IntegrityError | DataError) or not isinstance(error, SQLAlchemyError | OSError)


class _BadRow(str):
    """Why a row can never be stored, however often it is tried."""

    __slots__ = ()


def _shown(execution: Execution) -> dict[str, object]:
    shown = execution._asdict()
    shown.pop("arguments")
    return shown
