"""Seed 003, the mapping of tool calls: every function, format and list of it by name."""

from __future__ import annotations

from typing import Any

import pytest
from dirty_equals import IsStr

from pegboard import (
    NormalizedToolCall,
    format_tool_args,
    get_tool_display_name,
    map_tool_calls_for_memory,
    normalize_tool_call,
    normalize_tool_calls,
)

FORMAT_1: dict[str, Any] = {
    "from": "AGENT",
    "payload": {
        "toolCallId": "call_YkZUdS80h9gmNUTbWbySt0YV",
        "toolName": "queryHandbook",
        "args": {"query": "budget approval requirements"},
        "providerExecuted": None,
    },
}
FORMAT_2: dict[str, Any] = {"id": "call_abc123", "toolName": "getTeamDirectory", "args": {"role": "AI Engineer"}}
FORMAT_3: dict[str, Any] = {
    "toolCallId": "legacy_123",
    "name": "createProjectTicket",
    "arguments": {"assignee": "John Doe"},
}
ALL = [FORMAT_1, FORMAT_2, FORMAT_3]
MINTED: Any = IsStr(min_length=6)


class TestNormalizeToolCall:
    """Core function 1: calls in any format are normalised."""

    def test_nested_payload_structure(self) -> None:
        wanted = NormalizedToolCall(
            "call_YkZUdS80h9gmNUTbWbySt0YV", "queryHandbook", {"query": "budget approval requirements"}
        )
        assert normalize_tool_call(FORMAT_1) == wanted

    def test_direct_structure(self) -> None:
        wanted = NormalizedToolCall("call_abc123", "getTeamDirectory", {"role": "AI Engineer"})
        assert normalize_tool_call(FORMAT_2) == wanted

    def test_legacy_structure(self) -> None:
        wanted = NormalizedToolCall("legacy_123", "createProjectTicket", {"assignee": "John Doe"})
        assert normalize_tool_call(FORMAT_3) == wanted

    def test_the_example(self) -> None:
        normalized = normalize_tool_call(
            {"payload": {"toolCallId": "call_123", "toolName": "queryHandbook", "args": {"query": "budget"}}}
        )
        assert (normalized.id, normalized.tool_name, normalized.args) == (
            "call_123",
            "queryHandbook",
            {"query": "budget"},
        )
        assert normalized.result is None

    def test_prioritizes_payload_properties_first(self) -> None:
        outer = {"toolCallId": "outer", "id": "outer", "toolName": "outer", "args": {"a": "outer"}, "result": "outer"}
        inner = {"toolCallId": "inner", "toolName": "inner", "args": {"a": "inner"}, "result": "inner"}
        assert normalize_tool_call({**outer, "payload": inner}) == NormalizedToolCall(
            "inner", "inner", {"a": "inner"}, "inner"
        )

    @pytest.mark.parametrize("payload", [{}, None, {"toolCallId": None, "toolName": "", "args": None}])
    def test_falls_back_to_direct_properties(self, payload: Any) -> None:
        call = {"id": "d", "toolName": "direct", "args": {"a": 1}, "result": 2, "payload": payload}
        assert normalize_tool_call(call) == NormalizedToolCall("d", "direct", {"a": 1}, 2)

    def test_generates_synthetic_ids_if_none_exist(self) -> None:
        first, second = (normalize_tool_call({"toolName": "queryHandbook", "args": {}}) for _ in range(2))
        assert first.id
        assert first.id != second.id

    @pytest.mark.parametrize("field", ["args", "arguments"])
    def test_handles_both_args_and_arguments_fields(self, field: str) -> None:
        assert normalize_tool_call({"id": "a", "toolName": "t", field: {"x": 1}}).args == {"x": 1}
        assert normalize_tool_call({"payload": {"toolCallId": "a", "toolName": "t", field: {"x": 1}}}).args == {"x": 1}

    @pytest.mark.parametrize("call", [{}, {"payload": {}}, {"from": "AGENT"}, {"payload": None, "args": None}])
    def test_edge_cases_of_empty_and_missing_data(self, call: Any) -> None:
        assert normalize_tool_call(call) == NormalizedToolCall(MINTED, "unknown", {})


class TestNormalizeToolCalls:
    """Core function 2: a list of calls is normalised as a whole."""

    def test_array_normalization(self) -> None:
        assert [call.tool_name for call in normalize_tool_calls(ALL)] == [
            "queryHandbook",
            "getTeamDirectory",
            "createProjectTicket",
        ]

    def test_an_empty_list_stays_empty(self) -> None:
        assert normalize_tool_calls([]) == []


class TestMapToolCallsForMemory:
    """Core function 3: normalised and in the form of memory."""

    def test_memory_mapping(self) -> None:
        assert map_tool_calls_for_memory(ALL) == [
            {
                "id": "call_YkZUdS80h9gmNUTbWbySt0YV",
                "name": "queryHandbook",
                "arguments": {"query": "budget approval requirements"},
            },
            {"id": "call_abc123", "name": "getTeamDirectory", "arguments": {"role": "AI Engineer"}},
            {"id": "legacy_123", "name": "createProjectTicket", "arguments": {"assignee": "John Doe"}},
        ]

    def test_a_result_is_there_if_there_is_one(self) -> None:
        payload = {**FORMAT_1["payload"], "result": {"found": 3}}
        assert map_tool_calls_for_memory([{**FORMAT_1, "payload": payload}])[0]["result"] == {"found": 3}
        assert "result" not in map_tool_calls_for_memory([FORMAT_1])[0]


class TestGetToolDisplayName:
    """Core function 4: names that people read."""

    @pytest.mark.parametrize(
        ("name", "display"),
        [
            ("queryHandbook", "Query Handbook"),
            ("getTeamDirectory", "Team Directory"),
            ("createProjectTicket", "Create Ticket"),
            ("sendWeeklyReport", "Send Weekly Report"),
        ],
    )
    def test_mappings(self, name: str, display: str) -> None:
        assert get_tool_display_name(NormalizedToolCall("a", name, {})) == display


class TestFormatToolArgs:
    """Core function 5: arguments for logs and debugging."""

    def test_truncates_long_strings(self) -> None:
        formatted = format_tool_args({"exact": "a" * 50, "long": "b" * 51})
        assert "a" * 50 + '"' in formatted
        assert "b" * 50 + '..."' in formatted
        assert "b" * 51 not in formatted

    def test_pretty_prints_json(self) -> None:
        assert format_tool_args({"query": "budget"}) == '{\n  "query": "budget"\n}'

    def test_handles_empty_arguments(self) -> None:
        assert format_tool_args({}) == "(no arguments)"


def test_the_complete_example_from_generation_to_memory() -> None:
    raw = ALL
    normalized = normalize_tool_calls(raw)
    status = [f"Using {get_tool_display_name(call)}..." for call in normalized]
    assert status == ["Using Query Handbook...", "Using Team Directory...", "Using Create Ticket..."]
    assert all(format_tool_args(call.args).startswith("{\n") for call in normalized)
    assert [call["id"] for call in map_tool_calls_for_memory(raw)] == [call.id for call in normalized]
