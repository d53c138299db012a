"""Tools in the database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import IntegrityError

from pegboard.model.accounts import User
from pegboard.model.display_format import Display
from pegboard.model.filters import ToolFilter
from pegboard.model.ids import new_id
from pegboard.model.tool import Fallback, Kind, RateLimit, Retry, Tool
from pegboard.storage import tool_rows
from pegboard.storage.database import Database
from pegboard.storage.migrate import migrate
from tests.unit.storage.count_statements import statements
from tests.unit.storage.sample_rows import NOW, a_tool, kept_user


@pytest.fixture
async def owner(database: Database) -> User:
    """A user to own tools."""
    return await kept_user(database)


@pytest.fixture
async def memory() -> AsyncIterator[Database]:
    """An open database in memory."""
    opened = Database.create("memory")
    await migrate(opened)
    yield opened
    await opened.close()


def everything(owner: User) -> Tool:
    """Return a tool without default values."""
    return a_tool(
        owner,
        "Weather_Now",
        tool_type=Kind.HTTP,
        config={"url": "https://example.com/{city}", "headers": {"X-Key": "sealed:v1:abc"}, "big": 2**70, "n": 1.5},
        input_schema={"type": "object", "properties": {"city": {"type": "string", "title": "Ort – ☂"}}},
        output_schema={"type": "object"},
        sealed_auth={"type": "bearer", "token": "sealed:v1:def"},
        rate_limit=RateLimit(max_calls=5, period="minute", burst=2, scope="tool"),
        version=3,
        description="What the weather is, ☂ or not",
        is_active=False,
        is_public=True,
        is_deleted=True,
        deleted_at=NOW + timedelta(days=2),
        updated_at=NOW + timedelta(days=1),
        display_name="Weather ☂",
        tags=("net", "a b"),
        timeout=2.5,
        unknown_parameters="reject",
        result_style="detailed",
        retry=Retry(max_attempts=3, on=frozenset({"timeout", "transport"}), backoff_ms=10),
        fallback=Fallback(tool="other"),
        idempotent=True,
        read_only=True,
        destructive=True,
        keep_arguments=True,
        keep_result=True,
        max_result_bytes=100,
        drifted=True,
        display=Display.model_validate({"arguments": {"query": "sql"}, "result": {"style": "table", "columns": ["a"]}}),
        on_disconnect="detach",
        bound_tools={"price": new_id()},
    )


async def insert_tools(database: Database, *kept: Tool) -> None:
    """Insert tools into the database, in one change."""
    async with database.change() as change:
        for tool in kept:
            await tool_rows.add_tools(change.conn, [tool], revision=change.revision, by="ada")


async def test_every_field_of_a_tool_returns(database: Database, owner: User) -> None:
    tool = everything(owner)
    plain = a_tool(owner, "plain")
    assert {name for name in Tool.__dataclass_fields__ if getattr(tool, name) == getattr(plain, name)} == {
        "owner_id",
        "created_at",
    }
    await insert_tools(database, tool, plain)
    async with database.read() as conn:
        found = await tool_rows.get_tool(conn, tool.id)
        assert found == tool
        assert await tool_rows.get_tool(conn, plain.id) == plain
    assert found is not None
    assert found.created_at.tzinfo is not None
    assert found.created_at.utcoffset() == timedelta(0)


@pytest.mark.parametrize("value", [None, 0, [], {"a": None}])
async def test_a_fallback_to_any_value_returns(database: Database, owner: User, value: Any) -> None:
    tool = a_tool(owner, fallback=Fallback(value=value))
    await insert_tools(database, tool)
    async with database.read() as conn:
        found = await tool_rows.get_tool(conn, tool.id)
    assert found is not None
    assert found.fallback == Fallback(value=value)


async def test_a_moment_in_another_zone_returns_as_the_same_moment_in_utc(database: Database, owner: User) -> None:
    elsewhere = NOW.astimezone(timezone(timedelta(hours=5, minutes=30)))
    tool = a_tool(owner, created_at=elsewhere)
    await insert_tools(database, tool)
    async with database.read() as conn:
        found = await tool_rows.get_tool(conn, tool.id)
    assert found is not None
    assert found.created_at == NOW
    assert found.created_at.utcoffset() == timedelta(0)


async def test_a_moment_without_a_zone_is_refused(database: Database, owner: User) -> None:
    with pytest.raises(Exception, match="needs a timezone"):
        await insert_tools(database, a_tool(owner, created_at=NOW.replace(tzinfo=None)))


async def test_a_saved_tool_has_its_new_fields_and_keeps_its_old_version(database: Database, owner: User) -> None:
    first = a_tool(owner, "add", config={"mock_response": 1}, sealed_auth={"token": "sealed:v1:x"})
    second = replace(first, config={"mock_response": 2}, version=2, updated_at=NOW + timedelta(hours=1))
    switched_off = replace(second, is_active=False)
    await insert_tools(database, first)
    for tool in (second, switched_off):
        async with database.change() as change:
            await tool_rows.save_tool(change.conn, tool, revision=change.revision, by="bob")

    async with database.read() as conn:
        assert await tool_rows.get_tool(conn, first.id) == switched_off
        newest, oldest = await tool_rows.list_versions(conn, first.id, limit=10)
        assert await tool_rows.list_versions(conn, first.id, limit=1) == [newest]
        assert await tool_rows.list_versions(conn, first.id, before=2, limit=10) == [oldest]
    assert (newest.version, newest.created_by, newest.created_at) == (2, "bob", second.updated_at)
    assert (oldest.version, oldest.created_by, oldest.created_at) == (1, "ada", first.updated_at)
    assert oldest.definition == tool_rows.build_version_definition(first)
    assert oldest.definition["sealed_auth"] == {"token": "sealed:v1:x"}
    assert newest.definition["config"] == {"mock_response": 2}


async def test_a_tool_that_was_never_added_cannot_be_saved(database: Database, owner: User) -> None:
    with pytest.raises(LookupError):
        async with database.change() as change:
            await tool_rows.save_tool(change.conn, a_tool(owner), revision=change.revision, by="ada")


async def test_a_name_finds_its_tool_in_any_case_unless_it_is_deleted(database: Database, owner: User) -> None:
    gone, here = a_tool(owner, "Add", is_deleted=True, deleted_at=NOW), a_tool(owner, "aDD")
    await insert_tools(database, gone, here)
    async with database.read() as conn:
        assert await tool_rows.find_tool_by_name(conn, "ADD") == here
        assert await tool_rows.find_tool_by_name(conn, "ad") is None
        assert await tool_rows.get_tool(conn, gone.id) == gone


@pytest.mark.parametrize("strange", ["", "no-uuid", "a\0b", "' OR 1=1", "é"])
async def test_ids_and_names_that_cannot_be_are_not_found(database: Database, strange: str) -> None:
    async with database.read() as conn:
        assert await tool_rows.get_tool(conn, strange) is None
        assert await tool_rows.find_tool_by_name(conn, strange) is None
        assert await tool_rows.list_versions(conn, strange, limit=1) == []
        assert await tool_rows.list_tools(conn, ToolFilter(q=strange or "x", tag=strange), limit=1) == []
        assert await tool_rows.list_tools(conn, ToolFilter(owner_id=strange), limit=1) == []
        assert await tool_rows.list_tools(conn, ToolFilter(visible_to=strange), limit=1) == []


async def test_a_name_is_taken_in_any_case_until_its_tool_is_deleted(database: Database, owner: User) -> None:
    first = a_tool(owner, "Add")
    await insert_tools(database, first)
    with pytest.raises(IntegrityError):
        await insert_tools(database, a_tool(owner, "aDD"))

    async with database.change() as change:
        await tool_rows.save_tool(
            change.conn, replace(first, is_deleted=True, deleted_at=NOW), revision=change.revision, by="a"
        )
    await insert_tools(database, a_tool(owner, "aDD"))
    with pytest.raises(IntegrityError):
        async with database.change() as change:
            await tool_rows.save_tool(change.conn, first, revision=change.revision, by="ada")


async def test_a_filter_leaves_only_what_it_says(database: Database, owner: User) -> None:
    bob = await kept_user(database, "bob")
    await insert_tools(
        database,
        a_tool(owner, "alpha", tags=("x", "y"), description="Counts 100% of Sheep"),
        a_tool(owner, "beta", is_public=True, is_active=False, tool_type=Kind.SHELL),
        a_tool(bob, "gamma", is_public=True, tags=("x",)),
        a_tool(bob, "delta_1"),
        a_tool(bob, "gone", is_deleted=True, deleted_at=NOW, is_public=True),
    )

    async def names(**wanted: Any) -> list[str]:
        async with database.read() as conn:
            return [tool.name for tool in await tool_rows.list_tools(conn, ToolFilter(**wanted), limit=10)]

    assert await names() == ["alpha", "beta", "delta_1", "gamma"]
    assert await names(visible_to=owner.id) == ["alpha", "beta", "gamma"]
    assert await names(visible_to=new_id()) == ["beta", "gamma"]
    assert await names(owner_id=bob.id) == ["delta_1", "gamma"]
    assert await names(owner_id=bob.id, visible_to=owner.id) == ["gamma"]
    assert await names(tool_type=Kind.SHELL) == ["beta"]
    assert await names(is_active=False) == ["beta"]
    assert await names(is_active=True) == ["alpha", "delta_1", "gamma"]
    assert await names(is_public=True) == ["beta", "gamma"]
    assert await names(is_public=False) == ["alpha", "delta_1"]
    assert await names(tag="x") == ["alpha", "gamma"]
    assert await names(tag='x" y') == []
    assert await names(q="ALPH") == ["alpha"]
    assert await names(q="sheep") == ["alpha"]
    assert await names(q="0%") == ["alpha"]
    assert await names(q="%") == ["alpha"]
    assert await names(q="_") == ["delta_1"]
    assert await names(deleted=True) == ["gone"]
    assert await names(deleted=True, is_public=False) == []


async def test_pages_come_in_the_order_of_names_and_hold_every_tool_once(database: Database, owner: User) -> None:
    names = ["b", "B_2", "a-b", "a_b", "aB", "A", "z9", "Z-1", "_x", "-y"]
    await insert_tools(database, *(a_tool(owner, name) for name in names))
    found: list[Tool] = []
    async with database.read() as conn:
        while page := await tool_rows.list_tools(conn, ToolFilter(), after=_key(found), limit=3):
            assert len(page) <= 3
            found += page
    assert [tool.name for tool in found] == sorted(names, key=str.lower)


async def test_deleted_tools_of_one_name_are_paged_by_their_ids(database: Database, owner: User) -> None:
    same = [a_tool(owner, name, is_deleted=True, deleted_at=NOW) for name in ("x", "X", "x", "X")]
    await insert_tools(database, *same)
    found: list[Tool] = []
    async with database.read() as conn:
        while page := await tool_rows.list_tools(conn, ToolFilter(deleted=True), after=_key(found), limit=1):
            found += page
    assert found == same


def _key(found: list[Tool]) -> tuple[str, str] | None:
    return (found[-1].name.lower(), found[-1].id) if found else None


async def test_what_changed_since_a_revision_includes_what_was_deleted(database: Database, owner: User) -> None:
    first, second = a_tool(owner, "first"), a_tool(owner, "second")
    await insert_tools(database, first)
    await insert_tools(database, second)
    deleted = replace(first, is_deleted=True, deleted_at=NOW)
    async with database.change() as change:
        await tool_rows.save_tool(change.conn, deleted, revision=change.revision, by="ada")
    async with database.read() as conn:
        assert await tool_rows.list_changed_tools(conn, 4) == []
        assert await tool_rows.list_changed_tools(conn, 3) == [deleted]
        assert {tool.id for tool in await tool_rows.list_changed_tools(conn, 2)} == {first.id, second.id}
        assert len(await tool_rows.list_changed_tools(conn, 0)) == 2


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(described=st.text(max_size=8), q=st.text(alphabet=st.sampled_from("aA%_\\/b "), min_size=1, max_size=3))
async def test_a_search_finds_just_the_substring(memory: Database, described: str, q: str) -> None:
    owner = await kept_user(memory, new_id())
    text = "x" + q.swapcase() + described if len(described) % 2 else described
    tool = a_tool(owner, f"t{new_id()}".replace("-", ""), description=text)
    await insert_tools(memory, tool)
    async with memory.read() as conn:
        found = await tool_rows.list_tools(conn, ToolFilter(owner_id=owner.id, q=q), limit=1)
    assert bool(found) == (q.lower() in _ascii_lower(text) or q.lower() in tool.name)


def _ascii_lower(text: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


async def test_a_thousand_tools_are_read_with_one_statement(database: Database, owner: User) -> None:
    async with database.write() as conn:
        made = [a_tool(owner, f"tool_{n}", tags=("a", "b")) for n in range(1000)]
        await tool_rows.add_tools(conn, made, revision=1, by=owner.id)
    async with database.read() as conn:
        assert conn.sync_connection is not None
        with statements(conn.sync_connection) as seen:
            found = await tool_rows.list_changed_tools(conn, 0)
    assert (len(found), sum(statement.startswith("SELECT") for statement, _ in seen)) == (1000, 1)
