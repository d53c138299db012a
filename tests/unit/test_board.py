"""The board as a library: opened, called, queried, closed."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

import pegboard
from pegboard import Caller, Pegboard
from pegboard.model.api_errors import Forbidden, Invalid, NotFound
from pegboard.model.filters import ExecutionFilter
from pegboard.testing import NoSettings, member, memory_board
from tests.surfaces.rest.clients import mock


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board() as fresh:
        yield fresh


def test_the_public_names_are_there_and_nothing_else_is_promised() -> None:
    assert all(getattr(pegboard, name) is not None for name in pegboard.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonesuch'"):
        _ = pegboard.nonesuch


def test_importing_the_package_does_not_load_the_board() -> None:
    seen = "import sys, pegboard; print('pegboard.board' in sys.modules, 'sqlalchemy' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True, timeout=30)
    assert result.stdout.split() == ["False", "False"]


class TestCalling:
    async def test_a_call_is_made_as_the_admin_or_as_a_user(self, board: Pegboard) -> None:
        ada = await member(board, "ada")
        await board.call("echo")
        await board.call("echo", caller=ada)
        rows = (await board.executions(ExecutionFilter(), limit=5)).items
        assert [(row.caller, row.surface) for row in rows] == [("ada", "library"), ("admin", "library")]

    async def test_a_payload_is_run_in_its_dialect_and_order(self, board: Pegboard) -> None:
        assert (await board.run({"name": "echo", "arguments": {"a": 1}, "id": "x"}))["id"] == "x"
        many = await board.run([{"name": "echo"}, {"name": "nonesuch"}])
        assert [answer["success"] for answer in many] == [True, False]
        with pytest.raises(Invalid):
            await board.run({"nam": "echo"})
        with pytest.raises(Invalid, match="Unknown dialect 'klingon'"):
            await board.run({}, dialect="klingon")

    async def test_arguments_that_are_not_json_are_refused_before_anything_runs(self, board: Pegboard) -> None:
        circle: dict[str, Any] = {}
        circle["a"] = circle
        wrong: list[Any] = [{"a": {1}}, {"a": b"x"}, {"a": float("nan")}, {1: 2}, {"a": 2**64}, circle, {"a": "\ud800"}]
        for arguments in wrong:
            result = await board.call("echo", arguments)
            assert result.problem is not None
            assert result.problem.type == "VALIDATION_ERROR", arguments.keys()
            assert result.attempts == 0
        assert len((await board.executions(ExecutionFilter(status="refused"), limit=50)).items) == len(wrong)

    async def test_many_calls_at_once_each_get_their_own_answer(self, board: Pegboard) -> None:
        results = await asyncio.gather(*(board.call("echo", {"n": n}) for n in range(200)))
        assert [result.output for result in results] == [{"echo": {"n": n}} for n in range(200)]
        assert len({result.run_id for result in results}) == 200

    async def test_definitions_are_what_a_model_is_handed(self, board: Pegboard) -> None:
        ada = await member(board, "ada")
        await board.add(mock("private"))
        await board.add(mock("hers"), caller=ada)
        names = {tool["name"] for tool in await board.definitions(caller=ada)}
        assert "hers" in names
        assert "private" not in names
        assert {"id", "description", "inputSchema"} == set((await board.definitions("detailed"))[0])


class TestJournal:
    async def test_a_member_reads_their_own_rows_alone(self, board: Pegboard) -> None:
        ada = await member(board, "ada")
        mine = await board.call("echo")
        hers = await board.call("echo", caller=ada)
        assert [row.id for row in (await board.executions(ExecutionFilter(), caller=ada)).items] == [hers.run_id]
        assert (await board.execution(hers.run_id, caller=ada)).id == hers.run_id
        for hidden in (mine.run_id, "nonesuch", "urn:uuid:" + hers.run_id):
            with pytest.raises(NotFound):
                await board.execution(hidden, caller=ada)
        asked_for = ExecutionFilter(caller_id=board.admin.user_id)
        assert [row.caller for row in (await board.executions(asked_for, caller=ada)).items] == ["ada"]

    async def test_a_key_bound_to_an_agent_reads_none(self, board: Pegboard) -> None:
        bound = Caller(board.admin.user_id, "admin", "member", agent_id="some-agent")
        with pytest.raises(Forbidden):
            await board.executions(ExecutionFilter(), caller=bound)
        with pytest.raises(Forbidden):
            await board.execution("x", caller=bound)


class TestOpening:
    async def test_a_database_is_named_by_url_or_settings(self, tmp_path: Path) -> None:
        settings = NoSettings(home=tmp_path, database_url=f"sqlite:///{tmp_path}/settings.db")
        async with Pegboard.open(settings=settings):
            pass
        async with Pegboard.open(f"sqlite:///{tmp_path}/argument.db", settings=settings):
            pass
        assert all((tmp_path / name).exists() for name in ("settings.db", "argument.db"))

    async def test_a_url_that_is_none_says_which_there_are(self) -> None:
        for url in ("mysql://x", "nonsense", "sqlite:///x?mode=ro"):
            with pytest.raises(ValueError, match="database"):
                async with Pegboard.open(url, settings=NoSettings()):
                    pass

    async def test_a_closed_board_takes_no_more_calls(self) -> None:
        async with memory_board() as board:
            pass
        result = await board.call("echo")
        assert result.problem is not None
        assert result.problem.code == "unavailable"

    async def test_an_error_inside_closes_it_in_good_order(self) -> None:
        with pytest.raises(ZeroDivisionError):
            async with memory_board() as board:
                await board.call("echo")
                raise ZeroDivisionError

    async def test_it_is_ready_while_its_database_is(self, board: Pegboard) -> None:
        assert await board.ready() == []
        async with board.database.write() as conn:
            await conn.execute(text("DROP TABLE board_state"))
        reasons = await board.ready()
        assert reasons
        assert all("is not applied; run: pegboard migrate" in reason for reason in reasons)

    async def test_limits_are_shared_through_valkey_if_it_is_configured(self, valkey_url: str) -> None:
        tool = mock(rate_limit={"max_calls": 1, "period": "hour", "scope": "tool"})
        async with memory_board(redis_url=valkey_url) as one, memory_board(redis_url=valkey_url) as other:
            first = await one.add(tool)
            assert (await one.call("quote")).success
            refused = await one.call("quote")
            assert refused.problem is not None
            assert refused.problem.code == "rate_limited"
            second = await other.add(tool)
            assert first.id != second.id
            assert (await other.call("quote")).success


async def test_an_answer_is_no_other_users_to_change() -> None:
    tool = {
        "name": "fixed",
        "tool_type": "mock",
        "config": {"mock_response": {"list": [1]}},
        "input_schema": {"type": "object"},
    }
    async with memory_board([{**tool, "input_schema": {"type": "object"}}]) as board:
        first = await board.call("fixed")
        first.output["list"].append(2)
        assert (await board.call("fixed")).output == {"list": [1]}
