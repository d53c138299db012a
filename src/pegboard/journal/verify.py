"""Verifies the journal against its hash chains, a bounded number of rows at a time, while it is being written."""

from __future__ import annotations

import math
import time
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import AwareDatetime, Field
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.journal.chain_signatures import (
    ChainEnds,
    build_missing_writers,
    check_writer_count,
    merge_ranges,
    read_chain_ends,
)
from pegboard.journal.hash_chain import HashChain
from pegboard.journal.read_chain import FINISHED_AT_INDEX, TimeSpan, iterate_rows, skip_rows
from pegboard.journal.tamper_report import MAX_FINDINGS, ChainTrail, ChainWalk, TamperFinding, format_row_count
from pegboard.model.base_model import Model
from pegboard.storage import journal_chain_rows
from pegboard.storage.database import Database
from pegboard.storage.journal_chain_rows import WriterRow

MAX_ROWS_PER_TURN = 20_000
_MAX_SECONDS_PER_TURN = 1.0
# Rows in one read transaction: an in-memory database cannot be written during it.
_ROWS_PER_READ = 2000


class Scope(Model):
    """What of the journal is checked: one writer's rows between two numbers, or what finished in a span of time."""

    writer: int | None = None
    first: int | None = None
    last: int | None = None
    since: datetime | None = None
    until: datetime | None = None


class VerificationProgress(Model):
    """What a verification of the whole journal has checked up to a position; signed against changes by clients."""

    started_at: AwareDatetime
    checked: int = Field(ge=0, le=2**63 - 1)
    findings: dict[str, int] = Field({}, max_length=20)
    mac: str = Field(max_length=64)


class Position(Model):
    """How far a verification has come; `seq` is None if no row of the writer was read yet."""

    writer: int = Field(ge=0, le=2**31 - 1)
    seq: int | None = Field(None, ge=0, le=2**63 - 1)
    macs: tuple[str, ...] = Field((), max_length=3)
    skipping: bool = False
    found: int = Field(0, ge=0)
    # Only of a verification of the whole journal.
    progress: VerificationProgress | None = None


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """The result of a verification so far and the position to continue from; `total` is an estimate of all rows."""

    checked: int
    findings: tuple[TamperFinding, ...] = ()
    notes: tuple[str, ...] = ()
    next: Any = None
    total: int | None = None


class ChainVerifier:
    """Verifies every hash chain in the database."""

    def __init__(self, database: Database, chain: HashChain) -> None:
        self._database = database
        self._chain = chain

    async def verify(self, scope: Scope, position: Position | None, limit: int) -> VerificationReport:
        """Verify about `limit` rows from a position on."""
        turn = _VerificationTurn(self._chain, scope, found=0 if position is None else position.found)
        notes: list[str] = []
        total = None
        if position is None:
            async with self._database.read() as conn:
                position, total = await turn.begin(conn, notes)
        until = time.monotonic() + _MAX_SECONDS_PER_TURN
        while position is not None and position.found < MAX_FINDINGS:
            if turn.checked >= limit or time.monotonic() > until:
                break
            async with self._database.read() as conn:
                position = await turn.step(conn, position, min(_ROWS_PER_READ, limit - turn.checked))
        if position is not None and position.found >= MAX_FINDINGS:
            notes.append(f"Stopped after {MAX_FINDINGS} findings; there may be more")
            position = None
        return VerificationReport(turn.checked, tuple(turn.findings[: turn.room]), tuple(notes), position, total)


class _VerificationTurn:
    """The part of a verification that one request does."""

    def __init__(self, chain: HashChain, scope: Scope, *, found: int) -> None:
        self._chain = chain
        self._found = found
        self.room = MAX_FINDINGS - found
        self._scope = scope
        self._span = TimeSpan(scope.since, scope.until)
        self.checked = 0
        self.findings: list[TamperFinding] = []

    async def begin(self, conn: AsyncConnection, notes: list[str]) -> tuple[Position | None, int | None]:
        """Check the set of writers; return the first position and the number of rows."""
        known = await journal_chain_rows.list_writers(conn)
        if self._scope.writer is not None:
            known = [writer for writer in known if writer.number == self._scope.writer]
            if not known:
                self.findings.append(build_missing_writers(self._scope.writer, self._scope.writer))
        else:
            there = merge_ranges((writer.number, writer.number) for writer in known)
            self.findings += check_writer_count(self._chain, *await journal_chain_rows.read_writer_count(conn), there)
            known = [writer for writer in known if writer.number > 0]
            await self._find_stray_rows(conn, None, known[0].number if known else None)
            await self._report_unchained(conn, notes)
            await self._report_quarantined(conn)
        pruned = sum(read_chain_ends(self._chain, writer).pruned.seq for writer in known)
        if pruned:
            notes.append(f"{format_row_count(pruned)} pruned")
        ranged = self._span.is_bounded or self._scope.first is not None or self._scope.last is not None
        total = None if ranged else sum(_estimate_rows(writer) for writer in known)
        return self._at(known[0].number if known else None), total

    async def step(self, conn: AsyncConnection, position: Position, room: int) -> Position | None:
        """Verify some more rows of one writer."""
        number = position.writer
        writer = await journal_chain_rows.get_writer(conn, number)
        if writer is None:
            self.findings.append(build_missing_writers(number, number))
            return await self._next(conn, number)
        ends = read_chain_ends(self._chain, writer)
        if position.seq is None:
            walk = self._walk_from(number, await self._enter(conn, number, ends))
            skipping = self._span.is_bounded
        else:
            walk = self._walk_from(number, ChainTrail(position.seq, position.macs))
            skipping = position.skipping
        if ends.pruned.seq > walk.trail.seq:  # pruned concurrently
            walk.trail = ChainTrail.at(ends.pruned)
        more = await (self._skip(conn, walk) if skipping else self._walk(conn, walk, room))
        if more is not None:
            return self._at(number, walk.trail, skipping=more)
        self._end(walk, ends)
        return await self._next(conn, number)

    async def _enter(self, conn: AsyncConnection, number: int, ends: ChainEnds) -> ChainTrail:
        self.findings += [finding for finding in ends.findings if finding.kind == "marker_forged"]
        lost = await journal_chain_rows.sample_misplaced_rows(conn, number, ends.pruned.seq)
        if lost.rows:
            message = (
                f"{format_row_count(lost.rows)} of writer {number} outside of its chain, which begins after row"
                f" {ends.pruned.seq}: execution {lost.id}{_format_others(lost.rows)}"
            )
            self.findings.append(TamperFinding("misplaced", message, number, execution_id=lost.id))
        first = self._scope.first
        if first is None or first <= ends.pruned.seq + 1:
            return ChainTrail.at(ends.pruned)
        before = await journal_chain_rows.read_mac(conn, number, first - 1)
        if before is not None:
            return ChainTrail.after(first - 1, before)
        last = await journal_chain_rows.find_last_seq_before(conn, number, first)
        return ChainTrail.after(max(ends.pruned.seq, last), None)

    async def _walk(self, conn: AsyncConnection, walk: ChainWalk, room: int) -> bool | None:
        """Verify rows; return whether to skip from here, or None if there are no more."""
        began, taken, passed = walk.trail.seq, 0, 0
        last = self._scope.last
        outcome: bool | None
        async with aclosing(iterate_rows(conn, walk.writer, began, last=last, limit=room)) as rows:
            async for row in rows:
                walk.take(row)
                taken += 1
                passed += type(row.seq) is int
                if len(self.findings) > self.room:
                    outcome = False
                    break
                if self._span.is_bounded and not self._span.holds(row):
                    outcome = True
                    break
            else:
                outcome = None if passed < room else False
        self.checked += taken
        there = await journal_chain_rows.count_rows_between(conn, walk.writer, began, walk.trail.seq)
        if there > taken:
            message = (
                f"{format_row_count(there - taken)} of writer {walk.writer} with the number of another, among rows"
                f" {began + 1} to {walk.trail.seq}"
            )
            self.findings.append(TamperFinding("misplaced", message, walk.writer, began + 1, walk.trail.seq))
        return outcome

    async def _skip(self, conn: AsyncConnection, walk: ChainWalk) -> bool | None:
        """Skip rows outside the time span; of these, only missing numbers are reported."""
        number, (after, macs) = walk.writer, walk.trail
        skipped = await skip_rows(conn, number, after, macs[0] if macs else None, self._span)
        window = skipped.rows
        if window.last - after != window.rows:
            last = window.last if window.first_within is None else window.first_within
            for gap in await journal_chain_rows.list_gaps(conn, number, after=after, last=last, limit=MAX_FINDINGS):
                walk.report_missing(*gap, judged=gap[1] + 1 != window.first_within)
        if skipped.more or skipped.seq != after or not macs:
            walk.trail = ChainTrail.after(skipped.seq, skipped.mac)
        return skipped.more

    def _end(self, walk: ChainWalk, ends: ChainEnds) -> None:
        self.findings += [finding for finding in ends.findings if finding.kind == "head_forged"]
        if ends.head is None:
            return
        last = self._scope.last
        if last is None or last >= ends.head.seq:
            walk.end(ends.head)
        elif walk.trail.seq < last:
            walk.report_missing(walk.trail.seq + 1, last)

    async def _next(self, conn: AsyncConnection, number: int) -> Position | None:
        if self._scope.writer is not None:
            return None
        following = await journal_chain_rows.find_next_writer(conn, number)
        await self._find_stray_rows(conn, number, following)
        return self._at(following)

    async def _find_stray_rows(self, conn: AsyncConnection, after: float | None, until: int | None) -> None:
        """Report rows whose writer does not exist, between two writers that do."""
        while after != math.inf and len(self.findings) < MAX_FINDINGS:
            named = await journal_chain_rows.find_next_named_writer(conn, after)
            if named is None or (until is not None and named >= until):
                return
            some = await journal_chain_rows.sample_rows_naming(conn, after, named)
            who = f"writer {named}" if math.isfinite(named) else "a writer without a number"
            message = (
                f"{format_row_count(some.rows)} of {who}, which there is not: execution "
                f"{some.id}{_format_others(some.rows)}"
            )
            number = named if type(named) is int else None
            self.findings.append(TamperFinding("writer_unknown", message, number, execution_id=some.id))
            after = named

    async def _report_unchained(self, conn: AsyncConnection, notes: list[str]) -> None:
        count = await journal_chain_rows.count_unchained_rows(conn)
        if not count:
            return
        notes.append(f"{format_row_count(count)} from before there was a chain, not judged")
        writer = await journal_chain_rows.find_next_named_writer(conn, None)
        first = (
            await journal_chain_rows.list_readable_rows(conn, writer, after=0, limit=1)
            if isinstance(writer, int)
            else []
        )
        began = _read_moment(first[0].row[FINISHED_AT_INDEX]) if first and first[0].row else None
        late = await journal_chain_rows.count_unchained_rows(conn, since=began) if began is not None else 0
        if late:
            message = (
                f"{format_row_count(late)} in no chain, and later than the beginning of the first "
                "one: put there, or written"
                " by an older version of the board"
            )
            self.findings.append(TamperFinding("outside", message))

    async def _report_quarantined(self, conn: AsyncConnection) -> None:
        for table, count, first in await journal_chain_rows.list_quarantined(conn):
            message = (
                f"{format_row_count(count)} of {table} not written by this board, set aside: "
                f"{first}{_format_others(count)}"
            )
            self.findings.append(TamperFinding("set_aside", message, execution_id=first))

    def _walk_from(self, number: int, trail: ChainTrail) -> ChainWalk:
        return ChainWalk(self._chain, number, trail, self.findings)

    def _at(self, number: int | None, trail: ChainTrail | None = None, *, skipping: bool = False) -> Position | None:
        if number is None:
            return None
        seq, macs = (None, ()) if trail is None else trail
        return Position(writer=number, seq=seq, macs=macs, skipping=skipping, found=self._found + len(self.findings))


def _estimate_rows(writer: WriterRow) -> int:
    if type(writer.seq) is int and type(writer.pruned_seq) is int:
        return max(0, writer.seq - writer.pruned_seq)
    return 0


def _read_moment(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(f"{text}+00:00")
    except ValueError:
        return None


def _format_others(count: int) -> str:
    return " and others" if count > 1 else ""
