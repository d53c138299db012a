"""The commit queue: the journal in the board's own database, which commits waiting rows together (group commit)."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence

from pegboard.journal.backend import JournalBackend
from pegboard.journal.entries import (
    RETRY_AFTER_MS,
    Claim,
    ClaimHolder,
    ClosingEntry,
    EntryBatch,
    OpeningEntry,
    WaitingEntry,
    build_unavailable,
    estimate_bytes,
    format_for_log,
)
from pegboard.journal.idempotency import IdempotencyClaims
from pegboard.journal.journal import EarlierCall
from pegboard.journal.writer import JournalWriter, WriterFenced
from pegboard.model.call import Execution, ReadyCall, ToolResult
from pegboard.model.call_errors import Unavailable
from pegboard.model.journal_row import restore_execution, serialize_execution
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

MAINTENANCE_SECONDS = 2.5
# Maximum rows in one transaction: more are not faster, and the calls of a batch wait for all of it.
MAX_BATCH_ENTRIES = 2000
# Under load, a 1 ms pause lets more rows share a commit, which makes each of them cheaper.
CROWDED_BATCH_ENTRIES, CROWDED_PAUSE_SECONDS = 8, 0.001


class DatabaseJournal:
    """Guarantees for each row: it is committed or spooled, or its caller gets an error.

    At most `max_waiting` entries and `max_bytes` wait in memory; above that, calls are refused before they run, and
    above twice that no row is accepted, not even of calls that did not run. If the database is unavailable, rows of
    calls that ran are retried for `patience` seconds and then spooled; new calls are refused before they run until a
    commit succeeds and the spooled rows are committed.
    """

    def __init__(
        self,
        ledger: JournalBackend,
        writer: JournalWriter,
        claims: IdempotencyClaims,
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
        self._waiting: list[WaitingEntry] = []
        self._bytes = 0
        self._uncommitted: list[WaitingEntry] = []
        self._open: dict[str, OpeningEntry] = {}
        self._transactional: set[str] = set()
        # The calls that commit a receipt in another database, and the database.
        self._receipted: dict[str, str] = {}
        # Those of them that are recorded, and whose receipt is not removed yet.
        self._recorded_receipts: dict[str, str] = {}
        self._wake = asyncio.Event()
        self._outage_reason: str | None = None
        self._closing = False
        self._maintained_at = float("-inf")
        self._has_maintenance_failed = False
        self._refused_count = 0
        self._task = asyncio.create_task(self._write(), name="pegboard-journal")

    @property
    def number(self) -> int | None:
        """The writer number of this process; None before its first commit."""
        return self._writer.number

    @property
    def writer_id(self) -> str:
        """The id of the writer of this process."""
        return self._writer.id

    @property
    def trouble(self) -> str | None:
        """The reason why calls cannot be recorded now, or None."""
        if self._outage_reason is not None or self._task.done():
            return self._outage_reason or "its writer has ended"
        is_full = len(self._waiting) >= self._max_waiting or self._bytes >= self._max_bytes
        return "it is behind with its work" if is_full else None

    @property
    def open_count(self) -> int:
        """Number of calls with an intent that are not recorded yet."""
        return len(self._open)

    async def begin(self, ready: ReadyCall, draft: Callable[[], Execution]) -> EarlierCall | None:
        """Commit an intent if the call may have effects or has a key; raise Unavailable if that is impossible."""
        why = "it is closed" if self._closing else self.trouble
        if why is not None:
            raise Unavailable(f"The journal cannot record calls: {why}", retry_after_ms=RETRY_AFTER_MS)
        if ready.key is not None:
            earlier = await self._claims.take(ready, lambda claim: self._commit_intent(ready, draft, claim))
            if earlier is not None:
                return earlier
        elif ready.has_effects and not ready.is_transactional and ready.receipts_in is None:
            await self._commit_intent(ready, draft, None)
        if ready.is_transactional:
            self._transactional.add(ready.run_id)
        if ready.receipts_in is not None:
            self._receipted[ready.run_id] = ready.receipts_in
        return None

    async def record(self, execution: Execution, result: ToolResult) -> None:
        """Queue the row and wait until it is durable; it is written even if the caller disconnects."""
        opening = self._open.get(execution.id)
        try:
            self._refuse_to_record(execution, opening)
            try:
                closing = self.build_closing(execution, result)
            except Exception as error:  # a row that cannot be serialized
                log.exception("row_not_storable")
                raise self._report_lost(execution, type(error).__name__) from None
            await self._submit(closing)
            if closing.is_receipted and result.success:
                self._recorded_receipts[execution.id] = self._receipted[execution.id]
        finally:
            self.release(execution.id)

    async def record_receipts(self, closings: Sequence[ClosingEntry]) -> None:
        """Record the entries of receipts that are not recorded yet; raise Unavailable if that failed."""
        if self._closing or self.trouble is not None:
            raise build_unavailable(self.trouble or "the journal is closed")
        await asyncio.gather(*map(self._submit, closings))

    def has_receipt(self, run_id: str) -> bool:
        """True if the call of this process is not recorded yet, or its receipt is not removed yet."""
        return run_id in self._receipted or run_id in self._recorded_receipts

    def list_recorded_receipts(self, database: str) -> list[str]:
        """Return the recorded calls whose receipts can be removed from this database."""
        return [run_id for run_id, name in self._recorded_receipts.items() if name == database]

    def forget_recorded_receipts(self, run_ids: Sequence[str]) -> None:
        """Forget calls whose receipts are removed."""
        for run_id in run_ids:
            self._recorded_receipts.pop(run_id, None)

    def build_closing(self, execution: Execution, result: ToolResult) -> ClosingEntry:
        """Return the entry with the row of a call that has ended, and what happens to its intent."""
        row = serialize_execution(execution)
        opening = self._open.get(execution.id)
        closing = ClosingEntry(
            row,
            is_transactional=execution.id in self._transactional,
            is_receipted=execution.id in self._receipted,
        )
        if opening is None:
            return closing
        did_run = execution.attempts and (result.problem is None or result.problem.did_run)
        if opening.claim is None or not did_run:
            return closing._replace(intent="forget")
        return closing._replace(intent="keep", answer=self._claims.encrypt_answer(result, execution.id))

    def release(self, run_id: str) -> None:
        """Release the key of a call whose row is recorded."""
        self._transactional.discard(run_id)
        self._receipted.pop(run_id, None)
        opening = self._open.pop(run_id, None)
        if opening is not None and opening.claim is not None:
            self._claims.release(opening.claim.name)

    def request_maintenance(self) -> None:
        """Recover calls of dead writers and do the other periodic work now instead of at its next interval."""
        self._maintained_at = float("-inf")
        self._wake.set()

    async def abandon(self) -> None:
        """Stop at once and close nothing, as if the process had died; other processes recover the open calls."""
        while not self._task.done():
            self._task.cancel()  # repeated: Python 3.11 loses a cancellation that arrives when a timeout has just ended
            await asyncio.wait({self._task}, timeout=0.1)
        await self._writer.abandon()

    async def close(self) -> None:
        """Commit the waiting rows, then close the writer."""
        self._closing = True
        self._wake.set()
        await asyncio.wait({self._task})
        try:
            await self._writer.close()
        except Exception:
            log.exception("journal_not_closed")  # the uncommitted rows are in the spool; the next start recovers them

    async def _commit_intent(
        self, ready: ReadyCall, draft: Callable[[], Execution], claim: Claim | None
    ) -> ClaimHolder | None:
        """Commit the intent and return the holder of its key; None if the key was released in the meantime."""
        # Checked here and not only in `begin`: a call that waits for a key gets here repeatedly.
        if self._task.done() or self._closing:
            raise build_unavailable("the journal is closed")
        opening = OpeningEntry(serialize_execution(draft()), ready.is_transactional, claim, ready.receipts_in)
        # Before the commit: an intent whose call is cancelled during the commit must still be closed.
        self._open[ready.run_id] = opening
        held = await self._submit(opening)
        if claim is None:
            return ClaimHolder(ready.run_id, ready.digest, "open", None)
        holder = held.get(claim.name)
        if holder is None or holder.id != ready.run_id:
            del self._open[ready.run_id]
        return holder

    def _refuse_to_record(self, execution: Execution, opening: OpeningEntry | None) -> None:
        is_full = len(self._waiting) >= 2 * self._max_waiting or self._bytes >= 2 * self._max_bytes
        if self._task.done() or self._closing or is_full:
            raise self._report_lost(execution, "the journal takes no more rows")
        if self._outage_reason is not None and opening is None and not execution.attempts:
            # The call did not run, and waiting would only delay its caller; one log line per call would flood the log.
            self._refused_count += 1
            raise build_unavailable(self._outage_reason)

    async def _submit(self, entry: OpeningEntry | ClosingEntry) -> dict[str, ClaimHolder]:
        waiting = WaitingEntry(entry, asyncio.get_running_loop().create_future(), estimate_bytes(entry))
        self._bytes += waiting.bytes
        self._waiting.append(waiting)
        self._wake.set()
        return await waiting.done

    async def _write(self) -> None:
        batch: list[WaitingEntry] = []
        is_crowded = False
        try:
            while not self._closing or self._waiting:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._pause()):
                        await self._wake.wait()
                self._wake.clear()
                if is_crowded:
                    await asyncio.sleep(CROWDED_PAUSE_SECONDS)
                batch = self._take_batch()
                is_crowded = len(batch) > CROWDED_BATCH_ENTRIES
                if self._outage_reason is not None:
                    await self._retry_commit(batch)
                elif batch:
                    await self._commit(batch)
                batch = []
                await self._run_maintenance()
        finally:
            # Also if the event loop ends: no call may wait for a writer task that has ended.
            for waiting in (*batch, *self._waiting):
                self._fail(waiting, "the journal was closed")

    def _pause(self) -> float:
        if self._outage_reason is not None:
            return RETRY_AFTER_MS / 1000
        return max(0.0, self._maintained_at + MAINTENANCE_SECONDS - time.monotonic())

    def _take_batch(self) -> list[WaitingEntry]:
        batch, self._waiting = self._waiting[:MAX_BATCH_ENTRIES], self._waiting[MAX_BATCH_ENTRIES:]
        self._bytes -= sum(waiting.bytes for waiting in batch)
        if self._waiting:
            self._wake.set()
        return batch

    async def _commit(self, batch: Sequence[WaitingEntry]) -> bool:
        """Return True if the batch is settled, False if the database stayed unavailable for `patience` seconds."""
        give_up = time.monotonic() + (0.0 if self._outage_reason or self._closing else self._patience)
        while True:
            try:
                held = await self._writer.commit(EntryBatch.of([waiting.entry for waiting in batch]))
            except WriterFenced:
                continue  # retry with a new writer number
            except Exception as error:
                if self._ledger.is_the_rows_own(error):
                    return await self._one_by_one(batch, error)
                if time.monotonic() >= give_up:
                    log.exception("journal_down")
                    self._outage_reason = type(error).__name__
                    await self._keep(batch)
                    return False
                await asyncio.sleep(0.1)
            else:
                for waiting in batch:
                    if not waiting.done.done():  # else cancelled, or answered when it was spooled
                        waiting.done.set_result(held)
                return True

    async def _one_by_one(self, batch: Sequence[WaitingEntry], error: Exception) -> bool:
        """Commit the entries one by one, so that one bad row does not fail the others."""
        for place, waiting in enumerate(batch):
            if len(batch) == 1 and waiting.is_retried:
                log.error("row_not_storable", exc_info=error)
                self._fail(waiting, type(error).__name__)
            else:
                # Retry a single row once: the conflict may be our own earlier commit.
                waiting.is_retried = len(batch) == 1
                if not await self._commit([waiting]):
                    await self._keep(batch[place + 1 :])
                    return False
        return True

    async def _retry_commit(self, arrived: Sequence[WaitingEntry]) -> None:
        """During an outage, spool the new entries first and then try to commit all uncommitted ones."""
        await self._keep(arrived)
        owed, self._uncommitted = self._uncommitted, []
        if not await self._commit(owed):
            return
        log.info("journal_up", spooled=len(owed), turned_away=self._refused_count)
        self._refused_count = 0
        self._outage_reason = None
        await self._writer.clear_spool()

    async def _keep(self, batch: Sequence[WaitingEntry]) -> None:
        """Spool the rows of calls that ran and keep them in memory until they are committed; refuse intents."""
        new: list[WaitingEntry] = []
        texts: list[bytes] = []
        for waiting in batch:
            if isinstance(waiting.entry, OpeningEntry):
                self._fail(waiting, str(self._outage_reason))
                continue
            self._uncommitted.append(waiting)
            if not waiting.is_spooled:
                new.append(waiting)
                texts.append(waiting.entry.encode_for_spool())
        if not new:
            return
        try:
            await self._writer.spool_away(texts)
        except OSError:
            log.exception("spool_failed")
            for waiting in new:
                self._fail(waiting, str(self._outage_reason))
            return
        log.warning("spooled", rows=len(new))
        for waiting in new:
            waiting.is_spooled = True
            if not waiting.done.done():
                waiting.done.set_result({})

    async def _run_maintenance(self) -> None:
        if (
            self._outage_reason is not None
            or self._closing
            or time.monotonic() < self._maintained_at + MAINTENANCE_SECONDS
        ):
            return
        self._maintained_at = time.monotonic()
        try:
            await self._writer.recover()
            await self._writer.tend()
        except Exception:
            if not self._has_maintenance_failed:  # log once per outage
                log.warning("journal_not_tended", exc_info=True)
            self._has_maintenance_failed = True
        else:
            self._has_maintenance_failed = False

    def _fail(self, waiting: WaitingEntry, why: str) -> None:
        if waiting.is_answered:
            return
        waiting.is_answered = True
        if isinstance(waiting.entry, ClosingEntry):
            log.error("execution_not_recorded", why=why, execution=format_for_log(restore_execution(waiting.entry.row)))
        if not waiting.done.done():
            waiting.done.set_exception(build_unavailable(why))

    def _report_lost(self, execution: Execution, why: str) -> Unavailable:
        log.error("execution_not_recorded", why=why, execution=format_for_log(execution))
        return build_unavailable(why)
