"""Opening, reading and changing a database."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from pegboard.storage import account_rows, tool_rows
from pegboard.storage.database import SQLITE_PRAGMAS, Database, read_revision
from pegboard.storage.migrate import migrate
from tests.servers import PostgresServer, free_port
from tests.unit.storage.sample_rows import a_tool, a_user, kept_user
from tests.waiting import until


@pytest.fixture
async def memory() -> AsyncIterator[Database]:
    """An open database in memory."""
    opened = Database.create("memory")
    await migrate(opened)
    yield opened
    await opened.close()


@pytest.mark.parametrize("scheme", ["sqlite", "sqlite+aiosqlite"])
async def test_a_sqlite_url_names_a_file_that_only_its_owner_may_read(scheme: str, tmp_path: Path) -> None:
    database = Database.create(f"{scheme}:///{tmp_path}/new/board.db")
    await migrate(database)
    await kept_user(database)

    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "new").iterdir()}
    await database.close()

    assert database.kind == "sqlite"
    assert {"board.db", "board.db-wal", "board.db-shm"} <= modes.keys()
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+asyncpg"])
async def test_a_postgresql_url_may_be_written_in_three_ways(scheme: str, postgres_url: str) -> None:
    database = Database.create(postgres_url.replace("postgresql+asyncpg", scheme) + "?sslmode=prefer")
    await database.ping()
    await database.close()
    assert database.kind == "postgresql"


@pytest.mark.parametrize("url", ["mysql://root:hunter2@localhost/x", "board.db", "", "sqlite:///x.db?mode=ro"])
def test_other_urls_are_refused_with_those_that_are_accepted_and_no_password(url: str) -> None:
    with pytest.raises(ValueError, match=r'"memory", "sqlite:///FILE".*"postgresql://…"') as refused:
        Database.create(url)
    assert "hunter2" not in str(refused.value)


async def test_the_url_shown_has_no_password() -> None:
    database = Database.create("postgresql://me:hunter2@db.example:5433/board?sslmode=require&password=hunter2")
    await database.close()
    assert "hunter2" not in database.shown_url
    assert "db.example:5433/board" in database.shown_url


async def test_sqlite_is_durable_and_enforces_foreign_keys(tmp_path: Path) -> None:
    database = Database.create(f"sqlite:///{tmp_path}/board.db", pragmas=SQLITE_PRAGMAS)
    wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 5000}
    async with database.read() as conn:
        found = {name: (await conn.execute(text(f"PRAGMA {name}"))).scalar_one() for name in wanted}
    await database.close()
    assert found == wanted


async def test_a_cancelled_connection_to_sqlite_is_made_and_closed_before_the_cancellation_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database.create(f"sqlite:///{tmp_path}/board.db")
    threads = set(threading.enumerate())
    connect, is_connecting, may_connect = sqlite3.connect, threading.Event(), threading.Event()

    def connect_late(*arguments: Any, **options: Any) -> sqlite3.Connection:
        is_connecting.set()
        assert may_connect.wait(60)
        connection: sqlite3.Connection = connect(*arguments, **options)
        return connection

    async def use() -> None:
        async with database.connect_driver():
            pytest.fail("it was cancelled before")

    monkeypatch.setattr(sqlite3, "connect", connect_late)
    using = asyncio.create_task(use())
    assert await anyio.to_thread.run_sync(is_connecting.wait, 60)
    using.cancel()
    done, _ = await asyncio.wait([using], timeout=0.05)
    may_connect.set()
    assert not done
    with pytest.raises(asyncio.CancelledError):
        await using
    await database.close()

    async def is_over() -> bool:
        started = set(threading.enumerate()) - threads
        return not [thread for thread in started if "connection_worker" in thread.name]

    await until(is_over)


async def test_a_tool_needs_an_owner_that_exists(database: Database) -> None:
    with pytest.raises(IntegrityError):
        async with database.change() as change:
            await tool_rows.add_tools(change.conn, [a_tool(a_user())], revision=change.revision, by="ada")


async def test_every_change_has_the_next_revision(database: Database) -> None:
    revisions = []
    for _ in range(3):
        async with database.change() as change:
            revisions.append(change.revision)
    async with database.read() as conn:
        assert await read_revision(conn) == 3
    assert revisions == [1, 2, 3]


async def test_a_change_that_fails_leaves_nothing_behind(database: Database) -> None:
    user = a_user()
    with pytest.raises(ZeroDivisionError):
        async with database.change() as change:
            await account_rows.users.add(change.conn, user, revision=change.revision)
            raise ZeroDivisionError
    async with database.read() as conn:
        assert await read_revision(conn) == 0
        assert await account_rows.users.get(conn, user.id) is None


async def test_a_write_is_kept_without_being_a_change(database: Database) -> None:
    user = a_user()
    async with database.write() as conn:
        await account_rows.users.add(conn, user, revision=0)
    async with database.read() as conn:
        assert await account_rows.users.get(conn, user.id) == user
        assert await read_revision(conn) == 0


async def test_changes_of_two_processes_come_one_after_another(database: Database, database_url: str) -> None:
    other = Database.create(database_url)
    inside = 0

    async def change(where: Database) -> int:
        nonlocal inside
        async with where.change() as change:
            inside += 1
            assert inside == 1
            assert await read_revision(change.conn) == change.revision
            inside -= 1
            return change.revision

    revisions = await asyncio.gather(*(change(where) for where in [database, other] * 10))
    await other.close()
    assert sorted(revisions) == list(range(1, 21))


async def test_a_reader_sees_one_state_while_others_write(database: Database, database_url: str) -> None:
    other = Database.create(database_url)
    async with database.read() as conn:
        assert await read_revision(conn) == 0
        async with other.change():
            pass
        assert await read_revision(conn) == 0
    async with database.read() as conn:
        assert await read_revision(conn) == 1
    await other.close()


async def test_tasks_that_share_a_memory_database_do_not_mix_their_transactions(memory: Database) -> None:
    kept, lost = a_user("kept"), a_user("lost")
    halfway = asyncio.Event()

    async def fails() -> None:
        async with memory.change() as change:
            await account_rows.users.add(change.conn, lost, revision=change.revision)
            halfway.set()
            raise ZeroDivisionError

    async def succeeds() -> None:
        await halfway.wait()
        async with memory.change() as change:
            await account_rows.users.add(change.conn, kept, revision=change.revision)

    await asyncio.gather(fails(), succeeds(), return_exceptions=True)
    async with memory.read() as conn:
        assert await account_rows.users.list_changed(conn, 0) == [kept]


async def test_memory_databases_are_apart(memory: Database) -> None:
    await kept_user(memory)
    other = Database.create("memory")
    await migrate(other)
    async with other.read() as conn:
        assert await account_rows.users.list_changed(conn, 0) == []
    await other.close()


async def test_nesting_in_a_memory_database_is_an_error_and_not_a_deadlock(memory: Database) -> None:
    with pytest.raises(RuntimeError, match="do not nest"):
        async with memory.change(), memory.read():
            pass
    await memory.ping()


async def test_a_cancelled_change_is_rolled_back_and_the_database_continues(database: Database) -> None:
    await check_that_it_survives_a_cancelled_change(database)


async def test_a_memory_database_survives_a_cancelled_change(memory: Database) -> None:
    await check_that_it_survives_a_cancelled_change(memory)


async def check_that_it_survives_a_cancelled_change(where: Database) -> None:
    user = await kept_user(where)
    started = asyncio.Event()

    async def endless() -> None:
        async with where.change() as change:
            await account_rows.users.add(change.conn, a_user("nobody"), revision=change.revision)
            started.set()
            while True:
                await account_rows.users.get(change.conn, user.id)

    task = asyncio.create_task(endless())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    second = await kept_user(where, "second")
    async with where.read() as conn:
        assert await account_rows.users.list_changed(conn, 0) == [user, second]
        assert await read_revision(conn) == 2


async def test_the_pool_heals_when_postgresql_was_away(own_postgres: PostgresServer) -> None:
    database = Database.create(own_postgres.url)
    await migrate(database)
    await kept_user(database, "before")

    own_postgres.stop()
    with pytest.raises((OSError, DBAPIError)):
        await database.ping()
    own_postgres.start()

    await kept_user(database, "after")
    async with database.read() as conn:
        assert [user.name for user in await account_rows.users.list_changed(conn, 0)] == ["before", "after"]
    await database.close()


async def test_a_ping_fails_without_a_server() -> None:
    database = Database.create(f"postgresql://me@127.0.0.1:{free_port()}/board")
    with pytest.raises(OSError, match="Connect call failed"):
        await database.ping()
    await database.close()


async def test_a_statement_that_fails_does_not_say_what_was_in_it(database: Database) -> None:
    with pytest.raises(SQLAlchemyError) as failed:
        async with database.write() as conn:
            await conn.execute(text("INSERT INTO no_such_table VALUES (:value)"), {"value": "hunter2"})
    assert "no_such_table" in str(failed.value)
    assert "hunter2" not in str(failed.value)
