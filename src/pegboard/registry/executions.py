"""The journal as callers may read it: their own calls, or everybody's for an admin."""

from __future__ import annotations

from dataclasses import replace

from pegboard.core.call import Caller, Execution
from pegboard.core.refusals import NotFound
from pegboard.registry.pages import Page, an_id, cut, read_cursor
from pegboard.registry.registry import refuse_agents
from pegboard.registry.snapshot import Snapshot
from pegboard.store import executions
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
        named = self._snapshot.find(wanted.tool) if wanted.tool is not None else None
        if named is not None and not is_uuid(wanted.tool or ""):
            wanted = replace(wanted, tool=named.tool.name)  # names are found in any case, and by alias
        place = read_cursor(cursor, an_id)
        async with self._database.read() as conn:
            found = await executions.page(
                conn, _visible(wanted, caller), before=place[0] if place else None, limit=limit + 1
            )
        return cut(found, limit, [found[min(limit, len(found)) - 1].id] if found else None)

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
