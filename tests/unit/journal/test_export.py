"""An export holds every row, verifies by itself, and shows when it was changed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.core.refusals import Invalid
from pegboard.journal import lines as lines_of
from pegboard.journal.audit import Audit
from pegboard.journal.chain import Chain
from pegboard.journal.verify import Report
from pegboard.store.database import Database
from pegboard.store.executions import restored
from tests.unit.journal.audits import exported, lines_verified, told
from tests.unit.journal.chained import (
    CHAIN,
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
    unchained,
)
from tests.unit.store.rows import NOW


@pytest.fixture
async def quick_database() -> AsyncIterator[Database]:
    """A database for many examples."""
    async with memory_database() as made:
        yield made


def parsed(lines: list[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines]


def rows_in(lines: list[str]) -> list[dict[str, Any]]:
    return [line for line in parsed(lines) if "id" in line]


async def test_an_empty_journal_has_a_header_and_an_end(database: Database) -> None:
    lines = await exported(database)
    assert [next(iter(line)) for line in parsed(lines)] == ["pegboard_export", "pegboard_end"]
    assert await lines_verified(database, lines) == Report(0)


@pytest.mark.parametrize("limit", [1, 2, 1000])
async def test_every_row_is_there_once_in_the_order_of_the_chains(database: Database, limit: int) -> None:
    made = await journal(database, 3, 0, 2)
    lines = await exported(database, limit)
    assert [next(iter(line)) for line in parsed(lines)] == [
        "pegboard_export",
        *("pegboard_writer", "id", "id", "id", "pegboard_head"),
        *("pegboard_writer", "pegboard_head"),
        *("pegboard_writer", "id", "id", "pegboard_head"),
        "pegboard_end",
    ]
    rows = rows_in(lines)
    assert [row["id"] for row in rows] == [execution.id for chain in made for execution in chain]
    assert [(row["writer"], row["seq"]) for row in rows] == [(1, 1), (1, 2), (1, 3), (3, 1), (3, 2)]
    assert [row["previous"] for row in rows[:3]] == ["", rows[0]["mac"], rows[1]["mac"]]
    assert await lines_verified(database, lines, limit) == Report(5)


async def test_a_row_shows_its_fields_as_the_api_does(database: Database) -> None:
    [[made]] = await journal(database, 1)
    [row] = rows_in(await exported(database))
    assert row["started_at"] == "2026-03-01T12:30:15.123456Z"
    assert row["arguments"] == {"n": 0, "x": 1.5}
    shown = {**made._asdict(), "started_at": row["started_at"], "finished_at": row["finished_at"]}
    assert row == {**shown, "writer": 1, "seq": 1, "mac": row["mac"], "previous": ""}


async def test_what_cannot_be_told_from_its_field_is_kept_as_it_is_stored(database: Database) -> None:
    await add_writer(database, 1)
    odd: list[dict[str, Any]] = [
        {"arguments": {1: 2}, "result": "null"},
        {"arguments": {"a": [2**70, "\ud800", -0.0, 1e300]}, "result": {"b": 10**400}},
        {"arguments": {"a": float("nan")}, "elapsed_ms": 5.0},
    ]
    made = [call(place, **fields) for place, fields in enumerate(odd)]
    await append(database, 1, made)
    lines = await exported(database)
    assert rows_in(lines)[0]["stored"] == {"arguments": '{"1": 2}'}
    assert await lines_verified(database, lines) == Report(3)


async def test_rows_from_before_the_chain_are_exported_first_and_not_judged(database: Database) -> None:
    old = [call(-3), call(-2), call(-1)]
    await unchained(database, *old)
    await journal(database, 2)
    for limit in (1, 2, 1000):
        lines = await exported(database, limit)
        assert [row["id"] for row in rows_in(lines)][:3] == [execution.id for execution in old]
        assert [row["writer"] for row in rows_in(lines)] == [None, None, None, 1, 1]
        assert await lines_verified(database, lines) == Report(
            2, notes=("3 rows from before there was a chain, not judged",)
        )


async def test_a_span_of_time_is_exported_and_says_what_cannot_be_judged(database: Database) -> None:
    await unchained(database, call(-5), call(4))
    await run(database, "UPDATE executions SET started_at = finished_at")
    await journal(database, 9, 9)
    for limit in (1, 1000):
        lines = await exported(database, limit, since=NOW + 3 * MINUTE, until=NOW + 6 * MINUTE)
        assert [row["seq"] for row in rows_in(lines)] == [None, 4, 5, 6, 4, 5, 6]
        report = await lines_verified(database, lines)
        assert (report.checked, report.findings) == (6, ())
        assert report.notes == (
            "1 row from before there was a chain, not judged",
            "The export holds a part of the journal: rows are left out in 4 places, and whether any of them is missing"
            " from the journal cannot be told from it",
        )


async def test_heads_alone_are_exported_with_an_empty_span(database: Database) -> None:
    await journal(database, 3)
    lines = await exported(database, since=NOW + 100 * MINUTE)
    assert len(lines) == 4
    assert (await lines_verified(database, lines)).findings == ()


async def test_writing_while_it_is_exported_leaves_an_export_that_verifies(database: Database) -> None:
    await journal(database, 3, 1)
    audit = Audit(database, CHAIN)
    lines: list[str] = []
    page = await audit.export(limit=1)
    for step in range(40):
        lines += page.lines
        if page.next is None:
            break
        if step < 4:
            await append(database, 1 + step % 2, [call(step)])
        if step == 3:
            await add_writer(database, 3)
            await append(database, 3, [call(step)])
        page = await audit.export(next=page.next, limit=1)
    assert page.next is None
    assert await lines_verified(database, lines) == Report(9)


async def test_pruning_while_it_is_exported_leaves_an_export_that_verifies(database: Database) -> None:
    await add_writer(database, 1)
    places = await append(database, 1, [call(place) for place in range(9)])
    audit = Audit(database, CHAIN)
    first = await audit.export(limit=2)
    await prune_by_hand(database, places[4])
    second = await audit.export(next=first.next)
    lines = first.lines + second.lines
    assert [row["seq"] for row in rows_in(lines)] == [1, 2, 6, 7, 8, 9]
    assert await lines_verified(database, lines) == Report(6, notes=("3 rows pruned before the export",))


async def test_a_tampered_journal_gives_an_export_that_shows_it(database: Database) -> None:
    [rows] = await journal(database, 8)
    await run(database, "UPDATE executions SET caller = 'eve' WHERE seq = 2")
    await run(database, "UPDATE executions SET mac = 'x' WHERE seq = 4")
    await run(database, "DELETE FROM executions WHERE seq IN (6, 8)")
    report = await lines_verified(database, await exported(database))
    assert told(report) == [
        f"Row 2 of writer 1, execution {rows[1].id}, is not as the board wrote it",
        f"Row 4 of writer 1, execution {rows[3].id}, is not as the board wrote it",
        "Line 8, row 7 of writer 1, does not name the row before it",
        "Row 6 of writer 1 is missing; whether row 7 was changed cannot be told without",
        "Row 8 of writer 1 is missing at the end: its signed head is row 8, its chain ends with row 7",
    ]


async def test_an_export_under_another_key_is_none_of_this_board(database: Database) -> None:
    await journal(database, 1)
    lines = await exported(database)
    report = await Audit(database, Chain(b"another")).verify_lines(lines)
    assert [finding.kind for finding in report.findings] == [
        "line",
        "marker_forged",
        "changed",
        "head_forged",
        "count_forged",
    ]


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "{}", "3", '{"a": 1}', '{"pegboard_export": 2}'])
async def test_what_is_no_export_is_refused(database: Database, text: str) -> None:
    with pytest.raises(Invalid, match="export"):
        await lines_verified(database, [text] if text else [])


class TestChangedFiles:
    """Somebody has the file, and not the key."""

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(data=st.data())
    async def test_any_line_changed_removed_moved_or_doubled_is_found(
        self, quick_database: Database, data: st.DataObject
    ) -> None:
        await empty(quick_database)
        await journal(quick_database, *data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=3)))
        lines = await exported(quick_database)
        place = data.draw(st.integers(0, len(lines) - 1))
        what = data.draw(st.sampled_from(["change", "remove", "move", "double"]))
        changed = list(lines)
        if what == "change":
            line = json.loads(lines[place])
            name = data.draw(st.sampled_from(sorted(line)))
            new = data.draw(st.sampled_from(["x", 7, None, True, [], 1.25, "2026-03-01T12:30:15.999999Z", {"a": 1}]))
            if line[name] == new and type(line[name]) is type(new):
                return
            changed[place] = json.dumps({**line, name: new})
        elif what == "remove":
            del changed[place]
        elif what == "double":
            changed.insert(place, lines[place])
        else:
            changed.insert(data.draw(st.integers(0, len(lines) - 1)), changed.pop(place))
            if changed == lines:
                return
        try:
            report = await lines_verified(quick_database, changed, data.draw(st.integers(1, 20)))
        except Invalid:
            return  # not even the first line is one of an export
        assert report.findings

    async def test_whole_writers_may_change_places(self, database: Database) -> None:
        await journal(database, 2, 1, 3)
        lines = await exported(database)
        assert await lines_verified(database, [lines[0], *lines[8:13], *lines[5:8], *lines[1:5], lines[13]]) == Report(
            6
        )

    async def test_a_writer_may_not_be_left_out(self, database: Database) -> None:
        await journal(database, 2, 1, 3)
        lines = await exported(database)
        report = await lines_verified(database, [*lines[:5], *lines[8:]])
        assert told(report) == ["Writer 2 is missing, and what is signed of it"]

    async def test_a_field_more_or_a_name_twice_is_found(self, database: Database) -> None:
        await journal(database, 1)
        lines = await exported(database)
        more = [*lines[:2], lines[2][:-1] + ',"note":"all well"}', *lines[3:]]
        assert "Line 3 is not as the board wrote it: more or other than its row" in told(
            await lines_verified(database, more)
        )
        twice = [*lines[:2], '{"caller":"eve",' + lines[2][1:], *lines[3:]]
        assert "Line 3 is not as the board wrote it: a name stands twice" in told(await lines_verified(database, twice))

    async def test_a_shown_field_may_not_differ_from_what_its_mac_speaks_for(self, database: Database) -> None:
        await journal(database, 1)
        lines = await exported(database)
        row = json.loads(lines[2])
        lines[2] = json.dumps({**row, "caller": "eve", "stored": {"caller": row["caller"]}})
        assert (await lines_verified(database, lines)).findings

    async def test_a_whole_export_cannot_pass_for_a_part(self, database: Database) -> None:
        await journal(database, 4)
        lines = await exported(database)
        lines[0] = json.dumps({**json.loads(lines[0]), "until": "2027-01-01T00:00:00.000000Z"})
        del lines[3]
        assert told(await lines_verified(database, lines)) == [
            "The header is not signed by this board: which rows the export was to hold is not known"
        ]

    async def test_a_part_cannot_hold_a_row_without_its_predecessor(self, database: Database) -> None:
        await journal(database, 9)
        lines = await exported(database, since=NOW + 3 * MINUTE, until=NOW + 6 * MINUTE)
        lines[2] = json.dumps({**json.loads(lines[2]), "caller": "eve", "previous": None})
        assert (await lines_verified(database, lines)).findings

    async def test_an_export_that_was_written_anew_by_another_program_still_verifies(self, database: Database) -> None:
        await add_writer(database, 1)
        await append(database, 1, [call(elapsed_ms=5.0, error="☂")])
        lines = [json.dumps(line, sort_keys=True) for line in parsed(await exported(database))]
        lines = [line.replace('"elapsed_ms": 5.0', '"elapsed_ms": 5') for line in lines]
        assert await lines_verified(database, lines) == Report(1)


class TestCompared:
    async def test_a_board_that_went_on_still_has_what_the_export_knows(self, database: Database) -> None:
        await add_writer(database, 1)
        await add_writer(database, 2)
        places = await append(database, 1, [call(place) for place in range(5)])
        lines = await exported(database)
        await append(database, 1, [call(5)])
        assert (await lines_verified(database, lines, compare=True)).findings == ()
        await prune_by_hand(database, places[4])
        assert (await lines_verified(database, lines, compare=True)).findings == ()

    async def test_a_database_put_back_to_an_earlier_state_shows(self, database: Database) -> None:
        await journal(database, 3)
        [(mac, signature)] = await read(database, "SELECT mac, signature FROM writers")
        await append(database, 1, [call(3)])
        lines = await exported(database)
        await run(database, "DELETE FROM executions WHERE seq = 4")
        await run(database, "UPDATE writers SET seq = 3, mac = :m, signature = :g", m=mac, g=signature)
        assert (await lines_verified(database, lines)).findings == ()
        assert told(await lines_verified(database, lines, compare=True)) == [
            "Row 4 of writer 1, its head in the export, is not on the board: the database was put back to an earlier state,"
            " or the row was removed"
        ]
        await append(database, 1, [call(7)])
        assert told(await lines_verified(database, lines, compare=True)) == [
            "Row 4 of writer 1 is another on the board than in the export"
        ]


async def test_a_row_comes_out_of_an_export_as_it_went_into_the_journal(database: Database) -> None:
    [made] = await journal(database, 3)
    lines = await exported(database)
    assert [restored(lines_of.row_of(lines_of.read(line)).row) for line in lines[2:5]] == made
