"""The printed output of a call is a part of its row: stored, recovered, exported, and signed like the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.journal.entries import ClosingEntry
from pegboard.journal.open_journal import open_chain
from pegboard.journal.verify import VerificationReport
from pegboard.model.journal_row import FIELDS, restore_execution, serialize_execution
from pegboard.storage import execution_rows
from pegboard.storage.database import Database
from tests.unit.journal.audit_pages import exported, lines_verified, pruned, verified
from tests.unit.journal.chained_journals import CHAIN, MINUTE, add_writer, append, call, run
from tests.unit.journal.standalone_journals import VAULT, a_call, lie_in, opened, row_of, start
from tests.unit.storage.sample_rows import NOW, an_execution

PRINTED = "a line\nand \x1b[31mred\x1b[0m ☂ 😀\r\n\t"


@pytest.fixture
async def chained(database: Database) -> Database:
    """A chain whose first and third rows have printed output."""
    await add_writer(database, 1)
    await append(database, 1, [call(0, printed=PRINTED), call(1), call(2, printed="x" * 70_000), call(3)])
    return database


async def test_rows_that_printed_verify_and_so_does_their_export(chained: Database) -> None:
    assert await verified(chained) == VerificationReport(4, total=4)
    lines = await exported(chained)
    shown = [json.loads(line)["printed"] for line in lines if '"id"' in line]
    assert shown == [PRINTED, None, "x" * 70_000, None]
    assert await lines_verified(chained, lines, 1) == VerificationReport(4)


@pytest.mark.parametrize(
    ("seq", "change"),
    [
        (1, "NULL"),
        (1, "''"),
        (1, "printed || ' '"),
        (3, "substr(printed, 1, 69999)"),
        (2, "'something'"),
        (2, "''"),
        (4, "'null'"),
    ],
)
async def test_what_is_stripped_changed_or_added_is_found_and_its_row_named(
    chained: Database, seq: int, change: str
) -> None:
    await run(chained, f"UPDATE executions SET printed = {change} WHERE seq = {seq}")
    [finding] = (await verified(chained)).findings
    assert (finding.kind, finding.writer, finding.first, finding.last) == ("changed", 1, seq, seq)
    assert (await lines_verified(chained, await exported(chained))).findings


async def test_what_is_moved_from_one_row_to_another_is_found(chained: Database) -> None:
    await run(chained, "UPDATE executions SET printed = NULL WHERE seq = 1")
    await run(chained, "UPDATE executions SET printed = :p WHERE seq = 2", p=PRINTED)
    [finding] = (await verified(chained)).findings
    assert (finding.kind, finding.first, finding.last) == ("changed", 1, 2)


@pytest.mark.parametrize("printed", ["", "other", None, 5, {"stored": 1}])
async def test_a_line_that_shows_something_else_printed_is_found(chained: Database, printed: Any) -> None:
    lines = await exported(chained)
    rows = [place for place, line in enumerate(lines) if '"id"' in line]
    changed = [*lines]
    changed[rows[0]] = json.dumps({**json.loads(lines[rows[0]]), "printed": printed})
    assert (await lines_verified(chained, changed)).findings
    without = json.loads(lines[rows[0]])
    del without["printed"]
    assert (await lines_verified(chained, [*lines[: rows[0]], json.dumps(without), *lines[rows[0] + 1 :]])).findings
    # In addition to the field, because an export also contains values that the field cannot show.
    beside = {**json.loads(lines[rows[1]]), "stored": {"printed": printed}}
    assert (await lines_verified(chained, [*lines[: rows[1]], json.dumps(beside), *lines[rows[1] + 1 :]])).findings


async def test_a_line_may_leave_out_that_nothing_was_printed(chained: Database) -> None:
    lines = [json.loads(line) for line in await exported(chained)]
    shorter = [
        json.dumps({name: value for name, value in line.items() if (name, value) != ("printed", None)})
        for line in lines
    ]
    assert await lines_verified(chained, shorter) == VerificationReport(4)


async def test_a_ranged_export_and_a_prune_hold_it_too(chained: Database) -> None:
    lines = await exported(chained, since=NOW + 2 * MINUTE)
    assert (await lines_verified(chained, lines)).findings == ()
    assert await pruned(chained, NOW + 2 * MINUTE) == 2
    assert (await verified(chained)).findings == ()


def test_a_row_is_signed_alike_whatever_shows_that_nothing_was_printed() -> None:
    row = serialize_execution(call())
    before = row[: FIELDS.index("printed")]
    assert CHAIN.link("before", 1, 1, row) == CHAIN.link("before", 1, 1, before)
    others = {CHAIN.link("before", 1, 1, (*before, printed)) for printed in (None, "", "null", "None")}
    assert len(others) == 4


def test_only_rows_lose_a_last_field_that_is_empty_before_they_are_signed() -> None:
    short = CHAIN.link("export", 0, 1, ("2026-03-01", None))
    assert CHAIN.link("export", 0, 1, ("2026-03-01", None, None)) != short


TEXTS = st.text(alphabet=st.characters(), min_size=1)


@given(printed=st.none() | TEXTS, result=st.none() | st.text())
def test_a_row_returns_whatever_was_printed(printed: str | None, result: str | None) -> None:
    row = serialize_execution(an_execution(printed=printed, result=result))
    kept = None if printed is None else printed.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    assert row[FIELDS.index("printed")] == kept
    assert restore_execution(row).printed == kept
    assert ClosingEntry.from_spool_bytes(ClosingEntry(row).encode_for_spool()).row == row


@given(one=st.tuples(st.none() | TEXTS, st.none() | TEXTS), other=st.tuples(st.none() | TEXTS, st.none() | TEXTS))
def test_no_two_rows_are_signed_alike(one: tuple[Any, Any], other: tuple[Any, Any]) -> None:
    made = an_execution()
    rows = [serialize_execution(made._replace(result=result, printed=printed)) for result, printed in (one, other)]
    links = [CHAIN.link("before", 1, 1, row) for row in rows]
    assert (links[0] == links[1]) is (rows[0] == rows[1])


@pytest.mark.parametrize("key", [None, "k"])
async def test_what_waited_in_a_dead_writers_spool_has_what_was_printed(
    database: Database, tmp_path: Path, key: str | None
) -> None:
    spools = tmp_path / "spools"
    dead = start(database, spools, patience=0.0)
    ended = a_call(key=key)
    await dead.begin(ended)
    dead.ledger.fails = "before"
    await dead.record(row_of(ended, printed=PRINTED))
    await dead.die()
    async with opened(database, spools) as standalone:
        await standalone.tended()
    async with database.read() as conn:
        found = await execution_rows.get_execution(conn, ended.run_id)
    assert found is not None
    assert (found.status, found.printed) == ("succeeded", PRINTED)
    assert lie_in(spools) == []
    assert (await verified(database, chain=open_chain(VAULT))).findings == ()


async def test_the_printed_output_of_a_dead_process_is_lost(database: Database, tmp_path: Path) -> None:
    dead = start(database, tmp_path / "spools")
    running = a_call()
    await dead.begin(running)
    await dead.die()
    async with opened(database, tmp_path / "spools") as standalone:
        await standalone.tended()
    async with database.read() as conn:
        found = await execution_rows.get_execution(conn, running.run_id)
    assert found is not None
    assert (found.status, found.printed) == ("in_doubt", None)
