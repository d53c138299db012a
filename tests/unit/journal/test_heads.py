"""A writer continues only from what it committed, also after a transaction with an unknown outcome."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import anyio
import pytest

from pegboard.journal import commit_queue
from pegboard.journal.audit import Audit
from pegboard.journal.entries import ClosingEntry, EntryBatch
from pegboard.journal.hash_chain import ChainPosition
from pegboard.journal.open_journal import open_chain
from pegboard.model.journal_row import serialize_execution
from pegboard.storage.database import Database
from tests.unit.journal.chained_journals import read, run
from tests.unit.journal.standalone_journals import VAULT, StandaloneJournal, lone_writer, opened, start
from tests.unit.storage.sample_rows import an_execution

MAC = "0" * 32


@pytest.fixture(autouse=True)
def no_maintenance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable periodic maintenance, which could read the head before the test on a busy machine."""
    monkeypatch.setattr(commit_queue, "MAINTENANCE_SECONDS", 3600)


async def findings(database: Database) -> list[tuple[str, int | None, int | None, int | None]]:
    """Return the violations that a verification of the journal reports."""
    report = await Audit(database, open_chain(VAULT)).verify()
    return [(found.kind, found.writer, found.first, found.last) for found in report.findings]


async def lose_an_answer(standalone: StandaloneJournal) -> None:
    """Record a row whose first commit fails, so that the writer reads its head again."""
    standalone.ledger.fails = "before"
    standalone.ledger.tried.clear()
    async with anyio.create_task_group() as group:
        group.start_soon(standalone.record)
        await standalone.ledger.tried.wait()
        standalone.ledger.fails = ""


async def old_head(database: Database, seq: int) -> dict[str, Any]:
    """Return an earlier signed head, which an attacker with database access may have copied."""
    [(mac,)] = await read(database, "SELECT mac FROM executions WHERE seq = :s", s=seq)
    return {"s": seq, "m": mac, "g": open_chain(VAULT).sign_head(1, ChainPosition(seq, mac))}


async def restore_head(database: Database, head: dict[str, Any]) -> None:
    """Remove the rows after a head and put the head back."""
    await run(database, "DELETE FROM executions WHERE seq > :s", s=head["s"])
    await run(database, "UPDATE writers SET seq = :s, mac = :m, signature = :g WHERE number = 1", **head)


async def test_rows_removed_with_their_head_put_back_are_found_after_a_failed_transaction(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(database, tmp_path / "spools") as standalone:
        with anyio.fail_after(30):
            for _ in range(4):
                await standalone.record()
            await restore_head(database, await old_head(database, 2))
            assert await findings(database) == [], "without the process nothing shows it"
            await lose_an_answer(standalone)
        assert standalone.writer.number == 2
    assert await read(database, "SELECT writer, seq FROM executions ORDER BY writer, seq") == [(1, 1), (1, 2), (2, 1)]
    assert await findings(database) == [("cut", 1, 3, 4)]
    assert "journal_head_refused" in caplog.text


async def test_a_head_that_is_not_signed_is_refused(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(database, tmp_path / "spools") as standalone:
        with anyio.fail_after(30):
            for _ in range(3):
                await standalone.record()
            [(mac,)] = await read(database, "SELECT mac FROM executions WHERE seq = 3")
            await restore_head(database, {"s": 1, "m": mac, "g": MAC})
            await lose_an_answer(standalone)
        assert standalone.writer.number == 2
    assert await findings(database) == [("cut", 1, 2, 3)]
    assert "not signed by this board" in caplog.text


async def test_a_writer_whose_row_is_gone_gets_a_new_number(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(database, tmp_path / "spools") as standalone:
        with anyio.fail_after(30):
            await standalone.record()
            await run(database, "DELETE FROM executions")
            await run(database, "DELETE FROM writers")
            await lose_an_answer(standalone)
        assert standalone.writer.number == 2
    assert await findings(database) == [("writer_missing", 1, None, None)]
    assert "journal_head_refused" in caplog.text


async def test_a_head_changed_before_the_writer_closes_is_written_back(database: Database, tmp_path: Path) -> None:
    ledger, writer, _ = lone_writer(database, tmp_path / "spools")
    for _ in range(2):
        await writer.commit(EntryBatch([], [ClosingEntry(serialize_execution(an_execution(attempts=1)))]))
    ledger.fails = "before"
    with pytest.raises(ConnectionError):
        await writer.commit(EntryBatch([], []))
    ledger.fails = ""
    await restore_head(database, await old_head(database, 1))
    await writer.close()
    assert await findings(database) == [("cut", 1, 2, 2)]


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_failed_transaction_alone_changes_no_number(
    database: Database, tmp_path: Path, when: Literal["before", "after"], caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(database, tmp_path / "spools") as standalone:
        with anyio.fail_after(30):
            await standalone.record()
            standalone.ledger.fails = when
            standalone.ledger.tried.clear()
            async with anyio.create_task_group() as group:
                group.start_soon(standalone.record)
                await standalone.ledger.tried.wait()
                standalone.ledger.fails = ""
        assert standalone.writer.number == 1
    assert await read(database, "SELECT seq FROM executions ORDER BY seq") == [(1,), (2,)]
    assert await findings(database) == []
    assert "journal_head_refused" not in caplog.text


class TestTheCountOfWriters:
    """A process that registers signs the count of writers, and must not hide a removed one by it."""

    @pytest.fixture
    async def two_writers(self, database: Database, tmp_path: Path) -> Database:
        for _ in range(2):
            async with opened(database, tmp_path / "spools") as standalone:
                await standalone.record()
        return database

    async def test_a_count_that_is_not_signed_stays_a_finding(
        self, two_writers: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        await run(two_writers, "DELETE FROM executions WHERE writer = 2")
        await run(two_writers, "DELETE FROM writers WHERE number = 2")
        await run(two_writers, "UPDATE board_state SET writers = 1")
        for _ in range(2):
            async with opened(two_writers, tmp_path / "spools") as standalone:
                await standalone.record()
        assert ("count_forged", None, None, None) in await findings(two_writers)
        assert "writer_count_not_signed" in caplog.text

    async def test_a_number_that_rows_have_is_not_given_again(self, two_writers: Database, tmp_path: Path) -> None:
        await run(two_writers, "DELETE FROM writers")
        await run(two_writers, "UPDATE board_state SET writers = 0, writers_signature = ''")
        async with opened(two_writers, tmp_path / "spools") as standalone:
            await standalone.record()
            assert standalone.writer.number == 3
        found = await findings(two_writers)
        assert {("count_forged", None, None, None), ("writer_missing", 1, None, None)} <= set(found)


async def test_processes_that_start_at_once_have_numbers_of_their_own(database: Database, tmp_path: Path) -> None:
    hands = [start(database, tmp_path / "spools") for _ in range(4)]
    try:
        async with anyio.create_task_group() as group:
            for standalone in hands:
                group.start_soon(standalone.record)
        assert sorted(standalone.writer.number or 0 for standalone in hands) == [1, 2, 3, 4]
    finally:
        for standalone in hands:
            await standalone.journal.close()
    assert await findings(database) == []
