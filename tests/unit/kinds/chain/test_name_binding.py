"""The tools that chains and fallbacks of other users reach, and the binding of names to tools."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from alembic import command

from pegboard import Caller, Pegboard
from pegboard.storage import tool_rows
from pegboard.storage.database import Database
from pegboard.storage.migrate import build_alembic_config, migrate
from pegboard.testing import NoSettings, member
from tests.surfaces.rest.clients import mock

NOT_REACHED = "a chain or fallback of another user reaches only public tools and tools of that user"
DELETED = "it was deleted after the chain or fallback that names it was saved"


@pytest.fixture
async def board(database_url: str, tmp_path: Path) -> AsyncIterator[Pegboard]:
    """A board on a database of either kind, with a handler that fails."""
    async with Pegboard.open(database_url, settings=NoSettings(home=tmp_path / "home")) as fresh:

        def fail() -> None:
            raise ValueError("down")

        fresh.handler("fail", for_members=True)(fail)
        yield fresh


def answer(name: str, value: Any, **more: Any) -> dict[str, Any]:
    return mock(name, config={"mock_response": value}, input_schema={"type": "object"}, **more)


def saved(name: str, *steps: str, **more: Any) -> dict[str, Any]:
    chain = {"steps": [{"id": f"s{place}", "tool": tool} for place, tool in enumerate(steps)]}
    config = {"handler": "chain", "chain": chain}
    return {"name": name, "tool_type": "internal", "input_schema": {}, "config": config, **more}


def falling_back(name: str, other: str, **more: Any) -> dict[str, Any]:
    return answer(name, 0, **more) | {
        "tool_type": "internal",
        "config": {"handler": "fail"},
        "fallback": {"tool": other},
    }


async def outcome(board: Pegboard, tool: str, caller: Caller) -> Any:
    result = await board.call(tool, {}, caller=caller)
    return result.output if result.success else result.problem.message  # type: ignore[union-attr]


class TestReach:
    """A public chain or fallback gives no access to the private tools of its callers."""

    async def test_a_chain_does_not_reach_private_tools_of_its_caller(self, board: Pegboard) -> None:
        eve, ada = await member(board, "eve"), await member(board, "ada")
        await board.add(answer("adas_own", "ada's"), caller=ada)
        await board.add(answer("the_admins", "admin's"))
        await board.add(saved("to_ada", "adas_own", is_public=True), caller=eve)
        await board.add(saved("to_admin", "the_admins", is_public=True), caller=eve)
        # The tools were not visible to eve when she saved the chains, so the names are not bound.
        for chain, tool, caller in (("to_ada", "adas_own", ada), ("to_admin", "the_admins", board.admin)):
            assert (await outcome(board, chain, caller)).startswith(f"Step 's0' failed: Tool '{tool}' not found")
            assert (await board.chain({"steps": [{"id": "s0", "tool": tool}]}, caller=caller)).error is None, (
                "the caller names it in a chain of their own"
            )
        assert await outcome(board, "to_ada", board.admin) != "ada's", "nor private tools of a third user"

    async def test_a_chain_reaches_public_tools_and_those_of_its_owner_that_the_caller_may_call(
        self, board: Pegboard
    ) -> None:
        eve, ada = await member(board, "eve"), await member(board, "ada")
        await board.add(answer("shared", "shared", is_public=True), caller=ada)
        await board.add(answer("eves_own", "eve's"), caller=eve)
        await board.add(saved("both", "shared", "eves_own", is_public=True), caller=eve)
        assert await outcome(board, "both", eve) == "eve's"
        assert await outcome(board, "both", board.admin) == "eve's"
        assert await outcome(board, "both", ada) == "Step 's1' failed: Tool 'eves_own' not found"

    async def test_a_chain_that_calls_its_callers_own_chain_reaches_no_further(self, board: Pegboard) -> None:
        eve, ada = await member(board, "eve"), await member(board, "ada")
        await board.add(answer("adas_own", "ada's"), caller=ada)
        await board.add(saved("inner", "adas_own", is_public=True), caller=ada)
        await board.add(saved("outer", "inner", is_public=True), caller=eve)
        assert await outcome(board, "inner", ada) == "ada's"
        assert NOT_REACHED in await outcome(board, "outer", ada)

    async def test_a_fallback_does_not_reach_private_tools_of_its_caller(self, board: Pegboard) -> None:
        eve, ada = await member(board, "eve"), await member(board, "ada")
        await board.add(answer("adas_own", "ada's"), caller=ada)
        await board.add(falling_back("mine", "adas_own", is_public=True), caller=ada)
        await board.add(falling_back("shared", "adas_own", is_public=True), caller=eve)
        await board.add(saved("through", "mine", is_public=True), caller=eve)
        assert await outcome(board, "mine", ada) == "ada's"
        assert await outcome(board, "shared", ada) == "down"
        assert await outcome(board, "through", ada) == "Step 's0' failed: down"


class TestBinding:
    """A name in a saved definition refers to the tool that had it then, not to a later tool with that name."""

    @pytest.mark.parametrize("definition", [saved("uses", "price"), falling_back("uses", "price")])
    async def test_a_freed_name_leads_to_no_other_member(self, board: Pegboard, definition: dict[str, Any]) -> None:
        ada, bob, eve = [await member(board, name) for name in ("ada", "bob", "eve")]
        first = await board.add(answer("price", "bob's", is_public=True), caller=bob)
        await board.add(definition, caller=ada)
        assert await outcome(board, "uses", ada) == "bob's"
        await board.tools.update("price", {"name": "price_2"}, bob)
        await board.add(answer("price", "eve's", is_public=True), caller=eve)
        assert await outcome(board, "uses", ada) == "bob's", "a renamed tool is still the same"
        await board.tools.delete("price_2", bob)
        assert await outcome(board, "uses", ada) != "eve's"
        for patch in ({"description": "new"}, {"config": definition["config"]}):
            await board.tools.update("uses", patch, ada)
            assert await outcome(board, "uses", ada) != "eve's"
        await board.apply([definition], caller=ada)
        assert await outcome(board, "uses", ada) != "eve's"
        await board.tools.restore(first.id, bob)
        assert await outcome(board, "uses", ada) == "bob's"

    async def test_a_step_says_that_its_tool_was_deleted(self, board: Pegboard) -> None:
        await board.add(answer("price", 1))
        await board.add(saved("uses", "price"))
        await board.tools.delete("price", board.admin)
        assert await outcome(board, "uses", board.admin) == f"Step 's0' failed: Tool 'price' not found: {DELETED}"
        await board.add(answer("price", 2))
        assert await outcome(board, "uses", board.admin) == 2, "a new tool of the owner's may have the name"

    async def test_a_name_that_had_no_tool_is_open_to_the_owner_and_admins_only(self, board: Pegboard) -> None:
        ada, eve = await member(board, "ada"), await member(board, "eve")
        await board.add(saved("uses", "price"), caller=ada)
        assert await outcome(board, "uses", ada) == "Step 's0' failed: Tool 'price' not found"
        await board.add(answer("price", "eve's", is_public=True), caller=eve)
        assert "did not see this tool when saving" in await outcome(board, "uses", ada)
        await board.tools.update("uses", {"description": "save it again"}, ada)
        assert await outcome(board, "uses", ada) == "eve's", "saved again, it is bound to what ada sees now"

    async def test_tools_that_are_applied_together_are_bound_to_each_other(self, board: Pegboard) -> None:
        ada, eve = await member(board, "ada"), await member(board, "eve")
        definitions = [saved("uses", "Price"), answer("price", "ada's")]
        await board.apply(definitions, caller=ada)
        assert (await board.apply(definitions, caller=ada)).unchanged == ["uses", "price"]
        await board.tools.update("price", {"name": "moved"}, ada)
        await board.add(answer("price", "eve's", is_public=True), caller=eve)
        assert await outcome(board, "uses", ada) == "ada's"

    async def test_functions_of_the_program_are_bound_too(self, board: Pegboard) -> None:
        @board.tool
        def price() -> str:
            """A function."""
            return "a function's"

        made = await board.add(saved("uses", "price"))
        assert list(made.bound_tools) == ["price"]
        assert await outcome(board, "uses", board.admin) == "a function's"

    async def test_definitions_from_before_are_bound_by_the_migration(self, board: Pegboard, database_url: str) -> None:
        ada, bob = await member(board, "ada"), await member(board, "bob")
        price = await board.add(answer("price", 1, is_public=True), caller=bob)
        await board.add(answer("private", 1), caller=bob)
        await board.add(saved("uses", "Price", "private", "nonesuch"), caller=ada)
        await board.add(falling_back("falls", "price"), caller=ada)
        database = Database.create(database_url)
        async with database.write() as conn:
            await conn.run_sync(
                lambda connection: command.downgrade(build_alembic_config(connection), "0008_thread_agents")
            )
        await migrate(database)
        async with database.read() as conn:
            found = await tool_rows.find_tools_by_name(conn, ["uses", "falls", "price"])
        await database.close()
        assert {name: dict(tool.bound_tools) for name, tool in found.items()} == {
            "uses": {"price": price.id},
            "falls": {"price": price.id},
            "price": {},
        }
