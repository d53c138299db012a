"""Removes old rows from the start of each hash chain, so that the remaining rows verify at any time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.journal.chain_signatures import read_chain_ends
from pegboard.journal.hash_chain import FIRST_MAC, ChainPosition, HashChain
from pegboard.journal.read_chain import WINDOW_ROWS, TimeSpan, iterate_rows
from pegboard.journal.tamper_report import ChainTrail, ChainWalk, TamperFinding
from pegboard.model.api_errors import Conflict, Fault, Invalid
from pegboard.storage import journal_chain_rows
from pegboard.storage.database import Database
from pegboard.storage.execution_rows import ChainRow
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

MAX_ROWS_PER_TURN = 20_000
# Rows in one transaction: calls that end during it wait for it.
_BATCH_ROWS = 2000


@dataclass(frozen=True, slots=True)
class PruneReport:
    """How many rows were removed, or would be, and whether there are more to remove."""

    removed: int
    more: bool = False


class _ConcurrentPrune(Exception):
    """Raised if another process prunes the same chain."""


class Pruner:
    """Removes the rows that finished before a given time."""

    def __init__(self, database: Database, chain: HashChain) -> None:
        self._database = database
        self._chain = chain

    async def prune(self, before: datetime, *, limit: int, force: bool = False, by: str = "") -> PruneReport:
        """Remove up to about `limit` rows; raise Conflict if that would hide tampering.

        Removes the longest prefix of each chain whose rows all finished before the given time, and also rows from
        before the hash chain existed, statistics of earlier hours and settled in-doubt intents; with `force`, also
        quarantined entries.
        """
        _refuse_future(before)
        removed = 0
        try:
            async for gone in self._prune_batches(before, limit, force):
                removed += gone
        finally:
            if removed:
                log.info("journal_pruned", before=before.isoformat(), rows=removed, by=by, forced=force)
        if removed >= limit:
            return PruneReport(removed, more=True)
        await self._remove_leftovers(before, force)
        return PruneReport(removed)

    async def count(self, before: datetime) -> PruneReport:
        """Return how many rows `prune` would remove."""
        _refuse_future(before)
        removed = 0
        for number in await self._numbers():
            removed += await self._count(number, before)
        async with self._database.read() as conn:
            removed += await journal_chain_rows.count_unchained_rows(conn, until=before)
        return PruneReport(removed)

    async def _prune_batches(self, before: datetime, room: int, force: bool) -> AsyncIterator[int]:
        """Yield the number of rows that each transaction removed, until none is left or `room` is used up."""
        for number in await self._numbers():
            while room > 0 and (gone := await self._prune_batch(number, before, min(_BATCH_ROWS, room), force)):
                yield gone
                room -= gone
        while room > 0:
            async with self._database.write() as conn:
                gone = await journal_chain_rows.remove_unchained_rows(conn, before, limit=min(_BATCH_ROWS, room))
            if not gone:
                return
            yield gone
            room -= gone

    async def _prune_batch(self, number: int, before: datetime, limit: int, force: bool) -> int:
        """Remove rows from the start of a chain and move its marker in one transaction; return their number."""
        while True:
            async with self._database.read() as conn:
                step = await self._plan_chain(conn, number, before, limit, force)
            if step is None:
                return 0
            with suppress(_ConcurrentPrune):
                return await self._remove(number, *step)

    async def _remove(self, number: int, was: int, after: int, place: ChainPosition) -> int:
        async with self._database.write() as conn:
            gone = await journal_chain_rows.remove_chain_rows(conn, number, after=after, last=place.seq)
            # Last, because the writer of this chain waits for the row that holds its marker and its head.
            signature = self._chain.sign_pruned(number, place)
            if not await journal_chain_rows.mark_pruned(conn, number, place, signature, was=was):
                raise _ConcurrentPrune
        return gone

    async def _plan_chain(
        self, conn: AsyncConnection, number: int, before: datetime, limit: int, force: bool
    ) -> tuple[int, int, ChainPosition] | None:
        """Return the marker of a chain and its new position; raise Conflict if rows in between were tampered with."""
        writer = await journal_chain_rows.get_writer(conn, number)
        if writer is None:
            return None
        ends = read_chain_ends(self._chain, writer)
        findings = [finding for finding in ends.findings if finding.kind == "marker_forged"]
        walk = ChainWalk(self._chain, number, ChainTrail.at(ends.pruned), findings)
        gone, staying = TimeSpan(until=before), None
        async with aclosing(iterate_rows(conn, number, ends.pruned.seq, limit=limit + 1)) as rows:
            async for row in rows:
                staying = row
                if limit == 0 or not gone.holds(row) or (ends.head is not None and row.seq > ends.head.seq):
                    break
                limit, staying = limit - 1, None
                walk.take(row)
                if findings and not force:
                    _refuse_hiding(findings[0])
        if walk.trail.seq == ends.pruned.seq:
            return None
        return writer.pruned_seq, ends.pruned.seq, self._choose_last_position(walk, staying, ends.head)

    def _choose_last_position(
        self, walk: ChainWalk, staying: ChainRow | None, head: ChainPosition | None
    ) -> ChainPosition:
        """Return the position to sign: of the possible MACs of the last row, the one that the next row is linked to."""
        seq, macs = walk.trail
        for mac in macs[1:]:
            if staying is not None:
                findings: list[TamperFinding] = []
                ChainWalk(self._chain, walk.writer, ChainTrail(seq, (mac,)), findings).take(staying)
                if not findings:
                    return ChainPosition(seq, mac)
            elif head == (seq, mac):
                return ChainPosition(seq, mac)
        return ChainPosition(seq, macs[0] if macs else FIRST_MAC)

    async def _count(self, number: int, before: datetime) -> int:
        async with self._database.read() as conn:
            writer = await journal_chain_rows.get_writer(conn, number)
        if writer is None:
            return 0
        after = read_chain_ends(self._chain, writer).pruned.seq
        count = 0
        while True:
            async with self._database.read() as conn:
                seen = await journal_chain_rows.read_window(
                    conn, number, after=after, limit=WINDOW_ROWS, since=before, until=None
                )
                if seen.first_within is not None:
                    return count + await journal_chain_rows.count_rows_between(
                        conn, number, after, seen.first_within - 1
                    )
            if not seen.rows:
                return count
            count += seen.rows
            after = seen.last

    async def _remove_leftovers(self, before: datetime, force: bool) -> None:
        more = True
        while more:
            async with self._database.write() as conn:
                more = await journal_chain_rows.remove_counts(conn, before)
        async with self._database.write() as conn:
            await journal_chain_rows.remove_in_doubt(conn, before, datetime.now(UTC))
            if force:
                await journal_chain_rows.remove_quarantined(conn, before)

    async def _numbers(self) -> list[int]:
        async with self._database.read() as conn:
            return [writer.number for writer in await journal_chain_rows.list_writers(conn)]


def _refuse_future(before: datetime) -> None:
    if before > datetime.now(UTC):
        raise Invalid.of("Nothing was removed", [Fault("before", "lies in the future")])


def _refuse_hiding(finding: TamperFinding) -> None:
    raise Conflict(
        f"{finding.message}. Pruning would remove the trace of it: look into it, keep an export, then prune by force"
    )
