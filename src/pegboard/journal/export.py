"""The journal as JSON Lines, a page at a time, while it is being written."""

from __future__ import annotations

import time
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.model import Model
from pegboard.journal.chain import Chain, Place
from pegboard.journal.lines import Line, Shown, end_line, head_line, header, row_line, writer_line, written
from pegboard.journal.reading import WINDOW, Span, rows_of
from pegboard.journal.signatures import ends_of
from pegboard.store import links, writers
from pegboard.store.database import Database
from pegboard.store.executions import Linked
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

ROWS_A_PAGE = 1000
_OLD_ROWS = 100
_BYTES_A_PAGE = 2**20
_SECONDS_A_PAGE = 1.0
_ID = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"


class ExportPosition(Model):
    """How far an export has come: among the rows from before the chain, then in each writer's chain."""

    old: str | None = Field(None, pattern=_ID)
    last_old: str | None = Field(None, pattern=_ID)
    writer: int | None = Field(None, ge=0, le=2**31 - 1)
    seq: int | None = Field(None, ge=0, le=2**63 - 1)
    mac: str | None = None
    skipping: bool = False


@dataclass(slots=True)
class ExportPage:
    """Some lines, and where the next ones begin."""

    room: int
    lines: list[str] = field(default_factory=list)
    next: ExportPosition | None = None
    bytes: int = 0

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another row."""
        return self.room <= 0 or self.bytes >= _BYTES_A_PAGE

    def add(self, line: Line) -> None:
        """Put a line at the end."""
        self.lines.append(written(line))
        self.bytes += len(self.lines[-1])

    def add_row(self, shown: Shown) -> None:
        """Put a row at the end."""
        self.add(row_line(shown))
        self.room -= 1


class Exporter:
    """Writes out every chain in the database."""

    def __init__(self, database: Database, chain: Chain) -> None:
        self._database = database
        self._chain = chain

    async def page(self, span: Span, position: ExportPosition | None, limit: int) -> ExportPage:
        """The next lines from a position on, with at most `limit` rows among them."""
        page = ExportPage(limit)
        until = time.monotonic() + _SECONDS_A_PAGE
        if position is None:
            page.add(header(self._chain, datetime.now(UTC), span.since, span.until))
            async with self._database.read() as conn:
                last = await links.last_unchained(conn)
                position = ExportPosition(last_old=last) if last else await _following(conn, 0, page)
        while position is not None and not page.is_full and time.monotonic() < until:
            # One state of the database for a writer's last rows and its head.
            async with self._database.read() as conn:
                if position.writer is None:
                    position = await _old_rows(conn, position, span, page)
                else:
                    position = await self._step(conn, position.writer, position, _Part(span, page))
        page.next = position
        return page

    async def _step(
        self, conn: AsyncConnection, number: int, position: ExportPosition, part: _Part
    ) -> ExportPosition | None:
        writer = await writers.get(conn, number)
        if writer is None:  # whoever verifies the export is told
            return await _following(conn, number, part.page)
        pruned = ends_of(self._chain, writer).pruned
        place, skipping = (position.seq, position.mac), position.skipping
        if position.seq is None or pruned.seq > position.seq:
            marker = Place(writer.pruned_seq, writer.pruned_mac)
            part.page.add(writer_line(number, marker, writer.pruned_signature))
            place, skipping = pruned, part.span.is_bounded
        part.seq, part.mac = place[0] or 0, place[1]
        more = await (part.skip(conn, number) if skipping else part.copy(conn, number))
        if more is not None:
            return ExportPosition(writer=number, seq=part.seq, mac=part.mac, skipping=more)
        part.page.add(head_line(number, Place(writer.seq, writer.mac), writer.signature))
        return await _following(conn, number, part.page)


@dataclass(slots=True)
class _Part:
    """A part of one writer's chain on its way to a page; `seq` and `mac` are of the last row that was passed."""

    span: Span
    page: ExportPage
    seq: int = 0
    mac: str | None = None

    async def copy(self, conn: AsyncConnection, number: int) -> bool | None:
        """Put rows on the page; whether to skip from here, or None where there are no more."""
        room, taken = self.page.room, 0
        async with aclosing(rows_of(conn, number, self.seq, limit=room)) as rows:
            async for row in rows:
                if self.page.is_full:
                    return False
                if self.span.is_bounded and not self.span.holds(row):
                    return True
                if type(row.seq) is not int:
                    log.error("row_unreadable", writer=number, seq=row.seq)
                    continue
                taken += 1
                if not row.row:
                    log.error("row_unreadable", writer=number, seq=row.seq)
                    self.seq, self.mac = row.seq, row.mac or None
                    continue
                if row.seq != self.seq + 1:
                    self.mac = await links.mac_at(conn, number, row.seq - 1)
                self.page.add_row(Shown(number, row.seq, row.mac, self.mac, row.row))
                self.seq, self.mac = row.seq, row.mac
        # Rows that cannot be shown take no room on the page, and there may be more after them.
        return False if taken == room or self.page.is_full else None

    async def skip(self, conn: AsyncConnection, number: int) -> bool | None:
        """Pass over rows outside the span of time; whether to go on with that, or None where there are no more."""
        since, until = self.span.since, self.span.until
        seen = await links.window(conn, number, after=self.seq, limit=WINDOW, since=since, until=until)
        if not seen.rows:
            return None
        if seen.first_within is None:
            self.seq, self.mac = seen.last, None
            return True
        if seen.first_within != self.seq + 1 or self.mac is None:
            self.seq = seen.first_within - 1
            self.mac = await links.mac_at(conn, number, self.seq)
        return False


async def _old_rows(
    conn: AsyncConnection, position: ExportPosition, span: Span, page: ExportPage
) -> ExportPosition | None:
    """Put rows from before the chain on the page."""
    last = position.last_old or ""
    rows = await links.unchained_page(conn, after=position.old, last=last, limit=min(_OLD_ROWS, page.room))
    for row in rows:
        if span.holds(Linked(0, 0, "", row)):
            page.add_row(Shown(None, None, None, None, row))
    if rows:
        return ExportPosition(old=rows[-1][0], last_old=last)
    return await _following(conn, 0, page)


async def _following(conn: AsyncConnection, number: int, page: ExportPage) -> ExportPosition | None:
    """The beginning of the next writer's chain; where there is none, the last line."""
    following = await writers.following(conn, number)
    if following is not None:
        return ExportPosition(writer=following)
    page.add(end_line(*await writers.count(conn)))
    return None
