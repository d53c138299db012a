"""The journal: durable before anybody is answered, one commit for those who wait together, honest when it cannot."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pegboard.core.call import Execution
from pegboard.core.errors import Unavailable
from pegboard.stages.journal import StoreJournal
from pegboard.store import executions
from pegboard.store.database import Database
from pegboard.store.executions import ExecutionFilter
from tests.unit.store.rows import an_execution

READY: Any = None


@asynccontextmanager
async def opened(database: Database, **options: Any) -> AsyncIterator[StoreJournal]:
    journal = StoreJournal(database, **options)
    try:
        yield journal
    finally:
        await journal.close()


async def rows(database: Database) -> set[str]:
    async with database.read() as conn:
        return {row.id for row in await executions.page(conn, ExecutionFilter(), limit=1000)}


class Broken:
    """Makes every commit of a database fail for as long as it is told."""

    def __init__(self, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
        self.broken = True
        self.tried = asyncio.Event()
        self.commits: list[int] = []
        add_all, ping = executions.add_all, database.ping

        async def add(conn: Any, batch: list[Execution]) -> None:
            self.tried.set()
            if self.broken:
                raise ConnectionError("gone")
            self.commits.append(len(batch))
            await add_all(conn, batch)

        async def look() -> None:
            if self.broken:
                raise ConnectionError("gone")
            await ping()

        monkeypatch.setattr(executions, "add_all", add)
        monkeypatch.setattr(database, "ping", look)


async def test_a_row_is_there_when_record_returns(database: Database) -> None:
    async with opened(database) as journal:
        row = an_execution()
        await journal.begin(READY)
        await journal.record(row)
        assert await rows(database) == {row.id}


async def test_rows_that_wait_together_share_a_commit(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Broken(database, monkeypatch)
    watched.broken = False
    many = [an_execution() for _ in range(50)]
    async with opened(database) as journal:
        await asyncio.gather(*(journal.record(row) for row in many))
    assert await rows(database) == {row.id for row in many}
    assert sum(watched.commits) == 50
    assert len(watched.commits) < 10


async def test_a_row_is_kept_though_its_caller_went_away(database: Database) -> None:
    async with opened(database) as journal:
        row = an_execution()
        recording = asyncio.create_task(journal.record(row))
        await asyncio.sleep(0)
        recording.cancel()
        with pytest.raises(asyncio.CancelledError):
            await recording
    assert await rows(database) == {row.id}


async def test_a_short_absence_of_the_database_is_only_a_delay(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Broken(database, monkeypatch)
    async with opened(database, patience=5.0) as journal:
        row = an_execution()
        recording = asyncio.create_task(journal.record(row))
        await broken.tried.wait()
        await journal.begin(READY)
        broken.broken = False
        await asyncio.wait_for(recording, 5)
    assert await rows(database) == {row.id}


async def test_after_that_rows_are_told_lost_and_new_calls_refused_until_it_is_back(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Broken(database, monkeypatch)
    async with opened(database, patience=0.0) as journal:
        lost = an_execution(arguments={"hush": "kept arguments"})
        with pytest.raises(Unavailable, match="could not be recorded: ConnectionError") as refused:
            await journal.record(lost)
        assert refused.value.retry_after_ms == 1000
        assert lost.id in caplog.text, "what the journal lost is in the log"
        assert "kept arguments" not in caplog.text
        with pytest.raises(Unavailable, match="cannot record calls: ConnectionError"):
            await journal.begin(READY)
        broken.broken = False

        async def back() -> None:
            while True:
                try:
                    return await journal.begin(READY)
                except Unavailable:
                    await asyncio.sleep(0.01)

        await asyncio.wait_for(back(), 5)
        row = an_execution()
        await journal.record(row)
    assert await rows(database) == {row.id}


async def test_it_holds_no_more_rows_than_it_may(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Broken(database, monkeypatch)
    async with opened(database, patience=5.0, max_waiting=2) as journal:
        waiting = [asyncio.create_task(journal.record(an_execution()))]
        await broken.tried.wait()
        waiting += [asyncio.create_task(journal.record(an_execution())) for _ in range(4)]
        await asyncio.sleep(0)
        with pytest.raises(Unavailable, match="behind with its work"):
            await journal.begin(READY)
        with pytest.raises(Unavailable, match="takes no more rows"):
            await journal.record(an_execution())
        broken.broken = False
        await asyncio.wait_for(asyncio.gather(*waiting), 5)


async def test_closing_writes_what_waits_and_then_takes_nothing(database: Database) -> None:
    journal = StoreJournal(database)
    row = an_execution()
    recording = asyncio.create_task(journal.record(row))
    await asyncio.sleep(0)
    await journal.close()
    await recording
    assert await rows(database) == {row.id}
    with pytest.raises(Unavailable, match="takes no more rows"):
        await journal.record(an_execution())
