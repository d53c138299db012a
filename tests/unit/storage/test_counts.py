"""Counts in the database: added up by the caller that writes, read hour by hour."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from pegboard.journal.entries import CountRow
from pegboard.model.ids import new_id
from pegboard.storage import journal_tables, statistics_rows
from pegboard.storage.board_tables import get_table
from pegboard.storage.database import Database
from tests.unit.storage.insert_rows import insert_rows, keep_counts, keep_writer
from tests.unit.storage.sample_rows import NOW, an_execution

ADA, BEN = new_id(), new_id()
DAY = timedelta(days=1)


def count(hour: int, calls: int = 1, **parts: Any) -> CountRow:
    known = {"tool_name": "add", "caller_id": ADA, "status": "succeeded", "code": "", "bucket": 7, **parts}
    return (
        hour,
        known["tool_name"],
        known["caller_id"],
        known["status"],
        known["code"],
        known["bucket"],
        calls,
    )


async def collected(parts: AsyncIterator[Any]) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for part in [part async for part in parts] for row in part)


async def counted(database: Database, hours: range, **wanted: Any) -> list[tuple[Any, ...]]:
    async with database.read() as conn:
        return await collected(statistics_rows.iterate_counts(conn, hours, **wanted))


async def uncounted(database: Database, **wanted: Any) -> list[tuple[Any, ...]]:
    """Return the names, statuses and positions of rows that are not counted."""
    async with database.read() as conn:
        found = await collected(statistics_rows.iterate_uncounted(conn, NOW - DAY, NOW + DAY, **wanted))
    return [(row[0], row[1], row[4]) for row in found]


async def counted_seqs(database: Database) -> list[int]:
    """How far each writer has counted."""
    columns = get_table(journal_tables.Writer).c
    async with database.read() as conn:
        return list((await conn.execute(select(columns.counted_seq).order_by(columns.number))).scalars())


async def test_what_is_counted_twice_is_added_up(database: Database) -> None:
    await keep_writer(database)
    await keep_counts(database, [count(1, 2), count(2, 1)], counted_seq=3)
    await keep_counts(database, [count(1, 40), count(1, 7, status="failed", code="timeout")], counted_seq=50)
    await keep_counts(database, [], counted_seq=60)
    columns = get_table(journal_tables.ExecutionCount).c
    async with database.read() as conn:
        rows = (await conn.execute(select(columns.hour, columns.status, columns.calls))).all()
    assert sorted(map(tuple, rows)) == [(1, "failed", 7), (1, "succeeded", 42), (2, "succeeded", 1)]
    assert await counted_seqs(database) == [60]


async def test_what_was_counted_up_to_a_place_is_not_counted_up_to_it_again(database: Database) -> None:
    await keep_writer(database, 1)
    await keep_writer(database, 2)
    for again in (3, 3, 2, 0):
        await keep_counts(database, [count(1, 2, caller_id="")], counted_seq=again)
        assert await counted(database, range(1, 2)) == [("add", "succeeded", "", 7, 2)]
        assert await counted_seqs(database) == [3, 0]
    await keep_counts(database, [count(1, 40, caller_id="")], counted_seq=4)
    await keep_counts(database, [count(1, 100, caller_id="")], writer=2, counted_seq=4)
    await keep_counts(database, [count(1, 1000, caller_id="")], writer=3, counted_seq=4)  # no such row
    assert await counted(database, range(1, 2)) == [("add", "succeeded", "", 7, 142)]
    assert await counted_seqs(database) == [4, 4]


async def test_writers_that_count_the_same_do_not_block_each_other(database: Database) -> None:
    writers = range(1, 11)
    for number in writers:
        await keep_writer(database, number)
    same = sorted(count(hour, bucket=bucket, caller_id="") for hour in range(10) for bucket in range(20))
    await asyncio.gather(*(keep_counts(database, same, writer=number, counted_seq=1) for number in writers))
    assert sum(row[-1] for row in await counted(database, range(100))) == len(writers) * len(same)


async def test_counts_are_summed_over_the_hours_asked_for(database: Database) -> None:
    await keep_writer(database)
    all_users = [count(hour, hour, caller_id="") for hour in (10, 11, 12)]
    own = [count(11, 3), count(11, 8, caller_id=BEN, tool_name="echo")]
    await keep_counts(database, [*all_users, *own], counted_seq=33)
    one = ("add", "succeeded", "", 7)
    assert await counted(database, range(11, 13)) == [(*one, 23)]
    assert await counted(database, range(11, 12)) == [(*one, 11)]
    assert await counted(database, range(11, 12), caller_id=ADA) == [(*one, 3)]
    assert await counted(database, range(11, 12), caller_id=BEN, tool_name="add") == []
    assert await counted(database, range(11, 12), caller_id=BEN, tool_name="echo") == [("echo", *one[1:], 8)]


@pytest.mark.parametrize("hours", [range(5, 5), range(20, 10), range(13, 99), range(10)], ids=str)
async def test_hours_in_which_nothing_was_called_count_nothing(database: Database, hours: range) -> None:
    await keep_writer(database)
    assert await counted(database, hours) == []
    await keep_counts(database, [count(hour, caller_id="") for hour in (10, 12)], counted_seq=2)
    assert len(await counted(database, range(10, 13))) == 1
    assert await counted(database, hours) == []


async def test_a_span_of_all_times_is_no_longer_than_what_was_counted(database: Database) -> None:
    await keep_writer(database)
    await keep_counts(database, [count(hour, caller_id="") for hour in (400_000, 400_005)], counted_seq=2)
    assert await counted(database, range(2**31)) == [("add", "succeeded", "", 7, 2)]


async def test_many_alike_counts_come_in_parts(database: Database) -> None:
    await keep_writer(database)
    await keep_counts(database, [count(1, caller_id="", bucket=bucket) for bucket in range(2500)], counted_seq=2500)
    async with database.read() as conn:
        parts = [len(part) async for part in statistics_rows.iterate_counts(conn, range(1, 2))]
    assert sum(parts) == 2500
    assert max(parts) <= 1000


async def test_the_rows_after_what_each_writer_has_counted_are_uncounted(database: Database) -> None:
    tool = new_id()
    first = [an_execution(tool_name=f"a{number}", tool_id=tool) for number in range(3)]
    second = [an_execution(tool_name=f"b{number}", tool_id=tool, status="failed") for number in range(2)]
    await keep_writer(database, 1, seq=await insert_rows(database, *first, writer=1), counted_seq=1)
    await keep_writer(database, 2, seq=await insert_rows(database, *second, writer=2), counted_seq=0)
    third = an_execution(tool_name="c0", tool_id=tool)
    await keep_writer(database, 3, seq=await insert_rows(database, third, writer=3), counted_seq=1)
    assert await uncounted(database) == [
        ("a1", "succeeded", 2),
        ("a2", "succeeded", 3),
        ("b0", "failed", 1),
        ("b1", "failed", 2),
    ]


async def test_uncounted_rows_are_those_of_the_tool_caller_and_time_asked_for(database: Database) -> None:
    tool = new_id()
    rows = [
        an_execution(tool_name="add", tool_id=tool, caller_id=ADA),
        an_execution(tool_name="add", tool_id=tool, caller_id=BEN),
        an_execution(tool_name="echo", tool_id=tool, caller_id=ADA),
        an_execution(tool_name="add", tool_id=None, caller_id=ADA, status="refused"),
        an_execution(tool_name="add", tool_id=tool, caller_id=ADA, started_at=NOW + DAY),
        an_execution(tool_name="add", tool_id=tool, caller_id=ADA, started_at=NOW - DAY),
    ]
    await keep_writer(database, seq=await insert_rows(database, *rows))
    assert [seq for _, _, seq in await uncounted(database, tool_name="add", caller_id=ADA)] == [1, 6]
    assert sorted(seq for _, _, seq in await uncounted(database, caller_id=ADA)) == [1, 3, 4, 6]
    assert sorted(seq for _, _, seq in await uncounted(database, tool_name="add")) == [1, 2, 6]


async def test_many_uncounted_rows_come_in_parts_and_each_once(database: Database) -> None:
    made = [an_execution(tool_id="x") for _ in range(2001)]
    await keep_writer(database, seq=await insert_rows(database, *made))
    async with database.read() as conn:
        parts = [part async for part in statistics_rows.iterate_uncounted(conn, NOW, NOW + DAY)]
    assert [len(part) for part in parts] == [1000, 1000, 1]
    assert [row.seq for part in parts for row in part] == list(range(1, 2002))
