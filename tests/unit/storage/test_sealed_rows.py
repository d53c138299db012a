"""Every encrypted value in the database, for key rotation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pegboard.model.accounts import Secret
from pegboard.model.tool import Tool
from pegboard.storage import account_rows, sealed_rows, tool_rows
from pegboard.storage.database import Database
from pegboard.storage.sealed_rows import SealedRow
from tests.unit.storage.sample_rows import a_secret, a_tool, kept_user

Kept = tuple[Tool, Secret]


@pytest.fixture
async def kept(database: Database) -> Kept:
    """Add a tool with two versions and another one, a secret and a removed one."""
    ada = await kept_user(database)
    tool = a_tool(ada, config={"env": {"K": "sealed:1"}}, sealed_auth={"token": "sealed:2"})
    secret = a_secret(ada, sealed="sealed:3")
    async with database.change() as change:
        await tool_rows.add_tools(change.conn, [tool], revision=change.revision, by="ada")
        await tool_rows.add_tools(change.conn, [a_tool(ada, "other")], revision=change.revision, by="ada")
        await tool_rows.save_tool(change.conn, replace(tool, version=2), revision=change.revision, by="ada")
        await account_rows.secrets.put(change.conn, secret, revision=change.revision)
        await account_rows.secrets.put(change.conn, a_secret(ada, "REMOVED", sealed=None), revision=change.revision)
    return tool, secret


async def rows_of(database: Database, limit: int) -> list[SealedRow]:
    found: list[SealedRow] = []
    async with database.read() as conn:
        while batch := await sealed_rows.list_sealed_rows(conn, after=found[-1] if found else None, limit=limit):
            assert len(batch) <= limit
            found += batch
    return found


@pytest.mark.parametrize("limit", [1, 2, 100])
async def test_every_row_comes_once_whatever_the_batch(database: Database, kept: Kept, limit: int) -> None:
    tool, secret = kept
    rows = await rows_of(database, limit)
    assert [row.table for row in rows] == ["secrets"] + ["tools"] * 2 + ["tool_versions"] * 3
    assert (rows[0].subject, rows[0].value) == (secret.id, "sealed:3")
    assert (rows[1].subject, rows[1].value) == (tool.id, {"config": tool.config, "sealed_auth": tool.sealed_auth})
    assert [row.subject for row in rows[3:]].count(tool.id) == 2
    assert rows[3].value == tool_rows.build_version_definition(tool)


async def test_a_new_value_takes_the_place_of_the_one_read(database: Database, kept: Kept) -> None:
    tool, secret = kept
    rows = {(row.table, row.subject): row for row in await rows_of(database, 100)}
    changed_auth: dict[str, Any] = {"config": {"env": {"K": "new:1"}}, "sealed_auth": {"token": "new:2"}}
    definition = {**tool_rows.build_version_definition(tool), "sealed_auth": {"token": "new:4"}}
    async with database.change() as change:
        new = change.revision
        assert await sealed_rows.replace_sealed_value(change.conn, rows["secrets", secret.id], "new:3", revision=new)
        assert await sealed_rows.replace_sealed_value(change.conn, rows["tools", tool.id], changed_auth, revision=new)
        assert await sealed_rows.replace_sealed_value(
            change.conn, rows["tool_versions", tool.id], definition, revision=new
        )
    async with database.read() as conn:
        assert await account_rows.secrets.list_changed(conn, new - 1) == [replace(secret, sealed="new:3")]
        (found,) = await tool_rows.list_changed_tools(conn, new - 1)
        assert (found.config, found.sealed_auth) == (changed_auth["config"], changed_auth["sealed_auth"])
        assert definition in [version.definition for version in await tool_rows.list_versions(conn, tool.id, limit=5)]


async def test_a_value_that_changed_since_it_was_read_is_left_alone(database: Database, kept: Kept) -> None:
    tool, secret = kept
    rows = {row.subject: row for row in (await rows_of(database, 3))[:3]}
    overtaking = replace(tool, sealed_auth={"token": "theirs"})
    async with database.change() as change:
        await account_rows.secrets.put(change.conn, replace(secret, sealed=None), revision=change.revision)
        await tool_rows.save_tool(change.conn, overtaking, revision=change.revision, by="ada")
    async with database.change() as change:
        assert not await sealed_rows.replace_sealed_value(change.conn, rows[secret.id], "ours")
        assert not await sealed_rows.replace_sealed_value(
            change.conn, rows[tool.id], {"config": {}, "sealed_auth": None}
        )
    async with database.read() as conn:
        assert await tool_rows.get_tool(conn, tool.id) == overtaking
        assert await account_rows.secrets.get(conn, secret.id) == replace(secret, sealed=None)


async def test_a_replacement_without_a_revision_leaves_the_revision_alone(database: Database, kept: Kept) -> None:
    _, secret = kept
    row = (await rows_of(database, 1))[0]
    async with database.write() as conn:
        assert await sealed_rows.replace_sealed_value(conn, row, "new:3")
        assert await account_rows.secrets.list_changed(conn, 2) == []
        assert await account_rows.secrets.get(conn, secret.id) == replace(secret, sealed="new:3")
