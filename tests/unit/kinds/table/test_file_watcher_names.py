"""Tools of the tables file beside other tools: the owner of a name, and calls during a change of the file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.model.api_errors import Conflict, Forbidden, Invalid
from pegboard.testing import NoSettings, memory_board
from tests.table_databases import A_MOOD, log_mood, make_mood_entries, rows_of, write_tables
from tests.waiting import until


@pytest.fixture(params=["sqlite", "postgresql"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of either kind with a table of moods."""
    found = f"sqlite:///{tmp_path}/mood.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    await make_mood_entries(found)
    return str(found)


@pytest.fixture
def file(tmp_path: Path, url: str) -> Path:
    """The tables file, with one table."""
    return write_tables(tmp_path / "tables.json", log_mood(), database=url)


@pytest.fixture
async def board(file: Path) -> AsyncIterator[Pegboard]:
    """A board with the table of moods in force."""
    async with memory_board(tables=file, drain_seconds=2) as fresh:
        yield fresh


async def codes(board: Pegboard) -> list[str]:
    """The codes of everything that is wrong with the tables."""
    return [problem.code for item in (await board.tables.status()).items for problem in item.problems]


async def test_a_name_that_a_stored_tool_has_disables_that_table_alone_until_it_is_free(
    file: Path, url: str, tmp_path: Path
) -> None:
    mock = {"name": "log-mood", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object"}}
    settings = NoSettings(home=tmp_path / "home", drain_seconds=2)
    async with Pegboard.open(settings=settings) as board:
        await board.add(mock)
    write_tables(file, log_mood(), log_mood(toolId="log-two"), database=url)
    async with Pegboard.open(settings=settings.model_copy(update={"tables": file})) as board:
        assert await codes(board) == ["tool_id_taken"]
        assert (await board.call("log-mood", {})).output == 1
        assert (await board.call("log-two", A_MOOD)).problem is None
        await board.tools.delete("log-mood", board.admin)

        async def free() -> bool:
            return (await board.call("log-mood", A_MOOD)).problem is None

        assert await until(free, 10)


async def test_a_name_of_the_file_is_taken_for_stored_tools_and_for_functions(board: Pegboard) -> None:
    mock = {"tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object"}}
    with pytest.raises(Conflict):
        await board.add({"name": "LOG-mood", **mock})
    with pytest.raises(Invalid):
        await board.apply([{"name": "log-mood", **mock}])
    with pytest.raises(Conflict, match="tables file"):
        board.tool(name="log-mood")(lambda: 1)
    with pytest.raises(Forbidden, match="PEGBOARD_TABLES"):
        await board.tools.update("log-mood", {"description": "x"}, board.admin)
    assert (await board.call("log-mood", A_MOOD)).problem is None


async def test_a_function_of_the_same_name_keeps_it(file: Path, url: str) -> None:
    write_tables(file, database=url)
    async with memory_board(tables=file, drain_seconds=2) as board:
        board.tool(name="log-mood")(lambda: "mine")
        write_tables(file, log_mood(), database=url)
        await board.tables.reload()
        assert await codes(board) == ["tool_id_taken"]
        assert (await board.call("log-mood")).output == "mine"


async def test_calls_continue_while_the_file_changes_and_each_inserts_its_row_once(
    board: Pegboard, file: Path, url: str
) -> None:
    over = asyncio.Event()
    made = 0

    async def call() -> None:
        nonlocal made
        while not over.is_set():
            result = await board.call("log-mood", A_MOOD)
            assert result.problem is None, result.problem
            made += 1

    callers = [asyncio.create_task(call()) for _ in range(5)]
    for number in range(10):
        more = [log_mood(toolId=f"log-{other}") for other in range(number % 3)]
        write_tables(file, log_mood(description=f"Version {number}."), *more, database=url)
        await board.tables.reload()
    over.set()
    await asyncio.gather(*callers)
    assert made >= 5
    assert await rows_of(url, "SELECT count(*) FROM mood_entries") == [(made,)]
    tool: Any = board.snapshot.find("log-mood")
    assert tool.tool.description == "Version 9."


async def test_a_stored_table_tool_follows_the_sources_of_the_file(board: Pegboard, file: Path, url: str) -> None:
    config = {key: log_mood()[key] for key in ("tableName", "fields")} | {"source": "moods"}
    await board.add({"name": "stored", "tool_type": "table", "config": config})
    problem = (await board.call("stored", A_MOOD)).problem
    assert problem is not None
    assert problem.code == "source_not_found"
    write_tables(file, sources={"moods": url})
    await board.tables.reload()
    assert (await board.call("stored", A_MOOD)).problem is None
    assert await rows_of(url, "SELECT count(*) FROM mood_entries") == [(1,)]
