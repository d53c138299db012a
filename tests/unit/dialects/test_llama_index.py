"""LlamaIndex's messages, selections and agents."""

from __future__ import annotations

from typing import Any

from pegboard.dialects.base import Answer
from pegboard.dialects.detect import Dialects
from pegboard.dialects.llama_index import LlamaIndex
from pegboard.dialects.parsed_calls import AskedCall
from tests.unit.dialects.framework_payloads import bad, calls_of, good, streamed, tool_of

LLAMA = LlamaIndex()
WEATHER = AskedCall("get_weather", {"city": "Zürich"}, "call_W1")
SELECTION = {"tool_id": "call_W1", "tool_name": "get_weather", "tool_kwargs": {"city": "Zürich"}}


def message(*kwargs: Any, id: str | None = "call_W1") -> dict[str, Any]:
    """An assistant's message with calls."""
    blocks = [
        {"block_type": "tool_call", "tool_call_id": id, "tool_name": "get_weather", "tool_kwargs": one}
        for one in kwargs
    ]
    return {"role": "assistant", "additional_kwargs": {}, "blocks": blocks}


def output(text: str, is_error: bool = False) -> dict[str, Any]:
    """Return the output of a tool."""
    blocks = [{"block_type": "text", "text": text}]
    raw = {"kwargs": {"city": "Zürich"}}
    return {"blocks": blocks, "tool_name": "get_weather", "raw_input": raw, "raw_output": text, "is_error": is_error}


def test_a_history_answers_its_calls() -> None:
    for text, received in (('{"temp_c": 7.5}', {"temp_c": 7.5}), ('{"error": "no"}', "no")):
        answer = {
            "role": "tool",
            "additional_kwargs": {"tool_call_id": "call_W1"},
            "blocks": [{"block_type": "text", "text": text}],
        }
        (call,) = calls_of(LLAMA, [{"role": "user", "blocks": []}, message({"city": "Zürich"}), answer], received=False)
        assert (call.error or call.result) == received


def test_calls_without_ids_in_two_messages_are_two_calls() -> None:
    history = [message({"n": 1}, id=None), {"role": "user", "blocks": []}, message({"n": 2}, id=None)]
    assert [call.arguments for call in calls_of(LLAMA, history)] == [{"n": 1}, {"n": 2}]


def test_responses_of_a_stream_are_snapshots_of_their_message() -> None:
    texts = ["", '{"city": "Zü', '{"city": "Zürich"}']
    chunks = [{"message": message(text), "delta": "", "raw": None} for text in texts]
    assert Dialects([LLAMA]).read(chunks).calls == (WEATHER,)
    assert [call.is_malformed for call in streamed(LLAMA, chunks[:1])] == [True]


def test_an_agents_events_give_a_call_once_and_its_answer() -> None:
    streaming = {
        "current_agent_name": "a",
        "delta": "",
        "response": "",
        "tool_calls": [SELECTION | {"tool_kwargs": {}}],
    }
    values = {"current_agent_name": "a", "response": message({"city": "Zürich"}), "tool_calls": [SELECTION]}
    result = SELECTION | {"tool_output": output('{"temp_c": 7.5}'), "return_direct": False}
    events = [streaming, values, SELECTION, result]
    assert calls_of(LLAMA, events, received=False) == [WEATHER._replace(result={"temp_c": 7.5})]
    wrapped = [{"__is_pydantic": True, "value": event, "qualified_name": "llama_index.x"} for event in events]
    assert calls_of(LLAMA, wrapped, received=False) == calls_of(LLAMA, events)
    assert calls_of(LLAMA, [values | {"tool_calls": []}]) == [WEATHER]


def test_one_selection_is_a_bare_call_and_two_with_one_id_are_two() -> None:
    known = Dialects([LLAMA])
    assert not known.read(SELECTION).many
    assert known.read([SELECTION, SELECTION]).calls == (WEATHER, WEATHER)


def test_an_output_alone_is_an_answered_call() -> None:
    (done,) = calls_of(LLAMA, output("sunny"), received=False)
    assert (done.name, done.arguments, done.result) == ("get_weather", {"city": "Zürich"}, "sunny")
    assert [call.error for call in calls_of(LLAMA, output("no", is_error=True))] == ["no"]


def test_a_failed_call_with_an_id_is_answered_by_a_message() -> None:
    rendered = LLAMA.render([Answer(WEATHER, bad("no"))], many=False)
    assert rendered["additional_kwargs"] == {"tool_call_id": "call_W1", "name": "get_weather"}
    assert rendered["blocks"] == [{"block_type": "text", "text": '{"error":"no"}'}]


def test_a_picture_is_a_block() -> None:
    shown = {"content": [{"type": "text", "text": "Here"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}]}
    (rendered,) = LLAMA.render([Answer(WEATHER, good(shown))], many=True)
    assert rendered["blocks"] == [
        {"block_type": "text", "text": "Here"},
        {"block_type": "image", "image": "aGk=", "image_mimetype": "image/png"},
    ]


def test_a_definition_is_a_function() -> None:
    schema = {"type": "object", "properties": {}}
    function = {"name": "x", "description": "X", "parameters": schema}
    assert LLAMA.define(tool_of("x", schema, "X")) == {"type": "function", "function": function}


def test_messages_without_blocks_are_read_as_well() -> None:
    function = {"name": "get_weather", "arguments": '{"city": "Zürich"}'}
    calls = [{"id": "call_W1", "type": "function", "function": function}]
    asks = {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": calls}}
    answer = {"role": "tool", "content": "7", "additional_kwargs": {"tool_call_id": "call_W1"}}
    assert calls_of(LLAMA, [asks, answer], received=False) == [WEATHER._replace(result="7")]
