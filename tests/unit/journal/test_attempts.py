"""The attempts of a call that failed are a part of its row: kept, exported, signed, and empty in older rows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.journal.entries import ClosingEntry
from pegboard.journal.verify import VerificationReport
from pegboard.model.filters import ExecutionFilter
from pegboard.model.journal_row import FIELDS, restore_execution, serialize_execution
from pegboard.storage import execution_rows
from pegboard.storage.database import Database
from tests.unit.journal.audit_pages import exported, lines_verified, verified
from tests.unit.journal.chained_journals import CHAIN, add_writer, append, call, run
from tests.unit.storage.sample_rows import an_execution

TRIES_INDEX = FIELDS.index("tries")
TRIED = [{"attempt": 1, "code": "contract_violation", "error": "not ☂", "elapsed_ms": 0.25}]


@pytest.fixture
async def chained(database: Database) -> Database:
    """A chain whose first row has several attempts, and whose second has printed output."""
    await add_writer(database, 1)
    await append(database, 1, [call(0, tries=TRIED), call(1, printed="x"), call(2, printed="y", tries=TRIED), call(3)])
    return database


async def test_rows_verify_and_so_does_their_export(chained: Database) -> None:
    assert await verified(chained) == VerificationReport(4, total=4)
    lines = await exported(chained)
    assert await lines_verified(chained, lines) == VerificationReport(4)
    shown = [json.loads(line)["tries"] for line in lines if '"id"' in line]
    assert shown == [TRIED, None, TRIED, None]


async def test_a_row_returns_with_its_attempts(chained: Database) -> None:
    async with chained.read() as conn:
        found = await execution_rows.list_executions(conn, ExecutionFilter(), limit=10)
    assert [row.tries for row in found] == [None, TRIED, None, TRIED]


@pytest.mark.parametrize("seq", [1, 2, 3, 4])
@pytest.mark.parametrize("change", ["'[]'", "NULL", "'null'", "''"])
async def test_what_is_changed_taken_away_or_added_is_found(chained: Database, seq: int, change: str) -> None:
    await run(chained, f"UPDATE executions SET tries = {change} WHERE seq = {seq}")
    is_changed = change != "NULL" or seq in (1, 3)
    assert bool((await verified(chained)).findings) == is_changed
    assert bool((await lines_verified(chained, await exported(chained))).findings) == is_changed


@pytest.mark.parametrize("printed", [None, "", "x"])
def test_a_row_from_before_is_signed_as_it_was(printed: str | None) -> None:
    row = serialize_execution(call(0, printed=printed))
    assert row[TRIES_INDEX] is None and FIELDS[TRIES_INDEX:] == ("tries",)
    assert CHAIN.link("before", 1, 1, row) == CHAIN.link("before", 1, 1, row[:TRIES_INDEX])
    others = {CHAIN.link("before", 1, 1, (*row[:TRIES_INDEX], tries)) for tries in (None, "", "null", "[]")}
    assert len(others) == 4


def test_what_is_printed_and_what_was_tried_are_never_taken_for_one_another() -> None:
    row = serialize_execution(call())[: TRIES_INDEX - 1]
    ends: list[tuple[Any, ...]] = [(None, None), ("[]", None), (None, "[]"), ("[]", "[]")]
    assert len({CHAIN.link("before", 1, 1, (*row, *end)) for end in ends}) == len(ends)


@given(st.none() | st.lists(st.dictionaries(st.text(), st.text() | st.integers() | st.none(), max_size=3), max_size=3))
def test_a_row_returns_whatever_is_in_it(tries: Any) -> None:
    row = serialize_execution(an_execution(tries=tries))
    assert restore_execution(row).tries == tries
    assert ClosingEntry.from_spool_bytes(ClosingEntry(row).encode_for_spool()).row == row
    assert restore_execution(row[:TRIES_INDEX]).tries is None
