"""PostgreSQL without free connections: calls fail at once or in time, and work again afterwards."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import asyncpg

from pegboard import Pegboard
from pegboard.model.call_errors import Problem
from pegboard.testing import memory_board
from tests.crash.postgres_shutdowns import start_with
from tests.crash.table_server import ledger, ledger_table
from tests.servers import PostgresServer
from tests.table_databases import driver_url, rows_of, run_sql, write_tables
from tests.waiting import until

# As many as the board's connections to one database.
CONNECTIONS = 10
# An insert into a gated table blocks at its commit until the gate is opened.
GATE = """
CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql
AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END'
"""
GATED = """
CREATE CONSTRAINT TRIGGER gate AFTER INSERT ON {} DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION wait()
"""
AT_THE_GATE = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'"
    " AND query = 'COMMIT'"
)


async def problem_of(board: Pegboard, tool: str, n: str) -> Problem | None:
    """Insert a row and return the error."""
    return (await board.call(tool, {"n": n})).problem


async def test_when_every_connection_is_in_use_calls_say_so_in_time_and_nothing_is_lost(
    postgres_url: str, tmp_path: Path
) -> None:
    names = [f"gated_{place}" for place in range(CONNECTIONS)]
    await run_sql(postgres_url, GATE, *(ledger_table(postgres_url, name) for name in (*names, "notes")))
    await run_sql(postgres_url, *(GATED.format(name) for name in names))
    entries = [ledger(name, name) for name in names] + [ledger()]
    file = write_tables(tmp_path / "tables.json", *entries, database=driver_url(postgres_url))
    config = {key: ledger()[key] for key in ("tableName", "fields")}
    soon = {"name": "soon", "tool_type": "table", "config": config, "timeout": 0.5}
    mock = {"name": "say", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object"}}
    holder = await asyncpg.connect(driver_url(postgres_url))
    async with memory_board([soon, mock], tables=file, drain_seconds=2) as board:
        assert await problem_of(board, "soon", "before") is None
        await holder.execute("SELECT pg_advisory_lock(1)")
        gated = [asyncio.create_task(problem_of(board, name, "gated")) for name in names]

        async def all_are_there() -> bool:
            return await rows_of(postgres_url, AT_THE_GATE) == [(CONNECTIONS,)]

        await until(all_are_there, 20)
        problems = await asyncio.gather(*(problem_of(board, "soon", f"late {n}") for n in range(20)))
        assert {(problem.code, problem.did_run) for problem in problems if problem} == {("P2024", False)}
        assert all(problem and problem.retry_after_ms for problem in problems)
        assert (await board.call("say")).output == 1
        assert not any(task.done() for task in gated)
        await holder.execute("SELECT pg_advisory_unlock(1)")
        assert set(await asyncio.gather(*gated)) == {None}
        assert await problem_of(board, "soon", "after") is None
    await holder.close()
    assert sorted(await rows_of(postgres_url, "SELECT n FROM notes")) == [("after",), ("before",)]
    for name in names:
        assert await rows_of(postgres_url, f"SELECT n FROM {name}") == [("gated",)]


async def test_a_server_that_takes_no_more_connections_is_distinguished_and_served_again(
    own_postgres: PostgresServer, tmp_path: Path
) -> None:
    start_with(own_postgres, max_connections="8", superuser_reserved_connections="0")
    url = own_postgres.url
    await run_sql(url, ledger_table(url), ledger_table(url, "others"))
    entries = ledger(), ledger("other", "others")
    file = write_tables(tmp_path / "tables.json", *entries, database=driver_url(url))
    async with AsyncExitStack() as stack:
        hogs: list[asyncpg.Connection] = []

        async def are_all_taken() -> bool:
            try:
                hogs.append(await asyncpg.connect(driver_url(url)))
            except asyncpg.TooManyConnectionsError:
                return True
            return False

        await until(are_all_taken, 20)
        board = await stack.enter_async_context(memory_board(tables=file, drain_seconds=2))
        for tool in ("note", "other"):
            problem = await problem_of(board, tool, "too many")
            assert problem is not None
            assert (problem.code, problem.sqlstate, problem.did_run) == ("P2037", "53300", False)
            assert problem.retry_after_ms
        for hog in hogs:
            await hog.close()

        async def well() -> bool:
            return await problem_of(board, "note", "after") is None

        await until(well, 20)
        # One connection is enough for all calls.
        assert await problem_of(board, "other", "after") is None
    for table in ("notes", "others"):
        assert await rows_of(url, f"SELECT n FROM {table}") == [("after",)]
