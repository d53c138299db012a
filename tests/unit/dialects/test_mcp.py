"""MCP: requests and responses, bare results, sampling; checked with the types of the SDK."""

from __future__ import annotations

from typing import Any

import mcp.types as types
import pytest
from hypothesis import given

from pegboard.dialects.mcp_messages import Mcp
from pegboard.dialects.parsed_calls import ABSENT, AskedCall, Unreadable
from tests.unit.dialects.web_dialects import ARGUMENTS, KNOWN, WITH_IMAGE, answer_to, read, tool

PARAMS = {"name": "look", "arguments": {"at": "it"}}
USE = {"type": "tool_use", "id": "u1", "name": "look", "input": {"at": "it"}}
VERSION = "io.modelcontextprotocol/protocolVersion"


def request(identity: Any = 7, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "method": "tools/call", "params": {**PARAMS, **params}}


def response(identity: Any = 7, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "result": result}


def rendered(payload: Any, output: Any = None, **more: Any) -> Any:
    asked = KNOWN.read(payload, "mcp")
    return Mcp().render([answer_to(call, output, **more) for call in asked.calls], many=asked.many)


@pytest.mark.parametrize("identity", [7, 0, "7", "r-1"])
def test_the_response_has_the_very_id_of_the_request(identity: Any) -> None:
    (call,) = read(request(identity))
    assert call == AskedCall("look", {"at": "it"}, str(identity), extra={"rpc_id": identity})
    message = rendered(request(identity), {"a": 1})
    assert message["id"] is identity or message["id"] == identity
    assert type(message["id"]) is type(identity)
    types.JSONRPCResponse.model_validate(message)
    result = types.CallToolResult.model_validate(message["result"])
    assert (result.structured_content, result.is_error) == ({"a": 1}, False)


def test_a_batch_is_answered_as_one() -> None:
    message = rendered([request(1), request("b")], "fine")
    assert [one["id"] for one in message] == [1, "b"]
    assert "structuredContent" not in message[0]["result"]


def test_params_alone_are_answered_with_the_result_alone() -> None:
    (call,) = read(PARAMS, "mcp")
    assert call == AskedCall("look", {"at": "it"})
    message = rendered(PARAMS, {"a": 1})
    assert message == {
        "content": [{"type": "text", "text": '{"a":1}'}],
        "structuredContent": {"a": 1},
        "isError": False,
        "resultType": "complete",
    }
    types.CallToolResult.model_validate(message)


def test_an_unknown_tool_is_an_error_of_the_request_and_any_other_one_of_the_tool() -> None:
    message = rendered(request(), error="Tool 'look' not found", code="tool_not_found")
    assert message == {"jsonrpc": "2.0", "id": 7, "error": {"code": -32602, "message": "Unknown tool: look"}}
    types.JSONRPCError.model_validate(message)
    failed = {"content": [{"type": "text", "text": "broken"}], "isError": True, "resultType": "complete"}
    assert rendered(request(), error="broken")["result"] == failed
    assert rendered(PARAMS, error="gone", code="tool_not_found")["isError"] is True


def test_a_list_is_structured_content_only_in_revisions_that_allow_it() -> None:
    assert rendered(request(), [1])["result"]["structuredContent"] == {"result": [1]}
    old = request(_meta={VERSION: "2025-11-25"})
    assert rendered(old, [1])["result"]["structuredContent"] == {"result": [1]}
    new = request(_meta={VERSION: "2026-07-28"})
    assert rendered(new, [1])["result"]["structuredContent"] == [1]
    assert read(Mcp().compose(read(new))) == read(new)


def test_content_is_taken_over_with_what_of_it_is_structured() -> None:
    message = rendered(PARAMS, WITH_IMAGE | {"structuredContent": {"a": 1}})
    assert (message["content"], message["structuredContent"]) == (WITH_IMAGE["content"], {"a": 1})
    assert "structuredContent" not in rendered(PARAMS, WITH_IMAGE)
    types.CallToolResult.model_validate(message)


def test_sampling_is_answered_by_the_id_of_its_use() -> None:
    message = rendered(USE, {"a": 1})
    assert message == {
        "type": "tool_result",
        "toolUseId": "u1",
        "content": [{"type": "text", "text": '{"a":1}'}],
        "isError": False,
    }
    types.ToolResultContent.model_validate(message)
    (composed,) = Mcp().compose(read(USE, "mcp"))
    types.ToolUseContent.model_validate(composed)
    assert composed == USE


@pytest.mark.parametrize("content", [USE, [{"type": "text", "text": "Well"}, USE]])
def test_what_a_sampled_model_says_is_read(content: Any) -> None:
    values = {"role": "assistant", "content": content, "model": "m", "stopReason": "toolUse"}
    wanted = [AskedCall("look", {"at": "it"}, "u1", extra={"sampling": True})]
    asked = KNOWN.read(values)
    assert (asked.dialect, list(asked.calls), asked.many) == ("mcp", wanted, True)
    assert read(response(**values)) == wanted
    answered = {"role": "user", "content": {"type": "tool_result", "toolUseId": "u1", "content": []}}
    asking = {"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {"messages": [values, answered]}}
    assert read(asking) == [wanted[0]._replace(result={"content": []})]


@pytest.mark.parametrize(
    ("message", "result", "error"),
    [
        (response(content=[], structuredContent={"a": 1}), {"a": 1}, None),
        (response(content=[{"type": "text", "text": "fine"}]), "fine", None),
        (response(content=[{"type": "text", "text": '{"a": 1}'}]), {"a": 1}, None),
        (response(**WITH_IMAGE), WITH_IMAGE, None),
        (response(content=[{"type": "text", "text": "broken"}], isError=True), ABSENT, "broken"),
        (response(content=[], isError=True), ABSENT, "The tool failed without an error message"),
        ({"jsonrpc": "2.0", "id": 7, "error": {"code": -32602, "message": "Unknown tool"}}, ABSENT, "Unknown tool"),
    ],
)
def test_a_response_answers_its_request(message: Any, result: Any, error: str | None) -> None:
    (call,) = read([request(), message])
    assert (call.name, call.result, call.error) == ("look", result, error)
    (alone,) = read([{"jsonrpc": "2.0", "method": "notifications/progress"}, message])
    assert (alone.name, alone.arguments, alone.id, alone.error) == ("", None, "7", error)


def test_a_response_that_asks_for_more_is_no_answer() -> None:
    (call,) = read([request(), response(resultType="input_required", inputRequests={})])
    assert call.is_open


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": {"kind": "message"}}},
        {"jsonrpc": "2.0", "id": 1, "result": {"kind": "task", "status": {}}},
        {"jsonrpc": "2.0"},
    ],
)
def test_other_protocols_on_json_rpc_are_not_taken_for_it(message: Any) -> None:
    assert not Mcp().recognises(message)


@pytest.mark.parametrize("payload", ["text", None, {"foo": 1}, {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}])
def test_what_is_no_call_of_it_is_refused(payload: Any) -> None:
    with pytest.raises(Unreadable, match="unrecognised_format"):
        KNOWN.read(payload, "mcp")


@given(ARGUMENTS)
def test_what_is_composed_is_a_request_of_the_protocol(arguments: dict[str, Any]) -> None:
    (message,) = Mcp().compose([AskedCall("look", arguments, "c1")])
    params = types.CallToolRequest.model_validate({"method": message["method"], "params": message["params"]}).params
    assert (params.name, params.arguments) == ("look", arguments)


def test_a_tool_is_declared_as_the_protocol_lists_it() -> None:
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}
    made = tool("look", schema, description="Looks", display_name="Look", read_only=True, idempotent=True)
    message = Mcp().define(made)
    declared = types.Tool.model_validate(message)
    assert declared.annotations is not None
    assert (declared.title, declared.input_schema, declared.annotations.read_only_hint) == ("Look", schema, True)
    assert message["annotations"] == {"readOnlyHint": True, "idempotentHint": True}
    assert Mcp().define(tool("drop", {}, destructive=True))["annotations"] == {"destructiveHint": True}
    assert Mcp().define(tool("drop", {}))["inputSchema"] == {"type": "object"}


def test_only_an_object_is_promised_as_structured_content() -> None:
    assert "outputSchema" in Mcp().define(tool("a", {}, output_schema={"type": "object"}))
    assert "outputSchema" not in Mcp().define(tool("a", {}, output_schema={"type": "array"}))
