"""Rows of agents."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy import Row, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.model.accounts import Agent
from pegboard.model.json_text import is_uuid
from pegboard.storage import board_tables
from pegboard.storage.board_tables import get_table
from pegboard.storage.column_types import has_id, is_not_deleted, lower_ascii

_agents = get_table(board_tables.Agent)
_AGENT_COLUMNS = tuple(_agents.c[name] for name in Agent.__dataclass_fields__)


async def add_agent(conn: AsyncConnection, agent: Agent, *, revision: int) -> None:
    """Insert a new agent."""
    await conn.execute(insert(_agents).values(**_build_agent_row(agent), revision=revision))


async def save_agent(conn: AsyncConnection, agent: Agent, *, revision: int) -> None:
    """Update an agent; raise LookupError if there is no such agent."""
    done = await conn.execute(
        update(_agents).where(_agents.c.id == agent.id).values(**_build_agent_row(agent), revision=revision)
    )
    if done.rowcount == 0:
        raise LookupError(f"no agent has the id {agent.id}")


async def get_agent(conn: AsyncConnection, agent_id: str) -> Agent | None:
    """Return the agent with this id, deleted or not."""
    if not is_uuid(agent_id):
        return None
    row = (await conn.execute(select(*_AGENT_COLUMNS).where(_agents.c.id == agent_id))).first()
    return _read_agent(row) if row else None


async def find_agent_by_name(conn: AsyncConnection, owner_id: str, name: str) -> Agent | None:
    """Return the owner's agent of this name, ignoring case, unless deleted."""
    if not is_uuid(owner_id):
        return None
    same_name = func.lower(_agents.c.name) == lower_ascii(name)
    query = select(*_AGENT_COLUMNS).where(
        _agents.c.owner_id == owner_id, same_name, is_not_deleted(_agents.c.is_deleted)
    )
    row = (await conn.execute(query)).first()
    return _read_agent(row) if row else None


async def list_agents(
    conn: AsyncConnection, owner_id: str | None = None, *, after: str | None = None, limit: int
) -> list[Agent]:
    """Return agents that are not deleted, of one owner or all, oldest first; `after` is the last id seen."""
    query = select(*_AGENT_COLUMNS).where(is_not_deleted(_agents.c.is_deleted))
    if owner_id is not None:
        query = query.where(has_id(_agents.c.owner_id, owner_id))
    if after is not None:
        query = query.where(_agents.c.id > after)
    return [_read_agent(row) for row in await conn.execute(query.order_by(_agents.c.id).limit(limit))]


async def list_changed_agents(conn: AsyncConnection, since: int) -> list[Agent]:
    """Return every agent that changed after a revision, including deleted ones."""
    return [_read_agent(row) for row in await conn.execute(select(*_AGENT_COLUMNS).where(_agents.c.revision > since))]


def _build_agent_row(agent: Agent) -> dict[str, Any]:
    return {**asdict(agent), "tools": list(agent.tools)}


def _read_agent(row: Row[Any]) -> Agent:
    return Agent(**{**row._mapping, "tools": tuple(row.tools)})
