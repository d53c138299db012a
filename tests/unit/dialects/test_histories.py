"""Whole conversations, as lists and as requests, and streams that repeat their content."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.dialects.catalog import load_dialects

KNOWN = load_dialects()
USER = {"role": "user", "content": "How is the weather?"}
SAYS = {"role": "assistant", "content": "Fine."}
TEXT = '{"city":"Bern"}'


def function(identity: str) -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": "get_weather", "arguments": TEXT}}


def bare(identity: str) -> dict[str, Any]:
    return {"id": identity, "function": {"name": "get_weather", "arguments": TEXT}}


def build_call_message(**calls: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", **calls}


def tool(identity: str, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": "7", **more}


OLLAMA = build_call_message(tool_calls=[{"function": {"name": "get_weather", "arguments": {"city": "Bern"}}}])
LEGACY = build_call_message(function_call={"name": "get_weather", "arguments": TEXT})


def use(identity: str) -> dict[str, Any]:
    return build_call_message() | {
        "content": [{"type": "tool_use", "id": identity, "name": "get_weather", "input": {"city": "B"}}]
    }


def converse(identity: str) -> dict[str, Any]:
    block = {"toolUseId": identity, "name": "get_weather", "input": {"city": "Bern"}}
    return build_call_message() | {"content": [{"toolUse": block}]}


def part(identity: str) -> dict[str, Any]:
    call = {"type": "tool-call", "toolCallId": identity, "toolName": "get_weather", "input": {"city": "Bern"}}
    return build_call_message() | {"content": [call]}


PART = {"type": "tool-result", "toolCallId": "a", "toolName": "get_weather", "output": {"type": "text", "value": "7"}}
HISTORIES: dict[str, list[dict[str, Any]]] = {
    "openai_chat": [
        USER,
        build_call_message(tool_calls=[function("a")]),
        tool("a"),
        SAYS,
        USER,
        build_call_message(tool_calls=[function("b")]),
    ],
    "mistral": [
        USER,
        build_call_message(tool_calls=[bare("a")]),
        tool("a"),
        SAYS,
        USER,
        build_call_message(tool_calls=[bare("b")]),
    ],
    "cohere_v2": [
        *(USER, build_call_message(tool_plan="", tool_calls=[function("a")]), tool("a"), SAYS, USER),
        build_call_message(tool_plan="", tool_calls=[function("b")]),
    ],
    "ollama": [USER, OLLAMA, {"role": "tool", "tool_name": "get_weather", "content": "7"}, SAYS, USER, OLLAMA],
    "openai_legacy_function_call": [
        *(USER, LEGACY, {"role": "function", "name": "get_weather", "content": "7"}, SAYS, USER, LEGACY),
    ],
    "anthropic_messages": [
        *(USER, use("a"), {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "7"}]}),
        *(SAYS, USER, use("b")),
    ],
    "bedrock_converse": [
        *({"role": "user", "content": [{"text": "How is the weather?"}]}, converse("a")),
        {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": "7"}]}}]},
        *({"role": "assistant", "content": [{"text": "Fine."}]}, converse("b")),
    ],
    "vercel_ai_v7": [USER, part("a"), {"role": "tool", "content": [PART]}, SAYS, USER, part("b")],
    "ag_ui": [
        *(
            USER,
            build_call_message(toolCalls=[function("a")]),
            {"role": "tool", "toolCallId": "a", "content": "7"},
            SAYS,
            USER,
        ),
        build_call_message(toolCalls=[function("b")]),
    ],
}


@pytest.mark.parametrize("name", HISTORIES)
@pytest.mark.parametrize("form", ["list", "request"])
def test_of_a_conversation_only_the_call_without_an_answer_is_open(name: str, form: str) -> None:
    history = HISTORIES[name]
    asked = KNOWN.read(history if form == "list" else {"model": "m", "messages": history})
    assert asked.dialect == name
    assert [call.is_open for call in asked.calls] == [False, True]
    assert [str(call.result) for call in asked.calls[:1]] == ["7"]


def test_the_input_of_a_request_to_responses_is_a_conversation() -> None:
    call = {"type": "function_call", "name": "get_weather", "arguments": TEXT}
    items = [
        *(USER, call | {"call_id": "a"}, {"type": "function_call_output", "call_id": "a", "output": "7"}),
        call | {"call_id": "b"},
    ]
    for payload in (items, {"model": "m", "input": items}):
        assert [call.is_open for call in KNOWN.read(payload).calls] == [False, True]


def test_a_whole_call_as_mistrals_own_types_write_it_is_mistrals() -> None:
    history = [USER, build_call_message(tool_calls=[function("abcdefghi") | {"index": 0}]), tool("abcdefghi")]
    for payload in (history, {"messages": history}, history[1]):
        assert KNOWN.read(payload).dialect == "mistral"
    assert KNOWN.read(build_call_message(tool_calls=[function("call_0") | {"index": 0}])).dialect == "openai_chat"


def test_calls_of_the_older_form_that_follow_one_another_are_answered_by_name() -> None:
    names = ("get_weather", "list_projects")
    history = [build_call_message(function_call={"name": name, "arguments": "{}"}) for name in names]
    history += [{"role": "function", "name": name, "content": "7"} for name in names]
    assert [call.is_open for call in KNOWN.read(history).calls] == [False, False]


AI = {"type": "ai", "content": "", "id": "r", "tool_calls": [{"name": "get_weather", "args": {}, "id": "a"}]}
HUMAN = {"type": "human", "content": "?", "id": "h"}
DONE = {"type": "tool", "content": "7", "tool_call_id": "a", "id": "t"}
CHUNK = {
    "type": "AIMessageChunk",
    "content": "",
    "id": "r",
    "tool_call_chunks": [{"name": "get_weather", "args": "{}", "id": "a", "index": 0}],
}
ABOUT = {"langgraph_node": "agent"}


@pytest.mark.parametrize(
    ("chunks", "is_open"),
    [
        ([{"agent": {"messages": [AI]}}, {"messages": [HUMAN, AI]}], True),
        ([{"messages": [HUMAN, AI]}, {"messages": [AI]}], True),
        ([{"messages": [HUMAN, AI]}, {"messages": [AI, DONE]}], False),
        ([[CHUNK, ABOUT], {"agent": {"messages": [AI]}}, {"messages": [HUMAN, AI]}], True),
        ([[CHUNK, ABOUT], [DONE, ABOUT], {"messages": [HUMAN, AI, DONE]}], False),
    ],
)
def test_a_message_of_a_graph_in_several_modes_has_its_calls_once(chunks: list[Any], is_open: bool) -> None:
    assert [call.is_open for call in KNOWN.read(chunks, "langgraph").calls] == [is_open]


EVENTS = [
    {"type": "TOOL_CALL_START", "toolCallId": "a", "toolCallName": "get_weather"},
    {"type": "TOOL_CALL_ARGS", "toolCallId": "a", "delta": TEXT},
    {"type": "TOOL_CALL_END", "toolCallId": "a"},
]
ENDED = {"type": "TOOL_CALL_RESULT", "toolCallId": "a", "content": "7"}


def snapshot(count: int) -> dict[str, Any]:
    return {"type": "MESSAGES_SNAPSHOT", "messages": HISTORIES["ag_ui"][:count]}


@pytest.mark.parametrize(
    ("events", "is_open"),
    [
        ([*EVENTS, snapshot(2), snapshot(2)], True),
        ([*EVENTS[:2], snapshot(2), snapshot(2)], True),
        ([snapshot(2), snapshot(2)], True),
        ([*EVENTS, ENDED, snapshot(3), snapshot(3)], False),
        ([*EVENTS, snapshot(2), snapshot(3)], False),
    ],
)
def test_a_snapshot_of_messages_repeats_no_call(events: list[Any], is_open: bool) -> None:
    assert [call.is_open for call in KNOWN.read(events).calls] == [is_open]


def test_a_run_that_ends_with_all_of_its_messages_asks_once() -> None:
    call = {"id": "a", "name": "get_weather", "arguments": TEXT}
    event = {"type": "ToolCallRequestEvent", "source": "agent", "content": [call]}
    assert len(KNOWN.read([event, {"messages": [event], "stop_reason": None}]).calls) == 1


def test_a_response_whose_events_do_not_say_the_places_of_items_asks_once() -> None:
    item = {"type": "function_call", "id": "fc", "call_id": "a", "name": "get_weather", "arguments": TEXT}
    begun = {"type": "response.output_item.added", "item": item | {"arguments": ""}}
    piece = {"type": "response.function_call_arguments.delta", "item_id": "fc", "delta": TEXT}
    done = {"type": "response.output_item.done", "item": item}
    whole = {"type": "response.completed", "response": {"output": [{"type": "reasoning", "summary": []}, item]}}
    for events in ([begun, piece, done, whole], [begun, piece, whole], [done, whole]):
        assert len(KNOWN.read(events).calls) == 1
