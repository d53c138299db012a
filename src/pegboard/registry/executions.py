"""The journal as callers may read it: their own calls, or everybody's for an admin."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.call import Caller, Execution
from pegboard.core.refusals import NotFound
from pegboard.registry.pages import Page, an_id, cut, read_cursor
from pegboard.registry.registry import refuse_agents
from pegboard.registry.snapshot import Snapshot
from pegboard.store import executions, tools
from pegboard.store.database import Database
from pegboard.store.executions import ExecutionFilter
from pegboard.store.types import is_uuid


class Executions:
    """Reads rows of the journal for a caller."""

    def __init__(self, database: Database, snapshot: Snapshot) -> None:
        self._database = database
        self._snapshot = snapshot

    async def page(self, wanted: ExecutionFilter, caller: Caller, *, cursor: str | None, limit: int) -> Page[Execution]:
        """Some rows, newest first."""
        refuse_agents(caller)
        wanted = _visible(wanted, caller)
        place = read_cursor(cursor, an_id)
        before = place[0] if place else None
        found: list[Execution] = []
        async with self._database.read() as conn:
            for one in await self._by_name(conn, wanted):
                found += await executions.page(conn, one, before=before, limit=limit + 1)
        found = sorted(found, key=lambda execution: execution.id, reverse=True)[: limit + 1]
        return cut(found, limit, [found[min(limit, len(found)) - 1].id] if found else None)

    async def _by_name(self, conn: AsyncConnection, wanted: ExecutionFilter) -> list[ExecutionFilter]:
        """The filter with a tool's name as rows have it; for an id, one filter for each name the tool ever had."""
        if wanted.tool is None:
            return [wanted]
        if not is_uuid(wanted.tool):
            # Names are found in any case, and by alias.
            hanging = self._snapshot.find(wanted.tool)
            return [replace(wanted, tool=hanging.tool.name if hanging is not None else wanted.tool)]
        tool_id = wanted.tool.lower()
        names = set(await tools.names_of(conn, tool_id))
        names.update(tool.name for tool in self._snapshot.local() if tool.id == tool_id)
        return [replace(wanted, tool=name, tool_id=tool_id) for name in sorted(names)]

    async def get(self, execution_id: str, caller: Caller) -> Execution:
        """One row."""
        refuse_agents(caller)
        async with self._database.read() as conn:
            found = await executions.get(conn, execution_id)
        if found is None or not (caller.is_admin or found.caller_id == caller.user_id):
            raise NotFound(f"Execution '{execution_id}' not found")
        return found


def _visible(wanted: ExecutionFilter, caller: Caller) -> ExecutionFilter:
    return wanted if caller.is_admin else replace(wanted, caller_id=caller.user_id)
