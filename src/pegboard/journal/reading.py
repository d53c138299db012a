"""Reading a chain row by row: little memory, and the event loop never held for long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.store import links
from pegboard.store.executions import FIELDS, Linked

# Rows in one query, which holds the event loop when they arrive; few at first, since each may be large.
_FIRST_CHUNK = 25
_CHUNK = 200
_CHUNK_BYTES = 2**20
_SLICE_SECONDS = 0.002
# Rows that are passed over in one query, where only a span of time is wanted.
WINDOW = 50_000
FINISHED_AT = FIELDS.index("finished_at")
_LARGE = tuple(map(FIELDS.index, ("arguments", "result", "printed")))


class Pause:
    """Lets others run whenever this task has run for some milliseconds."""

    def __init__(self) -> None:
        self._since = time.perf_counter()

    async def breathe(self) -> None:
        """Go on at once, or after everybody else had a turn."""
        if time.perf_counter() - self._since > _SLICE_SECONDS:
            await asyncio.sleep(0)
            self._since = time.perf_counter()


@dataclass(frozen=True, slots=True)
class Span:
    """The rows that finished at or after one moment and before another."""

    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_bounded(self) -> bool:
        """Whether any row can be outside of it."""
        return self.since is not None or self.until is not None

    def holds(self, row: Linked) -> bool:
        """Whether a row is in it; one whose time cannot be read is."""
        finished = row.row[FINISHED_AT] if row.row else None
        if not isinstance(finished, str):
            return True
        return (self.since is None or finished >= as_stored(self.since)) and (
            self.until is None or finished < as_stored(self.until)
        )


def as_stored(moment: datetime) -> str:
    """The moment as it stands in a row of the journal."""
    return moment.astimezone(UTC).isoformat(" ", "microseconds")[:26]


async def rows_of(
    conn: AsyncConnection, writer: int, after: int, *, last: int | None = None, limit: int
) -> AsyncGenerator[Linked, None]:
    """The next rows of a chain, up to the number `last`; those whose number is none do not count for the limit."""
    size, pause = _FIRST_CHUNK, Pause()
    while limit > 0:
        rows = await links.readable(conn, writer, after=after, limit=min(size, limit))
        for row in rows:
            if last is not None and type(row.seq) is int and row.seq > last:
                return
            yield row
            await pause.breathe()
        if not rows or rows[-1].seq is None:
            return
        after = rows[-1].seq
        # Nobody can go on from a row without a whole number, so a reading never ends with one.
        limit -= sum(type(row.seq) is int for row in rows)
        size = _CHUNK if sum(map(_weight, rows)) < _CHUNK_BYTES else _FIRST_CHUNK


def _weight(row: Linked) -> int:
    return sum(len(row.row[place] or "") for place in _LARGE) if row.row else 0
