"""Anthropic's messages: blocks in, one message with every result out."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic import types
from anthropic.types.beta import BetaMessage
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from pegboard.dialects.anthropic import AnthropicMessages
from pegboard.dialects.base import Answer
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.model.call import Malformed
from tests.formats import Case
from tests.unit.dialects.framework_payloads import (
    CALLS,
    JSON,
    answer_in,
    bad,
    calls_of,
    examples,
    good,
    never_raises,
    parsed,
    replace_one_value,
    streamed,
    tool_of,
)

DIALECT = AnthropicMessages()
PAYLOADS = [case.payload for case in examples("anthropic_messages", "call", "stream", "result")]
MESSAGE = TypeAdapter(types.MessageParam)
USE = {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 1}}
IMAGE = {"content": [{"type": "text", "text": "A cat"}, {"type": "image", "mimeType": "image/png", "data": "aGk="}]}


def response(blocks: list[Any], reason: str = "tool_use") -> dict[str, Any]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    values = {"id": "m", "type": "message", "role": "assistant", "model": "x", "content": blocks}
    return {**values, "stop_reason": reason, "stop_sequence": None, "usage": usage}


def events(*blocks: list[dict[str, Any]], reason: str | None = "tool_use") -> list[dict[str, Any]]:
    """Return a stream of blocks, each as its start and the deltas that follow."""
    made: list[dict[str, Any]] = [{"type": "message_start", "message": response([])}]
    for index, (start, *deltas) in enumerate(blocks):
        made.append({"type": "content_block_start", "index": index, "content_block": start})
        made += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        made.append({"type": "content_block_stop", "index": index})
    end: list[dict[str, Any]] = [{"type": "message_delta", "delta": {"stop_reason": reason}}, {"type": "message_stop"}]
    return made + (end if reason else [])


def piece(text: str) -> dict[str, Any]:
    return {"type": "input_json_delta", "partial_json": text}


@pytest.mark.parametrize("case", examples("anthropic_messages", "result"), ids=str)
def test_a_result_is_the_message_of_the_example(case: Case) -> None:
    assert parsed(DIALECT.render([answer_in(case)], many=False)) == parsed(case.payload)


@pytest.mark.parametrize("case", examples("anthropic_messages", "definition"), ids=str)
def test_definitions_are_those_of_the_examples_and_ones_the_sdk_takes(case: Case) -> None:
    tools = [tool_of(given["name"], given["input_schema"], given["description"]) for given in case.payload]
    defined = DIALECT.define_all(tools)
    assert defined == case.payload
    TypeAdapter(list[types.ToolParam]).validate_python(defined)


@given(CALLS)
def test_calls_that_are_composed_are_read_back(calls: list[AskedCall]) -> None:
    message = DIALECT.compose(calls)
    assert calls_of(DIALECT, message, received=False) == calls
    MESSAGE.validate_python(message)
    types.Message.model_validate(response(message["content"]))


def test_what_a_call_needs_back_is_read_and_composed() -> None:
    extra = {"caller": {"type": "code_execution_20260120", "tool_id": "srvtoolu_9"}, "toolset_name": "browser"}
    [call] = calls_of(DIALECT, [{**USE, **extra}])
    assert call.extra == extra
    message = DIALECT.compose([call])
    assert message["content"] == [{**USE, **extra}]
    MESSAGE.validate_python(message)
    assert DIALECT.render([Answer(call, good(2))], many=True)["content"][0]["toolset_name"] == "browser"


def test_arguments_that_could_not_be_read_stay_unreadable_through_compose() -> None:
    calls = [AskedCall("add", Malformed(text, "why"), "toolu_1") for text in ('{"a": ', "")]
    message = DIALECT.compose(calls)
    MESSAGE.validate_python(message)
    read = calls_of(DIALECT, message)
    assert all(call.is_malformed for call in read)
    assert read[0].arguments.text == '{"a": '


def test_what_the_provider_ran_is_marked_and_has_its_result_or_error() -> None:
    blocks = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "a"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s1",
            "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
        },
        {"type": "mcp_tool_use", "id": "s2", "name": "echo", "server_name": "srv", "input": {}},
        {
            "type": "mcp_tool_result",
            "tool_use_id": "s2",
            "is_error": False,
            "content": [{"type": "text", "text": "[1]"}],
        },
        {"type": "mcp_tool_use", "id": "s3", "name": "echo", "server_name": "srv", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "s3", "is_error": True, "content": "no"},
        {"type": "server_tool_use", "id": "s4", "name": "tool_search_tool_regex", "input": {}},
    ]
    calls = calls_of(DIALECT, response(blocks))
    assert all(call.provider_executed and not call.is_open for call in calls)
    assert [(call.result, call.error) for call in calls] == [
        (ABSENT, "max_uses_exceeded"),
        ([1], None),
        (ABSENT, "no"),
        (ABSENT, None),
    ]
    assert calls[1].extra == {"server": "srv"}
    composed = DIALECT.compose(calls)
    assert calls_of(DIALECT, composed) == calls
    BetaMessage.model_validate(response(composed["content"]))


def test_a_history_says_which_calls_are_answered() -> None:
    history = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "text", "text": "yes"}, USE, {**USE, "id": "toolu_2"}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": '{"sum": 3}'},
                {"type": "tool_result", "tool_use_id": "toolu_0", "content": [{"type": "text", "text": "gone"}]},
            ],
        },
    ]
    first, second, alone = calls_of(DIALECT, history, received=False)
    assert (first.result, second.is_open) == ({"sum": 3}, True)
    assert alone == AskedCall("", None, "toolu_0", result="gone")
    assert calls_of(DIALECT, {"model": "x", "messages": history}) == [first, second, alone]


def test_a_result_that_says_it_is_an_error_is_one() -> None:
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": True, "content": "broken"}
    [call] = calls_of(DIALECT, [USE, block], received=False)
    assert (call.error, call.result) == ("broken", ABSENT)


def test_two_calls_with_one_id_stay_two_and_are_answered_in_order() -> None:
    results = [{"type": "tool_result", "tool_use_id": "toolu_1", "content": str(place)} for place in "ab"]
    calls = calls_of(DIALECT, [USE, USE, *results])
    assert [call.result for call in calls] == ["a", "b"]


def test_interleaved_blocks_are_distinguished_by_index() -> None:
    start = {**USE, "input": {}}
    stream = events([start], [{**start, "id": "toolu_2"}])[1:4:2]
    for index, text in ((0, '{"a"'), (1, '{"a": 2'), (0, ": 1}"), (1, "}")):
        stream.append({"type": "content_block_delta", "index": index, "delta": piece(text)})
    stream += [{"type": "content_block_stop", "index": index} for index in (1, 0)]
    assert [call.arguments for call in calls_of(DIALECT, stream, received=False)] == [{"a": 1}, {"a": 2}]
    assert [call.id for call in streamed(DIALECT, stream)] == ["toolu_2", "toolu_1"]


@pytest.mark.parametrize(
    ("deltas", "text"), [([], ""), ([""], ""), (['{"a": 1'], '{"a": 1')], ids=["nothing", "empty", "half"]
)
def test_a_call_at_which_the_answer_was_cut_off_is_malformed(deltas: list[str], text: str) -> None:
    stream = events([{**USE, "input": {}}, *map(piece, deltas)], reason="max_tokens")
    for [call] in (calls_of(DIALECT, stream), streamed(DIALECT, stream)):
        assert call.is_malformed
        assert call.arguments.text == text


def test_a_whole_message_that_was_cut_off_at_a_call_has_that_call_malformed() -> None:
    calls = calls_of(DIALECT, response([USE, {**USE, "id": "toolu_2"}], "max_tokens"))
    assert [call.is_malformed for call in calls] == [False, True]
    assert calls[1].arguments.text == '{"a":1'


def test_a_stream_that_breaks_off_leaves_its_last_call_malformed() -> None:
    stream = events([{**USE, "input": {}}, piece('{"a": 1}')], [{**USE, "id": "toolu_2", "input": {}}], reason=None)
    good_one, broken = streamed(DIALECT, stream[:-1])
    assert (good_one.arguments, broken.is_malformed) == ({"a": 1}, True)
    assert streamed(DIALECT, stream)[1].arguments == {}


def test_arguments_a_block_begins_with_count_unless_others_follow() -> None:
    assert calls_of(DIALECT, events([USE]))[0].arguments == {"a": 1}
    assert calls_of(DIALECT, events([USE, piece('{"a": 2}')]))[0].arguments == {"a": 2}


def test_a_streamed_call_of_the_providers_is_given_out_with_its_result() -> None:
    start = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
    [call] = streamed(DIALECT, events([start, piece('{"query": "a"}')], [found]))
    assert call == AskedCall("web_search", {"query": "a"}, "s1", result=[], provider_executed=True)


def test_pictures_go_as_pictures_and_what_cannot_be_shown_in_words() -> None:
    message = DIALECT.render([Answer(AskedCall("cat", {}, "toolu_1"), good(IMAGE))], many=False)
    assert message["content"][0]["content"] == [
        {"type": "text", "text": "A cat"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
    ]
    MESSAGE.validate_python(message)
    audio = {"content": [{"type": "audio", "mimeType": "audio/wav", "data": "aGk="}]}
    [block] = DIALECT.render([Answer(AskedCall("cat", {}, "toolu_1"), good(audio))], many=False)["content"]
    assert block["content"] == "[audio audio/wav]"


def test_a_failure_is_flagged_and_all_results_go_into_one_message() -> None:
    answers = [Answer(AskedCall("a", {}, "toolu_1"), bad("No")), Answer(AskedCall("b", {}), good("text"))]
    message = DIALECT.render(answers, many=True)
    MESSAGE.validate_python(message)
    first, second = message["content"]
    assert first == {"type": "tool_result", "tool_use_id": "toolu_1", "content": "No", "is_error": True}
    assert second["content"] == "text"
    assert second["tool_use_id"] == answers[1].id


def test_names_of_properties_that_are_refused_are_replaced_and_put_back() -> None:
    schema = {"type": "object", "properties": {"filter[id]": {"type": "string"}}}
    [name] = DIALECT.define(tool_of("find", schema, ""))["input_schema"]["properties"]
    assert DIALECT.restore({name: "x"}, schema) == {"filter[id]": "x"}


@given(st.one_of(JSON, replace_one_value(PAYLOADS), replace_one_value(PAYLOADS).map(lambda payload: [payload])))
def test_nothing_but_a_refusal_comes_of_any_json(payload: Any) -> None:
    never_raises(DIALECT, payload)
