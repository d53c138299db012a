"""Attackers with the file of an export and not the key; or with the database and not the file."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pegboard.journal.verify import VerificationReport
from pegboard.model.api_errors import Invalid
from pegboard.storage.database import Database
from tests.unit.journal.audit_pages import exported, lines_verified, received
from tests.unit.journal.chained_journals import (
    MINUTE,
    add_writer,
    append,
    call,
    empty,
    journal,
    memory_database,
    prune_by_hand,
    read,
    run,
)
from tests.unit.storage.sample_rows import NOW

NEW_VALUES: list[Any] = ["x", 7, None, True, [], 1.25, "2026-03-01T12:30:15.999999Z", {"a": 1}]


@pytest.fixture
async def quick_database() -> AsyncIterator[Database]:
    """A database for many examples."""
    async with memory_database() as made:
        yield made


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=3),
    what=st.sampled_from(["change", "remove", "move", "double"]),
    place=st.integers(0, 100),
    other=st.integers(0, 100),
    new=st.sampled_from(NEW_VALUES),
    size=st.integers(1, 20),
)
async def test_any_line_changed_removed_moved_or_doubled_is_found(
    quick_database: Database, lengths: list[int], what: str, place: int, other: int, new: Any, size: int
) -> None:
    await empty(quick_database)
    await journal(quick_database, *lengths)
    lines = await exported(quick_database)
    changed = list(lines)
    place %= len(lines)
    if what == "change":
        line = json.loads(lines[place])
        name = sorted(line)[other % len(line)]
        changed[place] = json.dumps({**line, name: new})
        assume(json.dumps(line) != changed[place])
    elif what == "remove":
        del changed[place]
    elif what == "double":
        changed.insert(place, lines[place])
    else:
        changed.insert(other % len(lines), changed.pop(place))
        assume(changed != lines)
    try:
        report = await lines_verified(quick_database, changed, size)
    except Invalid:
        return  # not even the first line belongs to an export
    assert report.findings


async def test_whole_writers_may_change_places(database: Database) -> None:
    await journal(database, 2, 1, 3)
    lines = await exported(database)
    assert await lines_verified(
        database, [lines[0], *lines[8:13], *lines[5:8], *lines[1:5], lines[13]]
    ) == VerificationReport(6)


async def test_a_writer_may_not_be_left_out(database: Database) -> None:
    await journal(database, 2, 1, 3)
    lines = await exported(database)
    report = await lines_verified(database, [*lines[:5], *lines[8:]])
    assert received(report) == ["Writer 2 is missing, and what is signed of it"]


async def test_a_field_more_or_a_name_twice_is_found(database: Database) -> None:
    await journal(database, 1)
    lines = await exported(database)
    more = [*lines[:2], lines[2][:-1] + ',"note":"all well"}', *lines[3:]]
    assert "Line 3 is not as the board wrote it: more or other than its row" in received(
        await lines_verified(database, more)
    )
    twice = [*lines[:2], '{"caller":"eve",' + lines[2][1:], *lines[3:]]
    assert "Line 3 is not as the board wrote it: a name stands twice" in received(await lines_verified(database, twice))


async def test_a_shown_field_may_not_differ_from_what_its_mac_speaks_for(database: Database) -> None:
    await journal(database, 1)
    lines = await exported(database)
    row = json.loads(lines[2])
    lines[2] = json.dumps({**row, "caller": "eve", "stored": {"caller": row["caller"]}})
    assert (await lines_verified(database, lines)).findings


async def test_a_whole_export_cannot_pass_for_a_part(database: Database) -> None:
    await journal(database, 4)
    lines = await exported(database)
    lines[0] = json.dumps({**json.loads(lines[0]), "until": "2027-01-01T00:00:00.000000Z"})
    del lines[3]
    assert received(await lines_verified(database, lines)) == [
        "The header is not signed by this board: which rows the export was to hold is not known"
    ]


async def test_a_part_cannot_hold_a_row_without_its_predecessor(database: Database) -> None:
    await journal(database, 9)
    lines = await exported(database, since=NOW + 3 * MINUTE, until=NOW + 6 * MINUTE)
    lines[2] = json.dumps({**json.loads(lines[2]), "caller": "eve", "previous": None})
    assert (await lines_verified(database, lines)).findings


async def test_an_export_that_was_written_again_by_another_program_still_verifies(database: Database) -> None:
    await add_writer(database, 1)
    await append(database, 1, [call(elapsed_ms=5.0, error="☂")])
    lines = [json.dumps(line, sort_keys=True) for line in map(json.loads, await exported(database))]
    lines = [line.replace('"elapsed_ms": 5.0', '"elapsed_ms": 5') for line in lines]
    assert await lines_verified(database, lines) == VerificationReport(1)


async def test_a_board_that_went_on_still_has_what_the_export_knows(database: Database) -> None:
    await add_writer(database, 1)
    await add_writer(database, 2)
    places = await append(database, 1, [call(place) for place in range(5)])
    lines = await exported(database)
    await append(database, 1, [call(5)])
    assert (await lines_verified(database, lines, compare=True)).findings == ()
    await prune_by_hand(database, places[4])
    assert (await lines_verified(database, lines, compare=True)).findings == ()


async def test_a_database_put_back_to_an_earlier_state_shows(database: Database) -> None:
    await journal(database, 3)
    [(mac, signature)] = await read(database, "SELECT mac, signature FROM writers")
    await append(database, 1, [call(3)])
    lines = await exported(database)
    await run(database, "DELETE FROM executions WHERE seq = 4")
    await run(database, "UPDATE writers SET seq = 3, mac = :m, signature = :g", m=mac, g=signature)
    assert (await lines_verified(database, lines)).findings == ()
    assert received(await lines_verified(database, lines, compare=True)) == [
        "Row 4 of writer 1, its head in the export, is not on the board: the database was put back to an earlier"
        " state, or the row was removed"
    ]
    await append(database, 1, [call(7)])
    assert received(await lines_verified(database, lines, compare=True)) == [
        "Row 4 of writer 1 is another on the board than in the export"
    ]
