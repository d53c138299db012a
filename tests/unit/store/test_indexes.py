"""Each index is used by the query that needs it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, event, select
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.core.ids import new_id
from pegboard.core.people import User
from pegboard.core.tool import Kind
from pegboard.store import executions, tools, users
from pegboard.store.database import Database
from pegboard.store.executions import ExecutionFilter
from pegboard.store.tools import ToolFilter
from pegboard.store.types import is_not_deleted
from tests.unit.store.rows import NOW, a_tool, a_user, an_execution

Query = Callable[[AsyncConnection], Awaitable[Any]]


@contextmanager
def statements(connection: Connection) -> Iterator[list[tuple[str, Any]]]:
    """The statements that are run meanwhile, with their parameters."""
    seen: list[tuple[str, Any]] = []

    def note(_conn: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:
        seen.append((statement, parameters))

    event.listen(connection, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(connection, "before_cursor_execute", note)


async def plan(database: Database, query: Query) -> str:
    """How the database runs a query."""
    explain = "EXPLAIN QUERY PLAN" if database.kind == "sqlite" else "EXPLAIN"
    async with database.read() as conn:
        assert conn.sync_connection is not None
        with statements(conn.sync_connection) as seen:
            await query(conn)
        ((statement, parameters),) = [each for each in seen if each[0].startswith("SELECT")]
        rows = await conn.exec_driver_sql(f"{explain} {statement}", parameters)
        return "\n".join(str(row[-1]) for row in rows)


async def fill(database: Database) -> User:
    """Some thousand tools, few of them unusual, and calls of them; returns somebody with a few of both."""
    admin, somebody = a_user("admin"), a_user("somebody")
    kinds = [Kind.HTTP] * 60 + [Kind.PYTHON] * 30 + [Kind.SHELL] * 9 + [Kind.TABLE]
    made = [
        a_tool(
            somebody if number % 200 == 0 else admin,
            f"tool_{number * 7919 % 3000:04}",
            tool_type=kinds[number % 100],
            is_active=number % 50 != 0,
            is_public=number % 40 == 0,
            is_deleted=number % 10 == 1,
            description="Says something about " * 5,
        )
        for number in range(3000)
    ]
    journal = [
        an_execution(
            tool_id=made[number % 1000].id,
            tool_name=made[number % 1000].name,
            caller_id=(somebody if number % 200 == 0 else admin).id,
            status="failed" if number % 200 == 0 else "succeeded",
            started_at=NOW + timedelta(seconds=number),
        )
        for number in range(5000)
    ]
    async with database.write() as conn:
        await users.add(conn, admin, revision=1)
        await users.add(conn, somebody, revision=1)
        rows = [{**tools._row(tool), "revision": number} for number, tool in enumerate(made)]
        await conn.execute(tools._tools.insert(), rows)
        await executions.add_all(conn, journal)
        if database.kind == "postgresql":
            await conn.exec_driver_sql("ANALYZE")
    return somebody


async def unused(database: Database, queries: dict[str, Query]) -> dict[str, str]:
    """The indexes that their query does not use, with what it does instead."""
    plans = {index: await plan(database, query) for index, query in queries.items()}
    return {index: how for index, how in plans.items() if not re.search(rf"\b{index}\b", how)}


async def test_lists_and_lookups_of_tools_use_the_indexes_made_for_them(database: Database) -> None:
    owner = (await fill(database)).id
    columns = tools._tools.c
    by_exact_name = select(columns.id).where(columns.name == "tool_0042", is_not_deleted(columns.is_deleted))

    def listed(**wanted: Any) -> Query:
        return lambda conn: tools.page(conn, ToolFilter(**wanted), limit=20)

    queries: dict[str, Query] = {
        "idx_tool_owner": listed(owner_id=owner),
        "idx_tool_name": lambda conn: conn.execute(by_exact_name),
        "idx_tool_type": listed(tool_type=Kind.TABLE),
        "idx_tool_active": listed(is_active=False),
        "idx_tool_public": listed(is_public=True),
        "idx_tool_owner_active": listed(owner_id=owner, is_active=False),
        "idx_tool_revision": lambda conn: tools.changed(conn, 2990),
        "uq_tool_name": lambda conn: tools.named(conn, "Tool_0042"),
    }
    assert await unused(database, queries) == {}


async def test_the_next_page_of_tools_starts_where_the_last_one_ended(database: Database) -> None:
    await fill(database)
    how = await plan(database, lambda conn: tools.page(conn, ToolFilter(), after=("tool_2000", new_id()), limit=20))
    assert re.search(r"SEARCH tools USING INDEX uq_tool_name|Index Scan using uq_tool_name", how), how


async def test_lists_of_executions_use_the_indexes_made_for_them(database: Database) -> None:
    caller = (await fill(database)).id

    def listed(**wanted: Any) -> Query:
        return lambda conn: executions.page(conn, ExecutionFilter(**wanted), before=new_id(), limit=20)

    queries: dict[str, Query] = {
        "idx_execution_tool": listed(tool=new_id()),
        "idx_execution_name": listed(tool="tool_0000"),
        "idx_execution_caller": listed(caller_id=caller),
        "idx_execution_status": listed(status="failed"),
        {"sqlite": "sqlite_autoindex_executions_1", "postgresql": "pk_executions"}[database.kind]: listed(),
    }
    if database.kind == "postgresql":
        queries["idx_execution_started"] = listed(since=NOW + timedelta(seconds=4990))
    assert await unused(database, queries) == {}
