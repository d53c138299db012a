"""The migration that lets tools have kinds of installed packages."""

from __future__ import annotations

from typing import Any

import pytest
from alembic import command
from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import IntegrityError

from pegboard.storage.database import Database
from pegboard.storage.migrate import build_alembic_config, migrate

BEFORE = "0012_signed_intents"
NOW = "2026-01-01 00:00:00"
USER = "00000000000000000000000000000001"
TOOLS = [f"0000000000000000000000000000001{place}" for place in range(3)]
# The statements contain the values: as parameters, PostgreSQL would require the types of the columns.
_USER = (
    "INSERT INTO users (id, revision, created_at, updated_at, is_deleted, name, role, mac) "
    f"VALUES ('{USER}', 1, '{NOW}', '{NOW}', false, 'ada', 'member', 'm')"
)
_TOOL = (
    "INSERT INTO tools (id, revision, created_at, updated_at, is_deleted, owner_id, name, tool_type, config, "
    "input_schema, is_active, is_public, version, tags, unknown_parameters, result_style, idempotent, read_only, "
    "destructive, keep_arguments, drifted, on_disconnect, bound_tools, timeout) "
    f"VALUES ('%s', 1, '{NOW}', '{NOW}', false, '{USER}', '%s', '%s', "
    "'{\"headers\": {\"a\": \"☃\"}, \"n\": 1.50}', '{}', true, false, 3, '[\"x\"]', 'reject', 'plain', false, true, "
    "false, true, false, 'detach', '{\"echo\": \"7\"}', 2.5)"
)
_VERSION = (
    "INSERT INTO tool_versions (id, tool_id, version, definition, created_at, created_by) "
    f"VALUES ('%s', '%s', 3, '{{}}', '{NOW}', 'ada')"
)


def _fill(connection: Connection) -> None:
    connection.execute(text(_USER))
    for place, (tool, kind) in enumerate(zip(TOOLS, ("http", "table", "mock"), strict=True)):
        connection.execute(text(_TOOL % (tool, f"tool_{place}", kind)))
        connection.execute(text(_VERSION % (f"0000000000000000000000000000002{place}", tool)))


def _read(connection: Connection) -> dict[str, Any]:
    """Return all rows of the tables, and the properties of `tools` besides its constraints."""
    inspector = inspect(connection)
    found: dict[str, Any] = {
        table: [tuple(row) for row in connection.execute(text(f"SELECT * FROM {table} ORDER BY id"))]
        for table in ("users", "tools", "tool_versions")
    }
    indexes = {
        "sqlite": "SELECT name, sql FROM sqlite_master WHERE tbl_name = 'tools' AND type <> 'table' ORDER BY name",
        "postgresql": "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'tools' ORDER BY indexname",
    }
    found["indexes"] = [tuple(row) for row in connection.execute(text(indexes[connection.dialect.name]))]
    found["keys"] = [inspector.get_foreign_keys("tools"), inspector.get_pk_constraint("tools")]
    found["references"] = inspector.get_foreign_keys("tool_versions")
    found["columns"] = [(str(column["type"]), {**column, "type": 0}) for column in inspector.get_columns("tools")]
    return found


def _rules(connection: Connection) -> set[str]:
    return {str(check["name"]) for check in inspect(connection).get_check_constraints("tools")}


def _move(connection: Connection, revision: str) -> None:
    config = build_alembic_config(connection)
    (command.downgrade if revision < "0013" else command.upgrade)(config, revision)


@pytest.fixture
async def older(empty_database_url: str) -> Any:
    """A filled database of the revision before."""
    database = Database.create(empty_database_url)
    async with database.write() as conn:
        await conn.run_sync(lambda connection: command.upgrade(build_alembic_config(connection), BEFORE))
        await conn.run_sync(_fill)
        if database.kind == "sqlite":
            await conn.execute(
                text(
                    "CREATE TRIGGER keep_tools BEFORE DELETE ON tools WHEN OLD.name = 'never' "
                    "BEGIN SELECT RAISE(ABORT, 'kept'); END"
                )
            )
    yield database
    await database.close()


async def test_no_row_index_key_or_trigger_is_lost(older: Database) -> None:
    async with older.read() as conn:
        before = await conn.run_sync(_read)
        rules = await conn.run_sync(_rules)
    assert len(before["tools"]) == len(before["tool_versions"]) == 3
    assert (await migrate(older))[0] == "0013_kinds_of_plugins"
    async with older.read() as conn:
        assert await conn.run_sync(_read) == before
        assert await conn.run_sync(_rules) == rules - {"ck_tools_tool_type"}
    assert rules >= {"ck_tools_tool_type"}


async def test_the_references_to_tools_still_hold_and_any_kind_is_stored(older: Database) -> None:
    await migrate(older)
    async with older.write() as conn:
        await conn.execute(text("UPDATE tools SET tool_type = 'weather' WHERE name = 'tool_0'"))
    for statement in ("DELETE FROM tools", f"UPDATE tools SET owner_id = '{USER[:-1]}9'", "DELETE FROM users"):
        with pytest.raises(IntegrityError):
            async with older.write() as conn:
                await conn.execute(text(statement))


async def test_the_migration_is_reverted_if_all_kinds_are_built_in(older: Database) -> None:
    async with older.read() as conn:
        before = await conn.run_sync(_read)
        rules = await conn.run_sync(_rules)
    await migrate(older)
    async with older.write() as conn:
        await conn.run_sync(_move, BEFORE)
    async with older.read() as conn:
        assert await conn.run_sync(_read) == before
        assert await conn.run_sync(_rules) == rules
    with pytest.raises(IntegrityError):
        async with older.write() as conn:
            await conn.execute(text("UPDATE tools SET tool_type = 'weather'"))


async def test_it_is_not_taken_back_as_long_as_a_tool_has_another_kind(older: Database) -> None:
    await migrate(older)
    async with older.write() as conn:
        await conn.execute(text("UPDATE tools SET tool_type = 'weather' WHERE name = 'tool_0'"))
    async with older.read() as conn:
        before = await conn.run_sync(_read)
    with pytest.raises(IntegrityError):
        async with older.write() as conn:
            await conn.run_sync(_move, BEFORE)
    async with older.read() as conn:
        assert await conn.run_sync(_read) == before
