"""Open calls of a dead process are recorded as in doubt; those of a live one are not changed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import anyio
import pytest

from pegboard.journal import commit_queue
from pegboard.journal.open_journal import open_chain
from pegboard.model.call_errors import InDoubt, Unavailable
from pegboard.storage import execution_rows
from pegboard.storage.database import Database
from pegboard.storage.migrate import migrate
from pegboard.testing import calls_of
from tests.unit.journal.audit_pages import verified
from tests.unit.journal.standalone_journals import (
    ACTIVE,
    QUIET,
    VAULT,
    DeadWriters,
    a_call,
    kill,
    lie_in,
    lone_writer,
    opened,
    row_of,
    start,
)
from tests.unit.journal.two_boards import CountingTool, board_on, code, intents, no_intents, rows
from tests.waiting import until


@pytest.fixture
def spools(tmp_path: Path) -> Path:
    return tmp_path / "spools"


async def test_an_open_call_is_in_doubt_and_all_others_are_as_they_were(database: Database, spools: Path) -> None:
    dead = start(database, spools)
    done, running = a_call(ACTIVE), a_call(ACTIVE)
    for call in (done, running, a_call(QUIET)):
        await dead.begin(call)
    await dead.record(row_of(done))
    await dead.die()
    async with opened(database, spools) as standalone:
        await until(lambda: no_intents(database))
        assert await rows(database) == [(done.run_id, "succeeded"), (running.run_id, "in_doubt")]
        await standalone.record()
    report = await verified(database, chain=open_chain(VAULT))
    assert (report.checked, report.findings) == (3, ())


async def test_it_is_found_while_running_too_and_by_one_sibling_only(database: Database, spools: Path) -> None:
    async with opened(database, spools) as one, opened(database, spools) as other:
        for standalone in (one, other):
            await standalone.record()
        dead = start(database, spools)
        call = a_call(ACTIVE)
        await dead.begin(call)
        await dead.die()
        await asyncio.gather(one.tended(), other.tended())
        assert await intents(database) == []
        assert len(await rows(database)) == 3
        assert [row for row in await rows(database) if row[1] == "in_doubt"] == [(call.run_id, "in_doubt")]
    assert (await verified(database, chain=open_chain(VAULT))).findings == ()


async def test_a_living_siblings_calls_are_left_alone(database: Database, spools: Path) -> None:
    async with opened(database, spools) as living, opened(database, spools) as other:
        call = a_call(ACTIVE)
        await living.begin(call)
        for _ in range(3):
            await other.tended()
        assert await intents(database) == [("open", False)]
        await living.record(row_of(call))
    assert await rows(database) == [(call.run_id, "succeeded")]


def row_id_of_late(run_id: str) -> str:
    return f"{run_id[:-1]}{int(run_id[-1], 16) ^ 1:x}"


async def test_a_writer_taken_for_dead_records_how_its_calls_ended_and_continues(
    database: Database, spools: Path
) -> None:
    async with opened(database, spools) as fenced:
        call = a_call(ACTIVE)
        await fenced.begin(call)
        _, other, _ = lone_writer(database, spools.with_name("others"), leases=DeadWriters())
        assert await other.recover() == 1
        await fenced.record(row_of(call))
        late = row_id_of_late(call.run_id)
        after = await fenced.record()
        await other.close()
    assert sorted(await rows(database)) == sorted(
        [(call.run_id, "in_doubt"), (late, "succeeded"), (after.id, "succeeded")]
    )
    async with database.read() as conn:
        result = await execution_rows.get_execution(conn, late)
    assert result is not None
    assert result.repeat_of == call.run_id
    assert (await verified(database, chain=open_chain(VAULT))).findings == ()


async def test_beside_a_file_a_spool_that_is_taken_away_by_hand_puts_calls_in_doubt_until_they_end(
    tmp_path: Path, spools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database.create(f"sqlite:///{tmp_path}/board.db")
    await migrate(database)
    monkeypatch.setattr(commit_queue, "MAINTENANCE_SECONDS", 3600)  # otherwise it might notice the change in time
    async with opened(database, spools) as fenced, opened(database, spools) as other:
        call = a_call(ACTIVE)
        await fenced.begin(call)
        await fenced.tended()
        assert fenced.writer.spool is not None
        fenced.writer.spool.path.unlink()
        await other.tended()
        assert await rows(database) == [(call.run_id, "in_doubt")]
        await fenced.record(row_of(call))
        late = row_id_of_late(call.run_id)
        after = await fenced.record()
        ended = [(call.run_id, "in_doubt"), (late, "succeeded"), (after.id, "succeeded")]
        assert sorted(await rows(database)) == sorted(ended)
    await database.close()


async def test_a_writer_that_sees_in_time_that_its_spool_was_taken_away_makes_another(
    database: Database, spools: Path
) -> None:
    async with opened(database, spools) as living:
        call = a_call(ACTIVE)
        await living.begin(call)
        assert living.writer.spool is not None
        name = living.writer.spool.path.name
        living.writer.spool.path.unlink()
        await living.tended()
        assert name in lie_in(spools)
        async with opened(database, spools) as other:
            await other.tended()
            assert await intents(database) == [("open", False)]
            await living.record(row_of(call))
    assert await rows(database) == [(call.run_id, "succeeded")]
    assert lie_in(spools) == []


async def test_the_row_has_the_caller_and_the_tool(database: Database, database_url: str, tmp_path: Path) -> None:
    async with (
        board_on(database_url, tmp_path / "home") as dead,
        board_on(database_url, tmp_path / "home") as board,
    ):
        note = CountingTool(dead, waits=True, keep_arguments=True)
        call = asyncio.create_task(dead.call("note", {"n": 4}))
        await note.started.wait()
        await kill(dead)
        await until(lambda: no_intents(database))
        (row,) = await calls_of(board)
        assert (row.tool_name, row.status, row.code, row.arguments) == ("note", "in_doubt", "in_doubt", {"n": 4})
        assert (row.caller, row.attempts, row.kind, row.tool_version) == (board.admin.name, 1, "internal", 1)
        assert "whether it took effect is not known" in row.error
        assert row.started_at <= row.finished_at
        note.go.set()
        assert code(await call) == "unrecorded"
        assert len(await calls_of(board)) == 1


@pytest.mark.parametrize("was_registered", [True, False], ids=["it had written before", "it never wrote"])
async def test_what_a_dead_process_had_spooled_is_written_once_and_in_order(
    database: Database, spools: Path, was_registered: bool
) -> None:
    dead = start(database, spools, patience=0.0)
    known = [await dead.record()] if was_registered else []
    dead.ledger.fails = "before"
    with anyio.fail_after(30):
        known += [await dead.record() for _ in range(3)]
    await dead.die()
    async with opened(database, spools) as standalone:
        await standalone.tended()
    assert await rows(database) == [(row.id, "succeeded") for row in known]
    assert [row for commit in standalone.ledger.commits for row in commit] == [row.id for row in known[-3:]]
    assert lie_in(spools) == []
    assert (await verified(database, chain=open_chain(VAULT))).findings == ()


@pytest.mark.parametrize("key", [None, "k"])
async def test_a_call_whose_end_could_not_be_recorded_is_in_doubt_once_its_process_has_ended_well(
    database: Database, spools: Path, key: str | None
) -> None:
    call = a_call(ACTIVE, key=key)
    async with opened(database, spools) as standalone:
        await standalone.begin(call)
        with pytest.raises(Unavailable):
            await standalone.record(row_of(call, surface=None))
    async with opened(database, spools) as other:
        await other.tended()
        assert await rows(database) == [(call.run_id, "in_doubt")]
        if key:
            with pytest.raises(InDoubt):
                await other.begin(a_call(ACTIVE, key=key, seconds=2))


async def test_of_one_that_ended_well_while_its_database_was_away_nothing_is_left_open(
    database: Database, spools: Path
) -> None:
    standalone = start(database, spools, patience=0.0)
    spooled, lost = a_call(ACTIVE, key="spooled"), a_call(ACTIVE, key="lost")
    for call in (spooled, lost):
        await standalone.begin(call)
    standalone.ledger.fails = "before"
    await standalone.record(row_of(spooled))
    standalone.writer.on_close = lambda: setattr(
        standalone.ledger, "fails", ""
    )  # the database recovers at the last moment
    await standalone.journal.close()
    async with opened(database, spools) as other:
        await other.tended()
        assert await rows(database) == [(spooled.run_id, "succeeded"), (lost.run_id, "in_doubt")]
        assert sorted(await intents(database)) == [("done", True), ("in_doubt", True)]
    assert lie_in(spools) == []
    assert (await verified(database, chain=open_chain(VAULT))).findings == ()
