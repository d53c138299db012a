"""A tables file that is half written, unreadable or a pipe; and databases that do not answer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from itertools import count
from pathlib import Path

import pytest

from pegboard.kinds.table import file_watcher
from pegboard.kinds.table import file_watcher as looking
from pegboard.kinds.table.config import TableConfig
from pegboard.kinds.table.file_watcher import TableInspection
from pegboard.kinds.table.insert_plan import TableConfigProblem
from pegboard.kinds.table.sources import TableSources
from pegboard.model.api_errors import Invalid
from pegboard.model.tool import Tool
from pegboard.storage.database import Database
from pegboard.testing import memory_board
from tests.table_databases import A_MOOD, log_mood, make_mood_entries, run_sql, scribble, write_tables
from tests.waiting import until


@pytest.fixture
async def url(tmp_path: Path) -> str:
    """A database with a table of moods."""
    found = f"sqlite:///{tmp_path}/mood.db"
    await make_mood_entries(found)
    return found


@pytest.fixture
def file(tmp_path: Path, url: str) -> Path:
    """The tables file, with one table."""
    return write_tables(tmp_path / "tables.json", log_mood(), database=url)


async def test_a_pipe_in_place_of_the_file_is_reported_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "tables.json"
    os.mkfifo(pipe)
    async with memory_board(tables=pipe) as board:
        error = (await board.tables.status()).error
    assert error is not None
    assert error.message == f"{pipe} cannot be read: it is no file"


async def test_a_number_beyond_every_number_does_not_keep_the_board_from_opening(file: Path) -> None:
    scribble(file, '{"tables": [{"min": 1e99999999999999999999}]}')
    async with memory_board(tables=file) as board:
        error = (await board.tables.status()).error
    assert error is not None
    assert "1e99999999999999999999 is beyond every number" in error.message


async def test_a_change_of_the_file_mode_reloads_the_file(file: Path) -> None:
    async with memory_board(tables=file) as board:
        before = (await board.tables.status()).loaded_at
        os.chmod(file, 0o640)  # noqa: PTH101 -- nothing that blocks for long

        async def is_read_again() -> bool:
            return (await board.tables.status()).loaded_at != before

        assert await until(is_read_again, 10)


async def test_a_file_is_taken_when_no_one_has_written_to_it_for_a_while(
    file: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, looks = file_watcher.read_file_signature, count()

    def look_and_write_on(path: Path) -> tuple[int, ...] | None:
        if next(looks) == 2:  # the first poll noticed the change, and the second began to wait for its end
            write_tables(path, log_mood(toolId="log-two"), database=url)
        return look(path)

    async with memory_board(tables=file) as board:
        hanging: list[list[str]] = []
        swap = board.snapshot.swap_local_tools

        def note(former: Iterable[Tool], tools: Iterable[Tool]) -> None:
            swap(former, tools)
            hanging.append([tool.name for tool in board.snapshot.local()])

        monkeypatch.setattr(board.snapshot, "swap_local_tools", note)
        monkeypatch.setattr(file_watcher, "read_file_signature", look_and_write_on)
        scribble(file, '{"tables": []}')  # half of a file, which could be a whole one

        async def is_taken() -> bool:
            return board.snapshot.find("log-two") is not None

        assert await until(is_taken, 10)
    assert hanging[0] == ["log-two"]


async def test_a_source_that_is_gone_while_its_tables_are_examined_harms_no_other_call(
    file: Path, url: str, postgres_url: str
) -> None:
    tables = [log_mood(toolId=f"log-{number}", source="far") for number in range(20)]
    write_tables(file, *tables, database=url, sources={"far": postgres_url})
    async with memory_board(tables=file) as board:
        status = asyncio.create_task(board.tables.status())
        write_tables(file, log_mood(), database=url)
        await board.tables.reload()
        # The state before or after, depending on the timing.
        assert len((await status).items) in {1, 20}
        assert (await board.call("log-mood", A_MOOD)).problem is None


async def test_each_address_that_is_none_is_named_and_no_part_of_its_password(file: Path, url: str) -> None:
    sources = {"fine": url, "at": "postgresql://u:se@cret@h/d", "port": "postgresql://u:x@ss:secret/w@h/d", "no": "x"}
    write_tables(file, log_mood(), database=url, sources=sources)
    async with memory_board(tables=file) as board:
        with pytest.raises(Invalid) as refused:
            await board.tables.reload()
    assert [fault.field for fault in refused.value.faults] == ["sources.at", "sources.port", "sources.no"]
    assert "cret" not in refused.value.message


async def test_a_database_that_says_nothing_is_waited_for_once_and_not_for_each_table(
    database: Database, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "INSPECT_TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(looking, "MAX_CONCURRENT_INSPECTIONS", 1)
    await run_sql(url, "CREATE TABLE other (a TEXT)")
    reached = 0
    ended = asyncio.Event()

    async def say_nothing(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal reached
        reached += 1
        await ended.wait()
        writer.close()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    sources = TableSources(database)
    await sources.set_sources({None: f"postgresql://u:secret@127.0.0.1:{port}/d", "near": url})
    look = TableInspection(sources)
    tables = [
        TableConfig.model_validate({"tableName": name, "fields": [{"name": "a", "dataType": "text"}]})
        for name in ("one", "two", "other")
    ]
    far = [await look.facts(sources.get_source(None), table) for table in tables]
    near = await look.facts(sources.get_source("near"), tables[2])
    ended.set()
    await sources.close()
    server.close()
    assert {found.code for found in far if isinstance(found, TableConfigProblem)} == {"P1001"}
    assert "secret" not in str(far)
    assert reached == 1
    assert not isinstance(near, TableConfigProblem)
