"""Cohere's chat v2, the remains of v1, and what its own SDK accepts."""

from __future__ import annotations

from typing import Any

import pytest
from cohere.types import (
    AssistantChatMessageV2,
    DocumentToolContent,
    TextToolContent,
    ToolChatMessageV2,
    ToolV2,
)
from hypothesis import given
from hypothesis import strategies as st

from pegboard.dialects.base import Answer
from pegboard.dialects.cohere import CohereV2
from pegboard.dialects.detect import Dialects
from pegboard.dialects.parsed_calls import AskedCall
from tests.unit.dialects.framework_payloads import JSON, bad, calls_of, good, streamed, tool_of

COHERE = CohereV2()
WEATHER = AskedCall("get_weather", {"city": "Zürich"}, "get_weather_a1")
V1 = {"name": "get_weather", "parameters": {"city": "Zürich"}}


def begin(index: int | None, id: str) -> dict[str, Any]:
    """The event that begins a call."""
    call = {"id": id, "type": "function", "function": {"name": id, "arguments": ""}}
    return {"type": "tool-call-start", "index": index, "delta": {"message": {"tool_calls": call}}}


def more(index: int | None, text: str) -> dict[str, Any]:
    """Return the event that continues one."""
    delta = {"message": {"tool_calls": {"function": {"arguments": text}}}}
    return {"type": "tool-call-delta", "index": index, "delta": delta}


@given(output=JSON, id=st.text(max_size=20))
def test_the_sdk_takes_what_is_composed_and_rendered(output: Any, id: str) -> None:
    call = WEATHER._replace(id=id)
    message = AssistantChatMessageV2.model_validate(COHERE.compose([call]))
    assert message.tool_calls and message.tool_calls[0].id == id
    for result in (good(output), bad("no")):
        rendered = COHERE.render([Answer(call, result)], many=False)
        content = ToolChatMessageV2.model_validate(rendered).content[0]
        assert isinstance(content, TextToolContent | DocumentToolContent)
        assert content.type == rendered["content"][0]["type"]


def test_the_sdk_takes_a_definition() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    tool = ToolV2.model_validate(COHERE.define(tool_of("get_weather", schema, "Weather")))
    assert tool.function is not None and tool.function.parameters == schema


@pytest.mark.parametrize("output", ["text", [1, 2], {}, 7, None])
def test_an_output_that_is_no_object_is_text(output: Any) -> None:
    (block,) = COHERE.render([Answer(WEATHER, good(output))], many=False)["content"]
    assert block["type"] == "text" and isinstance(block["text"], str)


def test_content_blocks_are_reported_in_words() -> None:
    output = {"content": [{"type": "text", "text": "Here"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}]}
    content = COHERE.render([Answer(WEATHER, good(output))], many=False)["content"]
    assert content == [{"type": "text", "text": "Here"}, {"type": "text", "text": "[image image/png]"}]


def test_calls_that_are_streamed_at_once_are_given_as_each_ends() -> None:
    stream = Dialects([COHERE]).stream("cohere")
    for event in (begin(0, "a"), begin(1, "b"), more(0, '{"n"'), more(1, '{"n"'), more(0, ": 1}")):
        assert stream.feed(event) == []
    assert [call.arguments for call in stream.feed({"type": "tool-call-end", "index": 0})] == [{"n": 1}]
    stream.feed(more(1, ": 2}"))
    assert [call.id for call in stream.feed({"type": "tool-call-end", "index": 1})] == ["b"]
    assert stream.feed({"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}}) + stream.end() == []


def test_a_new_id_on_an_index_or_without_one_begins_another_call() -> None:
    for index in (0, None):
        calls = streamed(COHERE, [begin(index, "a"), more(index, "{}"), begin(index, "b"), more(index, '{"n": 1}')])
        assert [(call.id, call.arguments) for call in calls] == [("a", {}), ("b", {"n": 1})]


def test_a_call_without_arguments_is_one_only_if_the_message_came_to_its_end() -> None:
    for reason, is_malformed in (("TOOL_CALL", False), ("MAX_TOKENS", True)):
        end = {"type": "message-end", "delta": {"finish_reason": reason}}
        assert [call.is_malformed for call in streamed(COHERE, [begin(0, "a"), end])] == [is_malformed]


def test_a_history_answers_its_calls() -> None:
    results = [
        [{"type": "document", "document": {"data": {"temp_c": 7.5}}}],
        [{"type": "text", "text": '{"error": "no"}'}],
        "sunny",
    ]
    calls = [WEATHER._replace(id=str(place)) for place in range(3)]
    messages = [{"role": "tool", "tool_call_id": str(n), "content": content} for n, content in enumerate(results)]
    read = calls_of(COHERE, [COHERE.compose(calls), *messages], received=False)
    assert [call.error or call.result for call in read] == [{"temp_c": 7.5}, "no", "sunny"]


def test_calls_of_v1_are_read_and_answered_without_ids() -> None:
    known = Dialects([COHERE])
    assert not known.read(V1).many
    response = {"text": "", "generation_id": "g", "finish_reason": "COMPLETE", "tool_calls": [V1, V1]}
    assert known.read(response).calls == (AskedCall("get_weather", {"city": "Zürich"}),) * 2
    results = {"role": "TOOL", "tool_results": [{"call": V1, "outputs": [{"temp_c": 7.5}]}]}
    first, second = known.read([{"role": "CHATBOT", "message": "", "tool_calls": [V1, V1]}, results], "cohere").calls
    assert first.result == [{"temp_c": 7.5}] and second.is_open


def test_a_stream_of_v1_gives_pieces_and_wholes_once() -> None:
    def piece(text: str, name: str | None = None) -> dict[str, Any]:
        delta = {"index": 0.0, "name": name, "parameters": text}
        return {"event_type": "tool-calls-chunk", "tool_call_delta": delta}

    whole = {"event_type": "tool-calls-generation", "tool_calls": [V1]}
    end = {"event_type": "stream-end", "finish_reason": "COMPLETE", "response": {"text": "", "tool_calls": [V1]}}
    pieces = [piece("", "get_weather"), piece('{"city": '), piece('"Zürich"}')]
    assert streamed(COHERE, [*pieces, whole, end]) == [AskedCall("get_weather", {"city": "Zürich"})]
    assert streamed(COHERE, [whole, end]) == [AskedCall("get_weather", {"city": "Zürich"})]
    assert [call.is_malformed for call in streamed(COHERE, pieces[:2])] == [True]


def test_events_of_others_that_have_the_same_type_are_not_recognised() -> None:
    assert not COHERE.recognises({"type": "tool-call-delta", "toolCallId": "1", "argsTextDelta": ""})
    assert not COHERE.recognises({"type": "tool-call-delta", "payload": {}, "runId": "1"})
    assert not COHERE.recognises({"name": "a", "description": "b", "parameters": {}})
