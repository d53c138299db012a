"""What goes when the journal is pruned."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.ids import first_id
from pegboard.store import journal_models
from pegboard.store.base_models import table_of

_executions = table_of(journal_models.Execution)
_counts = table_of(journal_models.ExecutionCount)
_intents = table_of(journal_models.Intent)
_receipts = table_of(journal_models.Receipt)
_HOURS_AT_ONCE = 24


async def remove_linked(conn: AsyncConnection, writer: int, *, after: int, last: int) -> int:
    """Take rows away from a chain; how many there were."""
    columns = _executions.c
    those = delete(_executions).where(columns.writer == writer, columns.seq > after, columns.seq <= last)
    return (await conn.execute(those)).rowcount


async def remove_unchained(conn: AsyncConnection, before: datetime, *, limit: int) -> int:
    """Take away rows in no chain that finished before a moment; how many."""
    columns = _executions.c
    query = select(columns.id).where(columns.writer.is_(None), columns.finished_at < before).limit(limit)
    ids: Sequence[str] = (await conn.execute(query)).scalars().all()
    return (await conn.execute(delete(_executions).where(columns.id.in_(ids)))).rowcount if ids else 0


async def remove_counts(conn: AsyncConnection, before: datetime) -> bool:
    """Take away the statistics of some hours that were over at a moment; whether there were any."""
    end = int(before.timestamp() // 3600)
    first: int | None = (await conn.execute(select(func.min(_counts.c.hour)).where(_counts.c.hour < end))).scalar_one()
    if first is None:
        return False
    await conn.execute(delete(_counts).where(_counts.c.hour < min(end, first + _HOURS_AT_ONCE)))
    return True


async def remove_doubts(conn: AsyncConnection, before: datetime, now: datetime) -> int:
    """Take away calls in doubt from before a moment, unless their key may still be used; how many."""
    columns = _intents.c
    those = delete(_intents).where(columns.state == "in_doubt", columns.id < first_id(before))
    those = those.where(columns.set_aside_at.is_(None))
    those = those.where(or_(columns.expires_at.is_(None), columns.expires_at <= now))
    return (await conn.execute(those)).rowcount


async def set_aside(conn: AsyncConnection) -> list[tuple[str, int, str]]:
    """The tables with entries that were set aside, how many each has, and the first one's run id."""
    found = []
    for table in (_intents, _receipts):
        where = table.c.set_aside_at.is_not(None)
        first = (await conn.execute(select(table.c.id).where(where).order_by(table.c.id).limit(1))).scalar()
        if first is not None:
            count = (await conn.execute(select(func.count()).select_from(table).where(where))).scalar_one()
            found.append((table.name, count, str(first)))
    return found


async def remove_set_aside(conn: AsyncConnection, before: datetime) -> None:
    """Take away entries that were set aside before a moment."""
    for table in (_intents, _receipts):
        await conn.execute(delete(table).where(table.c.set_aside_at < before))
