"""Calls that somebody wants ended, as rows that every process on the database looks at."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.ids import new_id
from pegboard.store import memory_models
from pegboard.store.base_models import table_of

_cancellations = table_of(memory_models.Cancellation)
# Whoever runs the call hears of it within a second, or not at all.
_LATELY = timedelta(seconds=30)


class Cancellation(NamedTuple):
    """A wish to end a call, and whose calls it may end: None for anybody's."""

    id: str
    run_id: str
    why: str
    user_id: str | None
    agent_id: str | None


_COLUMNS = tuple(_cancellations.c[name] for name in Cancellation._fields)


async def add(conn: AsyncConnection, run_id: str, why: str, user_id: str | None, agent_id: str | None) -> str:
    """Ask for a call to be ended; the id of the wish. Those that nobody took up are removed in passing."""
    now = datetime.now(UTC)
    await conn.execute(delete(_cancellations).where(_cancellations.c.asked_at < now - _LATELY))
    wish = Cancellation(new_id(), run_id, why, user_id, agent_id)
    await conn.execute(insert(_cancellations).values(**wish._asdict(), asked_at=now))
    return wish.id


async def lately(conn: AsyncConnection) -> list[Cancellation]:
    """What was asked for a moment ago, and is not done yet."""
    query = select(*_COLUMNS).where(_cancellations.c.asked_at >= datetime.now(UTC) - _LATELY)
    return [Cancellation(*row) for row in await conn.execute(query)]


async def is_open(conn: AsyncConnection, cancellation_id: str) -> bool:
    """Whether nobody has done it yet."""
    query = select(_cancellations.c.id).where(_cancellations.c.id == cancellation_id)
    return (await conn.execute(query)).first() is not None


async def remove(conn: AsyncConnection, cancellation_id: str) -> None:
    """It is done, or given up."""
    await conn.execute(delete(_cancellations).where(_cancellations.c.id == cancellation_id))
