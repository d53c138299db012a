"""Prunes that fail, that are killed, or that run at the same time."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pegboard.journal.verify import VerificationReport
from pegboard.storage import journal_chain_rows
from pegboard.storage import journal_chain_rows as writers
from pegboard.storage.database import Database
from tests.unit.journal.audit_pages import list_positions, pruned, verified
from tests.unit.journal.chained_journals import MINUTE, journal
from tests.unit.storage.sample_rows import NOW


async def test_what_breaks_in_the_middle_of_a_transaction_changes_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await journal(database, 9)

    async def broken(*_: Any, **__: Any) -> bool:
        raise asyncio.CancelledError

    monkeypatch.setattr(writers, "mark_pruned", broken)
    with pytest.raises(asyncio.CancelledError):
        await pruned(database, NOW + 5 * MINUTE)
    assert await verified(database) == VerificationReport(9, total=9)


async def test_two_prunes_at_once_remove_each_row_once(database: Database) -> None:
    await journal(database, 50)
    moments = [NOW + minutes * MINUTE for minutes in (40, 30, 45)]
    removed = await asyncio.gather(*(pruned(database, moment, 4) for moment in moments))
    assert sum(removed) == 45
    assert (await verified(database)).findings == ()
    assert len(await list_positions(database)) == 5


async def test_a_marker_that_another_user_moved_is_not_moved_back(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await journal(database, 9)
    remove = journal_chain_rows.remove_chain_rows

    async def overtaken(*given: Any, **more: Any) -> int:
        monkeypatch.setattr(journal_chain_rows, "remove_chain_rows", remove)
        gone = await remove(*given, **more)
        # As if another process had been faster, and this one had read the marker before.
        await given[0].exec_driver_sql("UPDATE writers SET pruned_seq = pruned_seq + 1")
        return gone

    monkeypatch.setattr(journal_chain_rows, "remove_chain_rows", overtaken)
    assert await pruned(database, NOW + 5 * MINUTE) == 5
    assert await verified(database) == VerificationReport(4, notes=("5 rows pruned",), total=4)


PRUNE = """
import asyncio, sys
from datetime import UTC, datetime
from pegboard.journal import prune
from pegboard.journal.audit import Audit
from pegboard.storage.database import Database
from tests.unit.journal.chained_journals import CHAIN

async def main():
    prune._BATCH_ROWS = 10
    print("ready", flush=True)
    await Audit(Database.create(sys.argv[1]), CHAIN).prune(datetime.now(UTC), limit=10**9)

asyncio.run(main())
"""


async def test_a_prune_that_is_killed_leaves_a_journal_that_verifies(database: Database, database_url: str) -> None:
    await journal(database, 3000)
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", PRUNE, database_url]
    for _ in range(3):
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, cwd=root)
        assert process.stdout is not None
        before = len(await list_positions(database))
        await process.stdout.readline()
        for _ in range(1000):
            if len(await list_positions(database)) < before:
                break
        process.kill()
        await process.wait()
        remaining = len(await list_positions(database))
        report = await verified(database)
        assert (report.findings, report.checked) == ((), remaining)
        assert 0 < remaining < before
    assert await pruned(database, datetime.now(UTC)) == remaining
