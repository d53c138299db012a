"""Calls of table tools with a database in memory that fails as configured."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from pegboard.kinds.base import OpenTool
from pegboard.kinds.table import executor as executor_module
from pegboard.kinds.table import sources as sources_module
from pegboard.kinds.table.config import DatabaseFailed, TableUnusable
from pegboard.kinds.table.executor import TableExecutor
from pegboard.kinds.table.source import InsertFault
from pegboard.kinds.table.sources import TableSources
from pegboard.kinds.table.table_schema import Column
from pegboard.model.call_errors import InDoubt, InvalidArguments, Misconfigured, Unavailable
from pegboard.storage.database import Database
from tests.unit.kinds.table.fakes import (
    ENERGY,
    MOOD,
    MOODS,
    Clock,
    FakeSource,
    call_of,
    compile_tool,
    facts,
    run,
    tool_of,
)

STALE = InsertFault("P2022", "", sqlstate="42703", is_stale=True)


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> FakeSource:
    made = FakeSource()
    monkeypatch.setattr(sources_module, "open_source", lambda _url: made)
    return made


@pytest.fixture
async def sources(source: FakeSource) -> AsyncIterator[TableSources]:
    database = Database.create("memory")
    made = TableSources(database)
    await made.set_sources({None: "sqlite:///moods.db"})
    yield made
    await made.close()
    await database.close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(executor_module, "time", clock)
    monkeypatch.setattr(sources_module, "time", clock)
    return clock


class TestAnswers:
    async def test_a_row_is_inserted_and_its_id_is_reported(self, sources: TableSources, source: FakeSource) -> None:
        output = await run(compile_tool(sources), mood="sad", energy=3)
        assert output.value == {
            "id": 1,
            "rowCount": 1,
            "message": "Successfully inserted row into mood_entries (id 1): mood sad, energy 3",
        }
        assert output.row_id == "1"
        assert source.inserted == [{"mood": "sad", "energy": 3}]

    async def test_a_batch_is_one_entry_with_all_its_ids(self, sources: TableSources, source: FakeSource) -> None:
        output = await run(compile_tool(sources, batch=True), rows=[{"mood": "a"}, {"mood": "b", "energy": 1}])
        assert output.value["ids"] == [1, 2]
        assert output.value["rowCount"] == 2
        assert output.row_id == "[1,2]"
        assert len(source.entries) == 1

    async def test_the_journal_keeps_a_bounded_number_of_ids(self, sources: TableSources) -> None:
        output = await run(compile_tool(sources, batch=True), rows=[{"mood": "a"}] * 1000)
        assert len(output.value["ids"]) == 1000
        assert output.row_id is not None
        assert output.row_id.endswith(" and 900 more")

    async def test_without_a_key_there_is_no_id(self, sources: TableSources, source: FakeSource) -> None:
        source.now = facts(MOOD, ENERGY)
        for batch in (False, True):
            given: dict[str, Any] = {"rows": [{"mood": "a"}]} if batch else {"mood": "a"}
            output = await run(compile_tool(sources, batch=batch), **given)
            assert not {"id", "ids"} & output.value.keys()
            assert output.row_id is None

    async def test_a_composite_key_is_an_object_by_field_names(self, sources: TableSources, source: FakeSource) -> None:
        known_columns = Column("how", "text", "text"), Column("level", "int", "integer"), Column("n", "int", "integer")
        source.now = facts(*known_columns, key=("how", "level", "n"))
        mapped = {"mood": "how", "energy": "level"}
        output = await run(compile_tool(sources, columnMappings=mapped), mood="sad", energy=3)
        assert output.value["id"] == {"mood": "sad", "energy": 3, "n": 1}
        assert json.loads(output.row_id or "") == output.value["id"]

    @pytest.mark.parametrize(
        ("key", "received"),
        [
            (UUID(int=5), "00000000-0000-0000-0000-000000000005"),
            (Decimal("1.50"), "1.50"),
            (datetime(2025, 10, 5, 14, 30, tzinfo=UTC), "2025-10-05T14:30:00Z"),
            (date(2025, 10, 5), "2025-10-05"),
            (b"\x01\xff", "01ff"),
            (True, True),
            (1.5, 1.5),
        ],
    )
    async def test_a_key_is_reported_in_its_own_json_type(
        self, sources: TableSources, source: FakeSource, monkeypatch: pytest.MonkeyPatch, key: Any, received: Any
    ) -> None:
        monkeypatch.setattr(source, "key", lambda _entry, _row: (key,))
        assert (await run(compile_tool(sources), mood="a")).value["id"] == received

    async def test_an_entry_ends_before_its_call_does(self, sources: TableSources, source: FakeSource) -> None:
        call = call_of({"mood": "a"})
        await compile_tool(sources).run(call)
        (entry,) = source.entries
        assert entry.run_id == call.run_id
        assert entry.ends < call.deadline


class TestTransactions:
    async def test_tools_on_the_boards_own_database_commit_their_journal_entries(
        self, sources: TableSources, source: FakeSource
    ) -> None:
        assert not compile_tool(sources).is_transactional
        source.is_transactional = True
        assert compile_tool(sources).is_transactional

    async def test_a_call_without_intent_does_not_run_on_a_database_without_journal(
        self, sources: TableSources, source: FakeSource
    ) -> None:
        with pytest.raises(Unavailable) as refused:
            await compile_tool(sources).run(call_of({"mood": "a"}, is_transactional=True))
        assert not refused.value.did_run
        assert not source.entries


class TestMoving:
    async def test_a_source_that_is_replaced_while_its_facts_are_read_gets_no_row(
        self, sources: TableSources, source: FakeSource, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tool = compile_tool(sources)
        running = asyncio.create_task(run(tool, mood="a"))
        async with asyncio.timeout(30):
            await source.was_asked.wait()
        other = FakeSource()
        monkeypatch.setattr(sources_module, "open_source", lambda _url: other)
        await sources.set_sources({None: "sqlite:///others.db"})
        with pytest.raises(Unavailable) as refused:
            await running
        assert not refused.value.did_run
        await run(tool, mood="b")
        assert not source.entries
        assert other.inserted == [{"mood": "b"}]


class TestFailures:
    async def test_a_source_that_is_not_there(self, sources: TableSources) -> None:
        with pytest.raises(TableUnusable, match="There is no source 'other'") as refused:
            compile_tool(sources, source="other")
        assert refused.value.problem.code == "source_not_found"

    async def test_a_config_that_is_none(self, sources: TableSources) -> None:
        tool = tool_of()
        with pytest.raises(Misconfigured):
            TableExecutor(sources).prepare(OpenTool(tool, {"tableName": "t"}))

    async def test_what_columns_do_not_take_never_reaches_the_database(
        self, sources: TableSources, source: FakeSource
    ) -> None:
        with pytest.raises(InvalidArguments):
            await run(compile_tool(sources), mood="a", energy=2**20)
        assert not source.entries

    async def test_a_fault_is_reported_by_fields(self, sources: TableSources, source: FakeSource) -> None:
        source.faults = [InsertFault("P2002", "", sqlstate="23505", columns=("mood",))]
        with pytest.raises(DatabaseFailed, match=r"on \(mood\)"):
            await run(compile_tool(sources), mood="a")

    async def test_a_row_that_may_be_in_is_never_tried_again(self, sources: TableSources, source: FakeSource) -> None:
        source.faults = [InsertFault("P1017", "", is_unknown=True, is_stale=True)]
        with pytest.raises(InDoubt):
            await run(compile_tool(sources), mood="a")
        assert not source.entries
        assert source.asked == 1

    async def test_a_database_that_cannot_be_asked_is_asked_again_by_the_next_call(
        self, sources: TableSources, source: FakeSource
    ) -> None:
        tool = compile_tool(sources)
        source.unreachable = InsertFault("P1001", "refused", sqlstate="08001")
        with pytest.raises(DatabaseFailed, match="cannot be reached") as refused:
            await run(tool, mood="a")
        assert refused.value.retry_after_ms == 1000
        source.unreachable = None
        assert (await run(tool, mood="a")).value["id"] == 1


class TestChanges:
    async def test_facts_are_read_once_for_all_calls(self, sources: TableSources, source: FakeSource) -> None:
        tool, many = compile_tool(sources), compile_tool(sources, batch=True)
        await asyncio.gather(*(run(tool, mood="a") for _ in range(20)))
        await run(many, rows=[{"mood": "a"}])
        assert source.asked == 1

    async def test_a_table_that_lost_a_column_is_unusable_at_once(
        self, sources: TableSources, source: FakeSource
    ) -> None:
        tool = compile_tool(sources)
        await run(tool, mood="a")
        source.now, source.faults = facts(MOOD), [STALE]
        with pytest.raises(TableUnusable) as refused:
            await run(tool, mood="a", energy=1)
        assert refused.value.problem.code == "column_not_found"
        assert source.asked == 2

    async def test_a_table_that_still_fits_is_tried_once_more_by_its_new_facts(
        self, sources: TableSources, source: FakeSource
    ) -> None:
        tool = compile_tool(sources)
        await run(tool, mood="a")
        source.now, source.faults = facts(MOOD, ENERGY), [STALE]
        assert "id" not in (await run(tool, mood="b")).value
        assert source.inserted == [{"mood": "a"}, {"mood": "b"}]

    async def test_a_column_that_a_call_leaves_out_is_no_change_of_the_table(
        self, sources: TableSources, source: FakeSource
    ) -> None:
        source.faults = [InsertFault("P2011", "", sqlstate="23502", columns=("energy",), is_stale=True)]
        with pytest.raises(DatabaseFailed, match="'energy' cannot be null"):
            await run(compile_tool(sources), mood="a")
        assert source.asked == 1

    async def test_there_is_one_more_try_and_no_third(self, sources: TableSources, source: FakeSource) -> None:
        tool = compile_tool(sources)
        source.faults = [STALE, STALE, STALE]
        with pytest.raises(DatabaseFailed) as refused:
            await run(tool, mood="a")
        assert refused.value.problem.code == "P2022"
        assert len(source.faults) == 1

    async def test_calls_that_meet_the_same_change_look_once(self, sources: TableSources, source: FakeSource) -> None:
        tool = compile_tool(sources)
        await run(tool, mood="a")
        source.now, source.faults = facts(MOOD, ENERGY), [STALE] * 10
        await asyncio.gather(*(run(tool, mood="b") for _ in range(10)))
        assert source.asked == 2
        assert len(source.entries) == 11

    async def test_facts_read_by_another_user_are_planned_by(self, sources: TableSources, source: FakeSource) -> None:
        tool = compile_tool(sources)
        await run(tool, mood="a")
        source.now = facts(MOOD, ENERGY)
        await sources.read(source, None, "mood_entries")
        assert "id" not in (await run(tool, mood="b")).value

    async def test_a_table_that_returns_is_found_within_a_second(
        self, sources: TableSources, source: FakeSource, clock: Clock
    ) -> None:
        tool = compile_tool(sources)
        source.now = None
        for _ in range(5):
            with pytest.raises(TableUnusable, match="'mood_entries' does not exist"):
                await run(tool, mood="a")
        assert source.asked == 1
        source.now = MOODS
        with pytest.raises(TableUnusable):
            await run(tool, mood="a")
        clock.now += 1
        answers = await asyncio.gather(*(run(tool, mood="a") for _ in range(5)))
        assert len(answers) == 5
        assert source.asked == 2
