"""Checking the journal against its chain, a bounded piece at a time, while it is being written."""

from __future__ import annotations

import math
import time
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.model import Model
from pegboard.journal.chain import Chain
from pegboard.journal.findings import MAX_FINDINGS, Finding, Trail, Walk, some_rows
from pegboard.journal.reading import FINISHED_AT, WINDOW, Span, rows_of
from pegboard.journal.signatures import Ends, count_findings, ends_of, merged, missing_writers
from pegboard.store import links, retention, writers
from pegboard.store.database import Database
from pegboard.store.writers import Writer

ROWS_A_TURN = 20_000
_SECONDS_A_TURN = 1.0
# Rows in one read transaction: a database in memory is not written meanwhile.
_ROWS_A_READ = 2000


class Scope(Model):
    """What of the journal is checked: one writer's rows between two numbers, or what finished in a span of time."""

    writer: int | None = None
    first: int | None = None
    last: int | None = None
    since: datetime | None = None
    until: datetime | None = None


class Position(Model):
    """How far a verification has come; `seq` is None where a writer's rows have not been looked at."""

    writer: int = Field(ge=0, le=2**31 - 1)
    seq: int | None = Field(None, ge=0, le=2**63 - 1)
    macs: tuple[str, ...] = Field((), max_length=3)
    skipping: bool = False
    found: int = Field(0, ge=0)


@dataclass(frozen=True, slots=True)
class Report:
    """What a verification found so far, and where it goes on; `total` is about how many rows there are in all."""

    checked: int
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    next: Any = None
    total: int | None = None


class Verifier:
    """Walks every chain in the database."""

    def __init__(self, database: Database, chain: Chain) -> None:
        self._database = database
        self._chain = chain

    async def verify(self, scope: Scope, position: Position | None, limit: int) -> Report:
        """Check about `limit` rows from a position on."""
        turn = _Turn(self._chain, scope, found=0 if position is None else position.found)
        notes: list[str] = []
        total = None
        if position is None:
            async with self._database.read() as conn:
                position, total = await turn.begin(conn, notes)
        until = time.monotonic() + _SECONDS_A_TURN
        while position is not None and position.found < MAX_FINDINGS:
            if turn.checked >= limit or time.monotonic() > until:
                break
            async with self._database.read() as conn:
                position = await turn.step(conn, position, min(_ROWS_A_READ, limit - turn.checked))
        if position is not None and position.found >= MAX_FINDINGS:
            notes.append(f"Stopped after {MAX_FINDINGS} findings; there may be more")
            position = None
        return Report(turn.checked, tuple(turn.findings[: turn.room]), tuple(notes), position, total)


class _Turn:
    """One request's part of a verification."""

    def __init__(self, chain: Chain, scope: Scope, *, found: int) -> None:
        self._chain = chain
        self._found = found
        self.room = MAX_FINDINGS - found
        self._scope = scope
        self._span = Span(scope.since, scope.until)
        self.checked = 0
        self.findings: list[Finding] = []

    async def begin(self, conn: AsyncConnection, notes: list[str]) -> tuple[Position | None, int | None]:
        """Judge the writers as a whole; where to begin, and how many rows there are."""
        known = await writers.all_of(conn)
        if self._scope.writer is not None:
            known = [writer for writer in known if writer.number == self._scope.writer]
            if not known:
                self.findings.append(missing_writers(self._scope.writer, self._scope.writer))
        else:
            there = merged((writer.number, writer.number) for writer in known)
            self.findings += count_findings(self._chain, *await writers.count(conn), there)
            known = [writer for writer in known if writer.number > 0]
            await self._strays(conn, None, known[0].number if known else None)
            await self._unchained(conn, notes)
            await self._set_aside(conn)
        pruned = sum(ends_of(self._chain, writer).pruned.seq for writer in known)
        if pruned:
            notes.append(f"{some_rows(pruned)} pruned")
        ranged = self._span.is_bounded or self._scope.first is not None or self._scope.last is not None
        total = None if ranged else sum(_length(writer) for writer in known)
        return self._at(known[0].number if known else None), total

    async def step(self, conn: AsyncConnection, position: Position, room: int) -> Position | None:
        """Check some more rows of one writer."""
        number = position.writer
        writer = await writers.get(conn, number)
        if writer is None:
            self.findings.append(missing_writers(number, number))
            return await self._next(conn, number)
        ends = ends_of(self._chain, writer)
        if position.seq is None:
            walk = self._walk_from(number, await self._enter(conn, number, ends))
            skipping = self._span.is_bounded
        else:
            walk = self._walk_from(number, Trail(position.seq, position.macs))
            skipping = position.skipping
        if ends.pruned.seq > walk.trail.seq:  # somebody is pruning
            walk.trail = Trail.at(ends.pruned)
        more = await (self._skip(conn, walk) if skipping else self._walk(conn, walk, room))
        if more is not None:
            return self._at(number, walk.trail, skipping=more)
        self._end(walk, ends)
        return await self._next(conn, number)

    async def _enter(self, conn: AsyncConnection, number: int, ends: Ends) -> Trail:
        self.findings += [finding for finding in ends.findings if finding.kind == "marker_forged"]
        lost = await links.misplaced(conn, number, ends.pruned.seq)
        if lost.rows:
            message = (
                f"{some_rows(lost.rows)} of writer {number} outside of its chain, which begins after row"
                f" {ends.pruned.seq}: execution {lost.id}{_and_others(lost.rows)}"
            )
            self.findings.append(Finding("misplaced", message, number, execution_id=lost.id))
        first = self._scope.first
        if first is None or first <= ends.pruned.seq + 1:
            return Trail.at(ends.pruned)
        before = await links.mac_at(conn, number, first - 1)
        if before is not None:
            return Trail(first - 1, (before,))
        return Trail(max(ends.pruned.seq, await links.last_before(conn, number, first)), ())

    async def _walk(self, conn: AsyncConnection, walk: Walk, room: int) -> bool | None:
        """Judge rows; whether to skip from here, or None where there are no more."""
        began, taken, passed = walk.trail.seq, 0, 0
        last = self._scope.last
        outcome: bool | None
        async with aclosing(rows_of(conn, walk.writer, began, last=last, limit=room)) as rows:
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
        there = await links.count_between(conn, walk.writer, began, walk.trail.seq)
        if there > taken:
            message = (
                f"{some_rows(there - taken)} of writer {walk.writer} with the number of another, among rows"
                f" {began + 1} to {walk.trail.seq}"
            )
            self.findings.append(Finding("misplaced", message, walk.writer, began + 1, walk.trail.seq))
        return outcome

    async def _skip(self, conn: AsyncConnection, walk: Walk) -> bool | None:
        """Pass over rows outside the span of time; only that none is missing is checked of them."""
        number, after = walk.writer, walk.trail.seq
        seen = await links.window(
            conn, number, after=after, limit=WINDOW, since=self._span.since, until=self._span.until
        )
        if not seen.rows:
            return None
        first = seen.first_within
        last = seen.last if first is None else first
        if seen.last - after != seen.rows:
            for gap in await links.gaps(conn, number, after=after, last=last, limit=MAX_FINDINGS):
                walk.miss(*gap, judged=gap[1] + 1 != first)
        if first is None:
            walk.trail = Trail(last, ())
            return True
        if first == after + 1 and walk.trail.macs:
            return False
        before = await links.mac_at(conn, number, first - 1)
        walk.trail = Trail(first - 1, () if before is None else (before,))
        return False

    def _end(self, walk: Walk, ends: Ends) -> None:
        self.findings += [finding for finding in ends.findings if finding.kind == "head_forged"]
        if ends.head is None:
            return
        last = self._scope.last
        if last is None or last >= ends.head.seq:
            walk.end(ends.head)
        elif walk.trail.seq < last:
            walk.miss(walk.trail.seq + 1, last)

    async def _next(self, conn: AsyncConnection, number: int) -> Position | None:
        if self._scope.writer is not None:
            return None
        following = await writers.following(conn, number)
        await self._strays(conn, number, following)
        return self._at(following)

    async def _strays(self, conn: AsyncConnection, after: float | None, until: int | None) -> None:
        """Find rows of writers that there are not, between two that there are."""
        while after != math.inf and len(self.findings) < MAX_FINDINGS:
            named = await links.next_writer(conn, after)
            if named is None or (until is not None and named >= until):
                return
            some = await links.rows_naming(conn, after, named)
            who = f"writer {named}" if math.isfinite(named) else "a writer without a number"
            message = (
                f"{some_rows(some.rows)} of {who}, which there is not: execution {some.id}{_and_others(some.rows)}"
            )
            number = named if type(named) is int else None
            self.findings.append(Finding("writer_unknown", message, number, execution_id=some.id))
            after = named

    async def _unchained(self, conn: AsyncConnection, notes: list[str]) -> None:
        count = await links.unchained(conn)
        if not count:
            return
        notes.append(f"{some_rows(count)} from before there was a chain, not judged")
        writer = await links.next_writer(conn, None)
        first = await links.readable(conn, writer, after=0, limit=1) if isinstance(writer, int) else []
        began = _moment(first[0].row[FINISHED_AT]) if first and first[0].row else None
        late = await links.unchained(conn, since=began) if began is not None else 0
        if late:
            message = (
                f"{some_rows(late)} in no chain, and later than the beginning of the first one: put there, or written"
                " by an older version of the board"
            )
            self.findings.append(Finding("outside", message))

    async def _set_aside(self, conn: AsyncConnection) -> None:
        for table, count, first in await retention.set_aside(conn):
            message = f"{some_rows(count)} of {table} not written by this board, set aside: {first}{_and_others(count)}"
            self.findings.append(Finding("set_aside", message, execution_id=first))

    def _walk_from(self, number: int, trail: Trail) -> Walk:
        return Walk(self._chain, number, trail, self.findings)

    def _at(self, number: int | None, trail: Trail | None = None, *, skipping: bool = False) -> Position | None:
        if number is None:
            return None
        seq, macs = (None, ()) if trail is None else trail
        return Position(writer=number, seq=seq, macs=macs, skipping=skipping, found=self._found + len(self.findings))


def _length(writer: Writer) -> int:
    if type(writer.seq) is int and type(writer.pruned_seq) is int:
        return max(0, writer.seq - writer.pruned_seq)
    return 0


def _moment(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(f"{text}+00:00")
    except ValueError:
        return None


def _and_others(count: int) -> str:
    return " and others" if count > 1 else ""
