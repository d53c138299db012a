"""CrewAI: ReAct texts and native calls."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.base import Answer
from pegboard.dialects.crewai import CrewAI
from pegboard.dialects.parsed_calls import ABSENT, AskedCall, Unreadable
from pegboard.dialects.smolagents import Smolagents
from tests.unit.dialects.framework_payloads import TEXTS, bad, calls_of, examples, good, streamed, tool_of

DIALECT = CrewAI()
CITY = {"city": "Zürich"}
ASKED = AskedCall("get_weather", CITY)


@pytest.mark.parametrize(
    "payload",
    [
        {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Zürich"}'}},
        {"call_id": "c1", "name": "get_weather", "arguments": CITY},
        {"toolUseId": "c1", "name": "get_weather", "input": CITY},
        {"id": "c1", "name": "get_weather", "input": CITY},
        {"call_id": "c1", "id": "fc_1", "name": "get_weather", "arguments": '{"city": "Zürich"}'},
    ],
)
def test_a_native_call_is_read_wherever_its_id_and_arguments_are(payload: Any) -> None:
    assert calls_of(DIALECT, payload, received=False) == [AskedCall("get_weather", CITY, "c1")]


@pytest.mark.parametrize(
    "given",
    ["{'city': 'Zürich'}", '{"city": "Zür', '{"city": "Zürich",}', '{"city": "Zürich"} and so on', "Zürich", "[1]"],
)
def test_an_input_that_is_no_object_is_never_repaired(given: str) -> None:
    (call,) = calls_of(DIALECT, f"Action: get_weather\nAction Input: {given}", received=False)
    assert call.name == "get_weather" and call.is_malformed and call.arguments.text == given


@pytest.mark.parametrize("given", ["", " ", "{}", "```json\n{}\n```"])
def test_no_input_is_no_arguments(given: str) -> None:
    assert calls_of(DIALECT, f"Action: list_projects\nAction Input: {given}") == [AskedCall("list_projects", {})]


def test_an_action_that_was_cut_off_before_its_input_is_malformed() -> None:
    for text in ("Action: get_weather", "Action: get_weather\n", "Thought: x\nAction: get_weather\nAction In"):
        calls = streamed(DIALECT, [text])
        assert all(call.is_malformed for call in calls)
    assert [call.name for call in streamed(DIALECT, ["Action: get_weather\n"])] == ["get_weather"]


@pytest.mark.parametrize(
    "text", ["Final Answer: 7", "Thought: done\nFinal Answer: 7\nso", "Action: go home", "hello", ""]
)
def test_a_text_that_takes_no_action_has_no_calls(text: str) -> None:
    assert not DIALECT.recognises(text) and calls_of(DIALECT, text) == []


def test_an_action_that_was_observed_is_not_taken_again() -> None:
    first = DIALECT.render([Answer(ASKED, good({"t": 7}))], many=False)
    calls = calls_of(
        DIALECT, f"{first}\nThought: now\n{DIALECT.compose([AskedCall('list_projects', {})])}", received=False
    )
    assert [(call.name, call.result) for call in calls] == [("get_weather", '{"t":7}'), ("list_projects", ABSENT)]


def test_the_thought_is_sent_back_with_the_observation() -> None:
    (call,) = calls_of(DIALECT, 'Thought: I need it\nAction: get_weather\nAction Input: {"city": "Zürich"}')
    assert call.extra == {"thought": "I need it"}
    assert DIALECT.render([Answer(call, bad("no such city", "get_weather"))], many=True) == (
        'Thought: I need it\nAction: get_weather\nAction Input: {"city":"Zürich"}\n'
        'Observation: {"error":"no such city"}'
    )


@given(TEXTS, st.lists(TEXTS, max_size=2))
def test_no_output_can_pass_for_another_action(output: str, more: list[str]) -> None:
    rendered = DIALECT.render([Answer(ASKED, good(text)) for text in (output, *more)], many=True)
    calls = calls_of(DIALECT, rendered)
    assert [call.name for call in calls] == ["get_weather"] * (1 + len(more))
    assert not any(call.is_open for call in calls)


@given(TEXTS)
def test_a_text_is_of_one_framework_only(text: str) -> None:
    assert not (DIALECT.recognises(text) and Smolagents().recognises(text))


@pytest.mark.parametrize("payload", [None, 1, {}, {"function": {"name": 1}}, {"name": None}])
def test_what_holds_no_call_is_unreadable(payload: Any) -> None:
    with pytest.raises(Unreadable, match="unrecognised_format"):
        calls_of(DIALECT, payload)


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "function_call", "call_id": "c1", "name": "a", "arguments": "{}"},
        {"type": "tool_use", "id": "c1", "name": "a", "input": {}},
        {"tool_name": "a", "arguments": {}, "id": "c1"},
        {"tool_name": "a", "args": {}},
    ],
)
def test_calls_of_others_are_not_taken(payload: Any) -> None:
    assert not DIALECT.recognises(payload)


def test_a_definition_has_the_shape_of_the_example() -> None:
    (case,) = examples("crewai", "definition")
    function = case.payload[0]["function"]
    defined = DIALECT.define(tool_of(function["name"], function["parameters"], function["description"]))
    assert defined == {"type": "function", "function": function | {"strict": False}}
