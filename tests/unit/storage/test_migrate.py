"""Bringing databases up to date."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Column, Connection, MetaData, Table, insert, inspect, text

from pegboard.storage import account_rows, board_tables, journal_tables  # noqa: F401 -- so that their tables are known
from pegboard.storage import migrate as migrate_module
from pegboard.storage.board_tables import Base, get_table
from pegboard.storage.database import Database, read_revision
from pegboard.storage.migrate import (
    SchemaTooNew,
    build_alembic_config,
    hold_startup_lock,
    list_pending_revisions,
    migrate,
)
from tests.unit.storage.sample_rows import a_user, add_executions, an_execution

ALL = [
    "0001_board",
    "0002_executions",
    "0003_journal",
    "0004_printed",
    "0005_conversations",
    "0006_findings",
    "0007_tries",
    "0008_thread_agents",
    "0009_bound_tools",
    "0010_people_macs",
    "0011_key_creators",
    "0012_signed_intents",
    "0013_kinds_of_plugins",
    "0014_upstreams",
    "0015_sessions",
]

MIGRATING = """
import asyncio, sys
from pegboard.storage.database import Database
from pegboard.storage.migrate import migrate, hold_startup_lock as startup_lock

async def main():
    database = Database.create(sys.argv[1])
    print("ready", flush=True)
    sys.stdin.readline()
    if sys.argv[2] == "locked":
        async with startup_lock(database):
            applied = await migrate(database)
    else:
        applied = await migrate(database)
    await database.close()
    print(applied, flush=True)

asyncio.run(main())
"""


INDEXES = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name",
    "postgresql": "SELECT indexname, indexdef FROM pg_indexes WHERE tablename IN ({}) ORDER BY indexname",
}


def _described(connection: Connection) -> dict[str, Any]:
    inspector = inspect(connection)
    found: dict[str, Any] = {
        table: (
            sorted((str(check["name"]), check["sqltext"]) for check in inspector.get_check_constraints(table)),
            {column["name"]: str(column["type"]) for column in inspector.get_columns(table)},
        )
        for table in Base.metadata.tables
    }
    names = ", ".join(f"'{name}'" for name in Base.metadata.tables)
    return found | {"indexes": connection.execute(text(INDEXES[connection.dialect.name].format(names))).all()}


async def test_an_empty_database_gets_every_revision_once(empty_database_url: str) -> None:
    database = Database.create(empty_database_url)
    assert await list_pending_revisions(database) == ALL
    assert await migrate(database) == ALL
    assert await migrate(database) == []
    assert await list_pending_revisions(database) == []
    async with database.read() as conn:
        assert await read_revision(conn) == 0
    await database.close()


def test_every_script_is_named_after_its_revision_and_numbered_in_their_order() -> None:
    scripts = Path(migrate_module.__file__).parent / "migrations"
    walked = [revision.revision for revision in ScriptDirectory(str(scripts)).walk_revisions()]
    assert walked[::-1] == sorted(path.stem for path in (scripts / "versions").glob("*.py")) == ALL


async def test_memory_has_the_same_tables_without_migrating(migrated_sqlite: Path) -> None:
    database = Database.create("memory")
    assert await list_pending_revisions(database) == ALL
    assert await migrate(database) == ALL
    assert await migrate(database) == []
    assert await list_pending_revisions(database) == []
    async with database.read() as conn:
        assert await read_revision(conn) == 0
        made = await conn.run_sync(_described)
    await database.close()
    database = Database.create(f"sqlite:///{migrated_sqlite}")
    async with database.read() as conn:
        assert await conn.run_sync(_described) == made
    await database.close()


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
@pytest.mark.filterwarnings("ignore:autogenerate skipping metadata-specified expression-based index")
async def test_migrations_and_models_agree(database: Database) -> None:
    def differences(connection: Connection) -> list[Any]:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        return list(compare_metadata(context, Base.metadata))

    async with database.read() as conn:
        assert await conn.run_sync(differences) == []


async def test_migrations_and_models_make_the_same_indexes_checks_and_collations(database: Database) -> None:
    async with database.read() as conn:
        migrated = await conn.run_sync(_described)
    async with database.write() as conn:
        await conn.run_sync(Base.metadata.drop_all)
        await conn.run_sync(Base.metadata.create_all)
        created = await conn.run_sync(_described)
    assert len(migrated["indexes"]) > 15
    assert migrated == created


async def test_an_older_database_keeps_its_rows(empty_database_url: str) -> None:
    database = Database.create(empty_database_url)
    async with database.write() as conn:
        await conn.run_sync(lambda connection: command.upgrade(build_alembic_config(connection), "0001_board"))
    user = a_user()
    async with database.write() as conn:
        old = {name: column for name, column in get_table(board_tables.User).c.items() if name != "mac"}
        table = Table("users", MetaData(), *(Column(name, column.type) for name, column in old.items()))
        await conn.execute(insert(table).values({name: getattr(user, name) for name in old} | {"revision": 1}))
        await conn.execute(text("UPDATE board_state SET revision = 1"))
    assert await list_pending_revisions(database) == ALL[1:]

    assert await migrate(database) == ALL[1:]

    async with database.write() as conn:
        await add_executions(conn, [an_execution()])
        assert await account_rows.users.get(conn, user.id) == user
        assert await read_revision(conn) == 1
    await database.close()


async def test_every_migration_can_be_taken_back(database: Database) -> None:
    async with database.write() as conn:
        await conn.run_sync(lambda connection: command.downgrade(build_alembic_config(connection), "base"))
        assert await conn.run_sync(lambda connection: inspect(connection).get_table_names()) == ["alembic_version"]


async def test_a_migration_that_fails_leaves_the_database_as_it_was(empty_database_url: str) -> None:
    database = Database.create(empty_database_url)
    async with database.write() as conn:
        await conn.execute(text("CREATE TABLE executions (id INTEGER)"))
    with pytest.raises(Exception, match="already exists"):
        await migrate(database)
    async with database.read() as conn:
        assert await conn.run_sync(lambda connection: inspect(connection).get_table_names()) == ["executions"]
    await database.close()


async def test_a_database_of_a_later_version_is_refused(database: Database) -> None:
    async with database.write() as conn:
        await conn.execute(text("UPDATE alembic_version SET version_num = '0999_future'"))
    for refused in (migrate, list_pending_revisions):
        with pytest.raises(SchemaTooNew, match="0999_future"):
            await refused(database)


@pytest.mark.parametrize("way", ["locked", "unlocked"])
async def test_two_processes_may_migrate_at_once(empty_database_url: str, way: str) -> None:
    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", MIGRATING, empty_database_url, way]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    processes = [start(), start()]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    printed = [process.communicate(timeout=60)[0] for process in processes]

    assert [process.returncode for process in processes] == [0, 0]
    assert sorted(printed) == [f"{ALL}\n", "[]\n"]


async def test_the_startup_lock_keeps_others_out_without_stopping_the_loop(empty_database_url: str) -> None:
    ours, theirs = Database.create(empty_database_url), Database.create(empty_database_url)
    order = []

    async def wait_for_it() -> None:
        async with hold_startup_lock(theirs):
            order.append("theirs")

    async with hold_startup_lock(ours):
        waiting = asyncio.create_task(wait_for_it())
        assert await migrate(ours) == ALL
        done, _ = await asyncio.wait([waiting], timeout=0.2)
        assert not done
        order.append("ours")
    await asyncio.wait_for(waiting, 30)
    assert order == ["ours", "theirs"]
    await ours.close()
    await theirs.close()


async def test_waiting_for_the_startup_lock_can_be_cancelled(empty_database_url: str) -> None:
    ours, theirs = Database.create(empty_database_url), Database.create(empty_database_url)
    async with hold_startup_lock(ours):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2), hold_startup_lock(theirs):
                pytest.fail("two hold the lock")
    async with asyncio.timeout(30), hold_startup_lock(theirs):
        pass
    await ours.close()
    await theirs.close()
