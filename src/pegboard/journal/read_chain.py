"""Reads a hash chain row by row with little memory, and without blocking the event loop for long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.model.journal_row import FIELDS, format_moment, get_large_values
from pegboard.storage import journal_chain_rows
from pegboard.storage.execution_rows import ChainRow
from pegboard.storage.journal_chain_rows import ChainWindow

# Rows in one query, which blocks the event loop when they arrive; few at first, since each may be large.
_FIRST_CHUNK_ROWS = 25
_CHUNK_ROWS = 200
_CHUNK_BYTES = 2**20
_SLICE_SECONDS = 0.002
# Rows that are skipped with one query if only a time span is requested.
WINDOW_ROWS = 50_000
FINISHED_AT_INDEX = FIELDS.index("finished_at")


class CooperativePause:
    """Lets other tasks run whenever this task has run for 2 ms."""

    def __init__(self) -> None:
        self._since = time.perf_counter()

    async def yield_if_due(self) -> None:
        """Yield to the event loop if the time slice is used up."""
        if time.perf_counter() - self._since > _SLICE_SECONDS:
            await asyncio.sleep(0)
            self._since = time.perf_counter()


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """The rows that finished at or after `since` and before `until`."""

    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_bounded(self) -> bool:
        """True if any row can be outside of it."""
        return self.since is not None or self.until is not None

    def holds(self, row: ChainRow) -> bool:
        """True if the row is in the time span, or if its time cannot be parsed."""
        finished = row.row[FINISHED_AT_INDEX] if row.row else None
        if not isinstance(finished, str):
            return True
        return (self.since is None or finished >= format_moment(self.since)) and (
            self.until is None or finished < format_moment(self.until)
        )


async def iterate_rows(
    conn: AsyncConnection, writer: int, after: int, *, last: int | None = None, limit: int
) -> AsyncGenerator[ChainRow, None]:
    """Yield the next rows of a chain up to number `last`; rows without an integer number do not use up `limit`."""
    size, pause = _FIRST_CHUNK_ROWS, CooperativePause()
    while limit > 0:
        rows = await journal_chain_rows.list_readable_rows(conn, writer, after=after, limit=min(size, limit))
        for row in rows:
            if last is not None and type(row.seq) is int and row.seq > last:
                return
            yield row
            await pause.yield_if_due()
        if not rows or rows[-1].seq is None:
            return
        after = rows[-1].seq
        # A read cannot continue from a row without an integer number, so such a row never ends one.
        limit -= sum(type(row.seq) is int for row in rows)
        size = _CHUNK_ROWS if sum(map(_count_large_bytes, rows)) < _CHUNK_BYTES else _FIRST_CHUNK_ROWS


class SkippedRows(NamedTuple):
    """The rows that a skip passed: how many, up to which number, and the MAC of that row if it is known.

    `more` is True if the rows that follow are to be skipped too, and None if there are none.
    """

    rows: ChainWindow
    seq: int
    mac: str | None
    more: bool | None


async def skip_rows(conn: AsyncConnection, writer: int, after: int, mac: str | None, span: TimeSpan) -> SkippedRows:
    """Skip rows of a chain outside a time span without reading them; `mac` is that of row `after` if it is known."""
    window = await journal_chain_rows.read_window(
        conn, writer, after=after, limit=WINDOW_ROWS, since=span.since, until=span.until
    )
    if not window.rows:
        return SkippedRows(window, after, mac, None)
    first = window.first_within
    if first is None:
        return SkippedRows(window, window.last, None, True)
    if first != after + 1 or mac is None:
        mac = await journal_chain_rows.read_mac(conn, writer, first - 1)
    return SkippedRows(window, first - 1, mac, False)


def _count_large_bytes(row: ChainRow) -> int:
    return sum(len(text or "") for text in get_large_values(row.row)) if row.row else 0
