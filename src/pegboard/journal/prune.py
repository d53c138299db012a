"""Taking old rows away from the beginning of every chain, so that what remains verifies at every instant."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.refusals import Conflict, Fault, Invalid
from pegboard.journal.chain import START, Chain, Place
from pegboard.journal.findings import Finding, Trail, Walk
from pegboard.journal.reading import WINDOW, Span, rows_of
from pegboard.journal.signatures import ends_of
from pegboard.store import links, retention, writers
from pegboard.store.database import Database
from pegboard.store.executions import Linked
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

ROWS_A_TURN = 20_000
# Rows in one transaction: calls that end meanwhile wait for it.
_BATCH = 2000


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many rows were removed, or would be, and whether there are more to remove."""

    removed: int
    more: bool = False


class _Overtaken(Exception):
    """Somebody else prunes the same chain."""


class Pruner:
    """Removes what finished before a moment."""

    def __init__(self, database: Database, chain: Chain) -> None:
        self._database = database
        self._chain = chain

    async def prune(self, before: datetime, *, limit: int, force: bool = False, by: str = "") -> Pruned:
        """Remove up to about `limit` rows; Conflict where that would hide that the journal was tampered with.

        Of each chain goes the longest beginning whose rows all finished before the moment. Rows from before the chain,
        statistics of earlier hours and settled doubts go too; by force, also entries that were set aside.
        """
        _refuse_the_future(before)
        removed = 0
        try:
            async for gone in self._batches(before, limit, force):
                removed += gone
        finally:
            if removed:
                log.info("journal_pruned", before=before.isoformat(), rows=removed, by=by, forced=force)
        if removed >= limit:
            return Pruned(removed, more=True)
        await self._leftovers(before, force)
        return Pruned(removed)

    async def count(self, before: datetime) -> Pruned:
        """How many rows `prune` would remove."""
        _refuse_the_future(before)
        removed = 0
        for number in await self._numbers():
            removed += await self._count(number, before)
        async with self._database.read() as conn:
            removed += await links.unchained(conn, until=before)
        return Pruned(removed)

    async def _batches(self, before: datetime, room: int, force: bool) -> AsyncIterator[int]:
        """How many rows each transaction removed, until there is nothing more to remove or room for no more."""
        for number in await self._numbers():
            while room > 0 and (gone := await self._batch(number, before, min(_BATCH, room), force)):
                yield gone
                room -= gone
        while room > 0:
            async with self._database.write() as conn:
                gone = await retention.remove_unchained(conn, before, limit=min(_BATCH, room))
            if not gone:
                return
            yield gone
            room -= gone

    async def _batch(self, number: int, before: datetime, limit: int, force: bool) -> int:
        """Remove some rows from the beginning of a chain and move its marker, at once; how many there were."""
        while True:
            async with self._database.read() as conn:
                step = await self._planned(conn, number, before, limit, force)
            if step is None:
                return 0
            with suppress(_Overtaken):
                return await self._remove(number, *step)

    async def _remove(self, number: int, was: int, after: int, place: Place) -> int:
        async with self._database.write() as conn:
            gone = await retention.remove_linked(conn, number, after=after, last=place.seq)
            # Last, since the writer of this chain waits for the row that holds its marker and its head.
            if not await writers.mark_pruned(conn, number, place, self._chain.sign_pruned(number, place), was=was):
                raise _Overtaken
        return gone

    async def _planned(
        self, conn: AsyncConnection, number: int, before: datetime, limit: int, force: bool
    ) -> tuple[int, int, Place] | None:
        """Where a chain's marker is, and where to move it; Conflict if what lies between was tampered with."""
        writer = await writers.get(conn, number)
        if writer is None:
            return None
        ends = ends_of(self._chain, writer)
        findings = [finding for finding in ends.findings if finding.kind == "marker_forged"]
        walk = Walk(self._chain, number, Trail.at(ends.pruned), findings)
        gone, staying = Span(until=before), None
        async with aclosing(rows_of(conn, number, ends.pruned.seq, limit=limit + 1)) as rows:
            async for row in rows:
                staying = row
                if limit == 0 or not gone.holds(row) or (ends.head is not None and row.seq > ends.head.seq):
                    break
                limit, staying = limit - 1, None
                walk.take(row)
                if findings and not force:
                    _refuse_to_hide(findings[0])
        if walk.trail.seq == ends.pruned.seq:
            return None
        return writer.pruned_seq, ends.pruned.seq, self._last(walk, staying, ends.head)

    def _last(self, walk: Walk, staying: Linked | None, head: Place | None) -> Place:
        """The place to sign: of the MACs that the last row may have, the one that what stays is linked to."""
        seq, macs = walk.trail
        for mac in macs[1:]:
            if staying is not None:
                findings: list[Finding] = []
                Walk(self._chain, walk.writer, Trail(seq, (mac,)), findings).take(staying)
                if not findings:
                    return Place(seq, mac)
            elif head == (seq, mac):
                return Place(seq, mac)
        return Place(seq, macs[0] if macs else START)

    async def _count(self, number: int, before: datetime) -> int:
        async with self._database.read() as conn:
            writer = await writers.get(conn, number)
        if writer is None:
            return 0
        after = ends_of(self._chain, writer).pruned.seq
        count = 0
        while True:
            async with self._database.read() as conn:
                seen = await links.window(conn, number, after=after, limit=WINDOW, since=before, until=None)
                if seen.first_within is not None:
                    return count + await links.count_between(conn, number, after, seen.first_within - 1)
            if not seen.rows:
                return count
            count += seen.rows
            after = seen.last

    async def _leftovers(self, before: datetime, force: bool) -> None:
        more = True
        while more:
            async with self._database.write() as conn:
                more = await retention.remove_counts(conn, before)
        async with self._database.write() as conn:
            await retention.remove_doubts(conn, before, datetime.now(UTC))
            if force:
                await retention.remove_set_aside(conn, before)

    async def _numbers(self) -> list[int]:
        async with self._database.read() as conn:
            return [writer.number for writer in await writers.all_of(conn)]


def _refuse_the_future(before: datetime) -> None:
    if before > datetime.now(UTC):
        raise Invalid.of("Nothing was removed", [Fault("before", "lies in the future")])


def _refuse_to_hide(finding: Finding) -> None:
    raise Conflict(
        f"{finding.message}. Pruning would remove the trace of it: look into it, keep an export, then prune by force"
    )
