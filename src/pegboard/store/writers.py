"""The writers of the journal, as rows: how far each one's chain goes, and from where on its rows are still there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.store import journal_models, models
from pegboard.store.base_models import table_of

_writers = table_of(journal_models.Writer)
_board = table_of(models.BoardState)


@dataclass(frozen=True, slots=True)
class Writer:
    """A writer, as far as signatures speak for it; whoever can write to the database can write anything here."""

    number: int
    seq: int
    mac: str
    signature: str
    pruned_seq: int
    pruned_mac: str
    pruned_signature: str


_COLUMNS = tuple(_writers.c[name] for name in Writer.__dataclass_fields__)


async def all_of(conn: AsyncConnection) -> list[Writer]:
    """Every writer there is, by number."""
    return [_writer(row) for row in await conn.execute(select(*_COLUMNS).order_by(_writers.c.number))]


async def get(conn: AsyncConnection, number: int) -> Writer | None:
    """The writer with this number."""
    row = (await conn.execute(select(*_COLUMNS).where(_writers.c.number == number))).first()
    return _writer(row) if row else None


async def following(conn: AsyncConnection, number: int) -> int | None:
    """The number of the next writer there is."""
    query = select(_writers.c.number).where(_writers.c.number > number).order_by(_writers.c.number).limit(1)
    found: int | None = (await conn.execute(query)).scalar()
    return found


async def count(conn: AsyncConnection) -> tuple[int, str]:
    """How many writers there have been, and the signature of that."""
    columns = (_board.c.writers, _board.c.writers_signature)
    row = (await conn.execute(select(*columns).where(_board.c.id == 1))).one()
    return row[0], row[1]


async def mark_pruned(
    conn: AsyncConnection, number: int, place: tuple[int, str], signature: str, *, was: int | None = None
) -> bool:
    """Move a writer's prune marker; not where it no longer is at `was`, since somebody else moved it."""
    columns = _writers.c
    step = update(_writers).where(columns.number == number)
    if was is not None:
        step = step.where(columns.pruned_seq == was)
    seq, mac = place
    done = await conn.execute(step.values(pruned_seq=seq, pruned_mac=mac, pruned_signature=signature))
    return done.rowcount == 1


def _writer(row: Row[Any]) -> Writer:
    return Writer(**row._mapping)
