"""Old rows are removed, and the rest verifies: at every step, after every kill."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import insert

from pegboard.journal.audit import Audit
from pegboard.journal.prune import PruneReport
from pegboard.journal.verify import VerificationReport
from pegboard.model.api_errors import Conflict, Invalid
from pegboard.model.ids import make_lowest_id
from pegboard.storage.board_tables import get_table
from pegboard.storage.database import Database
from pegboard.storage.journal_tables import ExecutionCount, Intent
from tests.unit.journal.audit_pages import exported, lines_verified, list_positions, pruned, received, verified
from tests.unit.journal.chained_journals import (
    CHAIN,
    MINUTE,
    add_writer,
    append,
    call,
    empty,
    journal,
    memory_database,
    read,
    run,
    unchained,
)
from tests.unit.storage.sample_rows import NOW


@pytest.fixture
async def quick_database() -> AsyncIterator[Database]:
    """A database for many examples."""
    async with memory_database() as made:
        yield made


@pytest.mark.parametrize("limit", [1, 2, 20_000])
async def test_what_finished_before_a_moment_goes_and_the_rest_verifies(database: Database, limit: int) -> None:
    await journal(database, 5, 2, 0, 9)
    assert await pruned(database, NOW + 3 * MINUTE, limit) == 8
    assert await list_positions(database) == [(1, 4), (1, 5), *((4, seq) for seq in range(4, 10))]
    assert await verified(database) == VerificationReport(8, notes=("8 rows pruned",), total=8)
    assert await pruned(database, NOW + 3 * MINUTE) == 0
    assert await pruned(database, datetime.now(UTC)) == 8
    assert await verified(database) == VerificationReport(0, notes=("16 rows pruned",), total=0)
    await append(database, 1, [call(20)])
    assert (await verified(database)).checked == 1


async def test_only_a_beginning_goes_so_a_long_call_keeps_what_came_after_it(database: Database) -> None:
    await add_writer(database, 1)
    await append(database, 1, [call(0), call(9), call(1), call(2)])
    assert await pruned(database, NOW + 5 * MINUTE) == 1
    assert await list_positions(database) == [(1, 2), (1, 3), (1, 4)]
    assert (await verified(database)).findings == ()


async def test_a_dry_run_counts_and_removes_nothing(database: Database) -> None:
    await unchained(database, call(-3), call(9))
    await journal(database, 5, 9)
    await pruned(database, NOW + MINUTE)
    audit = Audit(database, CHAIN)
    before = await read(database, "SELECT COUNT(*) FROM executions")
    assert await audit.prune(NOW + 3 * MINUTE, dry_run=True) == PruneReport(4)
    assert await read(database, "SELECT COUNT(*) FROM executions") == before
    assert await pruned(database, NOW + 3 * MINUTE) == 4
    assert await audit.prune(NOW + 3 * MINUTE, dry_run=True) == PruneReport(0)


async def test_a_moment_in_the_future_is_refused(database: Database) -> None:
    await journal(database, 1)
    for dry_run in (True, False):
        with pytest.raises(Invalid, match="future"):
            await Audit(database, CHAIN).prune(datetime.now(UTC) + MINUTE, dry_run=dry_run)
    assert await list_positions(database) == [(1, 1)]


async def test_rows_from_before_the_chain_go_too(database: Database) -> None:
    await unchained(database, *(call(minutes) for minutes in (-5, -4, -3)))
    await journal(database, 1)
    assert await pruned(database, NOW - 3 * MINUTE, 1) == 2
    assert (await verified(database)).notes == ("1 row from before there was a chain, not judged",)


async def test_statistics_of_hours_that_were_over_go_too(database: Database) -> None:
    hour = int(NOW.timestamp() // 3600)
    same = {"tool_name": "t", "caller_id": "", "status": "succeeded", "code": "", "bucket": 1, "calls": 1}
    async with database.write() as conn:
        hours = [{"hour": hour + shift, **same} for shift in (-500, -40, -1, 0, 1)]
        await conn.execute(insert(get_table(ExecutionCount)), hours)
    await pruned(database, NOW)
    found = await read(database, "SELECT hour FROM execution_counts ORDER BY hour")
    assert [row[0] - hour for row in found] == [0, 1]


async def test_old_intents_in_doubt_are_removed_unless_their_key_may_be_reused(database: Database) -> None:
    def intent(minutes: int, state: str, expires: timedelta | None = None) -> dict[str, Any]:
        made = make_lowest_id(NOW + minutes * MINUTE)[:-4] + f"{len(state):04x}"
        ends = None if expires is None else datetime.now(UTC) + expires
        return {"id": made, "writer": 1, "state": state, "execution": "[]", "receipts": False, "expires_at": ends}

    kept = [intent(1, "in_doubt"), intent(-1, "open"), intent(-2, "in_doubt", timedelta(hours=1)), intent(-3, "done")]
    async with database.write() as conn:
        gone = [intent(-4, "in_doubt"), intent(-5, "in_doubt", -timedelta(hours=1))]
        await conn.execute(insert(get_table(Intent)), [*kept, *gone])
    await pruned(database, NOW)
    found = await read(database, "SELECT CAST(id AS TEXT) FROM intents")
    assert {row[0].replace("-", "") for row in found} == {intent["id"].replace("-", "") for intent in kept}


async def test_a_prune_leaves_a_trace_in_the_log(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    await journal(database, 2)
    with caplog.at_level("INFO", "pegboard.journal.prune"):
        await pruned(database, NOW + MINUTE, by="ada")
        await pruned(database, NOW + MINUTE, by="ada")
    [record] = caplog.records
    assert record.getMessage() == f"journal_pruned before={(NOW + MINUTE).isoformat()} rows=1 by=ada forced=False"


class TestTamperedJournals:
    @pytest.mark.parametrize(
        ("damage", "finding"),
        [
            ("UPDATE executions SET caller = 'eve' WHERE seq = 3", "Row 3 of writer 1"),
            ("DELETE FROM executions WHERE seq = 2", "Row 2 of writer 1 is missing"),
            ("UPDATE writers SET pruned_seq = 1", "The prune marker of writer 1"),
        ],
    )
    async def test_a_prune_does_not_hide_them_unless_forced(
        self, database: Database, damage: str, finding: str
    ) -> None:
        await journal(database, 9)
        await run(database, damage)
        before = await list_positions(database)
        with pytest.raises(Conflict, match=finding):
            await pruned(database, NOW + 5 * MINUTE)
        assert await list_positions(database) == before
        await pruned(database, NOW + 5 * MINUTE, force=True)
        assert await list_positions(database) == [(1, 6), (1, 7), (1, 8), (1, 9)]
        assert (await verified(database)).findings == ()

    @pytest.mark.parametrize("change", ["caller = 'eve'", "mac = 'x'"])
    async def test_what_remains_verifies_although_the_last_row_that_went_was_changed(
        self, database: Database, change: str
    ) -> None:
        await journal(database, 5)
        await run(database, f"UPDATE executions SET {change} WHERE seq IN (3, 5)")
        await pruned(database, NOW + 3 * MINUTE, force=True)
        [finding] = (await verified(database)).findings
        assert finding.first == 5
        await pruned(database, NOW + 5 * MINUTE, force=True)
        assert (await verified(database)).findings == ()

    async def test_what_went_before_the_damage_was_met_is_logged(
        self, database: Database, caplog: pytest.LogCaptureFixture
    ) -> None:
        await journal(database, 2, 2)
        await run(database, "UPDATE executions SET caller = 'eve' WHERE writer = 2")
        with caplog.at_level("INFO", "pegboard.journal.prune"), pytest.raises(Conflict):
            await pruned(database, NOW + 5 * MINUTE)
        assert [" rows=2 " in record.getMessage() for record in caplog.records] == [True]

    async def test_damage_that_stays_does_not_keep_sound_rows_from_going(self, database: Database) -> None:
        [rows] = await journal(database, 9)
        await run(database, "UPDATE executions SET caller = 'eve' WHERE seq = 7")
        assert await pruned(database, NOW + 5 * MINUTE) == 5
        assert received(await verified(database)) == [
            f"Row 7 of writer 1, execution {rows[6].id}, is not as the board wrote it"
        ]

    async def test_rows_behind_the_head_stay(self, database: Database) -> None:
        await journal(database, 2)
        [(mac, signature)] = await read(database, "SELECT mac, signature FROM writers")
        await append(database, 1, [call(3)])
        await run(database, "UPDATE writers SET seq = 2, mac = :m, signature = :g", m=mac, g=signature)
        assert await pruned(database, NOW + 60 * MINUTE) == 2
        assert [finding.kind for finding in (await verified(database)).findings] == ["beyond_head"]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    times=st.lists(st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=3),
    moments=st.lists(st.integers(0, 10), min_size=1, max_size=3),
    limit=st.integers(1, 8),
)
async def test_pruning_at_any_moment_leaves_a_journal_that_verifies(
    quick_database: Database, times: list[list[int]], moments: list[int], limit: int
) -> None:
    await empty(quick_database)
    for number, minutes in enumerate(times, start=1):
        await add_writer(quick_database, number)
        await append(quick_database, number, [call(minute) for minute in minutes])
    for moment in moments:
        await pruned(quick_database, NOW + moment * MINUTE, limit)
        assert (await verified(quick_database)).findings == ()
        assert (await lines_verified(quick_database, await exported(quick_database))).findings == ()
    latest = max(moments)
    for number, minutes in enumerate(times, start=1):
        old = next((place for place, minute in enumerate(minutes) if minute >= latest), len(minutes))
        assert [seq for writer, seq in await list_positions(quick_database) if writer == number] == [
            place + 1 for place in range(old, len(minutes))
        ]
