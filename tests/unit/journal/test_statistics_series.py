"""Statistics of each hour or day, on both databases, of counted rows and of rows that are not counted yet."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pegboard.journal.statistics import HOUR, MAX_PERIODS, MAX_PERIODS_OF_TOOLS, Statistics
from pegboard.model.api_errors import Invalid
from pegboard.storage.database import Database
from tests.unit.journal.test_statistics import ADA, BEN, FULL, call, counts_of
from tests.unit.storage.insert_rows import insert_rows, keep_counts, keep_writer

DAY = timedelta(days=1)
MIDNIGHT = FULL.replace(hour=0)


async def fill(database: Database) -> None:
    """Add two counted calls of yesterday, and two of today of which one is counted."""
    counted = [
        call(started_at=MIDNIGHT - HOUR, elapsed_ms=10.0),
        call(started_at=MIDNIGHT - DAY, status="failed", code="timeout", elapsed_ms=30.0),
        call(started_at=MIDNIGHT + HOUR, tool_name="echo", caller_id=BEN, elapsed_ms=20.0),
    ]
    fresh = [
        call(started_at=MIDNIGHT + HOUR, status="refused", code="missing"),
        call(started_at=MIDNIGHT + HOUR, tool_name="made up", tool_id=None, status="refused", code="tool_not_found"),
    ]
    await keep_writer(database, seq=await insert_rows(database, *counted, *fresh))
    await keep_counts(database, counts_of(*counted), counted_seq=len(counted))


async def test_each_hour_is_listed_and_adds_up_to_the_totals(database: Database) -> None:
    await fill(database)
    statistics, span = Statistics(database), (MIDNIGHT - DAY, MIDNIGHT + 2 * HOUR)
    series = await statistics.read_series(*span, by="hour")
    assert [each.start for each in series] == [MIDNIGHT - DAY + number * HOUR for number in range(26)]
    busy = {(each.start - MIDNIGHT) // HOUR: each for each in series if each.calls}
    assert {place: (each.succeeded, each.failed, each.refused) for place, each in busy.items()} == {
        -24: (0, 1, 0),
        -1: (1, 0, 0),
        1: (1, 0, 2),
    }
    assert busy[1].p50_ms == busy[1].p95_ms == pytest.approx(20, rel=0.031)
    assert (series[1].p50_ms, series[1].p95_ms) == (None, None)
    totals = (await statistics.read(*span)).tools
    for name in ("calls", "succeeded", "failed", "refused", "in_doubt"):
        assert sum(getattr(each, name) for each in series) == sum(getattr(tool, name) for tool in totals)


async def test_a_day_begins_at_midnight_and_may_be_partly_in_the_time_span(database: Database) -> None:
    await fill(database)
    statistics = Statistics(database)
    whole = await statistics.read_series(MIDNIGHT - DAY, MIDNIGHT + 2 * HOUR, by="day")
    assert [(each.start, each.calls) for each in whole] == [(MIDNIGHT - DAY, 2), (MIDNIGHT, 3)]
    partly = await statistics.read_series(MIDNIGHT - HOUR, MIDNIGHT + HOUR, by="day")
    assert [(each.start, each.calls) for each in partly] == [(MIDNIGHT - DAY, 1), (MIDNIGHT, 0)]


async def test_one_tool_or_one_caller_may_be_selected(database: Database) -> None:
    await fill(database)
    statistics, span = Statistics(database), (MIDNIGHT - DAY, MIDNIGHT + 2 * HOUR)

    async def calls(**wanted: Any) -> list[int]:
        return [each.calls for each in await statistics.read_series(*span, by="day", **wanted)]

    assert await calls(tool_name="add") == [2, 1]
    assert await calls(tool_name="") == [0, 1]
    assert await calls(caller_id=ADA) == [2, 2]
    assert await calls(caller_id=BEN, tool_name="echo") == [0, 1]


async def test_several_tools_have_a_series_each_in_the_given_order(database: Database) -> None:
    await fill(database)
    statistics = Statistics(database)
    found = await statistics.read_series_of_tools(
        MIDNIGHT - DAY, MIDNIGHT + 2 * HOUR, by="day", tool_names=["none", "echo", "add"]
    )
    assert (found.since, found.until, found.by) == (MIDNIGHT - DAY, MIDNIGHT + 2 * HOUR, "day")
    calls = [(name, [each.calls for each in series]) for name, series in found.tools.items()]
    assert calls == [("none", [0, 0]), ("echo", [0, 1]), ("add", [2, 1])]


async def test_a_time_span_with_too_many_periods_is_refused(database: Database) -> None:
    statistics = Statistics(database)
    assert len(await statistics.read_series(FULL - MAX_PERIODS * HOUR, FULL, by="hour")) == MAX_PERIODS
    with pytest.raises(Invalid, match="more than 750 periods"):
        await statistics.read_series(FULL - (MAX_PERIODS + 1) * HOUR, FULL, by="hour")
    with pytest.raises(Invalid, match="use by=day"):
        await statistics.read_series_of_tools(
            FULL - (MAX_PERIODS_OF_TOOLS + 1) * HOUR, FULL, by="hour", tool_names=["add"]
        )
