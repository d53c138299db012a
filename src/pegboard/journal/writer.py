"""One process's hand in the journal: its number, its chain, its spool, and the work of siblings that died."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from pegboard.core.ids import first_id, new_id
from pegboard.journal.chain import Chain, Place
from pegboard.journal.counts import Counts
from pegboard.journal.entries import Batch, Closing, Held, Intent, Opening
from pegboard.journal.heads import Condemned, HeadRefused, Refused, check_head, register
from pegboard.journal.intents import check_claims, sign_intents
from pegboard.journal.ledger import Ledger, NewWriter, Session, Sibling, Step
from pegboard.journal.locks import Leases
from pegboard.journal.recovery import Estate, Sealer, count_all, estate_of, spooled_in, unrecorded
from pegboard.journal.spool import Spool, found
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# How often the statistics are brought up to date, and expired answers removed; both are cheap, neither is urgent.
COUNT_SECONDS = 5.0
EXPIRE_SECONDS = 600.0
# An effect that comes later than this after its call was given up is past anything that could still run.
VOID_FOR = timedelta(days=1)
# Adding more than this many counts at once would hold calls up.
MAX_COUNTS = 2000


class _Written(NamedTuple):
    number: int
    head: Place
    held: dict[str, Held]


class Writer:
    """Commits batches in one chain. It registers with its first batch, so that those who only read leave no trace."""

    def __init__(
        self, ledger: Ledger, chain: Chain, leases: Leases, seal: Sealer, *, spools: Path | None, is_shared: bool
    ) -> None:
        """`is_shared` says that siblings on other hosts look at this writer's beat, and not at its spool's lock."""
        self._ledger = ledger
        self._chain = chain
        self._leases = leases
        self._seal = seal
        self._spools = spools
        self._is_shared = is_shared
        self._id = new_id()
        self._number: int | None = None
        self._head = Place()
        self._sure = True
        self._was_condemned = False
        self._given_up: Refused | None = None
        self._has_no_spool = False
        self._counts = Counts()
        self._counted_at = self._expired_at = time.monotonic()
        self.spool: Spool | None = None

    @property
    def number(self) -> int | None:
        """The number that its rows have; None before the first one."""
        return self._number

    @property
    def _count_is_due(self) -> bool:
        return len(self._counts) >= MAX_COUNTS or time.monotonic() >= self._counted_at + COUNT_SECONDS

    async def commit(self, batch: Batch) -> dict[str, Held]:
        """Make a batch durable; who holds each key that was claimed. A batch that failed may be committed again."""
        await self._ready()
        counts = self._counts.take() if self._sure and self._count_is_due else []
        closings = batch.closings
        opening = [one for one in batch.openings if one.claim is None]
        claiming = [one for one in batch.openings if one.claim is not None]
        # Some may be there: of this chain, if nobody knows what came of an earlier try, or put in doubt by others.
        may_be_known = not self._sure or (self._was_condemned and any(one.intent != "none" for one in closings))

        async def write(session: Session) -> _Written | None:
            nonlocal closings
            number, head = await self._place(session)
            if counts:
                await session.count(number, self._head.seq, counts)
            held = await self._claim(session, sign_intents(self._chain, number, claiming)) if claiming else {}
            if may_be_known:
                closings = await unrecorded(session, batch.closings)
            return _Written(number, await self._append(session, number, head, closings, opening), held)

        try:
            written = await self._transact(write)
        except Condemned:
            raise  # what was taken is of the old chain, and whoever closed that has counted it
        except BaseException:
            self._counts.put_back(counts)
            raise
        if counts:
            self._counted_at = time.monotonic()
        for closing in closings:
            self._counts.add(closing.row)
        return written.held if written is not None else {}

    async def _claim(self, session: Session, intents: Sequence[Intent]) -> dict[str, Held]:
        now = _now()
        return await check_claims(session, self._chain, intents, await session.claim(intents, now), now)

    async def spool_away(self, entries: Sequence[bytes]) -> None:
        """Put entries on disk, past the database; OSError where that fails too."""
        if self.spool is None:
            raise OSError("there is no spool")
        await asyncio.to_thread(self.spool.append, entries)

    async def clear_spool(self) -> None:
        """Empty the spool, since all that was in it is committed."""
        if self.spool is None or self.spool.is_empty:
            return
        try:
            await asyncio.to_thread(self.spool.clear)
        except OSError:
            # Whoever reads it again finds every entry committed already.
            log.warning("spool_not_cleared", exc_info=True)

    async def tend(self) -> None:
        """What is due now and then: show that this writer lives, add to the statistics, remove what expired."""
        now = time.monotonic()
        if self.spool is not None and not self.spool.is_in_place:
            # Without it siblings would take this writer for dead.
            log.error("spool_moved_away", path=str(self.spool.path))
            spool, self.spool = self.spool, None
            await asyncio.to_thread(spool.close, remove=False)
            await self._ready()
        if self._number is not None and (self._is_shared or (self._counts and self._count_is_due)):
            await self.commit(Batch([], []))
        if now >= self._expired_at + EXPIRE_SECONDS:
            oldest = first_id(datetime.now(UTC) - VOID_FOR)
            if not await self._ledger.transaction(lambda session: session.expire(_now(), oldest)):
                self._expired_at = now  # else there is more to remove, next time

    async def recover(self) -> int:
        """Take over the work of siblings that died; how many calls were found to be in doubt."""
        mine = self._number or 0
        siblings = await self._ledger.transaction(lambda session: session.siblings(mine))
        by_id = {sibling.id: sibling for sibling in siblings}
        in_doubt = 0
        spools = await asyncio.to_thread(found, self._spools) if self._spools else []
        for writer_id, path in spools:
            spool = await self._adopted(path) if writer_id != self._id else None
            if spool is not None:
                in_doubt += await self._take_over(by_id.get(writer_id), writer_id, spool)
        # One whose spool lies here is judged by that alone: what is in it has to be read first.
        here = {writer_id for writer_id, _ in spools}
        left = [sibling for sibling in siblings if sibling.id not in here]
        dead = await self._leases.gone(left) if left else set()
        for sibling in left:
            if sibling.number in dead:
                in_doubt += await self._take_over(sibling, sibling.id, None)
        return in_doubt

    async def _adopted(self, path: Path) -> Spool | None:
        try:
            return await asyncio.to_thread(Spool.adopt, path)
        except OSError:
            log.warning("spool_not_readable", path=str(path), exc_info=True)
            return None

    async def close(self) -> None:
        """Count what is not counted yet and say that this writer is done; a spool that holds something stays."""
        try:
            if self._number is not None:
                _, spooled = await spooled_in(self.spool)
                try:
                    await self._transact(lambda session: self._end(session, spooled))
                except HeadRefused:
                    await self._transact(lambda session: self._end(session, spooled))
                await self.clear_spool()
        finally:
            if self.spool is not None:
                spool, self.spool = self.spool, None
                await asyncio.to_thread(spool.close, remove=spool.is_empty)
            await self._ledger.close()

    async def _end(self, session: Session, spooled: Sequence[Closing]) -> _Written:
        """Close this writer; a call that did not end when it was told to is in doubt, as if its process had died."""
        number, head = await self._place(session)
        left = await estate_of(session, number, spooled, self._seal, self._chain)
        head = await self._append(session, number, head, left.closings)
        await count_all(session, number)
        await session.close_writer(number, _now())
        return _Written(number, head, {})

    async def _ready(self) -> None:
        """Before the first row: a spool, whose lock shows siblings on this host that we live."""
        if self.spool is not None or self._spools is None:
            return
        try:
            self.spool = await asyncio.to_thread(Spool.create, self._spools, self._id)
        except OSError:
            if not self._is_shared:
                raise
            if not self._has_no_spool:  # once is enough while it lasts
                log.exception("no_spool")
            self._has_no_spool = True
        else:
            self._has_no_spool = False

    async def _place(self, session: Session) -> tuple[int, Place]:
        """This writer's number and head, asked of the database where they are not sure."""
        if self._number is not None and self._sure:
            return self._number, self._head
        there = await session.registered(self._id)
        check_head(self._chain, self._number, self._head, there)
        if there is not None:
            if there.is_closed:
                raise Condemned
            await count_all(session, there.number)  # in place of what is counted in memory, which may be too little
            return there.number, there.head
        writer = NewWriter(self._id, socket.gethostname(), os.getpid(), _now())
        return await register(session, self._chain, writer, self._given_up), Place()

    async def _append(
        self,
        session: Session,
        number: int,
        head: Place,
        closings: Sequence[Closing],
        openings: Sequence[Opening] = (),
    ) -> Place:
        """Rows into the chain, their intents closed, the head moved: one step that happens whole or not at all."""
        places = self._chain.links(number, head, [closing.row for closing in closings]) if closings else []
        head = places[-1] if places else head
        signature = self._chain.sign_head(number, head)
        intents = sign_intents(self._chain, number, openings)
        if not await session.append(Step(number, head, signature, intents, closings, places)):
            raise Condemned
        return head

    async def _take_over(self, sibling: Sibling | None, writer_id: str, spool: Spool | None) -> int:
        """Put a dead sibling's spooled rows and open intents into this chain, and close it."""
        is_damaged, spooled, left = False, list[Closing](), Estate([], 0)

        async def write(session: Session) -> _Written | None:
            nonlocal left
            if sibling is not None and not await session.close_writer(sibling.number, _now()) and not spooled:
                return None  # a third one was quicker
            dead = sibling.number if sibling is not None else None
            left = await estate_of(session, dead, spooled, self._seal, self._chain)
            if not left.closings:
                return None
            number, head = await self._place(session)
            return _Written(number, await self._append(session, number, head, left.closings), {})

        try:
            is_damaged, spooled = await spooled_in(spool)
            await self._ready()
            await self._transact(write)
        except BaseException as error:
            if spool is not None:
                await asyncio.to_thread(spool.close, remove=False)
            if isinstance(error, Exception) and self._ledger.is_the_rows_own(error):
                log.exception("not_taken_over", writer=writer_id)  # and no reason to leave others waiting
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

    async def _transact(self, write: Callable[[Session], Awaitable[_Written | None]]) -> _Written | None:
        first, was_sure = self._number is None, self._sure
        try:
            written = await self._ledger.transaction(write)
        except Condemned as error:
            await self._begin_anew(error)
            raise
        except BaseException:
            self._sure = False  # it may have been committed all the same
            raise
        if written is not None:
            self._number, self._head, self._sure, self._given_up = written.number, written.head, True, None
            if not was_sure:
                self._counts = Counts()
            if first:
                await self._ledger.hold(written.number)
        return written

    async def _begin_anew(self, error: Condemned) -> None:
        """A new number and an empty chain; what was not counted under the old one is found in its rows."""
        if isinstance(error, HeadRefused):
            log.error("journal_head_refused", writer=error.number, known=error.known.seq, why=str(error))
            self._given_up = Refused(self._id, error.number, error.known)
        else:
            log.error("condemned", writer=self._number)
        # Unless siblings closed it, the last batch may be committed: its rows are looked for before they are added.
        self._id, self._number, self._head, self._sure = new_id(), None, Place(), self._given_up is None
        self._was_condemned = True
        self._counts = Counts()
        if self.spool is not None:
            spool, self.spool = self.spool, None
            await asyncio.to_thread(spool.close, remove=spool.is_empty)


def _now() -> str:
    return datetime.now(UTC).isoformat(" ", "microseconds")[:26]
