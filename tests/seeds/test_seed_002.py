"""Seed 002, the execution flow: every requirement and scenario by name, through every surface."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from dirty_equals import IsFloat, IsPartialDict

from pegboard import CallContext, Pegboard
from tests.board_surfaces import Surface

WEATHER = {
    "name": "weather",
    "tool_type": "mock",
    "config": {"mock_response": {"sky": "clear"}},
    "input_schema": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "unit": {"type": "string", "enum": ["celsius", "kelvin"]},
        },
        "required": ["city"],
    },
}


def answered(tool: str, result: Any) -> dict[str, Any]:
    return {"success": True, "result": result, "tool_name": tool, "execution_time_ms": IsFloat(gt=0)}


def failed(tool: str, error: str) -> Any:
    return IsPartialDict(success=False, error=error, tool_name=tool, execution_time_ms=IsFloat(ge=0))


class TestToolExecutionFlow:
    """Requirement: Tool Execution Flow."""

    async def test_successful_tool_execution(self, surface: Surface) -> None:
        await surface.create(WEATHER)
        assert await surface.call("weather", {"city": "Oslo"}) == answered("weather", {"sky": "clear"})

    async def test_tool_not_found(self, surface: Surface) -> None:
        assert await surface.call("nonesuch", {}) == failed("nonesuch", "Tool 'nonesuch' not found")

    async def test_parameter_validation_failure(self, board: Pegboard, surface: Surface) -> None:
        ran = []

        @board.handler("count")
        async def count(city: str) -> None:
            ran.append(city)

        await surface.create({**WEATHER, "tool_type": "internal", "config": {"handler": "count"}})
        assert await surface.call("weather", {}) == failed("weather", "Invalid parameters: missing 'city'")
        assert ran == []

    async def test_tool_execution_error(self, board: Pegboard, surface: Surface) -> None:
        @board.handler("explode")
        async def explode() -> None:
            raise ValueError("the reactor is too hot")

        await surface.create(
            {"name": "explode", "implementation": {"type": "internal", "handler": "explode"}, **ANYTHING}
        )
        assert await surface.call("explode") == failed("explode", "the reactor is too hot")


ANYTHING: dict[str, Any] = {"input_schema": {"type": "object"}}


class TestParameterValidation:
    """Requirement: Parameter Validation."""

    async def test_required_parameter_check(self, surface: Surface) -> None:
        schema = {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "required": ["a", "b", "c"]}
        await surface.create({**WEATHER, "input_schema": schema})
        answer = await surface.call("weather", {"b": 1})
        assert answer == failed("weather", "Invalid parameters: missing 'a', 'c'")
        assert [problem["field"] for problem in answer["error_details"]["problems"]] == ["a", "c"]

    @pytest.mark.parametrize("value", [1, 0, -3, 2.0])
    async def test_type_checking_accepts_whole_numbers_as_integers(self, surface: Surface, value: float) -> None:
        await surface.create(WEATHER)
        assert (await surface.call("weather", {"city": "Oslo", "days": value}))["success"]

    @pytest.mark.parametrize("value", [1.5, "1", True, None, [1]])
    async def test_type_checking_refuses_what_is_no_integer(self, surface: Surface, value: Any) -> None:
        await surface.create(WEATHER)
        answer = await surface.call("weather", {"city": "Oslo", "days": value})
        assert answer["success"] is False
        assert answer["error"].startswith("Invalid parameters: Field 'days' must be an integer")
        assert answer["error_details"] == IsPartialDict(type="VALIDATION_ERROR", code="invalid_type", field="days")

    @pytest.mark.parametrize("value", [1, True, None, {}, []])
    async def test_type_checking_refuses_what_is_no_string(self, surface: Surface, value: Any) -> None:
        await surface.create(WEATHER)
        answer = await surface.call("weather", {"city": value})
        assert answer["error_details"] == IsPartialDict(code="invalid_type", field="city", expected="string")

    async def test_enum_validation(self, surface: Surface) -> None:
        await surface.create(WEATHER)
        answer = await surface.call("weather", {"city": "Oslo", "unit": "fahrenheit"})
        assert answer["success"] is False
        assert "celsius, kelvin" in answer["error"]
        assert answer["error_details"]["code"] == "invalid_enum_value"

    async def test_allow_extra_parameters(self, board: Pegboard, surface: Surface) -> None:
        got: list[dict[str, Any]] = []

        @board.handler("keep")
        async def keep(**given: Any) -> str:
            got.append(given)
            return "kept"

        await surface.create({**WEATHER, "tool_type": "internal", "config": {"handler": "keep"}})
        assert (await surface.call("weather", {"city": "Oslo", "colour": "red"}))["result"] == "kept"
        assert got == [{"city": "Oslo"}]


class TestMockToolExecution:
    """Requirement: Mock Tool Execution."""

    async def test_execute_mock_tool(self, surface: Surface, caplog: pytest.LogCaptureFixture) -> None:
        tool = {"name": "mock", "implementation": {"type": "mock", "mock_response": {"fixed": [1, 2]}}, **ANYTHING}
        await surface.create(tool)
        with caplog.at_level("INFO", "pegboard"):
            answer = await surface.call("mock", {"city": "Oslo"})
        assert answer["result"] == {"fixed": [1, 2]}
        assert "mock_called tool=mock" in caplog.text
        assert "Oslo" not in caplog.text, "arguments are not logged unless they are asked for"
        with caplog.at_level("DEBUG", "pegboard"):
            await surface.call("mock", {"city": "Oslo"})
        assert "arguments={'city': 'Oslo'}" in caplog.text

    async def test_mock_answers_by_the_arguments(self, surface: Surface) -> None:
        responses = [
            {"when": {"city": "Oslo"}, "respond": "snow"},
            {"when": {"place": {"country": "PT"}}, "respond": "sun"},
        ]
        config = {"mock_response": "unknown", "mock_responses": responses}
        await surface.create({"name": "mock", "tool_type": "mock", "config": config, **ANYTHING})
        assert (await surface.call("mock", {"city": "Oslo", "days": 3}))["result"] == "snow"
        assert (await surface.call("mock", {"place": {"country": "PT", "city": "Faro"}}))["result"] == "sun"
        assert (await surface.call("mock", {"city": "Paris"}))["result"] == "unknown"


class TestBuiltinToolExecution:
    """Requirement: Builtin Tool Execution."""

    async def test_execute_builtin_tool(self, surface: Surface) -> None:
        await surface.create({"name": "repeat", "implementation": {"type": "builtin", "handler": "echo"}, **ANYTHING})
        assert await surface.call("repeat", {"a": [1]}) == answered("repeat", {"echo": {"a": [1]}})

    async def test_builtin_handler_not_found(self, surface: Surface) -> None:
        await surface.create({"name": "lost", "implementation": {"type": "builtin", "handler": "nonesuch"}, **ANYTHING})
        answer = await surface.call("lost")
        assert answer == failed("lost", "Builtin handler 'nonesuch' not found")
        assert answer["error_details"] == IsPartialDict(type="CONFIG_ERROR", code="handler_not_found")

    async def test_math_evaluation_handler(self, surface: Surface) -> None:
        assert await surface.call("math_eval", {"expression": "2+2"}) == answered("math_eval", {"result": 4})

    @pytest.mark.parametrize("expression", ["2+", "1/0", "x = 3", "import os", "10^400"])
    async def test_math_evaluation_describes_what_is_wrong(self, surface: Surface, expression: str) -> None:
        answer = await surface.call("math_eval", {"expression": expression})
        assert answer["success"] is False
        assert len(answer["error"]) > 10
        assert answer["error_details"]["code"] == "execution_failed"

    async def test_echo_handler(self, surface: Surface) -> None:
        given = {"text": "hé", "nested": {"list": [1, 2.5, None, True]}}
        assert await surface.call("echo", given) == answered("echo", {"echo": given})


class TestInternalToolExecution:
    """Requirement: Internal Tool Execution."""

    async def test_execute_internal_tool(self, board: Pegboard, surface: Surface) -> None:
        @board.handler("greet")
        async def greet(name: str, context: CallContext) -> str:
            return f"Hello {name}, says {context.caller.name}"

        await surface.create({"name": "greet", "implementation": {"type": "internal", "handler": "greet"}, **ANYTHING})
        assert (await surface.call("greet", {"name": "Ada"}))["result"] == "Hello Ada, says admin"

    async def test_execute_internal_tool_that_is_not_async(self, board: Pegboard, surface: Surface) -> None:
        @board.handler("double")
        def double(n: int) -> int:
            with pytest.raises(RuntimeError):
                asyncio.get_running_loop()  # it runs off the event loop
            return n * 2

        await surface.create(
            {"name": "double", "implementation": {"type": "internal", "handler": "double"}, **ANYTHING}
        )
        assert (await surface.call("double", {"n": 21}))["result"] == 42

    async def test_internal_handler_not_found(self, surface: Surface) -> None:
        await surface.create(
            {"name": "lost", "implementation": {"type": "internal", "handler": "nonesuch"}, **ANYTHING}
        )
        assert await surface.call("lost") == failed("lost", "Internal handler 'nonesuch' not found")


class TestExecutionTimeTracking:
    """Requirement: Execution Time Tracking."""

    async def test_track_execution_time(self, board: Pegboard, surface: Surface) -> None:
        @board.handler("wait")
        async def wait() -> None:
            await asyncio.sleep(0.05)

        await surface.create({"name": "wait", "implementation": {"type": "internal", "handler": "wait"}, **ANYTHING})
        assert await surface.call("wait") == IsPartialDict(success=True, execution_time_ms=IsFloat(ge=50))

    async def test_include_time_in_error_results(self, board: Pegboard, surface: Surface) -> None:
        @board.handler("wait")
        async def wait() -> None:
            await asyncio.sleep(0.05)
            raise ValueError("too late")

        await surface.create({"name": "wait", "implementation": {"type": "internal", "handler": "wait"}, **ANYTHING})
        assert await surface.call("wait") == IsPartialDict(success=False, execution_time_ms=IsFloat(ge=50))


class TestErrorResultFormat:
    """Requirement: Error Result Format."""

    async def test_error_result_structure(self, surface: Surface) -> None:
        answer = await surface.call("nonesuch")
        assert answer["success"] is False
        assert isinstance(answer["error"], str)
        assert isinstance(answer["tool_name"], str)
        assert isinstance(answer["execution_time_ms"], float)
        assert "result" not in answer

    async def test_success_result_structure(self, surface: Surface) -> None:
        answer = await surface.call("echo", {"a": 1})
        assert answer["success"] is True
        assert answer["result"] == {"echo": {"a": 1}}
        assert isinstance(answer["tool_name"], str)
        assert isinstance(answer["execution_time_ms"], float)
        assert "error" not in answer
