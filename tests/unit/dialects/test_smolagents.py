"""smolagents: messages, deltas, and actions in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pegboard.dialects.base import Answer
from pegboard.dialects.detect import Dialects
from pegboard.dialects.parsed_calls import ABSENT, AskedCall, Unreadable
from pegboard.dialects.smolagents import Smolagents
from tests.unit.dialects.framework_payloads import bad, calls_of, examples, good, streamed, tool_of

DIALECT = Smolagents()
ASKED = AskedCall("get_weather", {"city": "Zürich"}, "c1")


def build_call_message(arguments: Any, **more: Any) -> dict[str, Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": arguments}}
    return {"role": "assistant", "content": "", "tool_calls": [call], "token_usage": None, **more}


def delta(arguments: str | None, **more: Any) -> dict[str, Any]:
    calls = None if arguments is None else [{"index": 0, "function": {"name": "", "arguments": arguments}, **more}]
    return {"content": None, "tool_calls": calls, "token_usage": None}


def only_city(_name: str) -> Mapping[str, Any]:
    return {"type": "object", "properties": {"city": {}, "unit": {}}, "required": ["city"]}


@pytest.mark.parametrize(
    ("given", "value"), [("Zürich", "Zürich"), ("7", 7), (7, 7), (["a"], ["a"]), ('["a"]', ["a"]), ('"Bern"', "Bern")]
)
def test_a_bare_value_is_that_of_the_one_parameter_there_must_be(given: Any, value: Any) -> None:
    (call,) = Dialects([DIALECT]).read(build_call_message(given), None, only_city).calls
    assert call.arguments == {"city": value}


@pytest.mark.parametrize("given", ['{"city": "Zür', '["a"', '"Zür', '{"city": "a", "city": "b"}'])
def test_what_was_cut_off_is_no_bare_value(given: str) -> None:
    (call,) = Dialects([DIALECT]).read(build_call_message(given), None, only_city).calls
    assert call.is_malformed


@pytest.mark.parametrize("given", ["Zürich", 7, ["a"]])
def test_a_bare_value_for_an_unknown_tool_is_malformed(given: Any) -> None:
    (call,) = Dialects([DIALECT]).read(build_call_message(given)).calls
    assert call.is_malformed


@pytest.mark.parametrize(
    "text",
    [
        'Action:\n{"name": "get_weather", "arguments": {"city": "Zürich"}}',
        'Action: {"name": "get_weather", "arguments": "{\\"city\\": \\"Zürich\\"}"}<end_action>',
        'Thought: x\nAction:\n```json\n{\n  "name": "get_weather",\n  "arguments": {"city": "Zürich"}\n}\n```',
        'Action:\n{"action": "get_weather", "action_input": {"city": "Zürich"}}',
        '<think>\nAction:\n{"name": "x"}\n</think>\nAction:\n{"name": "get_weather", "arguments": {"city": "Zürich"}}',
    ],
)
def test_an_action_in_a_text_or_in_a_message_is_a_call(text: str) -> None:
    values = {"role": "assistant", "content": [{"type": "text", "text": text}], "tool_calls": None, "token_usage": None}
    pieces = [{"content": text[at : at + 7], "tool_calls": None, "token_usage": None} for at in range(0, len(text), 7)]
    for payload in (text, values, pieces):
        assert calls_of(DIALECT, payload, received=False) == [ASKED._replace(id="")]
    assert streamed(DIALECT, pieces) == [ASKED._replace(id="")]


@pytest.mark.parametrize(
    "blob", ['{"name": "get_weather", "arguments": {"city": "Zür', '{"name": "get_weather", "arguments": {"city": 1}']
)
def test_an_action_that_was_cut_off_is_malformed(blob: str) -> None:
    (call,) = calls_of(DIALECT, f"Action:\n{blob}", received=False)
    assert call.name == "get_weather" and call.is_malformed and call.arguments.text == blob


def test_an_observation_answers_what_was_asked_before_it() -> None:
    values = {"role": "tool-response", "content": [{"type": "text", "text": "Observation:\n7"}], "token_usage": None}
    calls = calls_of(
        DIALECT, [build_call_message({}), values, build_call_message({}) | {"content": None}], received=False
    )
    assert [call.result for call in calls] == ["7", ABSENT]
    text = 'Action:\n{"name": "a", "arguments": {}}\nObservation:\n7'
    assert [call.result for call in calls_of(DIALECT, text, received=False)] == ["7"]


def test_a_stream_with_its_usage_is_over() -> None:
    head = delta("", id="c1") | {"content": ""}
    head["tool_calls"][0]["function"]["name"] = "list_projects"
    assert streamed(DIALECT, [head])[0].is_malformed
    over = delta(None) | {"token_usage": {"input_tokens": 1, "output_tokens": 1}}
    assert streamed(DIALECT, [head, over]) == [AskedCall("list_projects", {}, "c1")]


def test_all_answers_are_one_observation_in_order() -> None:
    call, observed = DIALECT.render([Answer(ASKED, good("hi")), Answer(ASKED._replace(id="c2"), bad("no"))], many=True)
    assert (call["role"], observed["role"]) == ("tool-call", "tool-response")
    assert "'c1'" in call["content"][0]["text"] and "'c2'" in call["content"][0]["text"]
    assert observed["content"][0]["text"] == 'Observation:\nhi\n{"error":"no"}'


def test_what_is_rendered_asks_for_nothing() -> None:
    assert calls_of(DIALECT, DIALECT.render([Answer(ASKED, good("hi"))], many=True), received=False) == []


@pytest.mark.parametrize("payload", [None, 1, {}, {"a": 1}])
def test_what_holds_no_call_is_unreadable(payload: Any) -> None:
    with pytest.raises(Unreadable, match="unrecognised_format"):
        calls_of(DIALECT, payload)


@pytest.mark.parametrize(
    "payload",
    [
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{}"}}]},
        {"role": "assistant", "tool_calls": [{"id": "1", "name": "a", "args": {}}]},
        "Action: get_weather\nAction Input: {}",
    ],
)
def test_calls_of_others_are_not_taken(payload: Any) -> None:
    assert not DIALECT.recognises(payload)


def test_a_definition_has_the_shape_of_the_example() -> None:
    (case,) = examples("smolagents", "definition")
    function = case.payload[0]["function"]
    tool = tool_of(function["name"], function["parameters"], function["description"])
    assert DIALECT.define_all([tool]) == case.payload
