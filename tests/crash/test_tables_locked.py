"""Tables of PostgreSQL that another user has locked: only their own calls wait or fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

from pegboard import Pegboard
from pegboard.testing import calls_of, memory_board
from tests.crash.table_server import ledger, ledger_table
from tests.crash.table_traffic import traffic
from tests.table_databases import driver_url, rows_of, run_sql, write_tables
from tests.unit.journal.two_boards import board_on
from tests.waiting import until

WAITING = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE application_name = 'pegboard' AND datname = current_database() AND wait_event_type = 'Lock'"
)


@pytest.fixture
async def tables(postgres_url: str) -> str:
    """A database with two tables."""
    await run_sql(postgres_url, ledger_table(postgres_url), ledger_table(postgres_url, "others"))
    return postgres_url


@pytest.fixture(params=[False, True], ids=["intents", "receipts"])
async def board(request: pytest.FixtureRequest, tables: str, tmp_path: Path) -> AsyncIterator[Pegboard]:
    """A board with tools for both tables, and for each another that has little time."""
    receipts = bool(request.param)
    entries = ledger(batch=True, receipts=receipts), ledger("other", "others", batch=True, receipts=receipts)
    file = write_tables(tmp_path / "tables.json", *entries, database=driver_url(tables))
    async with memory_board(tables=file, drain_seconds=2) as opened:
        for entry in entries:
            config = {key: entry[key] for key in ("tableName", "fields", "receipts")}
            await opened.add(
                {"name": f"{entry['toolId']}-soon", "tool_type": "table", "config": config, "timeout": 0.5}
            )
        yield opened


@asynccontextmanager
async def locked(url: str, table: str) -> AsyncIterator[None]:
    """Lock a table for all other connections within this context."""
    connection = await asyncpg.connect(driver_url(url))
    try:
        async with connection.transaction():
            await connection.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
            yield
    finally:
        await connection.close()


async def waiting(url: str) -> int:
    """How many of the board's sessions wait for a lock."""
    ((count,),) = await rows_of(url, WAITING)
    return int(count)


async def test_a_locked_table_holds_up_neither_other_tables_nor_the_journal_and_loses_nothing(
    board: Pegboard, tables: str
) -> None:
    async with locked(tables, "notes"):
        stuck = [asyncio.create_task(board.call("note", {"n": f"one {n}"})) for n in range(30)]
        rows = [{"rows": [{"n": f"many {n} {place}"} for place in range(2)]} for n in range(30)]
        stuck += [asyncio.create_task(board.call("note-batch", those)) for those in rows]

        async def are_waiting() -> bool:
            return bool(await waiting(tables) >= 3)

        await until(are_waiting)
        async with traffic(board, "other", "other-batch") as others:
            for _ in range(10):
                for other in others:
                    await other.answered()
        assert not any(task.done() for task in stuck)
        assert await calls_of(board, "other")
    results = await asyncio.gather(*stuck)
    assert {result.problem for result in results} == {None}
    assert [other.codes for other in others] == [[], []]
    kept = [n for (n,) in await rows_of(tables, "SELECT n FROM notes")]
    assert sorted(kept) == sorted(
        [f"one {n}" for n in range(30)] + [f"many {n} {p}" for n in range(30) for p in (0, 1)]
    )


async def test_a_call_that_has_no_time_for_a_lock_says_so_and_leaves_no_row(board: Pegboard, tables: str) -> None:
    assert (await board.call("note-soon", {"n": "before"})).problem is None
    async with locked(tables, "notes"):
        results = await asyncio.gather(*(board.call("note-soon", {"n": f"late {n}"}) for n in range(20)))
        problems = [result.problem for result in results]
        assert {(problem.code, problem.did_run) for problem in problems if problem} == {("P1008", False)}
        assert all(problem and problem.retry_after_ms for problem in problems)

        async def none_waits() -> bool:
            return await waiting(tables) == 0

        await until(none_waits)
    assert (await board.call("note-soon", {"n": "after"})).problem is None
    assert sorted(await rows_of(tables, "SELECT n FROM notes")) == [("after",), ("before",)]


async def test_a_table_that_is_locked_when_it_is_first_examined_serves_when_it_is_free(
    tables: str, tmp_path: Path
) -> None:
    file = write_tables(tmp_path / "tables.json", ledger(), ledger("other", "others"), database=driver_url(tables))
    async with AsyncExitStack() as stack:
        async with locked(tables, "notes"):
            board = await stack.enter_async_context(memory_board(tables=file, drain_seconds=2))
            call = asyncio.create_task(board.call("note", {"n": "first"}))

            async def is_waiting() -> bool:
                return await waiting(tables) > 0

            await until(is_waiting)
            assert (await board.call("other", {"n": "meanwhile"})).problem is None
            assert not call.done()
        assert (await call).problem is None
    assert await rows_of(tables, "SELECT n FROM notes") == [("first",)]


QUIET = {"name": "quiet", "tool_type": "mock", "input_schema": {"type": "object"}, "config": {"mock_response": 1}}


async def test_a_locked_table_of_the_boards_own_database_holds_up_no_journal_entry_of_other_calls(
    tables: str, tmp_path: Path
) -> None:
    file = write_tables(tmp_path / "tables.json", ledger(batch=True), ledger("other", "others"))
    async with board_on(tables, tmp_path / "home", tables=file) as board:
        await board.add(QUIET)
        assert (await board.call("note", {"n": "before"})).problem is None
        async with locked(tables, "notes"):
            stuck = [asyncio.create_task(board.call("note", {"n": f"one {n}"}, key=f"{n}")) for n in range(10)]
            stuck += [asyncio.create_task(board.call("note", {"n": f"two {n}"})) for n in range(10)]
            rows = {"rows": [{"n": "many"}]}
            stuck += [asyncio.create_task(board.call("note-batch", rows)) for _ in range(10)]

            async def is_waiting() -> bool:
                return await waiting(tables) > 0

            await until(is_waiting)
            async with traffic(board, "other") as others:
                for _ in range(10):
                    await others[0].answered()
                    assert (await board.call("quiet", {})).problem is None
            assert not any(task.done() for task in stuck)
            assert {call.status for call in await calls_of(board, "other")} == {"succeeded"}
            assert len(await calls_of(board, "quiet")) == 10
        assert {result.problem for result in await asyncio.gather(*stuck)} == {None}
        assert (await board.audit.verify()).findings == ()
        stored_rows = await rows_of(tables, "SELECT id::text FROM notes UNION ALL SELECT id::text FROM others")
        recorded = await rows_of(
            tables, "SELECT trim(both '[]' from row_id) FROM executions WHERE tool_name <> 'quiet'"
        )
        assert sorted(stored_rows) == sorted(recorded)


async def test_an_endless_trigger_of_the_boards_own_sqlite_is_interrupted_and_other_calls_are_recorded(
    tmp_path: Path,
) -> None:
    """SQLite has one write lock for a file: the insert holds it until the deadline of its call."""
    url = f"sqlite:///{tmp_path}/board.db"
    await run_sql(
        url,
        ledger_table(url),
        "CREATE TRIGGER endless AFTER INSERT ON notes WHEN NEW.n = 'slow' BEGIN"
        " INSERT INTO notes (n) WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c)"
        " SELECT 'no' FROM c WHERE x > 1; END",
    )
    async with board_on(url, tmp_path / "home") as board:
        await board.add(QUIET)
        entry = ledger()
        config = {key: entry[key] for key in ("tableName", "fields")}
        await board.add({"name": "note", "tool_type": "table", "config": config, "timeout": 0.5})
        slow = [asyncio.create_task(board.call("note", {"n": "slow"}, key=key)) for key in (None, "k")]
        results = await asyncio.gather(*(board.call("quiet", {}) for _ in range(10)))
        assert {result.problem for result in results} == {None}
        problems = [(await task).problem for task in slow]
        assert [problem and problem.did_run for problem in problems] == [False, False]
        assert (await board.call("note", {"n": "after"}, key="k2")).problem is None
        assert sorted(call.status for call in await calls_of(board, "note")) == ["failed", "failed", "succeeded"]
        assert len(await calls_of(board, "quiet")) == 10
        assert (await board.audit.verify()).findings == ()
    assert await rows_of(url, "SELECT n FROM notes") == [("after",)]
