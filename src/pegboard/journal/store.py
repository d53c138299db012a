"""The journal in the board's own database: rows that wait together are committed together."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence

from pegboard.core.call import Execution, ReadyCall, ToolResult
from pegboard.core.errors import Unavailable
from pegboard.journal.base import Earlier
from pegboard.journal.claims import Claims
from pegboard.journal.entries import Batch, Claim, Closing, Held, Opening
from pegboard.journal.heads import Condemned
from pegboard.journal.ledger import Ledger
from pegboard.journal.waiting import RETRY_AFTER_MS, Waiting, shown, unavailable, weight_of
from pegboard.journal.writer import Writer
from pegboard.store.executions import restored, stored
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

TEND_SECONDS = 2.5
# Rows in one transaction: more gain nothing, and the calls of one batch wait for all of it.
BATCH = 2000
# Where many come at once, a moment's wait lets more of them share a commit, and each of them costs less.
CROWD, MOMENT = 8, 0.001


class StoreJournal:
    """Answers for the rows it is handed: they are committed, or in the spool, or their callers are told.

    At most `max_waiting` entries and `max_bytes` of them wait in memory; beyond that calls are refused before they run,
    and beyond twice that nothing more is kept, not even of calls that never ran.
    While the database is away, rows of calls that ran are tried again for `patience` seconds and then spooled; new
    calls are refused before they run, until a commit succeeds again and what was spooled is committed.
    """

    def __init__(
        self,
        ledger: Ledger,
        writer: Writer,
        claims: Claims,
        *,
        max_waiting: int = 10_000,
        max_bytes: int = 64 * 2**20,
        patience: float = 5.0,
    ) -> None:
        self._ledger = ledger
        self._writer = writer
        self._claims = claims
        self._max_waiting = max_waiting
        self._max_bytes = max_bytes
        self._patience = patience
        self._waiting: list[Waiting] = []
        self._bytes = 0
        self._owed: list[Waiting] = []
        self._open: dict[str, Opening] = {}
        self._wake = asyncio.Event()
        self._down: str | None = None
        self._closing = False
        self._tended_at = float("-inf")
        self._untended = False
        self._turned_away = 0
        self._task = asyncio.create_task(self._write(), name="pegboard-journal")

    @property
    def number(self) -> int | None:
        """The number of this process among the journal's writers; None before it has written."""
        return self._writer.number

    @property
    def trouble(self) -> str | None:
        """Why calls cannot be recorded at the moment."""
        if self._down is not None or self._task.done():
            return self._down or "its writer has ended"
        is_full = len(self._waiting) >= self._max_waiting or self._bytes >= self._max_bytes
        return "it is behind with its work" if is_full else None

    async def begin(self, ready: ReadyCall, draft: Callable[[], Execution]) -> Earlier | None:
        """Commit an intent where the call may have effects or has a key; refuse while nothing can be written."""
        why = "it is closed" if self._closing else self.trouble
        if why is not None:
            raise Unavailable(f"The journal cannot record calls: {why}", retry_after_ms=RETRY_AFTER_MS)
        if ready.key is not None:
            return await self._claims.take(ready, lambda claim: self._opened(ready, draft, claim))
        if ready.tool.has_effects:
            await self._opened(ready, draft, None)
        return None

    async def record(self, execution: Execution, result: ToolResult) -> None:
        """Hand the row to the writer and wait until it is durable; it is kept even if the caller goes away."""
        opening = self._open.pop(execution.id, None)
        try:
            self._refuse_to_record(execution, opening)
            try:
                closing = self._closing_of(execution, result, opening)
            except Exception as error:  # a row that cannot even be written down
                log.exception("row_not_storable")
                raise self._lost(execution, type(error).__name__) from None
            await self._handed_in(closing)
        finally:
            if opening is not None and opening.claim is not None:
                self._claims.release(opening.claim.name)

    async def close(self) -> None:
        """Write what is waiting, then end the writer."""
        self._closing = True
        self._wake.set()
        await asyncio.wait({self._task})
        try:
            await self._writer.close()
        except Exception:
            log.exception("journal_not_closed")  # what it owes is in the spool, and the next start takes it over

    async def _opened(self, ready: ReadyCall, draft: Callable[[], Execution], claim: Claim | None) -> Held | None:
        """The intent, committed; or who holds its key instead, or None where they let go of it meanwhile."""
        # Asked here and not only in `begin`: who waits for a key comes by here again and again.
        if self._task.done() or self._closing:
            raise unavailable("the journal is closed")
        opening = Opening(stored(draft()), ready.receipts, claim)
        # Before it is committed: one that is cancelled meanwhile must be closed all the same.
        self._open[ready.run_id] = opening
        held = await self._handed_in(opening)
        if claim is None:
            return Held(ready.run_id, ready.digest, "open", None)
        holder = held.get(claim.name)
        if holder is None or holder.id != ready.run_id:
            del self._open[ready.run_id]
        return holder

    def _refuse_to_record(self, execution: Execution, opening: Opening | None) -> None:
        is_full = len(self._waiting) >= 2 * self._max_waiting or self._bytes >= 2 * self._max_bytes
        if self._task.done() or self._closing or is_full:
            raise self._lost(execution, "the journal takes no more rows")
        if self._down is not None and opening is None and not execution.attempts:
            # It did not run, and waiting would only hold its caller up; a line each would flood the log.
            self._turned_away += 1
            raise unavailable(self._down)

    def _closing_of(self, execution: Execution, result: ToolResult, opening: Opening | None) -> Closing:
        row = stored(execution)
        if opening is None:
            return Closing(row)
        did_run = execution.attempts and (result.problem is None or result.problem.did_run)
        if opening.claim is None or not did_run:
            return Closing(row, "forget", receipts=opening.receipts)
        return Closing(row, "keep", "done", self._claims.sealed(result, execution.id), opening.receipts)

    async def _handed_in(self, entry: Opening | Closing) -> dict[str, Held]:
        waiting = Waiting(entry, asyncio.get_running_loop().create_future(), weight_of(entry))
        self._bytes += waiting.bytes
        self._waiting.append(waiting)
        self._wake.set()
        return await waiting.done

    async def _write(self) -> None:
        batch: list[Waiting] = []
        is_crowded = False
        try:
            while not self._closing or self._waiting:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._pause()):
                        await self._wake.wait()
                self._wake.clear()
                if is_crowded:
                    await asyncio.sleep(MOMENT)
                batch = self._taken()
                is_crowded = len(batch) > CROWD
                if self._down is not None:
                    await self._try_again(batch)
                elif batch:
                    await self._commit(batch)
                batch = []
                await self._tend()
        finally:
            # Also when the event loop ends under it: nobody may wait for a writer that is gone.
            for waiting in (*batch, *self._waiting):
                self._fail(waiting, "the journal was closed")

    def _pause(self) -> float:
        if self._down is not None:
            return RETRY_AFTER_MS / 1000
        return max(0.0, self._tended_at + TEND_SECONDS - time.monotonic())

    def _taken(self) -> list[Waiting]:
        batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
        self._bytes -= sum(waiting.bytes for waiting in batch)
        if self._waiting:
            self._wake.set()
        return batch

    async def _commit(self, batch: Sequence[Waiting]) -> bool:
        """Whether the batch is settled; if not, the database is away and has been for as long as there is patience."""
        give_up = time.monotonic() + (0.0 if self._down or self._closing else self._patience)
        while True:
            try:
                held = await self._writer.commit(Batch.of([waiting.entry for waiting in batch]))
            except Condemned:
                continue  # again, under a new number
            except Exception as error:
                if self._ledger.is_the_rows_own(error):
                    return await self._one_by_one(batch, error)
                if time.monotonic() >= give_up:
                    log.exception("journal_down")
                    self._down = type(error).__name__
                    await self._keep(batch)
                    return False
                await asyncio.sleep(0.1)
            else:
                for waiting in batch:
                    if not waiting.done.done():  # else the caller has gone away, or was answered when it was spooled
                        waiting.done.set_result(held)
                return True

    async def _one_by_one(self, batch: Sequence[Waiting], error: Exception) -> bool:
        """So that one bad row does not cost its neighbours theirs."""
        for place, waiting in enumerate(batch):
            if len(batch) == 1 and waiting.is_retried:
                log.error("row_not_storable", exc_info=error)
                self._fail(waiting, type(error).__name__)
            else:
                # Once more also for one alone: it may have been in the way of itself, committed by an earlier try.
                waiting.is_retried = len(batch) == 1
                if not await self._commit([waiting]):
                    await self._keep(batch[place + 1 :])
                    return False
        return True

    async def _try_again(self, arrived: Sequence[Waiting]) -> None:
        """While the database is away: first make sure of what came in, then see whether it is back."""
        await self._keep(arrived)
        owed, self._owed = self._owed, []
        if not await self._commit(owed):
            return
        log.info("journal_up", spooled=len(owed), turned_away=self._turned_away)
        self._turned_away = 0
        self._down = None
        await self._writer.clear_spool()

    async def _keep(self, batch: Sequence[Waiting]) -> None:
        """Rows of calls that ran go to the spool, and stay in memory until they are committed; intents are refused."""
        new: list[Waiting] = []
        texts: list[bytes] = []
        for waiting in batch:
            if isinstance(waiting.entry, Opening):
                self._fail(waiting, str(self._down))
                continue
            self._owed.append(waiting)
            if not waiting.is_spooled:
                new.append(waiting)
                texts.append(waiting.entry.spooled())
        if not new:
            return
        try:
            await self._writer.spool_away(texts)
        except OSError:
            log.exception("spool_failed")
            for waiting in new:
                self._fail(waiting, str(self._down))
            return
        log.warning("spooled", rows=len(new))
        for waiting in new:
            waiting.is_spooled = True
            if not waiting.done.done():
                waiting.done.set_result({})

    async def _tend(self) -> None:
        if self._down is not None or self._closing or time.monotonic() < self._tended_at + TEND_SECONDS:
            return
        self._tended_at = time.monotonic()
        try:
            await self._writer.recover()
            await self._writer.tend()
        except Exception:
            if not self._untended:  # once is enough while it lasts
                log.warning("journal_not_tended", exc_info=True)
            self._untended = True
        else:
            self._untended = False

    def _fail(self, waiting: Waiting, why: str) -> None:
        if waiting.is_told:
            return
        waiting.is_told = True
        if isinstance(waiting.entry, Closing):
            log.error("execution_not_recorded", why=why, execution=shown(restored(waiting.entry.row)))
        if not waiting.done.done():
            waiting.done.set_exception(unavailable(why))

    def _lost(self, execution: Execution, why: str) -> Unavailable:
        log.error("execution_not_recorded", why=why, execution=shown(execution))
        return unavailable(why)
