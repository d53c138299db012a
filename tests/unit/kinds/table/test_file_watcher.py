"""The tables file: the effect of a change, and changes that are refused as a whole."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.model.api_errors import Conflict, Invalid
from pegboard.testing import NoSettings, memory_board
from tests.table_databases import A_MOOD, log_mood, make_mood_entries, rows_of, run_sql, scribble, write_tables
from tests.waiting import until


@pytest.fixture(params=["sqlite", "postgresql"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of either kind with a table of moods."""
    found = f"sqlite:///{tmp_path}/mood.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    await make_mood_entries(found)
    return str(found)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The path of the tables file."""
    return tmp_path / "tables.json"


def opened(file: Path) -> AbstractAsyncContextManager[Pegboard]:
    """A board with this file."""
    return memory_board(tables=file, drain_seconds=2)


@pytest.fixture
async def board(file: Path, url: str) -> AsyncIterator[Pegboard]:
    """A board with the table of moods in force."""
    write_tables(file, log_mood(), database=url)
    async with opened(file) as fresh:
        yield fresh


def get_tool(board: Pegboard, name: str) -> Any:
    """Return the tool with that name as it is on the board now."""
    compiled = board.snapshot.find(name)
    return None if compiled is None else compiled.tool


async def codes(board: Pegboard) -> list[str]:
    """The codes of everything that is wrong with the tables."""
    return [problem.code for item in (await board.tables.status()).items for problem in item.problems]


async def test_a_table_of_the_file_is_a_tool_when_the_board_is_open(board: Pegboard, url: str) -> None:
    result = await board.call("log-mood", A_MOOD)
    assert result.problem is None
    assert result.output["id"] == 1
    assert await rows_of(url, "SELECT user_id, mood, energy_level FROM mood_entries") == [("user_123", "happy", 8)]
    assert await codes(board) == []


async def test_a_batch_tool_hangs_beside_its_table_only_if_the_file_asks_for_it(
    board: Pegboard, file: Path, url: str
) -> None:
    assert get_tool(board, "log-mood-batch") is None
    write_tables(file, log_mood(batch=True), database=url)
    status = await board.tables.reload()
    assert status.items[0].batch_tool_id == "log-mood-batch"
    result = await board.call("log-mood-batch", {"rows": [A_MOOD, A_MOOD]})
    assert result.output["rowCount"] == 2


async def test_what_the_file_no_longer_lists_is_gone_and_the_rest_is_the_same_tool(
    board: Pegboard, file: Path, url: str
) -> None:
    write_tables(file, log_mood(), log_mood(toolId="log-two"), database=url)
    await board.tables.reload()
    before = board.snapshot.find("log-mood")
    assert get_tool(board, "log-two").description == "Log how somebody feels."
    write_tables(file, log_mood(), database=url)
    await board.tables.reload()
    assert get_tool(board, "log-two") is None
    assert board.snapshot.find("log-mood") is before


async def test_a_changed_table_is_a_new_version_of_its_tool(board: Pegboard, file: Path, url: str) -> None:
    before = get_tool(board, "log-mood")
    write_tables(file, log_mood(description="Other words."), database=url)
    await board.tables.reload()
    after = get_tool(board, "log-mood")
    assert (after.id, after.version, after.description) == (before.id, before.version + 1, "Other words.")
    assert after.created_at == before.created_at


async def test_a_changed_file_takes_effect_by_itself(board: Pegboard, file: Path, url: str) -> None:
    write_tables(file, log_mood(toolId="note-mood"), database=url)

    async def changed() -> bool:
        return get_tool(board, "note-mood") is not None and get_tool(board, "log-mood") is None

    assert await until(changed, 10)
    assert (await board.call("note-mood", A_MOOD)).problem is None


async def test_a_broken_file_leaves_the_previous_one_active_and_reports_every_fault(
    board: Pegboard, file: Path, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    write_tables(file, log_mood(tableNam="x"), log_mood(description=1), database=url)
    with pytest.raises(Invalid) as refused:
        await board.tables.reload()
    fields = {fault.field for fault in refused.value.faults}
    assert {"tables.0.tableNam", "tables.1.description"} <= fields
    assert "tables_not_loaded" in caplog.text
    status = await board.tables.status()
    assert status.error is refused.value
    assert (await board.call("log-mood", A_MOOD)).problem is None
    write_tables(file, log_mood(), database=url)
    assert (await board.tables.reload()).error is None


async def test_a_broken_file_is_reported_once_and_not_at_every_look(
    board: Pegboard, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    scribble(file, "{")

    async def broken() -> bool:
        return (await board.tables.status()).error is not None

    with caplog.at_level(logging.ERROR):
        assert await until(broken, 10)
        scribble(file, "{ ")
        assert await until(lambda: _seen(caplog, 2), 10)
    assert caplog.text.count("tables_not_loaded") == 2


async def _seen(caplog: pytest.LogCaptureFixture, times: int) -> bool:
    return caplog.text.count("tables_not_loaded") >= times


@pytest.mark.parametrize("text", [None, "{", "tables: 1", '{"database": {"env": "NO_SUCH_VARIABLE"}, "tables": []}'])
async def test_a_broken_file_at_the_start_leaves_the_board_serving_without_its_tools(
    file: Path, text: str | None
) -> None:
    if text is not None:
        scribble(file, text)
    async with opened(file) as board:
        status = await board.tables.status()
        assert status.error is not None
        assert str(file) in status.error.message or "NO_SUCH_VARIABLE" in status.error.message
        assert (status.loaded_at, status.items) == (None, ())
        assert (await board.call("echo", {"a": 1})).problem is None


@pytest.mark.parametrize("address", ["nonsense", "mysql://localhost/x", "sqlite://"])
async def test_an_address_that_is_none_is_a_fault_of_the_file(file: Path, address: str) -> None:
    write_tables(file, log_mood(), database=address)
    async with opened(file) as board:
        error = (await board.tables.status()).error
        assert error is not None
        assert error.faults[0].field == "database"


async def test_without_a_file_there_is_nothing_to_reload() -> None:
    async with memory_board() as board:
        assert (await board.tables.status()).file is None
        with pytest.raises(Conflict, match="PEGBOARD_TABLES"):
            await board.tables.reload()


async def test_a_missing_table_disables_its_tool_alone_which_recovers_by_itself(
    board: Pegboard, file: Path, url: str
) -> None:
    write_tables(file, log_mood(), log_mood(toolId="log-other", tableName="other_entries"), database=url)
    await board.tables.reload()
    assert await codes(board) == ["table_not_found"]
    problem = (await board.call("log-other", A_MOOD)).problem
    assert problem is not None
    assert (problem.type, problem.code) == ("CONFIG_ERROR", "table_not_found")
    assert (await board.call("log-mood", A_MOOD)).problem is None
    await run_sql(url, "ALTER TABLE mood_entries RENAME TO other_entries")

    async def works() -> bool:
        return (await board.call("log-other", A_MOOD)).problem is None

    assert await until(works, 10)
    assert await codes(board) == ["table_not_found"]
    assert (await board.tables.status()).items[1].problems == ()


async def test_a_database_that_cannot_be_reached_is_reported_as_the_problem_of_its_tables(
    board: Pegboard, file: Path, url: str
) -> None:
    nowhere = "postgresql://nobody:not-a-secret@127.0.0.1:1/nowhere"
    away = log_mood(toolId="log-away", source="away")
    write_tables(file, log_mood(), away, database=url, sources={"away": nowhere})
    status = await board.tables.reload()
    assert [len(item.problems) for item in status.items] == [0, 1]
    assert status.items[1].problems[0].code == "P1001"
    assert "not-a-secret" not in repr(status)
    assert (await board.call("log-mood", A_MOOD)).problem is None


async def test_a_tool_is_described_by_what_its_database_says_and_as_before_while_the_table_is_away(
    board: Pegboard, file: Path, postgres_url: str
) -> None:
    fields = [{"name": "tags", "dataType": "json", "required": True}, {"name": "who", "dataType": "text"}]
    write_tables(file, log_mood(toolId="tag", tableName="tagged", fields=fields), database=postgres_url)
    await board.tables.reload()
    assert get_tool(board, "tag").input_schema["properties"]["tags"]["type"] == "object"
    await run_sql(postgres_url, "CREATE TABLE tagged (who uuid, tags text[] NOT NULL)")

    async def described() -> bool:
        return bool(get_tool(board, "tag").input_schema["properties"]["tags"]["type"] == "array")

    assert await until(described, 10)
    assert (await board.call("tag", {"tags": ["a", "b"]})).problem is None
    described_tool = get_tool(board, "tag")
    await run_sql(postgres_url, "DROP TABLE tagged")
    assert await codes(board) == ["table_not_found"]
    assert get_tool(board, "tag") is described_tool


async def test_a_changed_address_is_where_the_next_call_goes(
    board: Pegboard, file: Path, url: str, tmp_path: Path
) -> None:
    await board.call("log-mood", A_MOOD)
    other = f"sqlite:///{tmp_path}/other.db"
    await make_mood_entries(other)
    before = board.snapshot.find("log-mood")
    write_tables(file, log_mood(), database=other)
    await board.tables.reload()
    assert board.snapshot.find("log-mood") is before
    assert (await board.call("log-mood", A_MOOD)).problem is None
    assert len(await rows_of(url, "SELECT 1 FROM mood_entries")) == 1
    assert len(await rows_of(other, "SELECT 1 FROM mood_entries")) == 1


async def test_a_file_without_a_database_means_the_boards_own(file: Path, database_url: str, tmp_path: Path) -> None:
    write_tables(file, log_mood())
    settings = NoSettings(home=tmp_path / "home", tables=file, drain_seconds=2)
    async with Pegboard.open(database_url, settings=settings) as board:
        assert await codes(board) == ["table_not_found"]
        await make_mood_entries(database_url)
        assert await codes(board) == []
        assert (await board.call("log-mood", A_MOOD)).output["id"] == 1
