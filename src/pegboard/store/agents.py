"""Agents, as rows."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy import Row, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.people import Agent
from pegboard.store import models
from pegboard.store.base_models import table_of
from pegboard.store.types import has_id, is_not_deleted, is_uuid, lowered

_agents = table_of(models.Agent)
_COLUMNS = tuple(_agents.c[name] for name in Agent.__dataclass_fields__)


async def add(conn: AsyncConnection, agent: Agent, *, revision: int) -> None:
    """Keep a new agent."""
    await conn.execute(insert(_agents).values(**_row(agent), revision=revision))


async def save(conn: AsyncConnection, agent: Agent, *, revision: int) -> None:
    """Keep an agent as it is now; LookupError if there is no such agent."""
    done = await conn.execute(update(_agents).where(_agents.c.id == agent.id).values(**_row(agent), revision=revision))
    if done.rowcount == 0:
        raise LookupError(f"no agent has the id {agent.id}")


async def get(conn: AsyncConnection, agent_id: str) -> Agent | None:
    """The agent with this id, deleted or not."""
    if not is_uuid(agent_id):
        return None
    row = (await conn.execute(select(*_COLUMNS).where(_agents.c.id == agent_id))).first()
    return _agent(row) if row else None


async def named(conn: AsyncConnection, owner_id: str, name: str) -> Agent | None:
    """The agent of this name, in whatever case, among an owner's not deleted."""
    if not is_uuid(owner_id):
        return None
    same_name = func.lower(_agents.c.name) == lowered(name)
    query = select(*_COLUMNS).where(_agents.c.owner_id == owner_id, same_name, is_not_deleted(_agents.c.is_deleted))
    row = (await conn.execute(query)).first()
    return _agent(row) if row else None


async def page(
    conn: AsyncConnection, owner_id: str | None = None, *, after: str | None = None, limit: int
) -> list[Agent]:
    """Agents not deleted, of one owner or all, oldest first; `after` is the id of the last one seen."""
    query = select(*_COLUMNS).where(is_not_deleted(_agents.c.is_deleted))
    if owner_id is not None:
        query = query.where(has_id(_agents.c.owner_id, owner_id))
    if after is not None:
        query = query.where(_agents.c.id > after)
    return [_agent(row) for row in await conn.execute(query.order_by(_agents.c.id).limit(limit))]


async def changed(conn: AsyncConnection, since: int) -> list[Agent]:
    """Every agent that changed after a revision, deleted ones included."""
    return [_agent(row) for row in await conn.execute(select(*_COLUMNS).where(_agents.c.revision > since))]


def _row(agent: Agent) -> dict[str, Any]:
    return {**asdict(agent), "tools": list(agent.tools)}


def _agent(row: Row[Any]) -> Agent:
    return Agent(**{**row._mapping, "tools": tuple(row.tools)})
