"""Rows of requested cancellations, which every process on the database polls."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.model.ids import new_id
from pegboard.storage import board_tables
from pegboard.storage.board_tables import get_table

_cancellations = get_table(board_tables.Cancellation)
# The process that runs the call sees the request within a second, or not at all.
_RECENT_PERIOD = timedelta(seconds=30)


class CancellationRequest(NamedTuple):
    """A request to cancel a call, and whose calls it may cancel: None for any."""

    id: str
    run_id: str
    why: str
    user_id: str | None
    agent_id: str | None


_COLUMNS = tuple(_cancellations.c[name] for name in CancellationRequest._fields)


async def add_cancellation(
    conn: AsyncConnection, run_id: str, why: str, user_id: str | None, agent_id: str | None
) -> str:
    """Insert a request to cancel a call and return its id; also delete old requests that no process handled."""
    now = datetime.now(UTC)
    await conn.execute(delete(_cancellations).where(_cancellations.c.asked_at < now - _RECENT_PERIOD))
    request = CancellationRequest(new_id(), run_id, why, user_id, agent_id)
    await conn.execute(insert(_cancellations).values(**request._asdict(), asked_at=now))
    return request.id


async def list_recent_cancellations(conn: AsyncConnection) -> list[CancellationRequest]:
    """Return the recent requests that are not handled yet."""
    query = select(*_COLUMNS).where(_cancellations.c.asked_at >= datetime.now(UTC) - _RECENT_PERIOD)
    return [CancellationRequest(*row) for row in await conn.execute(query)]


async def is_cancellation_open(conn: AsyncConnection, cancellation_id: str) -> bool:
    """True if no process has handled the request yet."""
    query = select(_cancellations.c.id).where(_cancellations.c.id == cancellation_id)
    return (await conn.execute(query)).first() is not None


async def remove_cancellation(conn: AsyncConnection, cancellation_id: str) -> None:
    """Delete a request that was handled or given up."""
    await conn.execute(delete(_cancellations).where(_cancellations.c.id == cancellation_id))
