"""Calls of any form converted to one, for memory and display."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from dirty_equals import IsStr
from hypothesis import given

from pegboard import NormalizedToolCall, map_tool_calls_for_memory, normalize_tool_call, normalize_tool_calls
from tests.unit.dialects.web_dialects import JSON

MINTED: Any = IsStr(regex=r"call_[0-9a-f]{32}")
LOOK = NormalizedToolCall("c1", "look", {"at": "it"})


@pytest.mark.parametrize(
    "call",
    [
        {"name": "look", "arguments": {"at": "it"}, "id": "c1"},
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "it"}'}},
        {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "it"}},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": '{"at": "it"}'},
        {"type": "tool-call", "toolCallId": "c1", "toolName": "look", "input": {"at": "it"}},
        {"type": "tool-call", "toolCallId": "c1", "toolName": "look", "args": {"at": "it"}},
        {"jsonrpc": "2.0", "id": "c1", "method": "tools/call", "params": {"name": "look", "arguments": {"at": "it"}}},
    ],
)
def test_a_call_of_another_dialect_is_normalised_too(call: Any) -> None:
    assert normalize_tool_call(call) == LOOK


def test_a_message_gives_every_call_in_it() -> None:
    calls = [{"id": one, "type": "function", "function": {"name": "look", "arguments": "{}"}} for one in ("a", "b")]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    assert [call.id for call in normalize_tool_calls([message, {"id": "c", "toolName": "look"}])] == ["a", "b", "c"]
    assert normalize_tool_call(message).id == "a"


def test_what_is_no_list_is_one_call_and_nothing_is_none() -> None:
    assert normalize_tool_calls(None) == []
    assert normalize_tool_calls([]) == []
    assert normalize_tool_calls({"id": "c1", "toolName": "look", "args": {"at": "it"}}) == [LOOK]


@pytest.mark.parametrize("item", [None, 1, "text", [], [{}], True, {}, {"foo": {"bar": 1}}])
def test_what_is_no_call_is_an_unknown_one(item: Any) -> None:
    assert normalize_tool_calls([item]) == [NormalizedToolCall(MINTED, "unknown", {})]


def test_ids_that_are_made_up_are_never_the_same() -> None:
    assert len({call.id for call in normalize_tool_calls([{}] * 500)}) == 500


def test_a_normalised_call_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        LOOK.id = "other"  # type: ignore[misc]


@pytest.mark.parametrize("result", [0, False, "", [], {}, None])
def test_a_result_is_kept_whatever_it_is(result: Any) -> None:
    call = {"id": "c1", "toolName": "look", "args": {}, "result": result}
    assert map_tool_calls_for_memory([call]) == [{"id": "c1", "name": "look", "arguments": {}, "result": result}]
    assert normalize_tool_call(call).result == result


def test_arguments_may_be_json_text() -> None:
    assert normalize_tool_call({"id": "c1", "toolName": "look", "args": '{"at": "it"}'}) == LOOK


@pytest.mark.parametrize(
    ("given", "raw"), [('{"at": ', '{"at": '), ([1], "[1]"), (7, "7"), ('{"a":1,"a":2}', '{"a":1,"a":2}')]
)
def test_arguments_no_one_can_read_are_empty_with_their_text_beside_them(given: Any, raw: str) -> None:
    call = {"id": "c1", "toolName": "look", "args": given}
    assert normalize_tool_call(call) == NormalizedToolCall("c1", "look", {}, raw_arguments=raw)
    assert map_tool_calls_for_memory([call])[0]["raw_arguments"] == raw


def test_an_error_is_remembered_as_the_result() -> None:
    failed = {
        "type": "tool-error",
        "from": "AGENT",
        "payload": {"toolCallId": "c1", "toolName": "look", "error": "broken"},
    }
    assert map_tool_calls_for_memory([failed])[0]["result"] == {"error": "broken"}


@given(JSON)
def test_arbitrary_json_is_normalised(payload: Any) -> None:
    for call in [normalize_tool_call(payload), *normalize_tool_calls(payload)]:
        assert call.id
        assert call.tool_name
        assert isinstance(call.args, dict)
    for kept in map_tool_calls_for_memory(payload):
        assert kept.keys() - {"result", "raw_arguments"} == {"id", "name", "arguments"}
