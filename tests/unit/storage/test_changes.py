"""Noticing the changes of other processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from pegboard.storage.change_listener import ChangeListener
from pegboard.storage.database import Database
from pegboard.storage.migrate import migrate
from tests.servers import PostgresServer


class SeenChanges:
    """The changes that a watcher received."""

    def __init__(self) -> None:
        self.revisions: list[int] = []
        self.failing = 0
        self._reported = asyncio.Event()

    async def on_change(self, revision: int) -> None:
        """Record the change, or fail if configured so."""
        if self.failing:
            self.failing -= 1
            raise ConnectionError("not now")
        self.revisions.append(revision)
        self._reported.set()

    async def wait_for(self, revision: int) -> None:
        """Return as soon as that revision was seen."""
        async with asyncio.timeout(30):
            while revision not in self.revisions:
                self._reported.clear()
                await self._reported.wait()


@asynccontextmanager
async def watching(changes: ChangeListener, seen: SeenChanges) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(changes.watch(seen.on_change))
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def change(database: Database) -> None:
    async with database.change():
        pass


@pytest.fixture
async def other(database: Database, database_url: str) -> AsyncIterator[Database]:
    """The same database, opened by another process."""
    opened = Database.create(database_url)
    yield opened
    await opened.close()


async def test_a_change_elsewhere_is_seen(database: Database, other: Database) -> None:
    await change(database)
    seen = SeenChanges()
    # PostgreSQL notifies: the next poll is in an hour.
    async with watching(ChangeListener(database, seen=0, slow_poll=3600), seen):
        await seen.wait_for(1)
        for revision in (2, 3):
            await change(other)
            await seen.wait_for(revision)
    assert seen.revisions == [1, 2, 3]


async def test_what_was_seen_already_is_not_reported_again(database: Database, other: Database) -> None:
    await change(database)
    seen = SeenChanges()
    async with watching(ChangeListener(database, seen=1), seen):
        await change(other)
        await seen.wait_for(2)
    assert seen.revisions == [2]


async def test_a_write_that_is_no_change_is_not_reported(database: Database, other: Database) -> None:
    seen = SeenChanges()
    async with watching(ChangeListener(database), seen):
        async with other.write() as conn:
            await conn.exec_driver_sql("CREATE TABLE extra (id INTEGER)")
        await change(other)
        await seen.wait_for(1)
    assert seen.revisions == [1]


async def test_a_listener_that_fails_is_reported_again(
    database: Database, other: Database, caplog: pytest.LogCaptureFixture
) -> None:
    seen = SeenChanges()
    seen.failing = 2
    async with watching(ChangeListener(database), seen):
        await change(other)
        await seen.wait_for(1)
    assert [record.levelname for record in caplog.records if "not now" in record.getMessage()] == ["WARNING"] * 2


async def test_watching_waits_for_the_tables_to_be_there(empty_database_url: str) -> None:
    database = Database.create(empty_database_url)
    seen = SeenChanges()
    async with watching(ChangeListener(database), seen):
        await migrate(database)
        await change(database)
        await seen.wait_for(1)
    await database.close()


async def test_postgresql_is_asked_now_and_then_even_if_it_never_calls(postgres_url: str) -> None:
    database = Database.create(postgres_url)
    await migrate(database)
    seen = SeenChanges()
    async with watching(ChangeListener(database, seen=-1, slow_poll=0.1), seen):
        await seen.wait_for(0)
        async with database.write() as conn:
            await conn.exec_driver_sql("UPDATE board_state SET revision = 41")
        await seen.wait_for(41)
    await database.close()


async def test_watching_continues_after_postgresql_was_away(own_postgres: PostgresServer) -> None:
    database = Database.create(own_postgres.url)
    await migrate(database)
    seen = SeenChanges()
    async with watching(ChangeListener(database, seen=-1), seen):
        await seen.wait_for(0)
        own_postgres.stop()
        own_postgres.start()
        # The same revision again: the board must read the database in any case.
        seen.revisions.clear()
        await seen.wait_for(0)
        await change(database)
        await seen.wait_for(1)
    await database.close()


async def test_memory_has_nothing_to_watch() -> None:
    database = Database.create("memory")
    seen = SeenChanges()
    await asyncio.wait_for(ChangeListener(database).watch(seen.on_change), 30)
    await database.close()
    assert seen.revisions == []
