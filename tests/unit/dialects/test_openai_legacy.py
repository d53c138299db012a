"""OpenAI's Chat Completions with one function_call per message."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessage
from openai.types.chat.chat_completion_function_message_param import ChatCompletionFunctionMessageParam
from openai.types.chat.completion_create_params import Function
from pydantic import TypeAdapter

from pegboard.dialects.detect import Dialects
from pegboard.dialects.openai_chat import OpenAIChat
from pegboard.dialects.openai_legacy import OpenAILegacy
from pegboard.dialects.parsed_calls import AskedCall, Unreadable
from pegboard.model.call import Malformed
from tests.formats import TOOLS, cases
from tests.unit.dialects.openai_values import (
    ARGUMENTS,
    NAMES,
    answer_for,
    failed,
    read_or_refuse,
    spoiled,
    succeeded,
    tool_of,
)

LEGACY = OpenAILegacy()
KNOWN = Dialects([OpenAIChat(), LEGACY])
EXAMPLES = [case.payload for case in [*cases("call"), *cases("stream")] if case.dialect == LEGACY.name]


def message(name: str, arguments: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "function_call": {"name": name, "arguments": arguments}}


def chunk(delta: Any, finish: str | None = None) -> dict[str, Any]:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


ONE = message("get_weather", '{"city": "Bern"}')
BEGUN = {"function_call": {"name": "get_weather", "arguments": '{"city"'}}
REST = {"function_call": {"arguments": ': "Bern"}'}}


@pytest.mark.parametrize(
    "payload",
    [
        ONE,
        [ONE],
        {"choices": [{"message": ONE, "finish_reason": "stop"}]},
        {"messages": [{"role": "user", "content": "Hi"}, ONE]},
        [chunk({"role": "assistant", "content": ""}), chunk(BEGUN), chunk(REST), chunk({}, "function_call")],
        [chunk(BEGUN), chunk(REST), chunk({}, "stop"), {"object": "chat.completion.chunk", "choices": []}],
        [chunk({"function_call": {"name": "get_weather", "arguments": {"city": "Bern"}}}), chunk({}, "stop")],
        [chunk(BEGUN), chunk(REST)],
    ],
)
def test_a_call_is_read_wherever_it_stands(payload: Any) -> None:
    asked = KNOWN.read(payload)
    assert asked.dialect == LEGACY.name
    assert asked.calls == (AskedCall("get_weather", {"city": "Bern"}),)


def test_a_chunk_with_only_a_role_fits_both_forms() -> None:
    stream = KNOWN.stream()
    assert stream.feed(chunk({"role": "assistant", "content": ""})) == []
    assert stream.dialect is None
    stream.feed(chunk(BEGUN))
    assert stream.dialect is LEGACY
    stream.feed(chunk(REST))
    assert [call.name for call in stream.feed(chunk({}, "function_call"))] == ["get_weather"]


def test_the_message_after_a_call_answers_it() -> None:
    history = [
        ONE,
        {"role": "function", "name": "get_weather", "content": '{"temp": 7}'},
        message("list_projects", ""),
        {"role": "function", "name": "list_projects", "content": '{"error": "not now"}'},
        {"role": "function", "name": "elsewhere", "content": "late"},
        message("list_projects", ""),
        {"role": "user", "content": "And now?"},
        message("list_projects", "{}"),
    ]
    for payload in (history, {"messages": history}):
        first, second, stray, *rest = KNOWN.read(payload).calls
        assert (first.result, second.error, stray.result) == ({"temp": 7}, "not now", "late")
        assert [call.is_open for call in rest] == [True, True]


@pytest.mark.parametrize("arguments", ["", None, " "])
def test_arguments_that_were_never_begun_are_malformed_if_the_model_was_cut_off(arguments: Any) -> None:
    one = message("list_projects", arguments)
    assert KNOWN.read({"choices": [{"message": one, "finish_reason": "stop"}]}).calls[0].arguments == {}
    assert KNOWN.read({"choices": [{"message": one, "finish_reason": "length"}]}).calls[0].is_malformed
    cut, next_one = KNOWN.read([chunk(one), chunk({}, "length"), chunk(BEGUN), chunk(REST)]).calls
    assert cut.is_malformed
    assert next_one == AskedCall("get_weather", {"city": "Bern"})


def test_the_newer_form_is_named_if_it_is_used() -> None:
    with pytest.raises(Unreadable, match="openai_chat"):
        KNOWN.read({"role": "assistant", "tool_calls": [{"id": "c1"}]}, LEGACY.name)


def test_results_are_the_examples() -> None:
    (case,) = [case for case in cases("result") if case.dialect == LEGACY.name]
    made = LEGACY.render([answer_for(case)], many=False)
    assert {**made, "content": orjson.loads(made["content"])} == {
        **case.payload,
        "content": orjson.loads(case.payload["content"]),
    }


def test_answers_are_messages_the_sdk_takes() -> None:
    messages = LEGACY.render([succeeded([1]), failed("no such city")], many=True)
    for one in messages:
        TypeAdapter(ChatCompletionFunctionMessageParam).validate_python(one)
    assert [one["content"] for one in messages] == ["[1]", '{"error":"no such city"}']


def test_definitions_are_the_examples_and_the_sdk_takes_them() -> None:
    (case,) = [case for case in cases("definition") if case.dialect == LEGACY.name]
    for wanted in case.payload:
        made = LEGACY.define(tool_of(wanted["name"], wanted["description"], wanted["parameters"]))
        assert made == wanted
        TypeAdapter(Function).validate_python(made)


def test_nulls_for_what_was_left_out_are_dropped() -> None:
    payload = message("get_weather", '{"city": "Bern", "unit": null}')
    assert KNOWN.read(payload, None, TOOLS.get).calls[0].arguments == {"city": "Bern"}


@given(st.lists(st.tuples(NAMES, ARGUMENTS).map(lambda parts: AskedCall(*parts)), max_size=3))
def test_composed_calls_are_read_as_they_were_and_the_sdk_takes_them(calls: list[AskedCall]) -> None:
    composed = orjson.loads(orjson.dumps(LEGACY.compose(calls)))
    for one in composed if isinstance(composed, list) else [composed]:
        ChatCompletionMessage.model_validate(one)
    assert KNOWN.read(composed).calls == tuple(calls)


def test_malformed_arguments_are_composed_as_they_came() -> None:
    composed = LEGACY.compose([AskedCall("a", Malformed('{"x', "cut")), AskedCall("b", {}, provider_executed=True)])
    assert composed["function_call"] == {"name": "a", "arguments": '{"x'}


@given(st.sampled_from(EXAMPLES).flatmap(spoiled))
def test_arbitrary_json_anywhere_in_a_payload_is_read_or_refused(payload: Any) -> None:
    read_or_refuse(KNOWN, payload)
