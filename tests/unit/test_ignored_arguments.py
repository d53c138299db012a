"""Ignored arguments are reported, and misspelt names get the most similar tool that the caller may see."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pegboard import Pegboard
from pegboard.model.call_errors import Ignored
from pegboard.model.tool import MAX_SPELLED_LENGTH, iterate_near_spellings
from pegboard.testing import member, memory_board

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}


NAMES = ["get_wether", "get_weatherr", "get_waether", "get_weatger", "get-weather", "getWeather", "tools.get_weather"]


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    """A board in memory."""
    async with memory_board() as opened:
        yield opened


@pytest.fixture
async def weather(board: Pegboard) -> Pegboard:
    """A board with a tool of two parameters."""
    config = {"mock_response": {"sky": "clear"}}
    await board.add({"name": "get_weather", "tool_type": "mock", "config": config, "input_schema": SCHEMA})
    return board


async def test_a_dropped_argument_is_named_with_the_nearest_declared_one(weather: Pegboard) -> None:
    result = await weather.call("get_weather", {"city": "Oslo", "dayz": 3, "units": "metric"})
    assert result.success and result.ignored == (Ignored("dayz", "days"), Ignored("units"))


async def test_nothing_is_ignored_if_all_is_declared(weather: Pegboard) -> None:
    result = await weather.call("get_weather", {"city": "Oslo", "days": 3})
    assert result.success and result.ignored == ()


async def test_a_misspelt_required_argument_is_named_beside_the_missing_one(weather: Pegboard) -> None:
    result = await weather.call("get_weather", {"citty": "Oslo", "units": "metric"})
    assert result.problem is not None
    assert result.problem.message == "Invalid parameters: missing 'city'; received 'citty', did you mean 'city'?"
    assert result.ignored == (Ignored("citty", "city"), Ignored("units"))


async def test_an_unrelated_argument_does_not_change_the_message(weather: Pegboard) -> None:
    result = await weather.call("get_weather", {"units": "metric"})
    assert result.problem is not None and result.problem.message == "Invalid parameters: missing 'city'"


@pytest.mark.parametrize("style", ["plain", "detailed"])
async def test_answers_carry_what_was_ignored(board: Pegboard, style: str) -> None:
    tool = {"name": "get_weather", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": SCHEMA}
    await board.add({**tool, "result_style": style})
    answer = await board.run({"name": "get_weather", "arguments": {"city": "Oslo", "dayz": 3}})
    assert answer["success"] is True and answer["ignored"] == [{"name": "dayz", "did_you_mean": "days"}]
    answer = await board.run({"name": "get_weather", "arguments": {"citty": "Oslo"}})
    assert answer["success"] is False and answer["ignored"] == [{"name": "citty", "did_you_mean": "city"}]
    answer = await board.run({"name": "get_weather", "arguments": {"city": "Oslo"}})
    assert "ignored" not in answer


async def test_many_ignored_arguments_are_named_only_in_part(weather: Pegboard) -> None:
    result = await weather.call("get_weather", {"city": "Oslo", **{f"x{n}" + "y" * 500: n for n in range(1000)}})
    assert len(result.ignored) == 20 and all(len(item.name) <= 100 for item in result.ignored)


async def test_a_repeat_names_them_again(weather: Pegboard) -> None:
    first = await weather.call("get_weather", {"city": "Oslo", "dayz": 3}, key="once")
    again = await weather.call("get_weather", {"city": "Oslo", "dayz": 3}, key="once")
    assert again.repeat_of is not None and again.ignored == first.ignored != ()


@pytest.mark.parametrize("name", NAMES)
async def test_a_misspelt_tool_name_gets_the_nearest(weather: Pegboard, name: str) -> None:
    result = await weather.call(name, {"city": "Oslo"})
    assert result.problem is not None and result.problem.code == "tool_not_found"
    assert result.problem.message == f"Tool '{name}' not found; did you mean 'get_weather'?"


async def test_a_name_that_is_like_none_gets_none(weather: Pegboard) -> None:
    for name in ("send_mail", "x" * 10_000, "é"):
        result = await weather.call(name, {})
        assert result.problem is not None and result.problem.message == f"Tool '{name}' not found"


async def test_tools_that_the_caller_may_not_call_are_not_suggested(weather: Pegboard) -> None:
    ada = await member(weather, "ada")
    result = await weather.call("get_wether", {}, caller=ada)
    assert result.problem is not None and result.problem.message == "Tool 'get_wether' not found"


async def test_an_inactive_tool_is_not_suggested(board: Pegboard) -> None:
    tool = {"name": "get_weather", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": SCHEMA}
    await board.add({**tool, "is_active": False})
    result = await board.call("get_wether", {})
    assert result.problem is not None and result.problem.message == "Tool 'get_wether' not found"


def test_the_spellings_of_a_name_are_few_whatever_its_length() -> None:
    assert sum(1 for _ in iterate_near_spellings("x" * MAX_SPELLED_LENGTH)) < 100 * MAX_SPELLED_LENGTH
    assert list(iterate_near_spellings("x" * (MAX_SPELLED_LENGTH + 1))) == []
