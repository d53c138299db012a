"""OpenAI's Chat Completions."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessage
from openai.types.chat.chat_completion_function_tool_param import ChatCompletionFunctionToolParam
from openai.types.chat.chat_completion_tool_message_param import ChatCompletionToolMessageParam
from pydantic import TypeAdapter

from pegboard.dialects.detect import Dialects
from pegboard.dialects.openai_chat import OpenAIChat
from pegboard.dialects.openai_legacy import OpenAILegacy
from pegboard.dialects.parsed_calls import ABSENT, AskedCall, ParsedCalls, Unreadable
from pegboard.model.call import Malformed
from tests.formats import TOOLS, cases
from tests.unit.dialects.openai_values import (
    CALLS,
    CUSTOM_CALLS,
    IMAGE,
    JSON,
    answer_for,
    failed,
    read_or_refuse,
    spoiled,
    succeeded,
    tool_of,
)

CHAT = OpenAIChat()
KNOWN = Dialects([CHAT, OpenAILegacy()])
WHOLE = [case.payload for case in cases("call") if case.dialect == CHAT.name]
STREAMS = [case.payload for case in cases("stream") if case.dialect == CHAT.name]
TOOL_MESSAGE: TypeAdapter[Any] = TypeAdapter(ChatCompletionToolMessageParam)


def call(id: str | None, name: str, arguments: Any) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def response(*calls: Any, finish: str = "tool_calls") -> dict[str, Any]:
    message = {"role": "assistant", "content": None, "tool_calls": list(calls)}
    return {"object": "chat.completion", "choices": [{"index": 0, "finish_reason": finish, "message": message}]}


def chunk(*deltas: Any, finish: str | None = None, index: int = 0) -> dict[str, Any]:
    delta = {"tool_calls": list(deltas)} if deltas else {}
    choice = {"index": index, "finish_reason": finish, "delta": delta}
    return {"object": "chat.completion.chunk", "choices": [choice]}


def piece(index: int | None, arguments: str | None = None, **more: Any) -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": more.pop("name")} if "name" in more else {})
    return ({} if index is None else {"index": index}) | more | {"function": function}


def read(payload: Any) -> ParsedCalls:
    return KNOWN.read(payload)


def briefly(payload: Any) -> list[tuple[str, str, Any]]:
    return [(call.id, call.name, call.arguments) for call in read(payload).calls]


ONE = call("c1", "get_weather", '{"city": "Bern"}')
READ_ONE = [("c1", "get_weather", {"city": "Bern"})]


@pytest.mark.parametrize(
    "payload",
    [
        response(ONE),
        {"role": "assistant", "content": None, "tool_calls": [ONE]},
        {"role": "assistant", "content": "Let me see", "tool_calls": [ONE, 7, None]},
        {"tool_calls": [ONE]},
        ONE,
        [ONE],
        [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": [ONE]}],
        {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": [ONE]}]},
        {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Bern"}}},
    ],
)
def test_a_call_is_read_wherever_it_stands(payload: Any) -> None:
    assert briefly(payload) == READ_ONE
    assert read(payload).dialect == "openai_chat"


def test_only_one_bare_call_is_answered_by_one_object() -> None:
    assert not read(ONE).many
    assert read([ONE]).many
    assert read(response(ONE)).many


@pytest.mark.parametrize(
    "payload",
    [
        {"object": "chat.completion", "choices": []},
        {"role": "assistant", "content": "Hello", "refusal": None},
        [chunk(piece(0, "{}", id="c1", name="a"), index=1), {"choices": [{"delta": {"content": "Hi"}}]}],
        [{"choices": [{"delta": {"content": "Hi"}}]}, {"error": {"message": "overloaded"}}],
    ],
)
def test_what_asks_for_nothing_has_no_calls(payload: Any) -> None:
    assert read(payload) == ParsedCalls("openai_chat", (), many=True)


def test_only_the_first_of_several_choices_is_read() -> None:
    other = {"index": 1, "finish_reason": "tool_calls", "message": {"tool_calls": [call("c2", "list_projects", "{}")]}}
    both = response(ONE)
    both["choices"].append(other)
    assert briefly(both) == READ_ONE
    begin = piece(0, '{"city": "Bern"}', id="c1", name="get_weather")
    streamed = [chunk(begin), chunk(piece(0, "{}", id="c2", name="list_projects"), index=1), chunk(finish="stop")]
    assert briefly(streamed) == READ_ONE


def test_calls_that_a_history_answers_are_not_open() -> None:
    history = [
        {"role": "assistant", "tool_calls": [ONE, call("c2", "list_projects", "{}"), call("c3", "list_projects", "")]},
        {"role": "tool", "tool_call_id": "c2", "content": '{"error":"not now"}'},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": '{"temp": 7}'}]},
        {"role": "tool", "tool_call_id": "elsewhere", "content": "late"},
    ]
    first, second, third, stray = read(history).calls
    assert (first.result, second.error, second.result) == ({"temp": 7}, "not now", ABSENT)
    assert third.is_open
    assert (stray.id, stray.result, stray.is_open) == ("elsewhere", "late", False)


@pytest.mark.parametrize("content", ["{not JSON", "[1, 2", "7", "", None, [{"type": "image"}]])
def test_an_answer_that_is_no_json_is_taken_unchanged(content: Any) -> None:
    (answer,) = read([{"role": "tool", "tool_call_id": "c1", "content": content}, response()]).calls
    assert answer.result == content


def test_a_custom_tool_gets_its_text_and_the_text_is_sent_back() -> None:
    custom = {"id": "c1", "type": "custom", "custom": {"name": "run_sql", "input": "SELECT 1"}}
    (asked,) = read(response(custom)).calls
    assert (asked.arguments, dict(asked.extra)) == ({"input": "SELECT 1"}, {"custom": True})
    assert CHAT.compose([asked])["tool_calls"] == [custom]


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_arguments_that_were_never_begun_are_malformed_if_the_model_was_cut_off(finish: str) -> None:
    first, last = read(response(call("c1", "list_projects", ""), call("c2", "list_projects", ""), finish=finish)).calls
    assert first.arguments == {}
    assert last.is_malformed
    begun = [chunk(piece(0, "", id="c1", name="list_projects")), chunk(piece(1, "", id="c2", name="list_projects"))]
    again = chunk(piece(1, "", id="c3", name="list_projects"))
    first, last, next_one = read([*begun, chunk(finish=finish), again, chunk(finish="stop")]).calls
    assert first.arguments == next_one.arguments == {}
    assert last.is_malformed


def test_a_custom_text_that_was_cut_off_is_malformed() -> None:
    custom = {"id": "c1", "type": "custom", "custom": {"name": "run_sql", "input": "DELETE FROM a"}}
    assert read(response(custom, finish="length")).calls[0].is_malformed
    streamed = chunk({"index": 0, **custom})
    assert read([streamed, chunk(finish="length")]).calls[0].is_malformed
    assert read([streamed]).calls[0].is_malformed
    assert read([streamed, chunk(finish="tool_calls")]).calls[0].arguments == {"input": "DELETE FROM a"}


def test_custom_texts_are_assembled_from_pieces() -> None:
    head = {"index": 0, "id": "c1", "type": "custom", "custom": {"name": "run_sql", "input": ""}}
    pieces = [{"index": 0, "custom": {"input": text}} for text in ('SELECT "', "ü\n", '"')]
    other = {"index": 0, "id": "c2", "type": "custom", "custom": {"name": "run_sql", "input": "x"}}
    chunks = [chunk(one) for one in (head, *pieces, other)]
    assert briefly([*chunks, chunk(finish="tool_calls")]) == [
        ("c1", "run_sql", {"input": 'SELECT "ü\n"'}),
        ("c2", "run_sql", {"input": "x"}),
    ]


@pytest.mark.parametrize(
    "deltas",
    [
        [[piece(None, '{"city"', id="c1", name="get_weather")], [piece(None, ': "Bern"}')]],
        [
            [piece(0, '{"city"', id="c1", name="get_weather")],
            [piece(0, ': "Bern"}', id="c1", name="get_weather")],
        ],
        [[piece(0, None, id="c1", name="get_weather")], [piece(0, '{"city": "Bern"}', id="", name=None)], [None, 7]],
        [[{"index": 0, "id": "c1", "function": {"name": "get_weather", "arguments": {"city": "Bern"}}}]],
    ],
    ids=["no index", "repeated header", "null fields", "an object"],
)
def test_streams_of_other_servers_become_the_same_call(deltas: list[Any]) -> None:
    assert briefly([*(chunk(*one) for one in deltas), chunk(finish="tool_calls")]) == READ_ONE
    assert briefly([chunk(*one) for one in deltas]) == READ_ONE


def test_a_call_is_handed_out_once_although_the_whole_message_follows_its_pieces() -> None:
    stream = KNOWN.stream()
    assert stream.feed(chunk(piece(0, '{"city": "Bern"}', id="c1", name="get_weather"))) == []
    assert [one.id for one in stream.feed(chunk(finish="tool_calls"))] == ["c1"]
    assert stream.feed(response(ONE)) == []
    assert stream.end() == []


def test_a_definition_is_not_taken_for_a_call() -> None:
    definition = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
    for name in (None, "openai"):
        with pytest.raises(Unreadable, match="unrecognised_format"):
            KNOWN.read(definition, name)


def test_the_older_form_is_named_if_it_is_used() -> None:
    old = {"role": "assistant", "function_call": {"name": "get_weather", "arguments": "{}"}}
    for payload in (old, {"choices": [{"message": old}]}, {"choices": [{"delta": old}]}):
        with pytest.raises(Unreadable, match="openai_legacy_function_call"):
            KNOWN.read(payload, "openai_chat")


def test_what_the_provider_ran_is_not_asked_for_again() -> None:
    assert CHAT.compose([AskedCall("web_search", {}, "ws_1", provider_executed=True)])["tool_calls"] == []


def test_results_are_the_examples() -> None:
    for case in cases("result"):
        if case.dialect == CHAT.name:
            message = CHAT.render([answer_for(case)], many=False)
            content = case.payload["content"]
            content = content if isinstance(content, str) else content[0]["text"]
            assert orjson.loads(message["content"]) == orjson.loads(content)
            assert {**message, "content": ""} == {**case.payload, "content": ""}


def test_answers_are_messages_the_sdk_takes() -> None:
    messages = CHAT.render([succeeded("sunny"), failed("no such city"), succeeded(IMAGE)], many=True)
    assert [TOOL_MESSAGE.validate_python(message) for message in messages] == messages
    contents = [message["content"] for message in messages]
    assert contents == ["sunny", '{"error":"no such city"}', "A cat\n[image image/png]\n[link file:///a]"]


def test_definitions_are_the_examples_and_the_sdk_takes_them() -> None:
    (case,) = [case for case in cases("definition") if case.dialect == CHAT.name]
    for wanted in case.payload:
        function = wanted["function"]
        made = CHAT.define(tool_of(function["name"], function["description"], function["parameters"]))
        assert made == wanted
        TypeAdapter(ChatCompletionFunctionToolParam).validate_python(made)


def test_nulls_for_what_was_left_out_are_dropped() -> None:
    payload = call("c1", "get_weather", '{"city": "Bern", "unit": null}')
    assert KNOWN.read(payload, None, TOOLS.get).calls[0].arguments == {"city": "Bern"}


@given(CALLS, st.lists(CUSTOM_CALLS, max_size=2))
def test_composed_calls_are_read_as_they_were_and_the_sdk_takes_them(
    calls: list[AskedCall], customs: list[AskedCall]
) -> None:
    message = CHAT.compose([*calls, *customs])
    ChatCompletionMessage.model_validate(message)
    assert KNOWN.read(orjson.loads(orjson.dumps(message))).calls == (*calls, *customs)


def test_malformed_and_huge_arguments_are_composed_as_they_came() -> None:
    calls = (AskedCall("a", Malformed('{"x', "cut"), "c1"), AskedCall("b", {"x": 10**30}, "c2"))
    first, second = read(CHAT.compose(calls)).calls
    assert (first.arguments.text, second.arguments) == ('{"x', {"x": 10**30})
    customs = [
        AskedCall("a", arguments, "c1", extra={"custom": True}) for arguments in (Malformed("SEL", ""), {"input": 7})
    ]
    assert [one["custom"]["input"] for one in CHAT.compose(customs)["tool_calls"]] == ["SEL", "7"]


@given(JSON | st.sampled_from([*WHOLE, *STREAMS]).flatmap(spoiled))
def test_arbitrary_json_anywhere_in_a_payload_is_read_or_refused(payload: Any) -> None:
    read_or_refuse(KNOWN, payload)
