"""Seed 001, the table: its columns, constraints, indexes and relationships, on SQLite and PostgreSQL.

That each index is used by the queries that need it is shown in tests/unit/storage/test_indexes.py.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import selectinload

from pegboard import Pegboard, Refusal
from pegboard.model.api_errors import Invalid
from pegboard.storage import board_tables
from pegboard.storage.database import Database
from pegboard.testing import NoSettings, member

MOCK: dict[str, Any] = {
    "name": "quote",
    "tool_type": "mock",
    "config": {"mock_response": 1},
    "input_schema": {"type": "object"},
}
# The seed's columns: whether each may be NULL, its length or kind.
COLUMNS: dict[str, tuple[bool, str]] = {
    "id": (False, "uuid"),
    "owner_id": (False, "uuid"),
    "name": (False, "255"),
    "description": (True, "2000"),
    "tool_type": (False, "50"),
    "config": (False, "json"),
    "input_schema": (False, "json"),
    "output_schema": (True, "json"),
    "auth_config": (True, "json"),
    "rate_limit": (True, "json"),
    "is_active": (False, "bool"),
    "is_public": (False, "bool"),
    "created_at": (False, "time"),
    "updated_at": (False, "time"),
    "deleted_at": (True, "time"),
    "is_deleted": (False, "bool"),
}
INDEXES = {
    "idx_tool_owner": ["owner_id"],
    "idx_tool_name": ["name"],
    "idx_tool_type": ["tool_type"],
    "idx_tool_active": ["is_active"],
    "idx_tool_public": ["is_public"],
    "idx_tool_owner_active": ["owner_id", "is_active"],
}


def what(sync: Connection) -> Any:
    return inspect(sync)


class TestMigration:
    """Migration: Create Table Migration; Schema Definition."""

    async def test_the_table_has_the_columns_of_the_seed(self, database: Database) -> None:
        async with database.read() as conn:
            columns = await conn.run_sync(lambda sync: what(sync).get_columns("tools"))
        found = {column["name"]: column for column in columns}
        assert set(COLUMNS) <= set(found)
        for name, (nullable, kind) in COLUMNS.items():
            written = str(found[name]["type"]).lower()
            accepted = {
                "json": ("jsonb",) if database.kind == "postgresql" else ("json",),
                "uuid": ("uuid", "char(32)"),
                "bool": ("boolean",),
                "time": ("timestamp", "datetime"),
            }.get(kind, (f"varchar({kind})",))
            assert written.startswith(accepted), (name, written)
            assert found[name]["nullable"] is nullable, name

    async def test_moments_keep_their_zone(self, database: Database) -> None:
        async with database.read() as conn:
            columns = await conn.run_sync(lambda sync: what(sync).get_columns("tools"))
        if database.kind == "postgresql":
            moments = [column["type"] for column in columns if column["name"].endswith("_at")]
            assert [moment.timezone for moment in moments] == [True, True, True]


class TestDatabaseConstraints:
    """Constraints and Indexes: Database Constraints."""

    async def test_the_primary_key_is_the_id_and_the_owner_a_user(self, database: Database) -> None:
        async with database.read() as conn:
            primary, foreign = await conn.run_sync(
                lambda sync: (what(sync).get_pk_constraint("tools"), what(sync).get_foreign_keys("tools"))
            )
        assert primary["constrained_columns"] == ["id"]
        (owner,) = foreign
        assert (owner["constrained_columns"], owner["referred_table"], owner["referred_columns"]) == (
            ["owner_id"],
            "users",
            ["id"],
        )

    async def test_names_are_unique_in_any_case_among_tools_not_deleted(self, database: Database) -> None:
        copy = "INSERT INTO tools ({columns}) SELECT {values} FROM tools WHERE name = 'echo' LIMIT 1"
        async with Pegboard.open(database.engine.url.render_as_string(False), settings=IN_MEMORY):
            pass
        async with database.read() as conn:
            columns = [column["name"] for column in await conn.run_sync(lambda sync: what(sync).get_columns("tools"))]
        fresh = "gen_random_uuid()" if database.kind == "postgresql" else "lower(hex(randomblob(16)))"

        async def add(name: str, deleted: str) -> None:
            given = {"id": fresh, "name": f"'{name}'", "is_deleted": deleted}
            values = ", ".join(given.get(column, column) for column in columns)
            async with database.write() as conn:
                await conn.execute(text(copy.format(columns=", ".join(columns), values=values)))

        for _ in range(2):
            await add("ECHO", "TRUE")
        with pytest.raises(IntegrityError):
            await add("ECHO", "FALSE")

    async def test_a_kind_that_no_package_has_is_stored_and_cannot_be_registered(self, database: Database) -> None:
        """Installed packages add kinds, so the registry checks them, and the database stores any."""
        url = database.engine.url.render_as_string(False)
        async with Pegboard.open(url, settings=IN_MEMORY) as board:
            with pytest.raises(Invalid):
                await board.add({"name": "x", "description": "x", "tool_type": "magic", "input_schema": {}})
        async with database.write() as conn:
            await conn.execute(text("UPDATE tools SET tool_type = 'magic' WHERE name = 'echo'"))
        async with Pegboard.open(url, settings=IN_MEMORY) as board:
            result = await board.call("echo")
            assert result.problem is not None
            assert (result.problem.type, result.problem.code) == ("CONFIG_ERROR", "misconfigured")
            assert "magic" in result.problem.message


IN_MEMORY = NoSettings(
    admin_key="a-key-for-tests-0123456789", secret_key="a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s="
)


class TestDatabaseIndexes:
    """Constraints and Indexes: Database Indexes."""

    async def test_each_index_of_the_seed_is_there_and_leaves_deleted_tools_out(self, database: Database) -> None:
        query = {
            "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'tools'",
            "postgresql": "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'tools'",
        }[database.kind]
        async with database.read() as conn:
            found = {row[0]: str(row[1]) for row in await conn.execute(text(query))}
        for name, columns in INDEXES.items():
            assert re.search(rf"\({', '.join(columns)}\) WHERE \(?is_deleted IS FALSE\)?$", found[name]), found[name]
        unique = r"CREATE UNIQUE INDEX .* \(lower\(.*name.*\)\) WHERE \(?is_deleted IS FALSE\)?$"
        assert re.search(unique, found["uq_tool_name"]), found["uq_tool_name"]


class TestUserRelationship:
    """Relationships: User Relationship."""

    async def test_a_tool_has_its_owner_and_the_owner_their_tools(self, stored: Pegboard) -> None:
        other_user = await member(stored, "ada")
        tool = await stored.add(MOCK, caller=other_user)
        async with AsyncSession(stored.database.engine) as session:
            found = await session.get_one(board_tables.Tool, tool.id, options=[selectinload(board_tables.Tool.owner)])
            assert found.owner.name == "ada"
        async with AsyncSession(stored.database.engine) as session:
            owner = await session.get_one(
                board_tables.User, other_user.user_id, options=[selectinload(board_tables.User.tools)]
            )
            assert [each.name for each in owner.tools] == ["quote"]

    async def test_the_caller_who_registers_a_tool_owns_it_after_any_change(self, stored: Pegboard) -> None:
        other_user = await member(stored, "ada")
        tool = await stored.add(MOCK, caller=other_user)
        changed = await stored.tools.update("quote", {"description": "by the admin"}, stored.admin)
        assert tool.owner_id == changed.owner_id == other_user.user_id


class TestAgentRelationship:
    """Relationships: Agent Relationship (Many-to-Many)."""

    async def test_an_agent_holds_the_ids_of_its_tools(self, stored: Pegboard) -> None:
        tool = await stored.add(MOCK)
        one = await stored.people.create_agent("one", ["quote", "echo", tool.id], stored.admin, None)
        two = await stored.people.create_agent("two", [tool.id], stored.admin, None)
        echo = stored.snapshot.find("echo")
        assert echo is not None
        assert one.tools == (tool.id, echo.tool.id)
        assert two.tools == (tool.id,)
        async with stored.database.read() as conn:
            kind = "jsonb_typeof" if stored.database.kind == "postgresql" else "json_type"
            rows = (await conn.execute(text(f"SELECT name, {kind}(tools) FROM agents ORDER BY name"))).all()
        assert [tuple(row) for row in rows] == [("one", "array"), ("two", "array")]

    async def test_a_tool_that_is_not_there_cannot_be_put_on_one(self, stored: Pegboard) -> None:
        with pytest.raises(Refusal, match=r"tools\.1: Tool 'nonesuch' not found"):
            await stored.people.create_agent("one", ["echo", "nonesuch"], stored.admin, None)


class TestTwoChangesAtOnce:
    """Nothing is lost if two users change one tool at the same time."""

    async def test_without_a_version_both_changes_hold(self, stored: Pegboard) -> None:
        await stored.add(MOCK)
        patches: list[dict[str, Any]] = [{"description": "words"}, {"tags": ["new"]}]
        await asyncio.gather(*(stored.tools.update("quote", patch, stored.admin) for patch in patches))
        tool = await stored.tools.get("quote", stored.admin)
        assert (tool.description, tool.tags, tool.version) == ("words", ("new",), 3)

    async def test_with_the_same_version_one_of_them_is_reported(self, stored: Pegboard) -> None:
        await stored.add(MOCK)
        patches: list[dict[str, Any]] = [{"version": 1, "description": word} for word in ("one", "other")]
        ended = await asyncio.gather(
            *(stored.tools.update("quote", patch, stored.admin) for patch in patches), return_exceptions=True
        )
        (lost,) = [error for error in ended if isinstance(error, BaseException)]
        assert "is now at version 2, not 1" in str(lost)


@pytest.fixture
async def stored(database_url: str, tmp_path: Path) -> AsyncIterator[Pegboard]:
    """A board on a real database."""
    async with Pegboard.open(database_url, settings=NoSettings(home=tmp_path / "home")) as board:
        yield board
