"""A payload that contains a call is parsed or refused; it is never answered as if it had none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from pegboard.dialects.catalog import load_dialects
from pegboard.dialects.parsed_calls import Unreadable
from pegboard.dialects.unread_calls import MAX_NODES
from pegboard.model.api_errors import Invalid
from tests.formats import TOOLS, Case, cases

KNOWN = load_dialects()
CASES = [
    case
    for case in cases("call")
    if not isinstance(case.payload, str) and any(call["name"] in TOOLS for call in case.about["expected"])
]
WRAPPERS = ("message", "response", "data", "output", "result", "body", "content", "item", "payload", "messages")
CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Bern"}}}


def changed(value: Any) -> Iterator[Any]:
    """Return the payload with one value in another form: a list as its first item, an object in a list or wrapped."""
    if isinstance(value, list):
        if value:
            yield value[0]
        for place, item in enumerate(value):
            yield from ([*value[:place], other, *value[place + 1 :]] for other in changed(item))
    elif isinstance(value, dict):
        yield [value]
        yield {"payload": value}
        for key, item in value.items():
            yield from ({**value, key: other} for other in changed(item))
            rest = {name: other for name, other in value.items() if name != key}
            yield {**rest, renamed(key): item}


def renamed(key: str) -> str:
    """Return the key in camel case instead of snake case, or the reverse."""
    if "_" in key:
        return re.sub("_([a-z])", lambda found: found[1].upper(), key)
    return re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", key)


def shows_call(value: Any) -> bool:
    """Return True if the payload has the name of a tool, as a name and not within a text."""
    if isinstance(value, dict):
        return any(shows_call(item) for item in value.values())
    if isinstance(value, list):
        return any(map(shows_call, value))
    return isinstance(value, str) and value in TOOLS


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_known_payload_in_another_shape_is_read_or_refused(case: Case) -> None:
    wrapped = [{name: case.payload} for name in WRAPPERS] + [{name: [case.payload]} for name in WRAPPERS]
    for payload in (*changed(case.payload), *wrapped):
        if not shows_call(payload):
            continue
        for name in (None, case.dialect):
            try:
                assert KNOWN.read(payload, name).calls, f"{name}: {payload}"
            except Invalid:
                continue


def with_another(value: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Return the payload with a copy of a call under another id, then with each change of that copy."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from (({**value, key: both}, {**value, key: other}, copy) for both, other, copy in with_another(item))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            if isinstance(item, dict) and shows_call(item):
                copy = with_other_ids(item)
                for other in changed(copy):
                    yield [*value, copy], [*value, other], other
            before, after = value[:place], value[place + 1 :]
            for both, one, copy in with_another(item):
                yield [*before, both, *after], [*before, one, *after], copy


def with_other_ids(value: Any, key: str = "") -> Any:
    """The same with another id of the same length in each place."""
    if isinstance(value, dict):
        return {name: with_other_ids(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [with_other_ids(item) for item in value]
    if not isinstance(value, str) or not re.search("(?i)id$", key):
        return value
    return value[:-1] + ("8" if value.endswith("9") else "9")


def read(payload: Any, name: str | None) -> int | None:
    """Return how many calls are parsed, or None if the payload is refused."""
    try:
        return len(KNOWN.read(payload, name).calls)
    except Invalid:
        return None


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_call_in_another_shape_beside_one_that_is_read_is_read_or_refused(case: Case) -> None:
    for name in (None, case.dialect):
        for both, other, copy in with_another(case.payload):
            expected = read(both, name) if shows_call(copy) else None
            count = read(other, name)
            if expected is not None and count is not None:
                assert count >= expected, f"{name}: {other}"


@pytest.mark.parametrize("holder", ["message", "choice", "delta", "history", "messages"])
def test_one_object_in_the_place_of_the_list_of_calls_is_read(holder: str) -> None:
    message = {"role": "assistant", "content": None, "tool_calls": CALL}
    payload: Any = {
        "message": message,
        "choice": {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]},
        "delta": [
            {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        ],
        "history": [{"role": "user", "content": "Weather?"}, message],
        "messages": {"messages": [{"role": "user", "content": "Weather?"}, message]},
    }[holder]
    (call,) = KNOWN.read(payload).calls
    assert (call.name, call.arguments, call.id) == ("get_weather", {"city": "Bern"}, "c1")


@pytest.mark.parametrize("dialect", [None, "openai", "groq"])
def test_tools_that_the_provider_ran_are_kept_also_from_a_stream(dialect: str | None) -> None:
    def chunk(delta: Any, finish: str | None = None) -> Any:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}

    begun = {"index": 0, "type": "search", "arguments": '{"query": "x"}'}
    chunks = [
        chunk({"role": "assistant", "executed_tools": [begun]}),
        chunk({"executed_tools": [{**begun, "output": "7.5"}]}),
        chunk({"content": "7.5"}, "stop"),
    ]
    (call,) = KNOWN.read(chunks, dialect).calls
    assert (call.name, call.arguments, call.result) == ("search", {"query": "x"}, "7.5")
    assert call.provider_executed


def test_a_call_that_the_named_dialect_does_not_read_is_refused() -> None:
    with pytest.raises(Unreadable, match=r"has a call at 'tool_calls\.0' in a form that .* does not read"):
        KNOWN.read({"role": "assistant", "content": "", "tool_calls": [{"name": "get_weather", "args": {}}]}, "openai")


def message(*calls: Any, **more: Any) -> Any:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def blocks(*content: Any) -> Any:
    return {"role": "assistant", "content": list(content)}


def parts(*every: Any) -> Any:
    return {"role": "model", "parts": list(every)}


OTHER = {"name": "get_weather", "arguments": '{"city": "Zug"}'}
USE = {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Bern"}}
PART = {"functionCall": {"name": "get_weather", "args": {"city": "Bern"}}}
ANSWERED = [message({**CALL, "id": "c0"}), {"role": "tool", "tool_call_id": "c0", "content": "7"}]


@pytest.mark.parametrize(
    ("payload", "path"),
    [
        (message(CALL, {"id": "c2", "type": "function", "function": "get_weather"}), "tool_calls.1"),
        (message(CALL, {"id": "c2", "type": "function"}), "tool_calls.1"),
        (message(CALL, {"id": "c2", "type": "tool", "tool": OTHER}), "tool_calls.1.tool"),
        (message(CALL, {"id": "c2", **OTHER}), "tool_calls.1"),
        (message(CALL, json.dumps(OTHER)), "tool_calls.1"),
        (message(CALL, toolCalls=[OTHER]), "toolCalls.0"),
        (message(CALL, function_call={**OTHER, "name": "get_time"}), "tool_calls.0.function"),
        (message({"id": "c2", "tool": OTHER}, executed_tools=[{"type": "search", "output": "1"}]), "tool_calls.0.tool"),
        ([*ANSWERED, message(CALL, {"id": "c2", "function": [OTHER]})], "2.tool_calls.1.function.0"),
        ({"choices": [{"index": 0, "message": message(CALL, {"id": "c2"})}]}, "choices.0.message.tool_calls.1"),
        (blocks(USE, {"type": "function_call", **OTHER}), "content.1"),
        (blocks(USE, {"type": "tool_call", "tool": "get_weather", "params": "{}"}), "content.1"),
        (blocks({"type": "text", "text": "Hm"}, USE, {"toolUse": OTHER}), "content.2.toolUse"),
        (blocks(USE, PART), "content.1.functionCall"),
        (parts(PART, {"functionCalls": [OTHER]}), "parts.1.functionCalls.0"),
        (parts(PART, {"functionCal": OTHER}), "parts.1.functionCal"),
        (parts({**PART, "function_call": {"name": "get_time", "args": {}}}), "parts.0.function_call"),
        # The arguments are lost instead of the call.
        (message({**CALL, "function": {"name": "f", "args": {"a": 1}}}), "tool_calls.0.function"),
        (blocks(USE, {"type": "tool_use", "id": "t2", "name": "f", "arguments": {"a": 1}}), "content.1"),
    ],
)  # fmt: skip
def test_one_of_several_calls_that_is_not_read_is_refused_by_its_path(payload: Any, path: str) -> None:
    with pytest.raises(Unreadable, match=rf"It has a call at '{re.escape(path)}'") as refused:
        KNOWN.read(json.loads(json.dumps(payload)))
    assert [fault.field for fault in refused.value.faults] == [path]


DATA = {"name": "f", "arguments": {}, "tool_calls": [CALL, {"id": "x", "tool": OTHER}]}
SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [DATA]}
RAN = [{"executableCode": {"code": "1"}}, {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}]
ITEM = {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"city": "Bern"}'}


@pytest.mark.parametrize(
    ("payload", "count"),
    [
        (message({**CALL, "function": {"name": "f", "arguments": DATA}}), 1),
        (message({**CALL, "function": {"name": "f", "arguments": json.dumps(DATA)}}), 1),
        (message({**CALL, "function": {"name": "f", "arguments": " { } "}}), 1),
        (message(CALL, 7, None), 1),
        (message(CALL, executed_tools=[{"type": "search", "name": "f", "arguments": "{}", "output": "1"}]), 2),
        ([*ANSWERED[:1], {**ANSWERED[1], "content": [DATA]}, message(CALL)], 2),
        ([{"role": "user", "content": [DATA]}, message(CALL)], 1),
        ({"messages": [message(CALL)], "tools": [{"function": {"name": "f", "parameters": {}}}]}, 1),
        ({"choices": [{"index": 0, "message": message(CALL)}, {"index": 1, "message": message({"id": "x"})}]}, 1),
        ({"choices": [{"message": message(CALL)}, {"message": message({**CALL, "id": "c2"})}]}, 1),
        (blocks({**USE, "input": DATA}), 1),
        ({"content_type": "function_call", "plugin_name": "a", "function_name": "b", "arguments": {}}, 1),
        (blocks(USE, SEARCH, FOUND), 2),
        ([blocks(USE), {"role": "user", "content": [{**FOUND, "type": "tool_result", "tool_use_id": "t1"}]}], 1),
        (parts({"functionCall": {"name": "f", "args": DATA}}), 1),
        (parts(PART, {"function_call": {"name": "f", "arguments": {"a": 1}}}), 2),
        (parts(PART, *RAN), 2),
        ([parts(PART), {"parts": [{"functionResponse": {"name": "get_weather", "response": DATA}}]}], 1),
        ({"object": "response", "output": [{"type": "file_search_call", "id": "i", "results": [DATA]}, ITEM]}, 2),
        ({"object": "response", "output": [{"type": "mcp_call", "id": "i", "name": "f", "arguments": "{}"}, ITEM]}, 2),
    ],
)  # fmt: skip
def test_data_results_alternatives_and_calls_of_the_provider_are_no_unread_calls(payload: Any, count: int) -> None:
    assert len(KNOWN.read(json.loads(json.dumps(payload))).calls) == count


def test_a_large_or_deep_payload_is_searched_within_bounds() -> None:
    deep: Any = {**CALL, "id": "c2"}
    for _ in range(5000):
        deep = {"tool_calls": [deep]}
    with pytest.raises(Unreadable):
        KNOWN.read(message(CALL, deep))
    wide = message(CALL, extra=[{"a": {}}] * 2 * MAX_NODES)
    assert len(KNOWN.read(wide).calls) == 1


@pytest.mark.parametrize(
    "payload",
    [
        {"role": "assistant", "content": [{"type": "text", "text": "{\"tool_calls\": []}"}]},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": "Done."}],
            "usage": {"output_tokens": 3, "server_tool_use": {"web_search_requests": 1}},
        },
        {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi", "tool_calls": []}}]},
    ],
)  # fmt: skip
def test_a_message_without_a_call_is_answered_without_one(payload: Any) -> None:
    assert KNOWN.read(payload).calls == ()


def event(*every: Any, partial: bool = False) -> Any:
    return {"author": "agent", "invocationId": "i", "content": {"role": "model", "parts": list(every)}} | (
        {"partial": True} if partial else {}
    )


NAMED = {"id": "c2", "name": "get_time"}
CONTENT = {"type": "AssistantMessage", "source": "agent", "content": [{"id": "c1", **OTHER}, {**NAMED, "input_": {}}]}
KERNEL = {"content_type": "function_call", "id": "c1", "name": "a", "function_name": "a", "arguments": {"a": 1}}
BLOCK = {"type": "content_block_start", "index": 0, "content_block": {**USE, "input": {}}}
STREAM = [{"type": "message_start", "message": {"role": "assistant", "content": []}}, BLOCK]


@pytest.mark.parametrize(
    "payload",
    [
        # Two calls with one id: both must be read.
        blocks(USE, {"value": {**USE, "name": "get_time"}}),
        blocks(USE, [{**USE, "name": "get_time"}]),
        # The final event repeats the calls of partial events; a call that only it has is not read.
        [event(PART, partial=True), event([PART], {"functionCall": {"name": "get_time", "args": {}}})],
        # Among calls, a name and an id without arguments are a call too.
        CONTENT,
        {"content_type": "message", "role": "assistant", "items": [KERNEL, {**NAMED, "function_name": "get_time"}]},
        # Events at the place of alternatives are not alternatives.
        {"choices": STREAM},
        {"choices": [{"choices": [{"index": 0, "delta": {}}]}, {"choices": [{"index": 0, "message": message(CALL)}]}]},
    ],
)
def test_a_call_beside_something_that_resembles_it_is_refused(payload: Any) -> None:
    with pytest.raises(Unreadable):
        KNOWN.read(json.loads(json.dumps(payload)))


@pytest.mark.parametrize("key", ["message", "data", "chunk"])
def test_a_wrapped_stream_is_refused_also_in_its_own_dialect(key: str) -> None:
    begun = {"type": "tool-input-start", "id": "c1", "toolName": "get_weather"}
    with pytest.raises(Unreadable):
        KNOWN.read({key: [begun, {"type": "tool-input-delta", "id": "c1", "delta": "{}"}], "type": "x"}, "vercel_ai_v5")


def test_the_calls_of_partial_events_are_read_once() -> None:
    (call,) = KNOWN.read(
        [event(PART, partial=True), event({"functionCall": {"id": "a", **PART["functionCall"]}})]
    ).calls
    assert (call.name, call.id) == ("get_weather", "a")
