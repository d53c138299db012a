"""Pydantic AI: its messages, its streams, and its own types applied to our output."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from pydantic import TypeAdapter
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.tools import ToolDefinition

from pegboard.dialects.base import Answer
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.dialects.pydantic_ai import PydanticAI
from tests.unit.dialects.framework_payloads import (
    CALLS,
    JSON,
    bad,
    calls_of,
    examples,
    good,
    streamed,
    tool_of,
)

DIALECT = PydanticAI()
CALL = {"part_kind": "tool-call", "tool_name": "get_weather", "tool_call_id": "c1"}
CITY = AskedCall("get_weather", {"city": "Zürich"}, "c1")


def start(index: int, **part: Any) -> dict[str, Any]:
    return {"event_kind": "part_start", "index": index, "part": CALL | part}


def end(index: int, **part: Any) -> dict[str, Any]:
    return {"event_kind": "part_end", "index": index, "part": CALL | part}


def delta(index: int, args: Any, **more: Any) -> dict[str, Any]:
    return {
        "event_kind": "part_delta",
        "index": index,
        "delta": {"part_delta_kind": "tool_call", "args_delta": args, **more},
    }


@given(CALLS)
def test_its_own_types_take_what_is_composed(calls: list[AskedCall]) -> None:
    (response,) = ModelMessagesTypeAdapter.validate_python(DIALECT.compose(calls))
    assert isinstance(response, ModelResponse)
    parts = [part for part in response.parts if isinstance(part, ToolCallPart)]
    assert [(part.tool_name, part.args_as_dict(), part.tool_call_id) for part in parts] == [
        (call.name, call.arguments, call.id) for call in calls
    ]


@given(JSON)
def test_its_own_types_take_what_is_rendered(output: Any) -> None:
    rendered = DIALECT.render([Answer(CITY, good(output)), Answer(CITY, bad("no such city"))], many=True)
    (request,) = ModelMessagesTypeAdapter.validate_json(orjson.dumps(rendered))
    assert isinstance(request, ModelRequest)
    done, failed = request.parts
    assert isinstance(done, ToolReturnPart) and isinstance(failed, ToolReturnPart)
    assert (done.tool_name, done.content, done.tool_call_id) == (
        "get_weather",
        orjson.loads(orjson.dumps(output)),
        "c1",
    )
    assert (done.outcome, failed.outcome, failed.content) == ("success", "failed", "no such city")


def test_an_image_goes_as_one_and_data_that_look_like_one_do_not() -> None:
    image = {"content": [{"type": "text", "text": "a"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}]}
    forged = {"url": "http://127.0.0.1/a.png", "media_type": "image/png", "kind": "image-url"}
    rendered = DIALECT.render([Answer(CITY, good(image)), Answer(CITY, good(forged))], many=True)
    (request,) = ModelMessagesTypeAdapter.validate_json(orjson.dumps(rendered))
    shown, received = request.parts
    assert isinstance(shown, ToolReturnPart) and isinstance(received, ToolReturnPart)
    assert isinstance(shown.content, list)
    text, file = shown.content
    assert text == "a" and isinstance(file, BinaryContent) and file.data == b"hi"
    assert received.content == forged


def test_definitions_are_those_of_the_example_and_its_own_type_takes_them() -> None:
    (case,) = examples("pydantic_ai", "definition")
    tools = [tool_of(item["name"], item["parameters_json_schema"], item["description"]) for item in case.payload]
    assert DIALECT.define_all(tools) == case.payload
    for defined in DIALECT.define_all(tools):
        TypeAdapter(ToolDefinition).validate_python(defined)


def test_a_history_has_its_answers_and_only_the_last_call_is_open() -> None:
    history = [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "hi"}]},
        {"kind": "response", "parts": [CALL, CALL | {"tool_call_id": "c2"}, CALL | {"tool_call_id": "c3"}]},
        {
            "kind": "request",
            "parts": [
                {"part_kind": "tool-return", "tool_call_id": "c1", "tool_name": "get_weather", "content": {"t": 1}},
                {"part_kind": "tool-return", "tool_call_id": "c2", "content": "no", "outcome": "denied"},
                {"part_kind": "retry-prompt", "tool_call_id": "c3", "tool_name": "get_weather", "content": [{"a": 1}]},
                {"part_kind": "retry-prompt", "content": "answer in words"},
            ],
        },
        {"kind": "response", "parts": [CALL | {"tool_call_id": "c4"}]},
    ]
    calls = calls_of(DIALECT, history, received=False)
    assert [(call.id, call.result, call.error) for call in calls] == [
        ("c1", {"t": 1}, None),
        ("c2", ABSENT, "no"),
        ("c3", ABSENT, '[{"a":1}]'),
        ("c4", ABSENT, None),
    ]
    assert [call.is_open for call in calls] == [False, False, False, True]


def test_what_the_provider_ran_is_marked_and_is_sent_back_with_its_result() -> None:
    message = ModelResponse(
        [
            NativeToolCallPart("web_search", {"query": "x"}, "s1", provider_name="openai", id="ws_1"),
            NativeToolReturnPart("web_search", {"hits": 1}, "s1", provider_name="openai"),
        ]
    )
    payload = ModelMessagesTypeAdapter.dump_python([message], mode="json")
    (call,) = calls_of(DIALECT, payload, received=False)
    assert call.provider_executed and call.result == {"hits": 1}
    assert call.extra == {"part_id": "ws_1", "provider_name": "openai"}
    composed = DIALECT.compose([call])
    assert calls_of(DIALECT, composed) == [call]
    (again,) = ModelMessagesTypeAdapter.validate_python(composed)
    assert [type(part) for part in again.parts] == [NativeToolCallPart, NativeToolReturnPart]


def test_one_part_by_itself_is_one_call() -> None:
    assert calls_of(DIALECT, CALL | {"args": {"city": "Zürich"}}, received=False) == [CITY]


def test_a_call_is_given_as_soon_as_its_part_ends_and_only_once() -> None:
    events = [
        start(0, args=None),
        start(1, tool_call_id="c2", args=""),
        delta(1, '{"city"'),
        delta(0, '{"city": "Z'),
        end(0, args='{"city": "Zürich"}'),
        {"event_kind": "function_tool_call", "part": CALL | {"args": '{"city": "Zürich"}'}},
        delta(1, ': "Bern"}'),
    ]
    calls = streamed(DIALECT, events)
    assert calls == [CITY, AskedCall("get_weather", {"city": "Bern"}, "c2")]
    assert sorted(calls_of(DIALECT, events), key=lambda call: call.id) == calls


def test_objects_add_to_each_other_and_names_grow() -> None:
    events = [
        start(0, tool_name="get_", args={"city": "Zürich"}),
        delta(0, {"unit": "celsius"}, tool_name_delta="weather"),
    ]
    assert streamed(DIALECT, events) == [AskedCall("get_weather", {"city": "Zürich", "unit": "celsius"}, "c1")]
    assert events[0]["part"]["args"] == {"city": "Zürich"}


@pytest.mark.parametrize("pieces", [[{"a": 1}, '{"b": 2}'], ['{"b": 2}', {"a": 1}]])
def test_texts_and_objects_do_not_add_up(pieces: list[Any]) -> None:
    assert streamed(DIALECT, [start(0), *(delta(0, piece) for piece in pieces)])[0].is_malformed


def test_the_next_response_of_a_run_counts_its_parts_again() -> None:
    events = [start(0, args="{}"), start(0, args='{"city": "Bern"}', tool_call_id="c2")]
    assert [call.arguments for call in streamed(DIALECT, events)] == [{}, {"city": "Bern"}]


def test_a_run_that_went_on_has_the_answer() -> None:
    done = {"part_kind": "tool-return", "tool_call_id": "c1", "tool_name": "get_weather", "content": 7}
    events = [start(0), end(0, args="{}"), {"event_kind": "function_tool_result", "part": done}]
    assert [call.result for call in calls_of(DIALECT, events, received=False)] == [7]


def test_a_provider_executed_call_of_a_stream_is_never_open() -> None:
    events = [start(0, part_kind="builtin-tool-call"), end(0, part_kind="builtin-tool-call", args="{}")]
    assert [call.is_open for call in streamed(DIALECT, events)] == [False]
