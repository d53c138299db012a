"""The registry through the library: who owns, sees and changes which tool, and which names are available."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pegboard import Caller, Pegboard, Refusal
from pegboard.model.api_errors import Conflict, Forbidden, Invalid, NotFound
from pegboard.model.filters import ToolFilter
from pegboard.model.tool import make_alias
from pegboard.testing import NoSettings, member, memory_board
from tests.surfaces.rest.clients import mock

ALL = ToolFilter()


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board() as fresh:
        yield fresh


@pytest.fixture
async def ada(board: Pegboard) -> Caller:
    return await member(board, "ada")


class TestNames:
    async def test_the_name_of_a_tool_of_this_process_is_taken(self, board: Pegboard) -> None:
        @board.tool
        async def local() -> None: ...

        with pytest.raises(Conflict, match="A tool named 'LOCAL' exists already"):
            await board.add(mock("LOCAL"))

        await board.add(mock("stored"))
        with pytest.raises(Conflict, match="is stored on this board already"):
            board.tool(local, name="Stored")  # type: ignore[call-overload]

        @board.tool(name="local")
        async def again() -> str:
            return "the later one"

        assert (await board.call("local")).output == "the later one"

    async def test_a_name_that_is_the_alias_of_another_is_taken_both_ways(self, board: Pegboard) -> None:
        long = "x" * 65
        alias = make_alias(long)
        assert alias is not None
        await board.add(mock(alias))
        with pytest.raises(Conflict, match=f"A tool named '{alias}' exists already"):
            await board.add(mock(long))
        await board.tools.delete(alias, board.admin)
        await board.add(mock(long))
        for taken in (alias, alias.upper()):
            with pytest.raises(Conflict, match="exists already"):
                await board.add(mock(taken))
        other = "y" * 60 + "_0123abcd"
        assert (await board.add(mock(other))).name == other

    async def test_a_name_that_starts_with_a_hyphen_has_an_alias(self, board: Pegboard) -> None:
        tool = await board.add(mock("-odd"))
        assert tool.alias is not None
        assert tool.alias[0] == "_"
        assert (await board.call(tool.alias)).success

    async def test_a_rename_frees_the_old_name_and_is_seen_at_once(self, board: Pegboard) -> None:
        await board.add(mock())
        await board.tools.update("quote", {"name": "price"}, board.admin)
        assert not (await board.call("quote")).success
        assert (await board.call("price")).success
        await board.add(mock())
        await board.tools.delete("price", board.admin)
        assert (await board.call("quote")).success

    async def test_names_can_be_swapped_by_way_of_a_third(self, board: Pegboard) -> None:
        for name in ("a", "b"):
            await board.add(mock(name, config={"mock_response": name}))
        for old, new in (("a", "c"), ("b", "a"), ("c", "b")):
            await board.tools.update(old, {"name": new}, board.admin)
        assert [(await board.call(name)).output for name in ("a", "b")] == ["b", "a"]


class TestOwners:
    async def test_only_the_owner_and_admins_change_a_tool(self, board: Pegboard, ada: Caller) -> None:
        await board.add(mock("hers", is_public=True), caller=ada)
        bob = await member(board, "bob")
        for attempt in (
            board.tools.update("hers", {"is_active": False}, bob),
            board.tools.delete("hers", bob),
            board.tools.versions("hers", bob, cursor=None, limit=5),
        ):
            with pytest.raises(Forbidden, match="belongs to another user"):
                await attempt
        assert (await board.tools.update("hers", {"is_active": False}, ada)).version == 2
        assert (await board.tools.update("hers", {"is_active": True}, board.admin)).version == 3

    async def test_a_private_tool_of_another_user_is_not_there(self, board: Pegboard, ada: Caller) -> None:
        tool = await board.add(mock("hers"), caller=ada)
        bob = await member(board, "bob")
        for ref in ("hers", tool.id):
            for attempt in (
                board.tools.get(ref, bob),
                board.tools.update(ref, {}, bob),
                board.tools.delete(ref, bob),
            ):
                with pytest.raises(NotFound):
                    await attempt
        with pytest.raises(NotFound):
            await board.tools.restore(tool.id, bob)

    async def test_a_key_bound_to_an_agent_changes_nothing(self, board: Pegboard) -> None:
        bound = Caller(board.admin.user_id, "admin", "admin", agent_id="some-agent")
        for attempt in (
            board.add(mock(), caller=bound),
            board.tools.update("echo", {}, bound),
            board.tools.delete("echo", bound),
            board.tools.restore("x", bound),
            board.apply([], caller=bound),
        ):
            with pytest.raises(Forbidden, match="bound to an agent"):
                await attempt


class TestVersions:
    async def test_only_a_change_of_the_definition_makes_one(self, board: Pegboard) -> None:
        tool = await board.add(mock(auth_config={"type": "bearer", "token": "hush"}))
        auth = {"type": "bearer", "token": "hush"}
        unchanging: list[dict[str, Any]] = [{}, {"name": "quote"}, {"auth_config": auth}, {"tags": []}]
        for same in unchanging:
            assert (await board.tools.update("quote", same, board.admin)).version == 1
        await board.tools.delete("quote", board.admin)
        assert (await board.tools.restore(tool.id, board.admin)).version == 1
        assert (await board.tools.update("quote", {"tags": ["new"]}, board.admin)).version == 2

    async def test_an_unchanged_credential_is_not_sealed_again(self, board: Pegboard) -> None:
        before = await board.add(mock(auth_config={"type": "bearer", "token": "hush"}))
        patch = {"auth_config": {"type": "bearer", "token": "hush"}, "description": "d"}
        after = await board.tools.update("quote", patch, board.admin)
        assert after.sealed_auth == before.sealed_auth

    async def test_a_call_is_recorded_with_the_version_that_ran(self, board: Pegboard) -> None:
        await board.add(mock())
        await board.call("quote")
        await board.tools.update("quote", {"tags": ["t"]}, board.admin)
        result = await board.call("quote")
        assert (await board.execution(result.run_id)).tool_version == 2


async def test_a_page_of_nothing_has_no_next(board: Pegboard) -> None:
    page = await board.tools.page(ToolFilter(q="nonesuch"), board.admin, cursor=None, limit=5)
    assert (list(page.items), page.next_cursor) == ([], None)


async def test_changes_are_felt_by_the_next_call_under_load(database_url: str, tmp_path: Path) -> None:
    async with Pegboard.open(database_url, settings=NoSettings(home=tmp_path)) as board:
        await board.add(mock())
        stop = asyncio.Event()

        async def keep_calling() -> int:
            count = 0
            while not stop.is_set():
                assert (await board.call("quote")).success
                count += 1
            return count

        callers = [asyncio.create_task(keep_calling()) for _ in range(3)]
        for number in range(8):
            await board.tools.update("quote", {"config": {"mock_response": number}}, board.admin)
            assert (await board.call("quote")).output == number
        stop.set()
        assert all(await asyncio.gather(*callers))


@pytest.mark.parametrize("definition", [None, [], "quote", {}, {"name": 3}])
async def test_what_is_no_definition_is_refused(board: Pegboard, definition: Any) -> None:
    with pytest.raises(Invalid):
        await board.add(definition)


async def test_a_refused_tool_leaves_nothing_behind(board: Pegboard) -> None:
    with pytest.raises(Refusal):
        await board.add(mock(input_schema={"type": "nothing"}))
    found = await board.tools.page(ALL, board.admin, cursor=None, limit=100)
    assert "quote" not in [tool.name for tool in found.items]
