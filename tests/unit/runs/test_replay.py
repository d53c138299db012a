"""Replays of recorded calls: with their own tools, with others, and with earlier versions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.kinds.base import OpenTool, Prepared
from pegboard.model.api_errors import Invalid, NotFound
from pegboard.model.call import ReadyCall
from pegboard.model.tool import Kind
from pegboard.runs.replay import Difference
from pegboard.testing import NoSettings, memory_board
from tests.surfaces.rest.clients import mock
from tests.unit.runs.recorded_calls import KEEPING, make_call, mock_answer, refusal


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    """A board in memory."""
    async with memory_board() as fresh:
        yield fresh


@pytest.fixture
async def stored(database_url: str, tmp_path: Path) -> AsyncIterator[Pegboard]:
    """A board on a real database of either kind."""
    async with Pegboard.open(database_url, settings=NoSettings(home=tmp_path / "home")) as fresh:
        yield fresh


class TestAgainstTheStore:
    async def test_a_call_that_ends_as_recorded_is_the_same_and_leaves_a_row_that_says_what_it_repeats(
        self, stored: Pegboard
    ) -> None:
        @stored.tool(keep_arguments=True, keep_result=True)
        async def give_back(text: str, n: list[Any]) -> list[Any]:
            return [text, *n]

        arguments = {"text": "naïve \u0000 🦋", "n": [1, None, {"deep": 1.5}, 2**64 - 1, -0.0, 1e300]}
        first = await make_call(stored, "give_back", arguments)
        replay = await stored.replay(first)
        assert (replay.same, replay.differences, replay.more, replay.note) == (True, (), False, None)
        assert replay.execution == await stored.execution(first)
        row = await stored.execution(replay.result.run_id)
        assert (row.repeat_of, row.status, row.surface) == (first, "succeeded", "library")
        assert row.arguments == replay.execution.arguments == arguments
        assert row.arguments_digest == replay.execution.arguments_digest

    async def test_an_earlier_version_answers_as_it_did(self, stored: Pegboard) -> None:
        tool = await stored.add(mock(**KEEPING, **mock_answer({"sky": "grey", "wind": 3})))
        await stored.tools.update("quote", mock_answer({"sky": "blue", "rain": False}), stored.admin)
        await stored.tools.update("quote", {"name": "renamed", "tags": ["x"]}, stored.admin)
        second = await make_call(stored, "renamed")
        replay = await stored.replay(second, version=1)
        assert replay.result.output == {"sky": "grey", "wind": 3}
        assert replay.differences == (
            Difference("result.sky", "changed", "blue", "grey"),
            Difference("result.rain", "removed", False, None),
            Difference("result.wind", "added", None, 3),
        )
        row = await stored.execution(replay.result.run_id)
        assert (row.tool_id, row.tool_name, row.tool_version) == (tool.id, "renamed", 1)
        assert (await stored.replay(second, version=3)).same
        assert (await stored.replay(second, version=2)).same
        assert (await stored.call("renamed")).output == {"sky": "blue", "rain": False}, "the tool itself is as it was"

    async def test_it_is_retried_and_falls_back_as_it_did(self, stored: Pegboard) -> None:
        @stored.handler("broken")
        async def broken() -> str:
            return "no number"

        careful: dict[str, Any] = {"retry": {"max_attempts": 3}, "fallback": {"value": None}, "tags": ["x"]}
        schema: dict[str, Any] = {
            "output_schema": {"type": "integer"},
            "rate_limit": {"max_calls": 9, "period": "hour"},
        }
        internal: dict[str, Any] = {"tool_type": "internal", "config": {"handler": "broken"}}
        await stored.add(mock(**internal, **careful, **schema, **KEEPING))
        await stored.tools.update("quote", {"retry": None, "fallback": None, "tags": None}, stored.admin)
        first = await make_call(stored, "quote")
        replay = await stored.replay(first, version=1)
        assert (replay.result.output, replay.result.fallback, replay.tool.tags) == (None, True, ("x",))
        assert [(each.path, each.before, each.after) for each in replay.differences if each.path != "error"] == [
            ("status", "failed", "succeeded"),
            ("code", "contract_violation", None),
            ("attempts", 1, 3),
        ]

    async def test_a_tool_that_was_renamed_is_found_by_what_it_is(self, stored: Pegboard) -> None:
        await stored.add(mock(**KEEPING))
        first = await make_call(stored, "quote")
        await stored.tools.update("quote", {"name": "renamed"}, stored.admin)
        await stored.add(mock(**mock_answer("somebody else's")))
        replay = await stored.replay(first)
        assert (replay.same, replay.tool.name, replay.result.tool_name) == (True, "renamed", "renamed")

    async def test_a_function_of_the_same_name_does_not_take_its_place(
        self, stored: Pegboard, database_url: str, tmp_path: Path
    ) -> None:
        @stored.tool(name="both")
        async def function() -> int:
            return 2

        async with Pegboard.open(database_url, settings=NoSettings(home=tmp_path / "home")) as sibling:
            await sibling.add(mock("both", **KEEPING))
            first = await make_call(sibling, "both")
        await stored.snapshot.refresh()
        assert (await stored.call("both")).output == 2
        replay = await stored.replay(first)
        assert (replay.result.output, replay.same) == (1, True)
        assert (await stored.execution(replay.result.run_id)).tool_name == "both"

    async def test_a_tool_that_was_removed_is_not_replaced_by_another_of_its_name(self, stored: Pegboard) -> None:
        tool = await stored.add(mock(**KEEPING))
        first = await make_call(stored, "quote")
        await stored.tools.delete("quote", stored.admin)
        await stored.add(mock(**mock_answer(2)))
        for how in ({}, {"version": 1}):
            message = await refusal(stored, first, NotFound, **how)
            assert f"pegboard tools restore {tool.id}" in message
        replay = await stored.replay(first, tool="quote")
        assert replay.differences == (Difference("result", "changed", 1, 2),)

    async def test_an_earlier_version_has_its_own_credentials_if_they_can_be_decrypted(
        self, stored: Pegboard, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Telling:
            """Runs a tool that returns its credentials."""

            def prepare(self, tool: OpenTool) -> Prepared:
                async def run(_: ReadyCall) -> Any:
                    return [dict(tool.auth or {}), dict(tool.config["headers"])]

                return Prepared(run)

            async def close(self) -> None:
                return

        monkeypatch.setattr(stored, "executors", {**stored.executors, Kind.HTTP: Telling()})
        await stored.secrets.put("TOKEN", "named", stored.admin)
        config = {"url": "https://example.com", "method": "GET", "headers": {"X-A": "one", "X-B": "{{secret:TOKEN}}"}}
        auth = {"type": "bearer", "token": "old"}
        await stored.add(mock(tool_type="http", config=config, auth_config=auth, **KEEPING))
        first = await make_call(stored, "quote")
        changed = {"auth_config": {"type": "bearer", "token": "new"}, "config": {**config, "headers": {"X-A": "two"}}}
        await stored.tools.update("quote", changed, stored.admin)
        then = [auth, {"X-A": "one", "X-B": "named"}]
        assert (await stored.replay(first)).result.output == [{**auth, "token": "new"}, {"X-A": "two"}]
        assert (await stored.replay(first, version=1)).result.output == then
        await stored.rotate_secrets()
        assert (await stored.replay(first, version=1)).result.output == then
        await stored.secrets.remove("TOKEN", stored.admin)
        lost = await stored.replay(first, version=1)
        assert [difference.after for difference in lost.differences][1:2] == ["secret_unreadable"]


class TestTargets:
    async def test_a_mock_stands_in_so_that_nothing_happens_twice(self, board: Pegboard) -> None:
        sent = []

        @board.tool(keep_arguments=True, keep_result=True)
        async def send(to: str) -> dict[str, str]:
            sent.append(to)
            return {"sent": to}

        await board.add(mock("pretend", **mock_answer({"sent": "ada"})))
        first = await make_call(board, "send", {"to": "ada"})
        replay = await board.replay(first, tool="PRETEND")
        assert (replay.same, replay.tool.name, sent) == (True, "pretend", ["ada"])
        assert (await board.replay(first)).same
        assert sent == ["ada", "ada"], "the library does what it is told"

    async def test_another_tool_checks_the_arguments_by_its_own_schema(self, board: Pegboard) -> None:
        await board.add(mock(**KEEPING))
        await board.add(mock("strict", input_schema={"type": "object", "required": ["b"]}))
        replay = await board.replay(await make_call(board, "quote", {"a": 1}), tool="strict")
        assert [(each.path, each.after) for each in replay.differences] == [
            ("status", "refused"),
            ("code", "missing"),
            ("error", "Invalid parameters: missing 'b'"),
        ]
        assert (await board.execution(replay.result.run_id)).status == "refused"

    async def test_a_function_that_is_still_there_is_found(self, board: Pegboard) -> None:
        @board.tool(keep_arguments=True, keep_result=True)
        async def add(a: int, b: int = 2) -> int:
            return a + b

        replay = await board.replay(await make_call(board, "add", {"a": 1}), version=1)
        assert (replay.same, replay.execution.arguments) == (True, {"a": 1, "b": 2})

    async def test_what_a_builtin_was_preset_with_is_not_taken_for_an_argument(self, board: Pegboard) -> None:
        schema = {"type": "object", "properties": {"prices": {"type": "array"}}, "additionalProperties": False}
        config = {"operation": "calculate_rsi", "parameters": {"period": 3}}
        await board.add(mock("rsi", tool_type="builtin", config=config, input_schema=schema, **KEEPING))
        first = await make_call(board, "rsi", {"prices": [1, 2, 3, 2, 4]})
        assert (await board.execution(first)).arguments == {"prices": [1, 2, 3, 2, 4], "period": 3}
        assert (await board.replay(first)).same
        await board.tools.update("rsi", {"config": {**config, "parameters": {"period": 2}}}, board.admin)
        changed = await board.replay(first)
        assert (changed.result.success, changed.same) == (True, False)
        assert (await board.replay(first, version=1)).same

    @pytest.mark.parametrize("version", [0, -1, 3, 2**31, 2**70])
    async def test_a_version_that_never_was_is_not_found(self, board: Pegboard, version: int) -> None:
        await board.add(mock(**KEEPING))
        await board.tools.update("quote", {"tags": ["x"]}, board.admin)
        message = await refusal(board, await make_call(board, "quote"), NotFound, version=version)
        assert message == f"Tool 'quote' has no version {version}; it is at version 2"

    async def test_a_tool_that_is_not_there_is_not_found(self, board: Pegboard) -> None:
        await board.add(mock(**KEEPING))
        first = await make_call(board, "quote")
        assert await refusal(board, first, NotFound, tool="nonesuch") == "Tool 'nonesuch' not found"
        assert "not both" in await refusal(board, first, Invalid, tool="quote", version=1)


class TestWhatCannotBeRunAgain:
    async def test_a_call_whose_arguments_were_not_kept(self, board: Pegboard) -> None:
        await board.add(mock(keep_result=True))
        first = await make_call(board, "quote")
        assert "set keep_arguments: true on 'quote'" in await refusal(board, first, Invalid)
        assert "keep_arguments" in await refusal(board, first, Invalid, tool="echo")

    async def test_a_call_that_was_refused_before_its_arguments_were_accepted(self, board: Pegboard) -> None:
        await board.add(mock(input_schema={"type": "object", "required": ["a"]}, **KEEPING))
        for first, code in [
            (await make_call(board, "quote"), "missing"),
            (await make_call(board, "nonesuch" * 100), "tool_not_found"),
        ]:
            message = await refusal(board, first, Invalid, tool="echo")
            assert f"({code})" in message
            assert len(message) < 400

    async def test_a_call_that_is_not_recorded(self, board: Pegboard) -> None:
        for unknown in ("01a1de67-d38f-7fad-935b-1783e6436bab", "", "nonesuch", "\u0000"):
            assert "not found" in await refusal(board, unknown, NotFound)
