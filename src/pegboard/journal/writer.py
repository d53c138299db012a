"""The journal writer of one process: writer number, hash chain, spool file and recovery of dead writers."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from pegboard.journal.backend import (
    ChainAppend,
    JournalBackend,
    JournalSession,
    NewWriter,
    RegisteredWriter,
    SiblingWriter,
)
from pegboard.journal.chain_signatures import check_signature, is_count_signed
from pegboard.journal.entries import ClaimHolder, ClosingEntry, EntryBatch, IntentRow, OpeningEntry
from pegboard.journal.hash_chain import ChainPosition, HashChain
from pegboard.journal.latency_counts import CallCounts
from pegboard.journal.recovery import (
    RecoveredWork,
    SealAnswer,
    collect_recovered_work,
    count_uncounted_rows,
    filter_unrecorded,
    read_spooled,
)
from pegboard.journal.signed_intents import check_claims, sign_intents
from pegboard.journal.spool import Spool, list_spools
from pegboard.journal.writer_locks import WriterLeases
from pegboard.model.ids import make_lowest_id, new_id
from pegboard.model.journal_row import format_now
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# How often statistics are updated and expired answers removed; both are cheap and not urgent.
COUNT_INTERVAL_SECONDS = 5.0
EXPIRE_INTERVAL_SECONDS = 600.0
# Void receipts are removed after this time: no call still runs that could commit a late effect.
VOID_RECEIPT_LIFETIME = timedelta(days=1)
# Adding more counts than this in one transaction would delay calls.
MAX_COUNTS = 2000


class WriterFenced(Exception):
    """Raised if other processes considered this writer dead and closed it.

    Its open calls are in doubt, and it needs a new number.
    """


class HeadMismatch(WriterFenced):
    """Raised if the head in the database is not the one that this writer committed: rows were tampered with."""

    def __init__(self, number: int, known: ChainPosition, why: str) -> None:
        super().__init__(why)
        self.number = number
        self.known = known


class RolledBack(Exception):
    """Raised if the caller's own transaction was rolled back, so that the head of the chain is as before."""

    def __init__(self, reason: Exception | None = None) -> None:
        super().__init__(str(reason or ""))
        self.reason = reason


class _AbandonedWriter(NamedTuple):
    """A writer that was given up because its head was changed, and its last head that is known to be committed."""

    id: str
    number: int
    known: ChainPosition


class _CommitResult(NamedTuple):
    number: int
    head: ChainPosition
    held: dict[str, ClaimHolder]


_Work = Callable[[JournalSession], Awaitable[_CommitResult | None]]
CommitTransaction = Callable[[_Work], Awaitable[_CommitResult | None]]
"""Runs the given work in a transaction, commits it and returns the result of the work."""


class JournalWriter:
    """Commits batches to one hash chain; registers with its first batch, so that processes that only read do not."""

    def __init__(
        self,
        ledger: JournalBackend,
        chain: HashChain,
        leases: WriterLeases,
        seal: SealAnswer,
        *,
        spools: Path | None,
        is_shared: bool,
    ) -> None:
        """Create a writer; if `is_shared`, other hosts watch its beat column and not the lock on its spool."""
        self._ledger = ledger
        self._chain = chain
        self._leases = leases
        self._seal = seal
        self._spools = spools
        self._is_shared = is_shared
        self._id = new_id()
        self._number: int | None = None
        self._head = ChainPosition()
        self._is_head_certain = True
        self._was_fenced = False
        self._abandoned_writer: _AbandonedWriter | None = None
        self._has_no_spool = False
        self._counts = CallCounts()
        self._counted_at = self._expired_at = time.monotonic()
        self.spool: Spool | None = None

    @property
    def id(self) -> str:
        """The id of this writer, which changes if other processes considered it dead."""
        return self._id

    @property
    def number(self) -> int | None:
        """The writer number of its rows; None before the first commit."""
        return self._number

    @property
    def _count_is_due(self) -> bool:
        return len(self._counts) >= MAX_COUNTS or time.monotonic() >= self._counted_at + COUNT_INTERVAL_SECONDS

    @property
    def is_placed(self) -> bool:
        """True if its number and the head of its chain are known without a query."""
        return self._number is not None and self._is_head_certain

    async def commit(self, batch: EntryBatch) -> dict[str, ClaimHolder]:
        """Commit a batch and return the holder of each claimed key; a batch that failed may be committed again."""
        await self._ensure_spool()
        counts = self._counts.take() if self._is_head_certain and self._count_is_due else []
        closings = batch.closings
        opening = [one for one in batch.openings if one.claim is None]
        claiming = [one for one in batch.openings if one.claim is not None]
        may_be_recorded = self._may_be_recorded(closings)

        async def write(session: JournalSession) -> _CommitResult | None:
            nonlocal closings
            number, head = await self._place(session)
            if counts:
                await session.count(number, self._head.seq, counts)
            held = await self._claim(session, sign_intents(self._chain, number, claiming)) if claiming else {}
            if may_be_recorded:
                closings = await filter_unrecorded(session, batch.closings)
            return _CommitResult(number, await self._append(session, number, head, closings, opening), held)

        try:
            written = await self._transact(write)
        except WriterFenced:
            raise  # the counts belong to the old chain, and the writer that closed it has added them
        except BaseException:
            self._counts.put_back(counts)
            raise
        if counts:
            self._counted_at = time.monotonic()
        for closing in closings:
            self._counts.add(closing.row)
        return written.held if written is not None else {}

    def _may_be_recorded(self, closings: Sequence[ClosingEntry]) -> bool:
        """Return True if some rows may exist already.

        They may be in this chain if the outcome of an earlier commit is unknown, or as in doubt from another writer's
        recovery.
        """
        return (
            not self._is_head_certain
            or (self._was_fenced and any(one.intent != "none" for one in closings))
            or any(one.is_transactional or one.is_receipted for one in closings)
        )

    async def commit_within(
        self, transaction: CommitTransaction, list_closings: Callable[[], Sequence[ClosingEntry]]
    ) -> None:
        """Append the rows in the caller's own transaction, as its last statements before COMMIT.

        `transaction` raises RolledBack if nothing was committed; after any other error the outcome is unknown, and the
        head is read again before the next commit. Rows that are recorded already are an error, so that an effect is
        never committed without its row.
        """
        closings: Sequence[ClosingEntry] = ()

        async def write(session: JournalSession) -> _CommitResult | None:
            nonlocal closings
            closings = list_closings()
            number, head = await self._place(session)
            return _CommitResult(number, await self._append(session, number, head, closings), {})

        await self._transact(write, transaction)
        for closing in closings:
            self._counts.add(closing.row)

    async def _claim(self, session: JournalSession, intents: Sequence[IntentRow]) -> dict[str, ClaimHolder]:
        now = format_now()
        return await check_claims(session, self._chain, intents, await session.claim(intents, now), now)

    async def spool_away(self, entries: Sequence[bytes]) -> None:
        """Append entries to the spool file, not to the database; raise OSError if that fails."""
        if self.spool is None:
            raise OSError("there is no spool")
        await asyncio.to_thread(self.spool.append, entries)

    async def clear_spool(self) -> None:
        """Empty the spool; all its entries are committed."""
        if self.spool is None or self.spool.is_empty:
            return
        try:
            await asyncio.to_thread(self.spool.clear)
        except OSError:
            # The next reader of the spool finds every entry already committed.
            log.warning("spool_not_cleared", exc_info=True)

    async def tend(self) -> None:
        """Run periodic work: renew the lease, update the statistics, remove expired answers and receipts."""
        now = time.monotonic()
        if self.spool is not None and not self.spool.is_in_place:
            # Without the file, other writers would consider this one dead.
            log.error("spool_moved_away", path=str(self.spool.path))
            spool, self.spool = self.spool, None
            await asyncio.to_thread(spool.close, remove=False)
            await self._ensure_spool()
        if self._number is not None and (self._is_shared or (self._counts and self._count_is_due)):
            await self.commit(EntryBatch([], []))
        if now >= self._expired_at + EXPIRE_INTERVAL_SECONDS:
            oldest = make_lowest_id(datetime.now(UTC) - VOID_RECEIPT_LIFETIME)
            if not await self._ledger.transaction(lambda session: session.expire(format_now(), oldest)):
                self._expired_at = now  # otherwise more rows are left for the next run

    async def recover(self) -> int:
        """Take over the work of dead writers; return how many calls were found to be in doubt."""
        mine = self._number or 0
        siblings = await self._ledger.transaction(lambda session: session.list_siblings(mine))
        by_id = {sibling.id: sibling for sibling in siblings}
        in_doubt = 0
        spools = await asyncio.to_thread(list_spools, self._spools) if self._spools else []
        for writer_id, path in spools:
            spool = await self._adopt_spool(path) if writer_id != self._id else None
            if spool is not None:
                in_doubt += await self._take_over(by_id.get(writer_id), writer_id, spool)
        # A writer whose spool is in this folder is judged by the lock on it alone, because the spool must be read
        # first.
        here = {writer_id for writer_id, _ in spools}
        left = [sibling for sibling in siblings if sibling.id not in here]
        dead = await self._leases.find_dead_writers(left) if left else set()
        for sibling in left:
            if sibling.number in dead:
                in_doubt += await self._take_over(sibling, sibling.id, None)
        return in_doubt

    async def _adopt_spool(self, path: Path) -> Spool | None:
        try:
            return await asyncio.to_thread(Spool.adopt, path)
        except OSError:
            log.warning("spool_not_readable", path=str(path), exc_info=True)
            return None

    async def close(self) -> None:
        """Count the uncounted rows and close this writer; a spool that is not empty stays on disk."""
        try:
            if self._number is not None:
                _, spooled = await read_spooled(self.spool)
                try:
                    await self._transact(lambda session: self._end(session, spooled))
                except HeadMismatch:
                    await self._transact(lambda session: self._end(session, spooled))
                await self.clear_spool()
        finally:
            if self.spool is not None:
                spool, self.spool = self.spool, None
                await asyncio.to_thread(spool.close, remove=spool.is_empty)
            await self._ledger.close()

    async def abandon(self) -> None:
        """Release the spool and the connection without closing this writer."""
        if self.spool is not None:
            await asyncio.to_thread(self.spool.close, remove=False)
        await self._ledger.close()

    async def _end(self, session: JournalSession, spooled: Sequence[ClosingEntry]) -> _CommitResult:
        """Close this writer; calls that did not end when cancelled become in doubt, as if the process had died."""
        number, head = await self._place(session)
        left = await collect_recovered_work(session, number, spooled, self._seal, self._chain)
        head = await self._append(session, number, head, left.closings)
        await count_uncounted_rows(session, number)
        await session.close_writer(number, format_now())
        return _CommitResult(number, head, {})

    async def _ensure_spool(self) -> None:
        """Create the spool before the first row; its lock shows other writers on this host that this one is alive."""
        if self.spool is not None or self._spools is None:
            return
        try:
            self.spool = await asyncio.to_thread(Spool.create, self._spools, self._id)
        except OSError:
            if not self._is_shared:
                raise
            if not self._has_no_spool:  # log once per outage
                log.exception("no_spool")
            self._has_no_spool = True
        else:
            self._has_no_spool = False

    async def _place(self, session: JournalSession) -> tuple[int, ChainPosition]:
        """Return this writer's number and head, read from the database if they are uncertain."""
        if self._number is not None and self._is_head_certain:
            return self._number, self._head
        there = await session.find_writer(self._id)
        _check_head(self._chain, self._number, self._head, there)
        if there is not None:
            if there.is_closed:
                raise WriterFenced
            await count_uncounted_rows(session, there.number)  # replaces the counts in memory, which may be incomplete
            return there.number, there.head
        writer = NewWriter(self._id, socket.gethostname(), os.getpid(), format_now())
        return await _register_writer(session, self._chain, writer, self._abandoned_writer), ChainPosition()

    async def _append(
        self,
        session: JournalSession,
        number: int,
        head: ChainPosition,
        closings: Sequence[ClosingEntry],
        openings: Sequence[OpeningEntry] = (),
    ) -> ChainPosition:
        """Append rows to the hash chain, close their intents and move the head, all in one transaction."""
        places = self._chain.links(number, head, [closing.row for closing in closings]) if closings else []
        head = places[-1] if places else head
        signature = self._chain.sign_head(number, head)
        intents = sign_intents(self._chain, number, openings)
        if not await session.append(ChainAppend(number, head, signature, intents, closings, places)):
            raise WriterFenced
        return head

    async def _take_over(self, sibling: SiblingWriter | None, writer_id: str, spool: Spool | None) -> int:
        """Write a dead writer's spooled rows and open intents to this hash chain, and close that writer."""
        is_damaged, spooled, left = False, list[ClosingEntry](), RecoveredWork([], 0)

        async def write(session: JournalSession) -> _CommitResult | None:
            nonlocal left
            if sibling is not None and not await session.close_writer(sibling.number, format_now()) and not spooled:
                return None  # another writer was faster
            dead = sibling.number if sibling is not None else None
            left = await collect_recovered_work(session, dead, spooled, self._seal, self._chain)
            if not left.closings:
                return None
            number, head = await self._place(session)
            return _CommitResult(number, await self._append(session, number, head, left.closings), {})

        try:
            is_damaged, spooled = await read_spooled(spool)
            await self._ensure_spool()
            await self._transact(write)
        except BaseException as error:
            if spool is not None:
                await asyncio.to_thread(spool.close, remove=False)
            if isinstance(error, Exception) and self._ledger.is_the_rows_own(error):
                log.exception("not_taken_over", writer=writer_id)  # do not block the recovery of other writers
                return 0
            raise
        for closing in left.closings:
            self._counts.add(closing.row)
        if spool is not None and is_damaged:
            log.error("spool_damaged", writer=writer_id, kept=len(spooled))
            await asyncio.to_thread(spool.set_aside)
        elif spool is not None:
            await asyncio.to_thread(spool.close, remove=True)
        if left.closings:
            log.warning("took_over", writer=writer_id, spooled=len(spooled), in_doubt=left.intents)
        return left.intents

    async def _transact(self, write: _Work, transaction: CommitTransaction | None = None) -> _CommitResult | None:
        first, was_sure = self._number is None, self._is_head_certain
        try:
            written = await (transaction or self._ledger.transaction)(write)
        except RolledBack:
            raise
        except WriterFenced as error:
            await self._restart_chain(error)
            raise
        except BaseException:
            self._is_head_certain = False  # the transaction may have been committed
            raise
        if written is not None:
            self._number, self._head, self._is_head_certain, self._abandoned_writer = (
                written.number,
                written.head,
                True,
                None,
            )
            if not was_sure:
                self._counts = CallCounts()
            if first:
                await self._ledger.hold(written.number)
        return written

    async def _restart_chain(self, error: WriterFenced) -> None:
        """Start a new number and an empty hash chain; uncounted rows of the old number are counted from the table."""
        if isinstance(error, HeadMismatch):
            log.error("journal_head_refused", writer=error.number, known=error.known.seq, why=str(error))
            self._abandoned_writer = _AbandonedWriter(self._id, error.number, error.known)
        else:
            log.error("condemned", writer=self._number)
        # Unless other writers closed it, the last batch may be committed: check for its rows before adding them.
        self._id, self._number, self._head, self._is_head_certain = (
            new_id(),
            None,
            ChainPosition(),
            self._abandoned_writer is None,
        )
        self._was_fenced = True
        self._counts = CallCounts()
        if self.spool is not None:
            spool, self.spool = self.spool, None
            await asyncio.to_thread(spool.close, remove=spool.is_empty)


def _check_head(chain: HashChain, number: int | None, known: ChainPosition, there: RegisteredWriter | None) -> None:
    """Raise HeadMismatch unless the writer may continue from its row in the database."""
    if there is None:
        if number is None:
            return  # it was never committed
        raise HeadMismatch(number, known, "its row is gone")
    head = check_signature(chain, chain.sign_head, there.number, there.head, there.signature)
    if number is not None and there.number != number:
        raise HeadMismatch(number, known, f"it has the number {there.number}")
    if head is None:
        raise HeadMismatch(there.number, known, f"its head, row {there.head.seq}, is not signed by this board")
    if head.seq < known.seq or (head.seq == known.seq and head.mac != known.mac):
        raise HeadMismatch(there.number, known, f"its head, row {head.seq}, is before row {known.seq}")


async def _register_writer(
    session: JournalSession, chain: HashChain, writer: NewWriter, given_up: _AbandonedWriter | None
) -> int:
    """Register a new writer and return its number.

    The last known head of the `given_up` writer is written back, so that verification reports the missing rows. A
    writer count that this board did not sign stays unsigned for the same reason.
    """
    count = await session.read_writer_count()
    is_genuine = is_count_signed(chain, count.writers, count.signature, has_writers=count.highest > 0)
    if not is_genuine:
        log.error("writer_count_not_signed", count=count.writers, highest=count.highest)
    number = max(count.writers, count.highest, given_up.number if given_up else 0) + 1
    count_signature = chain.sign_writers(number) if is_genuine else ""
    await session.register(number, writer, (count_signature, chain.sign_head(number, ChainPosition())))
    if given_up is not None:
        signature = chain.sign_head(given_up.number, given_up.known)
        await session.restore_head(given_up.id, given_up.number, given_up.known, signature)
    return number
