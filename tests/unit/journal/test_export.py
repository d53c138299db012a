"""An export holds every row, can be verified alone, and shows changes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pegboard.journal import export as lines_of
from pegboard.journal.audit import Audit
from pegboard.journal.hash_chain import HashChain
from pegboard.journal.verify import VerificationReport
from pegboard.model.api_errors import Invalid
from pegboard.model.journal_row import restore_execution
from pegboard.storage.database import Database
from pegboard.surfaces.rest.audit_routes import VerifyExportResponse
from tests.unit.journal.audit_pages import exported, lines_verified, received, verified
from tests.unit.journal.chained_journals import (
    CHAIN,
    MINUTE,
    add_writer,
    append,
    call,
    journal,
    memory_database,
    prune_by_hand,
    read,
    run,
    unchained,
)
from tests.unit.storage.sample_rows import NOW


def parsed(lines: list[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines]


def rows_in(lines: list[str]) -> list[dict[str, Any]]:
    return [line for line in parsed(lines) if "id" in line]


async def test_an_empty_journal_has_a_header_and_an_end(database: Database) -> None:
    lines = await exported(database)
    assert [next(iter(line)) for line in parsed(lines)] == ["pegboard_export", "pegboard_end"]
    assert await lines_verified(database, lines) == VerificationReport(0)


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
    assert await lines_verified(database, lines, limit) == VerificationReport(5)


async def test_a_row_shows_its_fields_as_the_api_does(database: Database) -> None:
    [[made]] = await journal(database, 1)
    [row] = rows_in(await exported(database))
    assert row["started_at"] == "2026-03-01T12:30:15.123456Z"
    assert row["arguments"] == {"n": 0, "x": 1.5}
    shown = {**made._asdict(), "started_at": row["started_at"], "finished_at": row["finished_at"]}
    assert row == {**shown, "writer": 1, "seq": 1, "mac": row["mac"], "previous": ""}


async def test_what_cannot_be_distinguished_from_its_field_is_kept_as_it_is_stored(database: Database) -> None:
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
    assert await lines_verified(database, lines) == VerificationReport(3)


async def test_rows_from_before_the_chain_are_exported_first_and_not_judged(database: Database) -> None:
    old = [call(-3), call(-2), call(-1)]
    await unchained(database, *old)
    await journal(database, 2)
    for limit in (1, 2, 1000):
        lines = await exported(database, limit)
        assert [row["id"] for row in rows_in(lines)][:3] == [execution.id for execution in old]
        assert [row["writer"] for row in rows_in(lines)] == [None, None, None, 1, 1]
        assert await lines_verified(database, lines) == VerificationReport(
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
            " from the journal cannot be determined from it",
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
    assert await lines_verified(database, lines) == VerificationReport(9)


async def test_pruning_while_it_is_exported_leaves_an_export_that_verifies(database: Database) -> None:
    await add_writer(database, 1)
    places = await append(database, 1, [call(place) for place in range(9)])
    audit = Audit(database, CHAIN)
    first = await audit.export(limit=2)
    await prune_by_hand(database, places[4])
    second = await audit.export(next=first.next)
    lines = first.lines + second.lines
    assert [row["seq"] for row in rows_in(lines)] == [1, 2, 6, 7, 8, 9]
    assert await lines_verified(database, lines) == VerificationReport(6, notes=("3 rows pruned before the export",))


async def test_a_tampered_journal_gives_an_export_that_shows_it(database: Database) -> None:
    [rows] = await journal(database, 8)
    await run(database, "UPDATE executions SET caller = 'eve' WHERE seq = 2")
    await run(database, "UPDATE executions SET mac = 'x' WHERE seq = 4")
    await run(database, "DELETE FROM executions WHERE seq IN (6, 8)")
    report = await lines_verified(database, await exported(database))
    assert received(report) == [
        f"Row 2 of writer 1, execution {rows[1].id}, is not as the board wrote it",
        f"Row 4 of writer 1, execution {rows[3].id}, is not as the board wrote it",
        "Line 8, row 7 of writer 1, does not name the row before it",
        "Row 6 of writer 1 is missing; it is unknown whether row 7 was changed",
        "Row 8 of writer 1 is missing at the end: its signed head is row 8, its chain ends with row 7",
    ]


@pytest.mark.parametrize("limit", [1, 2, 4, 1000])
@pytest.mark.parametrize("seq", ["seq", "seq + 0.5", "'x'", "CAST(X'FF' AS TEXT)"])
async def test_a_row_that_cannot_be_read_is_left_out_and_no_other(limit: int, seq: str) -> None:
    async with memory_database() as database:
        await journal(database, 10, 1)
        step = f"error = CAST(X'FF' AS TEXT), seq = {seq}"
        await run(database, f"UPDATE executions SET {step} WHERE writer = 1 AND seq = 2")
        await run(database, "UPDATE executions SET error = CAST(X'FF' AS TEXT) WHERE writer = 1 AND seq IN (5, 6, 7)")
        lines = await exported(database, limit)
        assert [(row["writer"], row["seq"]) for row in rows_in(lines)] == [
            *((1, number) for number in (1, 3, 4, 8, 9, 10)),
            (2, 1),
        ]
        found = (await lines_verified(database, lines)).findings
        removed = [(finding.first, finding.last) for finding in found if finding.kind == "removed"]
        assert removed == [(2, 2), (5, 7)]


async def test_an_export_names_the_row_before_although_that_cannot_be_read() -> None:
    async with memory_database() as database:
        await journal(database, 3)
        [(mac,)] = await read(database, "SELECT mac FROM executions WHERE seq = 2")
        await run(database, "UPDATE executions SET error = CAST(X'FF' AS TEXT) WHERE seq = 2")
        lines = await exported(database, 1)
        assert [row["previous"] for row in rows_in(lines)] == ["", mac]
        assert received(await lines_verified(database, lines)) == ["Row 2 of writer 1 is missing"]


@pytest.mark.parametrize("limit", [1, 20_000])
@pytest.mark.parametrize("mac", ["mac", "NULL", "CAST(X'FF' AS TEXT)"])
async def test_a_row_that_cannot_be_read_is_named_and_only_it(limit: int, mac: str) -> None:
    async with memory_database() as database:
        await journal(database, 6)
        await run(database, f"UPDATE executions SET error = CAST(X'FF' AS TEXT), mac = {mac} WHERE seq IN (2, 5)")
        assert received(await verified(database, limit)) == [
            "Row 2 of writer 1 is not as the board wrote it",
            "Row 5 of writer 1 is not as the board wrote it",
        ]


async def test_the_row_after_one_that_cannot_be_read_is_still_judged() -> None:
    async with memory_database() as database:
        await journal(database, 6)
        await run(database, "UPDATE executions SET error = CAST(X'FF' AS TEXT) WHERE seq = 2")
        await run(database, "UPDATE executions SET caller = 'eve' WHERE seq = 3")
        assert received(await verified(database)) == ["Rows 2 to 3 of writer 1 are not as the board wrote them"]


@pytest.mark.parametrize("limit", [1, 2, 20_000])
@pytest.mark.parametrize("number", ["2.5", "'x'"])
async def test_a_row_with_a_number_that_is_none_is_found_once(limit: int, number: str) -> None:
    async with memory_database() as database:
        await journal(database, 4)
        await run(database, f"UPDATE executions SET seq = {number} WHERE seq = 2")
        kinds = [finding.kind for finding in (await verified(database, limit)).findings]
        assert sorted(kinds) == ["misplaced", "removed"]


@pytest.mark.parametrize("value", ["\ud800", "\0☂", 2**70, -1, 1.5, None, True, [["\ud800"]], {"\ud800": 1}], ids=ascii)
async def test_any_tampered_export_is_reported(value: Any) -> None:
    async with memory_database() as database:
        await journal(database, 2)
        lines = await exported(database)
        for place, line in enumerate(parsed(lines)):
            for name in line:
                if name == "pegboard_export" or line[name] == value:
                    continue
                changed = [*lines[:place], json.dumps({**line, name: value}), *lines[place + 1 :]]
                report = await lines_verified(database, changed, 1, compare=True)
                assert report.findings, f"{name} of {line}"
                VerifyExportResponse.model_validate(report).model_dump_json()


async def test_an_export_under_another_key_is_none_of_this_board(database: Database) -> None:
    await journal(database, 1)
    lines = await exported(database)
    report = await Audit(database, HashChain(b"another")).verify_lines(lines)
    assert [finding.kind for finding in report.findings] == [
        "line",
        "changed",
        "head_forged",
        "count_forged",
    ]


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "{}", "3", '{"a": 1}', '{"pegboard_export": 2}'])
async def test_what_is_no_export_is_refused(database: Database, text: str) -> None:
    with pytest.raises(Invalid, match="export"):
        await lines_verified(database, [text] if text else [])


async def test_a_row_comes_out_of_an_export_as_it_went_into_the_journal(database: Database) -> None:
    [made] = await journal(database, 3)
    lines = await exported(database)
    assert [restore_execution(lines_of.read_row(lines_of.read_line(line)).row) for line in lines[2:5]] == made
