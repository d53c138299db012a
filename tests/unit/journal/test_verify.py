"""Each kind of tampering with the journal is reported, and nothing else is."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.journal.hash_chain import HashChain
from pegboard.journal.tamper_report import MAX_FINDINGS, TamperFinding
from pegboard.journal.verify import VerificationReport
from pegboard.storage.database import Database
from tests.unit.journal.audit_pages import received, verified
from tests.unit.journal.chained_journals import (
    CHAIN,
    add_writer,
    append,
    call,
    journal,
    prune_by_hand,
    read,
    run,
    unchained,
)
from tests.unit.storage.sample_rows import NOW


async def messages(database: Database, **scope: Any) -> list[str]:
    return received(await verified(database, **scope))


async def test_an_empty_journal_is_clean(database: Database) -> None:
    assert await verified(database) == VerificationReport(0, total=0)


@pytest.mark.parametrize("limit", [1, 2, 3, 20_000])
async def test_an_untouched_journal_is_clean_however_it_is_cut_into_turns(database: Database, limit: int) -> None:
    await journal(database, 5, 0, 3)
    assert await verified(database, limit) == VerificationReport(8, total=8)


async def test_everything_that_can_be_stored_is_clean(database: Database) -> None:
    odd: list[dict[str, Any]] = [
        {"arguments": {"z": 1, "a": [None, 2**70, 1.5, "☂", 1e300, -0.0], "": {}}},
        {"arguments": {1: 2}, "result": {"a": "\ud800\0"}},
        {"arguments": {"a": float("nan")}, "result": "null"},
        {"error": "a\0b ☂ \ud800", "tool_name": "x" * 1000, "elapsed_ms": 0.1 + 0.2},
        {"started_at": NOW.replace(microsecond=0), "finished_at": NOW.replace(year=9999), "elapsed_ms": 1e-9},
        {"elapsed_ms": 12345678.000001, "attempts": 3, "tool_version": 7, "request_id": "", "repeat_of": "r"},
    ]
    await add_writer(database, 1)
    await append(database, 1, [call(place, **fields) for place, fields in enumerate(odd)])
    assert (await verified(database)).findings == ()


async def test_another_key_finds_everything_wrong(database: Database) -> None:
    await journal(database, 2)
    kinds = [finding.kind for finding in (await verified(database, chain=HashChain(b"another"))).findings]
    assert kinds == ["count_forged", "changed", "head_forged"]


async def test_a_changed_row_is_named_and_only_it(database: Database) -> None:
    [rows] = await journal(database, 6)
    await run(database, "UPDATE executions SET caller = 'eve' WHERE seq = 3")
    [finding] = (await verified(database)).findings
    message = f"Row 3 of writer 1, execution {rows[2].id}, is not as the board wrote it"
    assert finding == TamperFinding("changed", message, 1, 3, 3, rows[2].id)


async def test_a_row_whose_mac_was_changed_is_named_and_only_it(database: Database) -> None:
    [rows] = await journal(database, 6)
    await run(database, "UPDATE executions SET mac = :mac WHERE seq = 3", mac="0" * 32)
    assert await messages(database) == [f"Row 3 of writer 1, execution {rows[2].id}, is not as the board wrote it"]


@pytest.mark.parametrize("column", ["mac", "seq", "writer"])
async def test_a_row_without_its_place_is_found(database: Database, column: str) -> None:
    await journal(database, 6)
    await run(database, f"UPDATE executions SET {column} = NULL WHERE seq = 3")
    kinds = [finding.kind for finding in (await verified(database)).findings]
    assert kinds == {"mac": ["changed"], "seq": ["misplaced", "removed"], "writer": ["outside", "removed"]}[column]


async def test_neighbours_that_were_changed_are_one_finding_and_separate_damage_another(database: Database) -> None:
    [rows, others] = await journal(database, 9, 2)
    await run(database, "UPDATE executions SET caller = 'eve' WHERE writer = 1 AND seq IN (2, 3, 4, 7)")
    await run(database, "UPDATE executions SET mac = 'x' WHERE writer = 2 AND seq = 2")
    assert await messages(database) == [
        f"Rows 2 to 4 of writer 1, from execution {rows[1].id} on, are not as the board wrote them",
        f"Row 7 of writer 1, execution {rows[6].id}, is not as the board wrote it",
        f"Row 2 of writer 2, execution {others[1].id}, is not as the board wrote it",
    ]


async def test_changes_of_content_and_of_mac_side_by_side_do_not_taint_the_row_after_them(database: Database) -> None:
    await journal(database, 6)
    await run(database, "UPDATE executions SET caller = 'eve' WHERE seq = 2")
    await run(database, "UPDATE executions SET mac = 'x' WHERE seq = 3")
    [finding] = (await verified(database)).findings
    assert (finding.first, finding.last) == (2, 3)


async def test_removed_rows_are_named_by_their_numbers(database: Database) -> None:
    await journal(database, 9)
    await run(database, "DELETE FROM executions WHERE seq IN (1, 4, 5)")
    assert await messages(database) == [
        "Row 1 of writer 1 is missing; it is unknown whether row 2 was changed",
        "Rows 4 to 5 of writer 1 are missing; it is unknown whether row 6 was changed",
    ]


async def test_a_cut_tail_is_named(database: Database) -> None:
    await journal(database, 9, 1)
    await run(database, "DELETE FROM executions WHERE writer = 1 AND seq > 6 OR writer = 2")
    [first, second] = (await verified(database)).findings
    assert first.message == (
        "Rows 7 to 9 of writer 1 are missing at the end: its signed head is row 9, its chain ends with row 6"
    )
    assert (first.kind, first.first, first.last) == ("cut", 7, 9)
    assert second.message == (
        "Row 1 of writer 2 is missing at the end: its signed head is row 1, its chain ends with row 0"
    )


async def test_a_head_that_was_cut_with_its_tail_is_not_signed(database: Database) -> None:
    await journal(database, 9)
    [(mac,)] = await read(database, "SELECT mac FROM executions WHERE seq = 6")
    await run(database, "DELETE FROM executions WHERE seq > 6")
    await run(database, "UPDATE writers SET seq = 6, mac = :mac", mac=mac)
    assert await messages(database) == [
        "The head of writer 1, row 6, is not signed by this board: where its chain ends is not known"
    ]


async def test_a_head_that_was_put_back_leaves_rows_behind_it(database: Database) -> None:
    await journal(database, 6)
    head = (await read(database, "SELECT seq, mac, signature FROM writers"))[0]
    await append(database, 1, [call(6), call(7)])
    await run(database, "UPDATE writers SET seq = :s, mac = :m, signature = :g", s=head[0], m=head[1], g=head[2])
    assert await messages(database) == [
        "Rows 7 to 8 of writer 1 are behind its signed head, row 6: the head was put back, or the rows were put there"
    ]


async def test_a_row_put_at_the_end_without_the_key_is_found(database: Database) -> None:
    await journal(database, 2)
    signed = (await read(database, "SELECT seq, mac, signature FROM writers"))[0]
    put = call(2)
    await append(database, 1, [put], chain=HashChain(b"a guess"))
    await run(database, "UPDATE writers SET seq = :s, mac = :m, signature = :g", s=signed[0], m=signed[1], g=signed[2])
    assert await messages(database) == [
        f"Row 3 of writer 1, execution {put.id}, is not as the board wrote it",
        "Row 3 of writer 1 is behind its signed head, row 2: the head was put back, or the rows were put there",
    ]


async def test_rows_that_were_swapped_are_both_named(database: Database) -> None:
    await journal(database, 6)
    for step in ("seq = -2 WHERE seq = 2", "seq = 2 WHERE seq = 5", "seq = 5 WHERE seq = -2"):
        await run(database, f"UPDATE executions SET {step}")
    found = (await verified(database)).findings
    assert [(finding.kind, finding.first, finding.last) for finding in found] == [("changed", 2, 3), ("changed", 5, 6)]


async def test_a_duplicate_row_is_found(database: Database) -> None:
    await journal(database, 3)
    await run(database, "DROP INDEX uq_execution_link")
    columns = "tool_name, status, started_at, finished_at, elapsed_ms, caller_id, caller, surface, dialect, attempts"
    twin = f"SELECT :id, {columns}, writer, seq, mac FROM executions WHERE seq = 3"
    await run(database, f"INSERT INTO executions (id, {columns}, writer, seq, mac) {twin}", id=_raw(database))
    kinds = {finding.kind for finding in (await verified(database)).findings}
    assert "misplaced" in kinds
    assert "misplaced" in {finding.kind for finding in (await verified(database, 1)).findings}


def _raw(database: Database) -> Any:
    made = call().id
    return made.replace("-", "") if database.kind == "sqlite" else made


async def test_a_missing_writer_is_named(database: Database) -> None:
    await journal(database, 2, 2, 2, 2)
    await run(database, "DELETE FROM writers WHERE number IN (2, 4)")
    await run(database, "DELETE FROM executions WHERE writer = 4")
    [(other,)] = await read(database, "SELECT CAST(MIN(CAST(id AS TEXT)) AS TEXT) FROM executions WHERE writer = 2")
    assert await messages(database) == [
        "Writer 2 is missing, and what is signed of it",
        "Writer 4 is missing, and what is signed of it",
        f"2 rows of writer 2, which there is not: execution {_dashed(other)} and others",
    ]


def _dashed(text: str) -> str:
    text = text.replace("-", "")
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


async def test_several_missing_writers_are_one_finding(database: Database) -> None:
    await journal(database, *[1] * 6)
    await run(database, "DELETE FROM writers WHERE number <> 2")
    await run(database, "DELETE FROM executions WHERE writer <> 2")
    assert await messages(database) == [
        "Writer 1 is missing, and what is signed of it",
        "Writers 3 to 6 are missing, and what is signed of them",
    ]


async def test_a_number_of_writers_that_was_changed_is_found(database: Database) -> None:
    await journal(database, 1, 1)
    await run(database, "DELETE FROM writers WHERE number = 2")
    await run(database, "DELETE FROM executions WHERE writer = 2")
    await run(database, "UPDATE board_state SET writers = 1")
    assert await messages(database) == [
        "The number of writers, 1, is not signed by this board: whether there were more after writer 1 is not known"
    ]


async def test_a_number_of_writers_that_was_put_back_is_found(database: Database) -> None:
    await journal(database, 1, 1)
    await run(database, "UPDATE board_state SET writers = 1, writers_signature = :s", s=CHAIN.sign_writers(1))
    assert await messages(database) == [
        "Writer 2 is not one of the 1 that there have been: their signed number was put back, or the writer was put"
        " there"
    ]


async def test_everything_forgotten_but_the_rows_is_found(database: Database) -> None:
    await journal(database, 2)
    await run(database, "DELETE FROM writers")
    await run(database, "UPDATE board_state SET writers = 0, writers_signature = ''")
    [finding] = (await verified(database)).findings
    assert (finding.kind, finding.writer) == ("writer_unknown", 1)


async def test_a_forged_prune_marker_is_named_with_what_it_hides(database: Database) -> None:
    await journal(database, 6)
    [(mac,)] = await read(database, "SELECT mac FROM executions WHERE seq = 4")
    await run(database, "DELETE FROM executions WHERE seq <= 4")
    await run(database, "UPDATE writers SET pruned_seq = 4, pruned_mac = :mac", mac=mac)
    assert await messages(database) == [
        "The prune marker of writer 1, row 4, is not signed by this board, and counts for nothing",
        "Rows 1 to 4 of writer 1 are missing; it is unknown whether row 5 was changed",
    ]


async def test_a_head_put_back_before_the_prune_marker_is_found(database: Database) -> None:
    await journal(database, 2)
    old = (await read(database, "SELECT seq, mac, signature FROM writers"))[0]
    places = await append(database, 1, [call(2), call(3)])
    await prune_by_hand(database, places[1])
    await run(database, "UPDATE writers SET seq = :s, mac = :m, signature = :g", s=old[0], m=old[1], g=old[2])
    assert await messages(database) == [
        "The signed head of writer 1, row 2, lies before its prune marker, row 4: the head was put back"
    ]


async def test_rows_from_before_the_chain_are_counted_and_not_judged(database: Database) -> None:
    await unchained(database, call(-2), call(-1))
    assert await verified(database) == VerificationReport(
        0, notes=("2 rows from before there was a chain, not judged",), total=0
    )
    await journal(database, 2)
    assert (await verified(database)).findings == ()


async def test_a_row_in_no_chain_that_is_later_than_its_beginning_is_found(database: Database) -> None:
    await unchained(database, call(-1), call(5))
    await journal(database, 2)
    assert await messages(database) == [
        "1 row in no chain, and later than the beginning of the first one: put there, or written by an older version of"
        " the board"
    ]


async def test_so_many_findings_are_enough(database: Database) -> None:
    await journal(database, 2 * MAX_FINDINGS + 50)
    await run(database, "UPDATE executions SET caller = 'eve' WHERE seq % 2 = 0")
    report = await verified(database, 7)
    assert len(report.findings) == MAX_FINDINGS
    assert report.notes == (f"Stopped after {MAX_FINDINGS} findings; there may be more",)


async def test_so_many_writers_that_never_were_are_enough(database: Database) -> None:
    await journal(database, 1)
    columns = (
        "id, host, pid, started_at, beat, seq, mac, signature, pruned_seq, pruned_mac, pruned_signature, counted_seq"
    )
    for number in (*range(-5, 1), *range(3, 3 + 4 * MAX_FINDINGS, 2)):
        forged = columns.replace("id,", ":id,", 1)
        statement = f"INSERT INTO writers (number, {columns}) SELECT :n, {forged} FROM writers WHERE number = 1"
        await run(database, statement, n=number, id=_raw(database))
    report = await verified(database)
    assert {finding.kind for finding in report.findings} == {"writer_unknown"}
    assert len(report.findings) == MAX_FINDINGS
