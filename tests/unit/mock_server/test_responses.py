"""The responses of a mock server, call by call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from pegboard.board import Pegboard
from pegboard.mock_server.fixtures import ERROR_CLASSES_BY_CODE, Fixtures, build_tool_error
from pegboard.mock_server.player import Mock, register_fixtures
from pegboard.testing import calls_of, memory_board


@asynccontextmanager
async def mocked(*responses: dict[str, Any], **tool: Any) -> AsyncIterator[tuple[Pegboard, Mock]]:
    """A board with a tool called `it` that answers like this."""
    fixtures = Fixtures.model_validate({"tools": [{"name": "it", "responses": list(responses), **tool}]})
    async with memory_board() as board:
        yield board, await register_fixtures(board, fixtures)


async def outputs(board: Pegboard, *arguments: dict[str, Any]) -> list[Any]:
    """Return the output of calls with these arguments, or the codes of their errors."""
    found = [await board.call("it", each) for each in arguments]
    return [result.output if result.problem is None else result.problem.code for result in found]


async def test_the_first_response_that_fits_answers() -> None:
    responses = ({"when": {"a": {"b": 1}}, "respond": "deep"}, {"when": {"a": 1}, "respond": "one"}, {"respond": "any"})
    async with mocked(*responses) as (board, _):
        asked: tuple[dict[str, Any], ...] = ({"a": {"b": 1, "c": 2}}, {"a": 1, "self": 2}, {"a": True}, {})
        assert await outputs(board, *asked) == ["deep", "one", "any", "any"]


async def test_a_sequence_is_broken_first_and_then_right() -> None:
    responses = ({"error": "not yet", "times": 2}, {"respond": 1, "times": 1}, {"respond": 2})
    async with mocked(*responses) as (board, mock):
        expected = ["execution_failed", "execution_failed", 1, 2, 2]
        assert await outputs(board, *[{}] * 5) == expected
        mock.reset()
        assert await outputs(board, *[{}] * 5) == expected


async def test_a_call_that_nothing_answers_says_why() -> None:
    async with mocked({"when": {"a": 1}, "respond": 1, "times": 1}) as (board, _):
        assert await outputs(board, {"a": 1}) == [1]
        used_up = (await board.call("it", {"a": 1})).problem
        no_fit = (await board.call("it", {})).problem
    assert used_up is not None
    assert "of 1 responses, 1 that fit are used up" in used_up.message
    assert no_fit is not None
    assert "no `when` is contained in the arguments" in no_fit.message


async def test_an_answer_that_breaks_the_schema_is_made_again_as_the_tool_says() -> None:
    responses = ({"respond": {}, "times": 3}, {"respond": {"sky": "grey"}})
    tool = {"output_schema": {"type": "object", "required": ["sky"]}, "retry": {"max_attempts": 4}}
    async with mocked(*responses, **tool) as (board, mock):
        result = await board.call("it")
        assert (result.output, result.attempts) == ({"sky": "grey"}, 4)
        mock.reset()
        (row,) = await calls_of(board, "it")
        assert row.status == "succeeded"
    async with mocked({"respond": {}}, fallback={"value": {"sky": "unknown"}}, **tool) as (board, _):
        result = await board.call("it")
        assert (result.output, result.attempts, result.fallback) == ({"sky": "unknown"}, 4, True)


async def test_latency_holds_up_one_call_and_no_other() -> None:
    responses = ({"when": {"slow": True}, "respond": "late", "latency_ms": 600_000}, {"respond": "soon"})
    async with mocked(*responses) as (board, _):
        slow = asyncio.create_task(board.call("it", {"slow": True}))
        with anyio.fail_after(10):
            assert await outputs(board, {}) == ["soon"]
        assert not slow.done()
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow


async def test_latency_beyond_the_timeout_is_a_timeout() -> None:
    async with mocked({"respond": 1, "latency_ms": 60_000}, timeout=0.05) as (board, _):
        assert await outputs(board, {}) == ["timeout"]


async def test_calls_at_once_are_answered_in_the_order_they_came() -> None:
    responses = [{"respond": number, "times": 1, "latency_ms": 20 - 5 * number} for number in range(4)]
    async with mocked(*responses) as (board, _):
        results = await asyncio.gather(*(board.call("it") for _ in range(4)))
    assert [result.output for result in results] == [0, 1, 2, 3]


@pytest.mark.parametrize("code", ERROR_CLASSES_BY_CODE)
async def test_a_call_fails_with_any_code_and_message(code: str) -> None:
    written = {"message": "as it is written", "code": code}
    errors = {None: written, True: written | {"retryable": True}, False: written | {"retryable": False}}
    async with mocked(*({"error": error, "times": 1} for error in errors.values())) as (board, _):
        problems = [(await board.call("it")).problem for _ in errors]
    for retryable, problem in zip(errors, problems, strict=True):
        assert problem is not None
        assert (problem.code, problem.message, problem.type) == (
            code,
            "as it is written",
            ERROR_CLASSES_BY_CODE[code][0].type,
        )
        assert problem.retryable is (ERROR_CLASSES_BY_CODE[code][0].retryable if retryable is None else retryable)


def test_an_upstream_that_is_worth_another_try_is_retried_as_transport() -> None:
    assert build_tool_error("upstream_failed", "gone", True).retry_reason == "transport"
    assert build_tool_error("upstream_failed", "gone", None).retry_reason == "upstream_failed"


async def test_the_board_has_the_tools_of_the_fixtures_and_no_others() -> None:
    tools = [{"name": name, "responses": [{"respond": name}]} for name in ("echo", "query_baseline")]
    async with memory_board() as board:
        await register_fixtures(board, Fixtures.model_validate({"tools": tools}))
        assert [tool["name"] for tool in await board.definitions()] == ["echo", "query_baseline"]
        assert (await board.call("echo", {"a": 1})).output == "echo"


async def test_arguments_are_validated_and_every_dialect_is_recognised() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    async with mocked({"respond": {"sky": "grey"}}, input_schema=schema) as (board, _):
        assert await outputs(board, {"city": 1}, {}) == ["invalid_type", "missing"]
        openai = {"id": "c1", "type": "function", "function": {"name": "it", "arguments": '{"city": "Oslo"}'}}
        answer = await board.run([openai])
        assert answer[0]["tool_call_id"] == "c1"
        assert "grey" in answer[0]["content"]
