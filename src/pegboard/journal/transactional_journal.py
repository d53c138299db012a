"""The journal of calls that commit their row in the transaction of their effects, in a hash chain of its own.

Such a call needs no intent: its effects and its row are committed together or not at all. The chain is not the one of
the commit queue, so that a transaction that has to wait delays no other calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from pegboard.journal.entries import ClosingEntry, EntryBatch
from pegboard.journal.writer import CommitTransaction, JournalWriter, RolledBack, WriterFenced
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

MAINTENANCE_SECONDS = 2.5


class TransactionalJournal:
    """Appends rows to its chain within transactions of executors, one at a time; registers with the first."""

    def __init__(self, writer: JournalWriter) -> None:
        self._writer = writer
        self._turn = asyncio.Lock()
        self._maintenance: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def number(self) -> int | None:
        """The writer number of its rows; None before the first commit."""
        return self._writer.number

    async def commit(self, transaction: CommitTransaction, list_closings: Callable[[], Sequence[ClosingEntry]]) -> None:
        """Append the rows in the caller's transaction, when no other transaction appends.

        Raises RolledBack from `transaction` or WriterFenced if nothing was committed; after WriterFenced the caller may
        try again. After any other error of `transaction` the outcome is unknown.
        """
        async with self._turn:
            if self._maintenance is None:
                self._maintenance = asyncio.create_task(self._maintain(), name="pegboard-transactional-journal")
            if not self._writer.is_placed:
                await self._find_place()
            await self._writer.commit_within(transaction, list_closings)

    async def close(self) -> None:
        """Close the writer; later calls do nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._maintenance is not None:
            self._maintenance.cancel()
            await asyncio.wait({self._maintenance})
        try:
            await self._writer.close()
        except Exception:
            log.exception("journal_not_closed")  # it is empty: the next writer closes it

    async def _find_place(self) -> None:
        """Register the writer, or read its head again, in a transaction of its own."""
        try:
            await self._writer.commit(EntryBatch([], []))
        except WriterFenced:
            raise
        except Exception as error:
            raise RolledBack(error) from error

    async def _maintain(self) -> None:
        has_failed = False
        while True:
            await asyncio.sleep(MAINTENANCE_SECONDS)
            try:
                async with self._turn:
                    await self._writer.tend()
            except Exception:
                if not has_failed:  # log once per outage
                    log.warning("journal_not_tended", exc_info=True)
                has_failed = True
            else:
                has_failed = False
