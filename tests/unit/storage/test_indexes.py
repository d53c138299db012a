"""Each index is used by the query that needs it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from itertools import combinations
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.journal.latency_counts import CallCounts, get_hour
from pegboard.model.accounts import User
from pegboard.model.filters import ExecutionFilter, ToolFilter
from pegboard.model.ids import make_lowest_id, new_id
from pegboard.model.journal_row import serialize_execution
from pegboard.model.tool import Kind
from pegboard.storage import account_rows, board_tables, execution_rows, tool_rows
from pegboard.storage.board_tables import get_table
from pegboard.storage.column_types import is_not_deleted
from pegboard.storage.database import Database
from pegboard.storage.statistics_rows import build_counts_query, iterate_uncounted
from tests.unit.storage.count_statements import statements
from tests.unit.storage.insert_rows import insert_rows, keep_counts, keep_writer
from tests.unit.storage.sample_rows import NOW, a_tool, a_user, an_execution

UNCOUNTED = 10
Query = Callable[[AsyncConnection], Awaitable[Any]]


async def plan(database: Database, query: Query, telling: str = "FROM") -> str:
    """Return the plan of the first query with these words."""
    explain = "EXPLAIN QUERY PLAN" if database.kind == "sqlite" else "EXPLAIN"
    async with database.read() as conn:
        assert conn.sync_connection is not None
        with statements(conn.sync_connection) as seen:
            await query(conn)
        statement, parameters = next(each for each in seen if telling in each[0])
        rows = await conn.exec_driver_sql(f"{explain} {statement}", parameters)
        return "\n".join(str(row[-1]) for row in rows)


async def fill(database: Database) -> User:
    """Add some thousand tools, few of them unusual; return a user with a few."""
    admin, other_user = a_user("admin"), a_user("somebody")
    kinds = [Kind.HTTP] * 60 + [Kind.PYTHON] * 30 + [Kind.SHELL] * 9 + [Kind.TABLE]
    made = [
        a_tool(
            other_user if number % 200 == 0 else admin,
            f"tool_{number * 7919 % 3000:04}",
            tool_type=kinds[number % 100],
            is_active=number % 50 != 0,
            is_public=number % 40 == 0,
            is_deleted=number % 10 == 1,
            description="Says something about " * 5,
        )
        for number in range(3000)
    ]
    async with database.write() as conn:
        await account_rows.users.add(conn, admin, revision=1)
        await account_rows.users.add(conn, other_user, revision=1)
        for start in range(0, len(made), 10):
            await tool_rows.add_tools(conn, made[start : start + 10], revision=start + 10, by=admin.id)
        if database.kind == "postgresql":
            await conn.exec_driver_sql("ANALYZE")
    return other_user


async def fill_journal(database: Database) -> None:
    """Some thousand calls, few of which went wrong and a few of which are not counted yet."""
    tool_ids, callers = [new_id() for _ in range(50)], [new_id() for _ in range(20)]
    made = []
    for number in range(5000):
        begun = NOW + timedelta(seconds=number)
        ended = {"status": "failed", "code": ("timeout", "custom")[number % 3 % 2]} if number % 47 == 0 else {}
        made.append(
            an_execution(
                id=make_lowest_id(begun)[:24] + new_id()[24:],
                tool_id=tool_ids[number * 7919 % 50],
                tool_name=f"tool_{number * 7919 % 50:02}",
                caller_id=callers[number * 104_729 % 20],
                started_at=begun,
                **ended,
            )
        )
    await keep_writer(database, seq=await insert_rows(database, *made))
    counts = CallCounts()
    for one in made[:-UNCOUNTED]:
        counts.add(serialize_execution(one))
    await keep_counts(database, counts.take(), counted_seq=len(made) - UNCOUNTED)
    if database.kind == "postgresql":
        async with database.write() as conn:
            await conn.exec_driver_sql("ANALYZE")


async def unused(database: Database, queries: dict[str, Query]) -> dict[str, str]:
    """Return the indexes that their query does not use, with the plan."""
    plans = {index: await plan(database, query) for index, query in queries.items()}
    return {index: how for index, how in plans.items() if not re.search(rf"\b{index}\b", how)}


async def test_lists_and_lookups_of_tools_use_the_indexes_made_for_them(database: Database) -> None:
    owner = (await fill(database)).id
    columns = get_table(board_tables.Tool).c
    by_exact_name = select(columns.id).where(columns.name == "tool_0042", is_not_deleted(columns.is_deleted))

    def listed(**wanted: Any) -> Query:
        return lambda conn: tool_rows.list_tools(conn, ToolFilter(**wanted), limit=20)

    queries: dict[str, Query] = {
        "idx_tool_owner": listed(owner_id=owner),
        "idx_tool_name": lambda conn: conn.execute(by_exact_name),
        "idx_tool_type": listed(tool_type=Kind.TABLE),
        "idx_tool_active": listed(is_active=False),
        "idx_tool_public": listed(is_public=True),
        "idx_tool_owner_active": listed(owner_id=owner, is_active=False),
        "idx_tool_revision": lambda conn: tool_rows.list_changed_tools(conn, 2990),
        "uq_tool_name": lambda conn: tool_rows.find_tool_by_name(conn, "Tool_0042"),
    }
    assert await unused(database, queries) == {}


async def test_the_next_page_of_tools_starts_where_the_last_one_ended(database: Database) -> None:
    await fill(database)
    how = await plan(
        database, lambda conn: tool_rows.list_tools(conn, ToolFilter(), after=("tool_2000", new_id()), limit=20)
    )
    assert re.search(r"SEARCH tools USING INDEX uq_tool_name|Index Scan using uq_tool_name", how), how


SPAN = {"since": NOW + timedelta(seconds=1000), "until": NOW + timedelta(seconds=4000)}
FILTERS: dict[str, dict[str, Any]] = {
    "name": {"tool": "tool_07"},
    "tool": {"tool": "tool_07", "tool_id": new_id()},
    "caller": {"caller_id": new_id()},
    "status": {"status": "failed"},
    "code": {"code": "timeout"},
    "span": SPAN,
}
# The columns of each filter, and of combinations with an index of their own.
INDEXES = {
    ("name",): "idx_execution_name",
    ("tool",): "idx_execution_name",
    ("caller",): "idx_execution_caller",
    ("status",): "idx_execution_status",
    ("code",): "idx_execution_code",
    ("name", "status"): "idx_execution_name_status",
    ("tool", "status"): "idx_execution_name_status",
    ("caller", "status"): "idx_execution_caller_status",
}
PRIMARY = {"sqlite": "sqlite_autoindex_executions_1", "postgresql": "pk_executions"}


def listed(*filters: str) -> Query:
    """The next page of the journal under these filters together."""
    wanted = ExecutionFilter(**{name: value for each in filters for name, value in FILTERS[each].items()})

    return as_if_many(lambda conn: execution_rows.list_executions(conn, wanted, before=new_id(), limit=20))


def as_if_many(query: Query) -> Query:
    """Run the query as PostgreSQL would with many rows: a few rows are scanned and sorted quickly."""

    async def run(conn: AsyncConnection) -> None:
        if conn.dialect.name == "postgresql":
            for choice in ("enable_seqscan", "enable_bitmapscan"):
                await conn.exec_driver_sql(f"SET LOCAL {choice} = off")
        await query(conn)

    return run


async def test_lists_of_executions_use_the_indexes_made_for_them(database: Database) -> None:
    await fill_journal(database)
    primary = PRIMARY[database.kind]
    assert await unused(database, {primary: listed()}) == {}
    assert await unused(database, {primary: listed("span")}) == {}
    assert (
        await unused(
            database, {primary: lambda conn: execution_rows.list_executions(conn, ExecutionFilter(), limit=20)}
        )
        == {}
    )
    for span in ((), ("span",)):
        for filters, index in INDEXES.items():
            assert await unused(database, {index: listed(*filters, *span)}) == {}


async def test_a_search_without_an_index_walks_the_journal_from_one_id_to_another(database: Database) -> None:
    await fill_journal(database)
    wanted = ExecutionFilter(surface="mcp", min_ms=5.0)

    def last(conn: AsyncConnection) -> Any:
        return execution_rows.find_last_searched(conn, wanted, before=new_id(), rows=20)

    def rows(conn: AsyncConnection) -> Any:
        return execution_rows.list_executions(conn, wanted, before=new_id(), lowest=make_lowest_id(NOW), limit=20)

    for query in (last, rows):
        assert await unused(database, {PRIMARY[database.kind]: as_if_many(query)}) == {}


async def test_no_filters_together_walk_the_journal_or_sort_it(database: Database) -> None:
    await fill_journal(database)
    together = [each for size in range(len(FILTERS)) for each in combinations(FILTERS, size)]
    together = [each for each in together if not {"tool", "name"} <= set(each)]
    assert len(together) == 3 * 2**4
    good = {
        "sqlite": r"SEARCH executions USING INDEX \S+ \((\w+=\? AND ){0,2}id>\? AND id<\?\)",
        "postgresql": r"Limit.*\n.*Index Scan Backward using \w+ on .*\n +Index Cond: .*\bid\)? <.*(\n +Filter: .*)?",
    }
    plans = {each: await plan(database, listed(*each)) for each in together}
    assert {each: how for each, how in plans.items() if not re.fullmatch(good[database.kind], how.strip())} == {}
    both = {each: how for each, how in plans.items() if "status" in each and {"name", "tool", "caller"} & set(each)}
    both = {each: how for each, how in both.items() if "code" not in each}  # which has an index that is as good
    assert len(both) == 10
    assert {each: how for each, how in both.items() if not re.search(r"idx_execution_(name|caller)_status", how)} == {}


async def test_many_calls_that_lie_far_back_are_not_searched_for_among_all_later_ones(database: Database) -> None:
    before = NOW - timedelta(days=1)
    retired = [an_execution(id=make_lowest_id(before)[:24] + new_id()[24:], tool_name="retired") for _ in range(1000)]
    await insert_rows(database, *retired)
    await fill_journal(database)
    query = partial(execution_rows.list_executions, wanted=ExecutionFilter(tool="retired"), limit=20)
    assert await unused(database, {"idx_execution_name": query}) == {}


async def test_ill_calls_that_lie_far_back_are_not_searched_for_among_all_that_went_wrong_later(
    database: Database,
) -> None:
    before, ada = NOW - timedelta(days=1), new_id()
    ill = {"tool_name": "retired", "caller_id": ada, "status": "failed", "code": "timeout"}
    await insert_rows(
        database, *(an_execution(id=make_lowest_id(before)[:24] + new_id()[24:], **ill) for _ in range(1000))
    )
    await fill_journal(database)

    def failed(**wanted: Any) -> Query:
        return partial(execution_rows.list_executions, wanted=ExecutionFilter(status="failed", **wanted), limit=20)

    assert await unused(database, {"idx_execution_name_status": failed(tool="retired")}) == {}
    assert await unused(database, {"idx_execution_caller_status": failed(caller_id=ada)}) == {}


async def test_statistics_are_read_hour_by_hour_and_uncounted_rows_by_their_place(database: Database) -> None:
    await fill_journal(database)
    hours = range(get_hour(NOW), get_hour(NOW) + 2)

    async def last_rows(conn: AsyncConnection) -> None:
        found = [row async for part in iterate_uncounted(conn, NOW, NOW + timedelta(days=1)) for row in part]
        assert len(found) == UNCOUNTED

    for caller_id in (None, new_id()):
        for tool_name in (None, "tool_07"):
            query = build_counts_query(hours, tool_name=tool_name, caller_id=caller_id)
            how = await plan(database, as_if_many(partial(AsyncConnection.execute, statement=query)))
            if database.kind == "sqlite":
                place = "hour=? AND caller_id=? AND tool_name=?" if tool_name else "hour=? AND caller_id=?"
                assert f"SEARCH execution_counts USING PRIMARY KEY ({place})" in how
            else:
                place = r".*\btool_name = " if tool_name else ""
                key = rf"\bpk_execution_counts\b.*\n +Index Cond: .*\bhour (=|>=) .*\bcaller_id = {place}"
                assert re.search(key, how), how
    how = await plan(database, as_if_many(last_rows), "FROM executions")
    assert re.search(
        r"\buq_execution_link\b.*(\(writer=\? AND seq>\?\)|\n +Index Cond: .*\bwriter = .*\bseq > )", how
    ), how
