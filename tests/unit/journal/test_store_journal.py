"""The journal: rows are durable before the answer, waiting rows share a commit, and failures are reported."""

from __future__ import annotations

import asyncio
from pathlib import Path

import anyio
import pytest

from pegboard.model.call import ToolResult
from pegboard.model.call_errors import Unavailable
from pegboard.model.filters import ExecutionFilter
from pegboard.storage import execution_rows
from pegboard.storage.database import Database
from tests.unit.journal.standalone_journals import ACTIVE, StandaloneJournal, a_call, lie_in, opened, row_of, start
from tests.unit.storage.sample_rows import an_execution
from tests.waiting import until


@pytest.fixture
def spools(tmp_path: Path) -> Path:
    return tmp_path / "spools"


async def rows(database: Database) -> set[str]:
    async with database.read() as conn:
        found = [row.id for row in await execution_rows.list_executions(conn, ExecutionFilter(), limit=1000)]
    assert len(found) == len(set(found))
    return set(found)


async def is_up(standalone: StandaloneJournal) -> bool:
    try:
        await standalone.begin()
    except Unavailable:
        return False
    return True


async def test_a_row_is_there_when_record_returns(database: Database, spools: Path) -> None:
    async with opened(database, spools) as standalone:
        await standalone.begin()
        row = await standalone.record()
        assert await rows(database) == {row.id}


async def test_rows_that_wait_together_share_a_commit(database: Database, spools: Path) -> None:
    many = [an_execution() for _ in range(50)]
    async with opened(database, spools) as standalone:
        await asyncio.gather(*(standalone.record(row) for row in many))
    assert await rows(database) == {row.id for row in many}
    assert sum(map(len, standalone.ledger.commits)) == 50
    assert len(standalone.ledger.commits) < 10


async def test_more_than_fit_in_one_transaction_are_all_written(database: Database, spools: Path) -> None:
    many = [an_execution() for _ in range(2500)]
    async with opened(database, spools) as standalone:
        await asyncio.gather(*(standalone.record(row) for row in many))
    assert sum(map(len, standalone.ledger.commits)) == 2500
    assert max(map(len, standalone.ledger.commits)) == 2000


async def test_a_row_is_kept_though_its_caller_went_away(database: Database, spools: Path) -> None:
    async with opened(database, spools) as standalone:
        row = an_execution()
        recording = asyncio.create_task(standalone.record(row))
        await asyncio.sleep(0)
        recording.cancel()
        with pytest.raises(asyncio.CancelledError):
            await recording
    assert await rows(database) == {row.id}


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_short_absence_of_the_database_is_only_a_delay(database: Database, spools: Path, when: str) -> None:
    async with opened(database, spools, patience=5.0) as standalone:
        standalone.ledger.fails = when  # type: ignore[assignment]
        row = an_execution(attempts=1)
        recording = asyncio.create_task(standalone.record(row))
        await standalone.ledger.tried.wait()
        await standalone.begin()
        standalone.ledger.fails = ""
        with anyio.fail_after(30):
            await recording
    assert await rows(database) == {row.id}
    assert standalone.ledger.failures, "nothing failed"


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("key", [None, "k"])
async def test_an_intent_is_delayed_as_well(database: Database, spools: Path, when: str, key: str | None) -> None:
    async with opened(database, spools, patience=5.0) as standalone:
        standalone.ledger.fails = when  # type: ignore[assignment]
        beginning = asyncio.create_task(standalone.begin(a_call(ACTIVE, key=key)))
        await standalone.ledger.tried.wait()
        standalone.ledger.fails = ""
        with anyio.fail_after(30):
            assert await beginning is None


class TestAway:
    """After its timeout, the journal refuses new calls and spools the rows of calls that ran."""

    async def test_rows_of_calls_that_ran_are_spooled_and_new_calls_refused_until_it_is_back(
        self, database: Database, spools: Path
    ) -> None:
        async with opened(database, spools, patience=0.0) as standalone:
            standalone.ledger.fails = "before"
            with anyio.fail_after(30):
                kept = [await standalone.record() for _ in range(3)]
            assert await rows(database) == set()
            assert standalone.writer.spool is not None
            assert len(standalone.writer.spool.read().entries) == 3
            for call in (None, a_call(ACTIVE), a_call(ACTIVE, key="k")):
                with pytest.raises(Unavailable, match="cannot record calls: ConnectionError") as refused:
                    await standalone.begin(call)
                assert refused.value.retry_after_ms == 1000
            standalone.ledger.fails = ""
            await until(lambda: is_up(standalone))
            after = await standalone.record()
            assert standalone.writer.spool.is_empty
            assert await rows(database) == {row.id for row in (*kept, after)}

    async def test_an_answer_under_a_key_is_encrypted_in_the_spool(self, database: Database, spools: Path) -> None:
        async with opened(database, spools, patience=0.0) as standalone:
            call = a_call(ACTIVE, key="k")
            await standalone.begin(call)
            standalone.ledger.fails = "before"
            result = ToolResult(call.tool.name, True, b'"meet at noon"', run_id=call.run_id, attempts=1)
            with anyio.fail_after(30):
                await standalone.journal.record(row_of(call), result)
            assert standalone.writer.spool is not None
            spooled = b"".join(standalone.writer.spool.read().entries)
            assert call.run_id.encode() in spooled
            assert b"pb1:" in spooled
            assert b"meet at noon" not in spooled
            standalone.ledger.fails = ""
            await until(lambda: is_up(standalone))

    async def test_what_may_have_been_committed_is_not_committed_twice(self, database: Database, spools: Path) -> None:
        async with opened(database, spools, patience=0.0) as standalone:
            standalone.ledger.fails = "after"
            with anyio.fail_after(30):
                kept = [await standalone.record() for _ in range(3)]
            standalone.ledger.fails = ""
            await until(lambda: is_up(standalone))
            assert await rows(database) == {row.id for row in kept}

    async def test_a_spool_that_cannot_be_emptied_is_no_end_of_the_journal(
        self, database: Database, spools: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with opened(database, spools, patience=0.0) as standalone:
            standalone.ledger.fails = "before"
            kept = await standalone.record()
            standalone.ledger.fails = ""

            def broken() -> None:
                raise OSError("input/output error")

            monkeypatch.setattr(standalone.writer.spool, "clear", broken)
            await until(lambda: is_up(standalone))
            with anyio.fail_after(30):
                after = await standalone.record()
            assert await rows(database) == {kept.id, after.id}

    async def test_rows_are_reported_lost_without_a_spool(
        self, spools: Path, caplog: pytest.LogCaptureFixture, database: Database
    ) -> None:
        async with opened(database, spools, patience=0.0) as standalone:
            await standalone.record()
            assert standalone.writer.spool is not None
            standalone.writer.spool.close(remove=False)
            standalone.ledger.fails = "before"
            lost = an_execution(attempts=1, arguments={"hush": "kept arguments"}, result="a kept result")
            with pytest.raises(Unavailable, match="could not be recorded: ConnectionError") as refused:
                await standalone.record(lost)
            assert refused.value.retry_after_ms == 1000
            assert lost.id in caplog.text, "what the journal lost is in the log"
            assert "kept arguments" not in caplog.text
            assert "a kept result" not in caplog.text

    async def test_a_refusal_waits_for_nothing(self, database: Database, spools: Path) -> None:
        async with opened(database, spools, patience=0.0) as standalone:
            standalone.ledger.fails = "before"
            await standalone.record()
            # A writer that never returns: a caller who waited for it would hang.
            standalone.ledger.gate = asyncio.Event()
            standalone.ledger.tried.clear()
            with anyio.fail_after(30):
                await standalone.ledger.tried.wait()
                with pytest.raises(Unavailable, match="ConnectionError"):
                    await standalone.record(an_execution(attempts=0, status="refused"))
            standalone.ledger.gate.set()
            standalone.ledger.gate = None

    @pytest.mark.parametrize("when", ["before", "after"])
    @pytest.mark.parametrize("key", [None, "k"])
    async def test_a_call_whose_intent_was_cut_off_does_not_run_and_leaves_a_row_and_no_intent(
        self, database: Database, spools: Path, when: str, key: str | None
    ) -> None:
        async with opened(database, spools, patience=0.0) as standalone:
            await standalone.record()
            standalone.ledger.fails = when  # type: ignore[assignment]
            call = a_call(ACTIVE, key=key)
            with pytest.raises(Unavailable):
                await standalone.begin(call)
            refused = an_execution(id=call.run_id, status="refused", code="unavailable", attempts=0)
            with anyio.fail_after(30):
                await standalone.record(refused, success=False)
            standalone.ledger.fails = ""
            await until(lambda: is_up(standalone))
            assert refused.id in await rows(database)
            assert await intents(database) == 0
            with anyio.fail_after(30):
                assert await standalone.begin(a_call(ACTIVE, key=key)) is None, "the key is free"


async def intents(database: Database) -> int:
    async with database.read() as conn:
        return int((await conn.exec_driver_sql("SELECT count(*) FROM intents")).scalar_one())


async def test_it_holds_no_more_rows_than_it_may(database: Database, spools: Path) -> None:
    async with opened(database, spools, max_waiting=2) as standalone:
        standalone.ledger.gate = asyncio.Event()
        waiting = [asyncio.create_task(standalone.record())]
        await standalone.ledger.tried.wait()
        waiting += [asyncio.create_task(standalone.record()) for _ in range(4)]
        await asyncio.sleep(0)
        with pytest.raises(Unavailable, match="behind with its work"):
            await standalone.begin()
        assert standalone.journal.trouble == "it is behind with its work"
        with pytest.raises(Unavailable, match="takes no more rows"):
            await standalone.record()
        standalone.ledger.gate.set()
        with anyio.fail_after(30):
            await asyncio.gather(*waiting)


async def test_it_holds_no_more_bytes_than_it_may(database: Database, spools: Path) -> None:
    async with opened(database, spools, max_bytes=10_000) as standalone:
        standalone.ledger.gate = asyncio.Event()
        waiting = [asyncio.create_task(standalone.record())]
        await standalone.ledger.tried.wait()
        waiting += [asyncio.create_task(standalone.record(an_execution(result="x" * 10_000)))]
        await asyncio.sleep(0)
        with pytest.raises(Unavailable, match="behind with its work"):
            await standalone.begin()
        standalone.ledger.gate.set()
        with anyio.fail_after(30):
            await asyncio.gather(*waiting)
        await standalone.begin()


async def test_an_answer_that_is_kept_weighs_as_much_as_it_is_long(database: Database, spools: Path) -> None:
    async with opened(database, spools, max_bytes=10_000) as standalone:
        call = a_call(ACTIVE, key="k")
        await standalone.begin(call)
        standalone.ledger.tried.clear()
        standalone.ledger.gate = asyncio.Event()
        first = asyncio.create_task(standalone.record())
        await standalone.ledger.tried.wait()
        answer = ToolResult("active", True, b"1" * 10_000, attempts=1)
        waiting = asyncio.create_task(standalone.journal.record(row_of(call), answer))
        await asyncio.sleep(0)
        try:
            with pytest.raises(Unavailable, match="behind with its work"):
                await standalone.begin()
        finally:
            standalone.ledger.gate.set()
            await asyncio.gather(first, waiting)


class TestClosing:
    async def test_what_waits_is_written_and_nothing_is_taken_afterwards(
        self, database: Database, spools: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        standalone = start(database, spools)
        row = an_execution()
        recording = asyncio.create_task(standalone.record(row))
        await asyncio.sleep(0)
        await standalone.journal.close()
        await recording
        assert await rows(database) == {row.id}
        assert "execution_not_recorded" not in caplog.text, "a row that is there was said to be lost"
        with pytest.raises(Unavailable, match="takes no more rows"):
            await standalone.record()
        assert lie_in(spools) == [], "an empty spool goes with its writer"

    @pytest.mark.parametrize("key", [None, "k"])
    async def test_later_calls_are_refused_without_waiting(
        self, database: Database, spools: Path, key: str | None
    ) -> None:
        standalone = start(database, spools)
        await standalone.journal.close()
        with anyio.fail_after(30), pytest.raises(Unavailable):
            await standalone.begin(a_call(ACTIVE, key=key))

    async def test_a_row_that_is_refused_at_the_end_is_reported(self, database: Database, spools: Path) -> None:
        standalone = start(database, spools)
        await standalone.journal.close()
        with pytest.raises(Unavailable, match="takes no more rows"):
            await standalone.journal.record(an_execution(), ToolResult("add", True))
