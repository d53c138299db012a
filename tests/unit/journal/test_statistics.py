"""Statistics: every row counts once, whether or not its writer has counted it yet."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.journal import writer as writer_module
from pegboard.journal.entries import ClosingEntry, CountRow, EntryBatch, OpeningEntry
from pegboard.journal.latency_counts import CallCounts, get_hour
from pegboard.journal.statistics import HOUR, Statistics, StatisticsReport, ToolStatistics, round_to_hours
from pegboard.journal.writer import JournalWriter, WriterFenced
from pegboard.journal.writer_locks import WriterLeases
from pegboard.model.call import Execution
from pegboard.model.ids import new_id
from pegboard.model.journal_row import serialize_execution
from pegboard.storage.database import Database
from tests.unit.journal.chained_journals import read
from tests.unit.journal.standalone_journals import DeadWriters, WatchedLedger, lone_writer
from tests.unit.storage.insert_rows import insert_rows, keep_counts, keep_writer, move_writer
from tests.unit.storage.sample_rows import NOW, an_execution

ADA, BEN, TOOL = new_id(), new_id(), new_id()
FULL = NOW.replace(minute=0, second=0, microsecond=0)


def call(**fields: Any) -> Execution:
    """Return a call of an existing tool."""
    return an_execution(**{"tool_id": TOOL, "caller_id": ADA, **fields})


def counts_of(*made: Execution) -> list[CountRow]:
    counts = CallCounts()
    for one in made:
        counts.add(serialize_execution(one))
    return counts.take()


def by_name(report: StatisticsReport) -> dict[str | None, ToolStatistics]:
    return {tool.tool_name: tool for tool in report.tools}


def test_calls_are_counted_by_hour_tool_caller_and_end() -> None:
    made = [call(), call(elapsed_ms=1.51), call(status="failed", code="timeout"), call(started_at=NOW + HOUR)]
    hour, bucket = get_hour(NOW), counts_of(made[0])[0][5]
    mine = [
        (hour, "add", ADA, "failed", "timeout", bucket, 1),
        (hour, "add", ADA, "succeeded", "", bucket, 2),
        (hour + 1, "add", ADA, "succeeded", "", bucket, 1),
    ]
    everybodys = [(*count[:2], "", *count[3:]) for count in mine]
    assert counts_of(*made) == sorted([*mine, *everybodys])


def test_made_up_names_of_tools_are_counted_under_none() -> None:
    made = [call(tool_name=f"made up {number}", tool_id=None, caller_id="") for number in range(10)]
    assert [(count[1], count[6]) for count in counts_of(*made)] == [("", 10)]


def test_what_is_taken_is_gone_until_it_is_put_back() -> None:
    counts = CallCounts()
    counts.add(serialize_execution(call()))
    taken = counts.take()
    assert (len(counts), counts.take()) == (0, [])
    counts.put_back(taken)
    counts.add(serialize_execution(call()))
    counts.add(serialize_execution(call(caller_id=BEN)))
    assert len(counts) == len(taken) + 2
    assert [(count[2], count[6]) for count in counts.take()] == sorted([(ADA, 2), (BEN, 1), ("", 3)])
    assert len(counts) == 0


async def test_a_tool_has_its_calls_errors_and_latencies(database: Database) -> None:
    well = [call(elapsed_ms=float(number)) for number in range(1, 97)]
    ill = [
        call(status="failed", code="timeout", elapsed_ms=1000.0),
        call(status="failed", code="timeout", elapsed_ms=1000.0),
        call(status="refused", code="rate_limited", elapsed_ms=99_999.0),
        call(status="in_doubt", code="in_doubt", elapsed_ms=99_999.0),
    ]
    await keep_writer(database)
    await keep_counts(database, counts_of(*well, *ill), counted_seq=100)
    report = await Statistics(database).read(NOW, NOW + HOUR)
    (tool,) = report.tools
    assert (tool.tool_name, tool.calls) == ("add", 100)
    assert (tool.succeeded, tool.failed, tool.refused, tool.in_doubt) == (96, 2, 1, 1)
    assert tool.errors == {"timeout": 2, "rate_limited": 1, "in_doubt": 1}
    assert tool.p50_ms == pytest.approx(49, rel=0.031)
    assert tool.p95_ms == pytest.approx(94, rel=0.031)
    assert tool.p99_ms == pytest.approx(1000, rel=0.031)
    assert tool.max_ms == pytest.approx(1000, rel=0.031)


async def test_tools_that_there_are_not_share_a_line_without_latencies(database: Database) -> None:
    made = [an_execution(tool_name=name, status="refused", code="tool_not_found") for name in ("x", "y", "")]
    await keep_writer(database, seq=await insert_rows(database, *made))
    (tool,) = (await Statistics(database).read(NOW, NOW)).tools
    assert (tool.tool_name, tool.calls, tool.refused, tool.errors) == (None, 3, 3, {"tool_not_found": 3})
    assert (tool.p50_ms, tool.p95_ms, tool.p99_ms, tool.max_ms) == (None, None, None, None)


async def test_the_most_called_tool_comes_first(database: Database) -> None:
    made = [call(tool_name=name) for name in ("one", "three", "two", "three", "other", "two", "three")]
    await keep_writer(database, seq=await insert_rows(database, *made))
    report = await Statistics(database).read(NOW, NOW)
    assert [tool.tool_name for tool in report.tools] == ["three", "two", "one", "other"]


async def test_one_tool_or_one_caller_may_be_asked_for(database: Database) -> None:
    counted = [call(), call(tool_name="echo"), call(caller_id=BEN)]
    fresh = [call(), call(tool_name="echo", caller_id=BEN), call(tool_name="echo", tool_id=None)]
    await keep_writer(database, seq=await insert_rows(database, *counted, *fresh))
    await keep_counts(database, counts_of(*counted), counted_seq=len(counted))
    statistics = Statistics(database)

    async def calls(**wanted: Any) -> dict[str | None, int]:
        return {tool.tool_name: tool.calls for tool in (await statistics.read(NOW, NOW, **wanted)).tools}

    assert await calls() == {"add": 3, "echo": 2, None: 1}
    assert await calls(tool_name="add") == {"add": 3}
    assert await calls(caller_id=BEN) == {"add": 1, "echo": 1}
    assert await calls(caller_id=ADA, tool_name="add") == {"add": 2}
    assert await calls(caller_id=new_id()) == {}
    assert await calls(tool_name="nothing") == {}
    assert await calls(tool_name="") == {None: 1}


async def test_every_row_counts_once_before_and_after_its_writer_counts_it(database: Database) -> None:
    made = [call(elapsed_ms=number + 1.0, status=("succeeded", "failed")[number % 2]) for number in range(6)]
    await keep_writer(database, 1, seq=await insert_rows(database, *made[:3], writer=1))
    await keep_writer(database, 2, seq=await insert_rows(database, *made[3:], writer=2))
    statistics = Statistics(database)
    uncounted = await statistics.read(NOW, NOW)
    assert uncounted.tools[0].calls == 6
    await keep_counts(database, counts_of(*made[:2]), writer=1, counted_seq=2)
    assert await statistics.read(NOW, NOW) == uncounted
    await keep_counts(database, counts_of(made[2]), writer=1, counted_seq=3)
    await keep_counts(database, counts_of(*made[3:]), writer=2, counted_seq=3)
    assert await statistics.read(NOW, NOW) == uncounted
    await move_writer(database, 2, await insert_rows(database, call(), writer=2))
    assert (await statistics.read(NOW, NOW)).tools[0].calls == 7


@asynccontextmanager
async def writing(
    database: Database, spools: Path, leases: WriterLeases | None = None
) -> AsyncIterator[tuple[WatchedLedger, JournalWriter]]:
    """A writer that counts only on request, and ends like a killed process."""
    ledger, writer, _ = lone_writer(database, spools, leases=leases)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer_module, "COUNT_INTERVAL_SECONDS", math.inf)
        yield ledger, writer
    await writer.abandon()


async def write(writer: JournalWriter, *made: Execution, count: bool = False) -> None:
    """Commit calls together; counting adds those of earlier commits to the statistics."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer_module, "COUNT_INTERVAL_SECONDS", 0.0 if count else math.inf)
        await writer.commit(EntryBatch([], [ClosingEntry(serialize_execution(one)) for one in made]))


async def places(database: Database) -> list[Any]:
    """Return the length of each writer's chain, and how much of it is counted."""
    return await read(database, "SELECT seq, counted_seq FROM writers ORDER BY number")


async def test_rows_count_once_though_the_answer_to_their_counting_was_lost(database: Database, tmp_path: Path) -> None:
    statistics, last = Statistics(database), call(tool_name="last")
    async with writing(database, tmp_path) as (ledger, writer):
        await write(writer, call(), call())
        ledger.fails = "after"
        # The second time it does not know the outcome of the first, and counts all rows.
        for counted in (2, 3):
            with pytest.raises(ConnectionError):
                await write(writer, last, count=True)
            assert await places(database) == [(3, counted)]
        ledger.fails = ""
        await write(writer, last, count=True)
        assert await places(database) == [(3, 3)]
        expected = await statistics.read(NOW, NOW)
        assert {tool.tool_name: tool.calls for tool in expected.tools} == {"add": 2, "last": 1}
        await write(writer, count=True)
        assert await places(database) == [(3, 3)]
        assert await statistics.read(NOW, NOW) == expected


@pytest.mark.parametrize("counted", [0, 2, 5])
async def test_what_a_dead_writer_did_not_count_is_counted_when_it_is_taken_over(
    database: Database, tmp_path: Path, counted: int
) -> None:
    statistics, span = Statistics(database), (NOW - HOUR, NOW)
    made = [call(elapsed_ms=1.0), call(tool_id=None, caller_id=BEN), call(started_at=NOW - HOUR, elapsed_ms=77.5)]
    made += [call(status="failed", code="timeout"), call(status="refused", code="custom", caller_id=BEN)]
    async with writing(database, tmp_path) as (_, dying):
        await write(dying, *made[:counted])
        await write(dying, *made[counted:], count=True)
        assert await places(database) == [(5, counted)]
        before = [await statistics.read(*span, caller_id=whose) for whose in (None, ADA, BEN)]
    assert {tool.tool_name: tool.calls for tool in before[0].tools} == {"add": 4, None: 1}

    async with writing(database, tmp_path) as (_, heir):
        for _ in range(2):
            assert [await statistics.read(*span, caller_id=whose) for whose in (None, ADA, BEN)] == before
            assert await heir.recover() == 0
            assert await places(database) == [(5, 5)], "every reading still has to add them up"
        assert [await statistics.read(*span, caller_id=whose) for whose in (None, ADA, BEN)] == before


async def test_a_call_that_a_dead_writer_left_open_is_counted_once(database: Database, tmp_path: Path) -> None:
    statistics, draft = Statistics(database), call(tool_name="open", status="in_doubt", code="in_doubt")
    async with writing(database, tmp_path) as (_, dying):
        await dying.commit(
            EntryBatch([OpeningEntry(serialize_execution(draft))], [ClosingEntry(serialize_execution(call()))])
        )
        assert {tool.tool_name for tool in (await statistics.read(NOW, NOW)).tools} == {"add"}
    async with writing(database, tmp_path) as (_, heir):
        assert await heir.recover() == 1
        found = await statistics.read(NOW, NOW)
        assert {(tool.tool_name, tool.calls, tool.in_doubt) for tool in found.tools} == {("add", 1, 0), ("open", 1, 1)}
        assert await places(database) == [(1, 1), (1, 0)]
        await write(heir, count=True)
        assert await places(database) == [(1, 1), (1, 1)]
        assert await statistics.read(NOW, NOW) == found


async def test_a_writer_taken_for_dead_does_not_count_its_rows_again(database: Database, tmp_path: Path) -> None:
    statistics, last = Statistics(database), call(tool_name="last")
    heirs = writing(database, tmp_path / "other", DeadWriters())
    async with writing(database, tmp_path) as (_, fenced), heirs as (_, heir):
        await write(fenced, call(), call())
        assert await heir.recover() == 0
        with pytest.raises(WriterFenced):
            await write(fenced, last, count=True)
        await write(fenced, last)
        await write(fenced, count=True)
        found = (await statistics.read(NOW, NOW)).tools
        assert {tool.tool_name: tool.calls for tool in found} == {"add": 2, "last": 1}


async def test_only_whole_hours_are_reported_and_the_answer_says_which(database: Database) -> None:
    made = [
        call(tool_name=name, started_at=FULL + delay)
        for name, delay in {
            "before": -timedelta(microseconds=1),
            "first": timedelta(0),
            "last": 2 * HOUR - timedelta(microseconds=1),
            "after": 2 * HOUR,
        }.items()
    ]
    asked = (FULL + timedelta(minutes=59), FULL + timedelta(minutes=61))
    await keep_writer(database, seq=await insert_rows(database, *made))
    fresh = await Statistics(database).read(*asked)
    assert (fresh.since, fresh.until) == (FULL, FULL + 2 * HOUR)
    assert set(by_name(fresh)) == {"first", "last"}
    await keep_counts(database, counts_of(*made), counted_seq=4)
    assert await Statistics(database).read(*asked) == fresh


async def test_without_a_time_it_is_the_last_day_up_to_now(database: Database) -> None:
    now = datetime.now(UTC)
    made = [call(tool_name=name, started_at=now - ago) for name, ago in {"now": 0 * HOUR, "old": 26 * HOUR}.items()]
    await keep_writer(database, seq=await insert_rows(database, *made))
    report = await Statistics(database).read()
    assert set(by_name(report)) == {"now"}
    assert report.until - report.since == 24 * HOUR
    assert report.until - HOUR <= datetime.now(UTC) <= report.until
    older = await Statistics(database).read(until=now - 25 * HOUR)
    assert set(by_name(older)) == {"old"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_the_hours_hold_the_time_asked_for_from_1970_on(since: datetime, until: datetime) -> None:
    hours = round_to_hours(since, until)
    begin, end = (datetime(1970, 1, 1, tzinfo=UTC) + hour * HOUR for hour in (hours.start, hours.stop))
    if datetime(1970, 1, 1, tzinfo=UTC) <= since <= until < datetime(9999, 12, 31, 23, tzinfo=UTC):
        assert begin <= since < begin + HOUR
        assert end - HOUR < until <= end or begin == end
    assert hours.start <= hours.stop


@pytest.mark.parametrize("moment", [datetime.min, datetime.max])
async def test_any_moment_can_be_asked_for(database: Database, moment: datetime) -> None:
    asked = moment.replace(tzinfo=UTC)
    await keep_writer(database, seq=await insert_rows(database, call()))
    assert (await Statistics(database).read(asked, asked)).tools == ()
    assert (await Statistics(database).read(until=asked)).tools == ()
    assert len((await Statistics(database).read(since=asked)).tools) == (asked < NOW)


async def test_rows_from_before_the_chain_are_in_no_statistics(database: Database) -> None:
    await insert_rows(database, call(), writer=1)
    async with database.write() as conn:
        await conn.exec_driver_sql("UPDATE executions SET writer = NULL, seq = NULL, mac = NULL")
    assert (await Statistics(database).read(NOW, NOW)).tools == ()
