"""Verification of a part of the journal: between two rows of a writer, or two moments."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.journal.verify import VerificationReport
from pegboard.storage.database import Database
from tests.unit.journal.audit_pages import received, verified
from tests.unit.journal.chained_journals import MINUTE, add_writer, append, call, journal, run
from tests.unit.storage.sample_rows import NOW


async def test_rows_between_two_numbers_are_checked_and_no_others(database: Database) -> None:
    [rows, _] = await journal(database, 9, 2)
    await run(database, "UPDATE executions SET caller = 'eve' WHERE writer = 1 AND seq IN (2, 5, 8)")
    found = await verified(database, writer=1, first=3, last=7)
    assert found.checked == 5
    assert [finding.execution_id for finding in found.findings] == [rows[4].id]
    assert (await verified(database, writer=1, first=6, last=7)) == VerificationReport(2)
    assert (await verified(database, writer=2)) == VerificationReport(2, total=2)
    assert (await verified(database, writer=1, first=9)).checked == 1
    assert (await verified(database, writer=1, first=100, last=200)) == VerificationReport(0)


async def test_the_first_row_of_a_range_is_checked_against_the_row_before_it(database: Database) -> None:
    await journal(database, 9)
    await run(database, "UPDATE executions SET mac = 'x' WHERE seq = 4")
    assert [finding.first for finding in (await verified(database, writer=1, first=5)).findings] == [5]
    await run(database, "DELETE FROM executions WHERE seq = 4")
    assert [finding.kind for finding in (await verified(database, writer=1, first=5)).findings] == ["removed"]


async def test_rows_missing_at_the_end_of_a_range_are_found(database: Database) -> None:
    await journal(database, 9)
    await run(database, "DELETE FROM executions WHERE seq IN (6, 7)")
    assert received(await verified(database, writer=1, first=2, last=7)) == ["Rows 6 to 7 of writer 1 are missing"]
    assert received(await verified(database, writer=1, first=2, last=5)) == []


async def test_a_writer_that_is_not_there_is_named(database: Database) -> None:
    await journal(database, 1)
    assert received(await verified(database, writer=5)) == ["Writer 5 is missing, and what is signed of it"]


@pytest.mark.parametrize("limit", [1, 20_000])
async def test_a_span_of_time_is_checked_with_its_neighbours(database: Database, limit: int) -> None:
    [rows, others] = await journal(database, 9, 9)
    await run(database, "UPDATE executions SET caller = 'eve' WHERE seq IN (2, 5, 9)")
    span: dict[str, Any] = {"since": NOW + 3 * MINUTE, "until": NOW + 6 * MINUTE}
    found = await verified(database, limit, **span)
    assert found.checked == 8
    assert [finding.execution_id for finding in found.findings] == [rows[4].id, others[4].id]
    assert (await verified(database, limit, since=NOW + 5 * MINUTE, until=NOW + 7 * MINUTE)).findings == ()
    assert len((await verified(database, limit, until=NOW + 5 * MINUTE)).findings) == 4
    assert len((await verified(database, limit, since=NOW + 5 * MINUTE)).findings) == 2


async def test_rows_removed_from_a_span_of_time_are_found_even_if_all_are(database: Database) -> None:
    await journal(database, 9)
    await run(database, "DELETE FROM executions WHERE seq IN (4, 5, 6)")
    spans: list[dict[str, Any]] = [
        {"since": NOW + 3 * MINUTE, "until": NOW + 6 * MINUTE},
        {"since": NOW + 5 * MINUTE},
        {"until": NOW + 5 * MINUTE},
        {"since": NOW + 8 * MINUTE},
    ]
    for span in spans:
        assert [(it.kind, it.first, it.last) for it in (await verified(database, **span)).findings] == [
            ("removed", 4, 6)
        ]


async def test_a_clock_that_jumped_back_hides_nothing(database: Database) -> None:
    await add_writer(database, 1)
    rows = [call(minutes) for minutes in (0, 1, 2, 3, 0, 1, 2, 3)]
    await append(database, 1, rows)
    await run(database, "UPDATE executions SET caller = 'eve' WHERE seq IN (2, 6)")
    found = await verified(database, since=NOW + MINUTE, until=NOW + 2 * MINUTE)
    assert [finding.first for finding in found.findings] == [2, 6]
    assert found.checked == 4
