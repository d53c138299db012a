"""Mistral's chat completions and conversations, and what its own SDK accepts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mistralai.client import models
from pydantic import TypeAdapter

from pegboard.dialects.base import Answer
from pegboard.dialects.detect import Dialects
from pegboard.dialects.mistral import Mistral
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from tests.unit.dialects.framework_payloads import bad, calls_of, good, streamed, tool_of

MISTRAL = Mistral()
WEATHER = AskedCall("get_weather", {"city": "Zürich"}, "D681PevKs")
FUNCTION = {"name": "get_weather", "arguments": '{"city": "Zürich"}'}
ENTRY = {"object": "entry", "type": "function.call", "tool_call_id": "D681PevKs", **FUNCTION}
EXECUTION = {"object": "entry", "type": "tool.execution", "id": "e1", "name": "web_search", "arguments": '{"q": 1}'}


def chunk(*calls: dict[str, Any], reason: str | None = None, index: int = 0) -> dict[str, Any]:
    """Return one chunk of a streamed completion."""
    return {"choices": [{"index": index, "delta": {"tool_calls": list(calls)}, "finish_reason": reason}]}


@given(name=st.from_regex(r"[a-z_]{1,20}", fullmatch=True), id=st.text(max_size=40), output=st.none() | st.text())
def test_the_sdk_takes_what_is_composed_and_rendered(name: str, id: str, output: Any) -> None:
    call = AskedCall(name, {"a": 1}, id)
    message = models.AssistantMessage.model_validate(MISTRAL.compose([call]))
    assert message.tool_calls and message.tool_calls[0].function.name == name
    for result in (good(output), bad("no")):
        tool_message = models.ToolMessage.model_validate(MISTRAL.render([Answer(call, result)], many=False))
        assert tool_message.name == name
        assert re.fullmatch("[a-zA-Z0-9]{9}", str(tool_message.tool_call_id))
        if id:
            assert tool_message.tool_call_id == message.tool_calls[0].id


def test_the_sdk_takes_what_is_composed_and_rendered_of_a_conversation() -> None:
    calls = calls_of(MISTRAL, {"object": "conversation.response", "outputs": [ENTRY, EXECUTION]})
    call, execution = MISTRAL.compose(calls)
    assert models.FunctionCallEntry.model_validate(call).tool_call_id == "D681PevKs"
    assert models.ToolExecutionEntry.model_validate(execution).id == "e1"
    assert calls_of(MISTRAL, [call, execution]) == calls
    entry = MISTRAL.render([Answer(calls[0], bad("no"))], many=False)
    assert models.FunctionResultEntry.model_validate(entry).result == '{"error":"no"}'


def test_the_sdk_takes_a_definition() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    tool = models.Tool.model_validate(MISTRAL.define(tool_of("get_weather", schema, "Weather")))
    assert tool.function.parameters == schema


def test_the_sdk_takes_a_picture_in_an_answer() -> None:
    output = {"content": [{"type": "text", "text": "Here"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}]}
    content = MISTRAL.render([Answer(WEATHER, good(output))], many=False)["content"]
    text, image = TypeAdapter(list[models.ContentChunk]).validate_python(content)
    assert isinstance(text, models.TextChunk) and isinstance(image, models.ImageURLChunk)
    assert image.image_url == "data:image/png;base64,aGk="


def test_an_id_from_elsewhere_is_made_to_fit_and_one_from_mistral_is_kept() -> None:
    given_id = MISTRAL.compose([WEATHER._replace(id="call_W1")])["tool_calls"][0]["id"]
    assert re.fullmatch("[a-zA-Z0-9]{9}", given_id)
    assert given_id == MISTRAL.render([Answer(WEATHER._replace(id="call_W1"), good(1))], many=True)[0]["tool_call_id"]
    assert given_id != MISTRAL.compose([WEATHER._replace(id="call_W2")])["tool_calls"][0]["id"]
    assert MISTRAL.compose([WEATHER])["tool_calls"][0]["id"] == "D681PevKs"


def test_an_id_that_a_server_gave_is_given_back_even_if_it_does_not_fit() -> None:
    (call,) = calls_of(MISTRAL, {"id": "chatcmpl-tool-1", "function": FUNCTION})
    assert call.id == "chatcmpl-tool-1"
    assert MISTRAL.render([Answer(call, good(1))], many=False)["tool_call_id"] == "chatcmpl-tool-1"


def test_the_literal_id_null_is_no_id() -> None:
    assert calls_of(MISTRAL, {"id": "null", "function": FUNCTION})[0].id == ""
    assert streamed(MISTRAL, [chunk({"id": "null", "function": FUNCTION}, reason="tool_calls")])[0].id == ""


def test_one_bare_call_is_answered_by_one_message() -> None:
    known = Dialects([MISTRAL])
    for bare in ({"id": "D681PevKs", "function": FUNCTION}, ENTRY):
        assert not known.read(bare).many
        assert known.read([bare]).many


def test_only_the_first_of_several_alternatives_is_read() -> None:
    choices = [{"index": n, "message": {"tool_calls": [{"id": f"{n}", "function": FUNCTION}]}} for n in (0, 1)]
    assert [call.id for call in calls_of(MISTRAL, {"choices": choices})] == ["0"]
    pieces = [chunk({"id": f"{n}", "index": 0, "function": FUNCTION}, index=n) for n in (1, 0)]
    assert [call.id for call in streamed(MISTRAL, pieces)] == ["0"]


@pytest.mark.parametrize("reason", ["length", "model_length", "error"])
def test_a_call_without_arguments_if_the_model_was_cut_off_is_malformed(reason: str) -> None:
    call = {"id": "D681PevKs", "function": {"name": "list_projects", "arguments": ""}}
    whole = {"choices": [{"message": {"tool_calls": [call]}, "finish_reason": reason}]}
    assert [read.is_malformed for read in calls_of(MISTRAL, whole)] == [True]
    assert [read.is_malformed for read in streamed(MISTRAL, [chunk(call, reason=reason)])] == [True]
    assert [read.arguments for read in streamed(MISTRAL, [chunk(call, reason="tool_calls")])] == [{}]


def test_a_call_is_given_as_soon_as_the_message_ends() -> None:
    stream = Dialects([MISTRAL]).stream("mistral")
    assert stream.feed(chunk({"id": "a", "index": 0, "function": {"name": "x", "arguments": '{"a"'}})) == []
    assert len(stream.feed(chunk({"index": 0, "function": {"arguments": ": 1}"}}, reason="tool_calls"))) == 1


def test_what_mistral_runs_itself_is_never_open() -> None:
    done = EXECUTION | {"info": {"hits": 3}}
    waits = ENTRY | {"confirmation_status": "pending"}
    execution, waiting = calls_of(MISTRAL, [done, waits])
    assert (execution.provider_executed, execution.result) == (True, {"hits": 3})
    assert waiting.provider_executed and waiting.result is ABSENT
    events: list[dict[str, Any]] = [
        {"type": "tool.execution.started", "id": "e1", "name": "web_search", "arguments": ""},
        {"type": "tool.execution.delta", "id": "e1", "name": "web_search", "arguments": '{"q": 1}'},
        {"type": "tool.execution.done", "id": "e1", "name": "web_search", "info": {"hits": 3}},
    ]
    assert streamed(MISTRAL, events) == [execution]
    assert streamed(MISTRAL, [{"event": event["type"], "data": event} for event in events]) == [execution]


def test_two_calls_of_a_conversation_that_are_streamed_at_once_are_distinguished() -> None:
    def piece(entry: str, call: str, text: str) -> dict[str, Any]:
        return {"type": "function.call.delta", "id": entry, "tool_call_id": call, "name": "x", "arguments": text}

    events = [piece("f1", "a", '{"n"'), piece("f2", "b", '{"n"'), piece("f1", "a", ": 1}"), piece("f2", "b", ": 2}")]
    stream = Dialects([MISTRAL]).stream("mistral")
    assert [call for event in events for call in stream.feed(event)] == []
    calls = stream.feed({"type": "conversation.response.done", "usage": {}})
    assert [(call.id, call.arguments) for call in calls] == [("a", {"n": 1}), ("b", {"n": 2})]


def test_messages_and_results_of_a_history_answer_its_calls() -> None:
    history = [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "D681PevKs", "function": FUNCTION}]},
        {"role": "tool", "tool_call_id": "D681PevKs", "name": "get_weather", "content": '{"temp_c": 7.5}'},
    ]
    assert [call.result for call in calls_of(MISTRAL, history, received=False)] == [{"temp_c": 7.5}]
    entries = [ENTRY, {"type": "function.result", "tool_call_id": "D681PevKs", "result": '{"error": "no"}'}]
    assert [call.error for call in calls_of(MISTRAL, {"entries": entries})] == ["no"]


def test_what_is_of_openai_alone_is_not_recognised() -> None:
    typed = {"id": "call_1", "type": "function", "function": FUNCTION}
    assert not MISTRAL.recognises(typed)
    assert not MISTRAL.recognises({"role": "assistant", "tool_calls": [typed]})
    assert not MISTRAL.recognises(chunk(typed))
    assert not MISTRAL.recognises({"choices": [{"delta": {"role": "assistant", "content": None}}]})
    assert not MISTRAL.recognises({"choices": []})
