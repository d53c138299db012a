"""A replay is an ordinary call: who may request it, which rules apply, and how effects are treated."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard import Caller, Pegboard
from pegboard.model.api_errors import Conflict, Forbidden, NotFound
from pegboard.model.call import CallRequest, Execution
from pegboard.testing import member, memory_board
from tests.surfaces.rest.clients import mock
from tests.unit.runs.recorded_calls import KEEPING, make_call, mock_answer, refusal

HOURLY = {"max_calls": 1, "period": "hour"}


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    """A board in memory."""
    async with memory_board() as fresh:
        yield fresh


class TestWhoMay:
    async def test_a_member_runs_their_own_calls_again_and_an_admin_all(self, board: Pegboard) -> None:
        ada, bob = await member(board, "ada"), await member(board, "bob")
        await board.add(mock(is_public=True, **KEEPING))
        hers, the_admins = await make_call(board, "quote", caller=ada), await make_call(board, "quote")
        assert (await board.replay(hers, caller=ada)).same
        for execution_id in (hers, the_admins):
            assert await refusal(board, execution_id, NotFound, caller=bob) == f"Execution '{execution_id}' not found"
        replay = await board.replay(hers)
        assert (await board.execution(replay.result.run_id)).caller == "admin", "it is the call of whoever asks for it"

    async def test_no_one_reaches_a_tool_by_it_that_they_may_not_call(self, board: Pegboard) -> None:
        ada = await member(board, "ada")
        await board.add(mock(is_public=True, **KEEPING))
        await board.add(mock("private"))
        hers = await make_call(board, "quote", caller=ada)
        assert await refusal(board, hers, NotFound, caller=ada, tool="private") == "Tool 'private' not found"
        await board.tools.update("quote", {"is_public": False}, board.admin)
        for how in ({}, {"version": 1}):
            assert "you may not call it" in await refusal(board, hers, NotFound, caller=ada, **how)
        assert (await board.replay(hers)).same

    async def test_earlier_versions_are_for_the_owner_and_admins(self, board: Pegboard) -> None:
        ada, bob = await member(board, "ada"), await member(board, "bob")
        await board.add(mock(is_public=True, **KEEPING), caller=ada)
        await board.tools.update("quote", mock_answer(2), ada)
        his, hers = await make_call(board, "quote", caller=bob), await make_call(board, "quote", caller=ada)
        assert "its owner" in await refusal(board, his, Forbidden, caller=bob, version=1)
        assert "its owner" in await refusal(board, his, Forbidden, caller=bob, version=99), "nor which there are"
        assert (await board.replay(his, caller=bob, version=2)).same
        assert (await board.replay(hers, caller=ada, version=1)).result.output == 1
        assert (await board.replay(his, version=1)).result.output == 1

    async def test_a_key_bound_to_an_agent_does_not(self, board: Pegboard) -> None:
        tool = await board.add(mock(**KEEPING))
        agent = await board.people.create_agent("bot", [tool.id], board.admin, None)
        bound = Caller(board.admin.user_id, "admin", "member", None, agent.id)
        first = await make_call(board, "quote", caller=bound)
        assert "bound to an agent" in await refusal(board, first, Forbidden, caller=bound)


class TestAnOrdinaryCall:
    async def test_it_is_limited(self, board: Pegboard) -> None:
        await board.add(mock(**KEEPING))
        first = await make_call(board, "quote")
        await board.tools.update("quote", {"rate_limit": HOURLY}, board.admin)
        assert (await board.replay(first)).same
        for how in ({}, {"version": 1}):
            refused = await board.replay(first, **how)  # type: ignore[arg-type]
            assert [each.after for each in refused.differences][:2] == ["refused", "rate_limited"]

    async def test_a_tool_that_is_switched_off_runs_in_no_version(self, board: Pegboard) -> None:
        await board.add(mock(**KEEPING))
        first = await make_call(board, "quote")
        await board.tools.update("quote", {"is_active": False}, board.admin)
        for how in ({}, {"version": 1}):
            refused = await board.replay(first, **how)  # type: ignore[arg-type]
            row = await board.execution(refused.result.run_id)
            assert (row.status, row.code, row.repeat_of) == ("refused", "tool_inactive", first)

    async def test_a_tool_that_its_upstream_changed_runs_in_no_version(self, board: Pegboard) -> None:
        await board.add(mock(**KEEPING))
        first = await make_call(board, "quote")
        await board.tools.update("quote", {"description": "newer"}, board.admin)
        await board.tools.flag([await board.tools.get("quote", board.admin)])
        for how in ({}, {"version": 1}):
            refused = await board.replay(first, **how)  # type: ignore[arg-type]
            row = await board.execution(refused.result.run_id)
            assert (row.status, row.code, row.repeat_of) == ("refused", "drifted", first)

    async def test_what_is_kept_of_it_is_what_the_tool_says_today(self, board: Pegboard) -> None:
        await board.add(mock(**KEEPING))
        first = await make_call(board, "quote", {"secret": "of old"})
        await board.tools.update("quote", {"keep_arguments": False, "keep_result": False}, board.admin)
        for how in ({}, {"version": 1}):
            replay = await board.replay(first, **how)  # type: ignore[arg-type]
            row = await board.execution(replay.result.run_id)
            assert (replay.same, row.arguments, row.result) == (True, None, None)

    async def test_no_idempotency_key_keeps_it_from_running(self, board: Pegboard) -> None:
        ran = []

        @board.tool(keep_arguments=True, keep_result=True)
        async def note() -> int:
            ran.append(1)
            return 7

        first = await board.call("note", key="once")
        again = await board.call("note", key="once")
        assert (len(ran), again.repeat_of) == (1, first.run_id)
        for recorded in (first, again):
            assert (await board.replay(recorded.run_id)).same
        assert len(ran) == 3
        chained = await board.replay((await board.replay(first.run_id)).result.run_id)
        assert chained.execution.repeat_of == first.run_id


class TestCare:
    async def tried(self, board: Pegboard, execution_id: str, **how: Any) -> Any:
        execution: Execution = await board.execution(execution_id)
        return await board.replays.run(execution, CallRequest(board.admin), careful=True, **how)

    async def test_effects_are_not_repeated_unless_the_tool_says_that_it_may_be(self, board: Pegboard) -> None:
        for name, fields in (("reads", {"read_only": True}), ("settles", {"idempotent": True}), ("acts", {})):

            @board.tool(name=name, **KEEPING, **fields)
            async def acts() -> None:
                return

        assert (await self.tried(board, await make_call(board, "reads"))).result.success
        assert (await self.tried(board, await make_call(board, "settles"))).result.success
        acted = await make_call(board, "acts")
        with pytest.raises(Conflict, match=r"'acts' may change something.*--yes.*--tool MOCK.*--version N"):
            await self.tried(board, acted)
        assert (await self.tried(board, acted, tool="echo")).result.success
        with pytest.raises(Conflict):
            await self.tried(board, await make_call(board, "reads"), tool="acts")

    async def test_nor_those_of_what_it_falls_back_on(self, board: Pegboard) -> None:
        @board.tool
        async def acts() -> None:
            return

        await board.add(mock(fallback={"tool": "acts"}, **KEEPING))
        with pytest.raises(Conflict, match="'acts'"):
            await self.tried(board, await make_call(board, "quote"))
        await board.tools.update("quote", {"fallback": {"tool": "echo"}}, board.admin)
        assert (await self.tried(board, await make_call(board, "quote"))).same

    async def test_a_version_is_judged_by_what_it_was(self, board: Pegboard) -> None:
        board.handler("work")(lambda: 1)
        await board.add(mock(**KEEPING))
        await board.tools.update("quote", {"tool_type": "internal", "config": {"handler": "work"}}, board.admin)
        first = await make_call(board, "quote")
        with pytest.raises(Conflict):
            await self.tried(board, first)
        assert (await self.tried(board, first, version=1)).same
