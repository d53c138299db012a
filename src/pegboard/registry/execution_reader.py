"""Read access to the journal: callers read the rows of their own calls, admins all rows."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.model.accounts import refuse_agents
from pegboard.model.api_errors import NotFound
from pegboard.model.call import Caller, Execution
from pegboard.model.filters import ExecutionFilter
from pegboard.model.json_text import is_uuid
from pegboard.model.page import Page, SearchedPage, cut_page, read_id_cursor, write_cursor
from pegboard.registry.snapshot import Snapshot
from pegboard.storage import execution_rows, tool_rows
from pegboard.storage.database import Database

# How many rows one request reads for fields without an index.
MAX_SEARCHED_ROWS = 10_000


class ExecutionReader:
    """Reads rows of the journal for a caller."""

    def __init__(self, database: Database, snapshot: Snapshot) -> None:
        self._database = database
        self._snapshot = snapshot

    async def page(self, wanted: ExecutionFilter, caller: Caller, *, cursor: str | None, limit: int) -> Page[Execution]:
        """Return one page of rows that match the filter, newest first.

        If it reads as many rows as it may before it has found enough, it returns a SearchedPage, which may be empty.
        """
        refuse_agents(caller)
        if not caller.is_admin:
            wanted = replace(wanted, caller_id=caller.user_id)
        before = read_id_cursor(cursor)
        found: list[Execution] = []
        last = None
        async with self._database.read() as conn:
            filters = await self._resolve_tool_filter(conn, wanted)
            if wanted.is_search:
                rows = max(1, MAX_SEARCHED_ROWS // max(1, len(filters)))
                ends = [await execution_rows.find_last_searched(conn, one, before=before, rows=rows) for one in filters]
                last = max(filter(None, ends), default=None)
            lowest = None if last is None else last[0]
            for one in filters:
                found += await execution_rows.list_executions(conn, one, before=before, lowest=lowest, limit=limit + 1)
        found = sorted(found, key=lambda execution: execution.id, reverse=True)[: limit + 1]
        page = cut_page(found, limit, lambda execution: [execution.id])
        if page.next_cursor is not None or last is None:
            return page
        return SearchedPage(page.items, write_cursor([last[0]]), last[1])

    async def _resolve_tool_filter(self, conn: AsyncConnection, wanted: ExecutionFilter) -> list[ExecutionFilter]:
        """Return the filter with the tool's canonical name; for an id, one filter per name it ever had."""
        if wanted.tool is None:
            return [wanted]
        if not is_uuid(wanted.tool):
            # Rows have the tool's name; the filter may have it in another case, or its alias.
            compiled = self._snapshot.find(wanted.tool)
            return [replace(wanted, tool=compiled.tool.name if compiled is not None else wanted.tool)]
        tool_id = wanted.tool.lower()
        names = set(await tool_rows.list_tool_names(conn, tool_id))
        names.update(tool.name for tool in self._snapshot.local() if tool.id == tool_id)
        return [replace(wanted, tool=name, tool_id=tool_id) for name in sorted(names)]

    async def get(self, execution_id: str, caller: Caller) -> Execution:
        """Return one row; raise NotFound if there is none or the caller may not read it."""
        refuse_agents(caller)
        async with self._database.read() as conn:
            found = await execution_rows.get_execution(conn, execution_id)
        if found is None or not (caller.is_admin or found.caller_id == caller.user_id):
            raise NotFound(f"Execution '{execution_id}' not found")
        return found
