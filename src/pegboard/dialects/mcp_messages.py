"""The Model Context Protocol: calls as JSON-RPC requests, and calls that a model makes during sampling."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.dialects.base import WITHOUT_HISTORY, Answer, MessagePerAnswer
from pegboard.dialects.call_assembler import Assembly, text_or_empty
from pegboard.dialects.parsed_calls import ABSENT, EMPTY_MAPPING, AskedCall, Unreadable
from pegboard.dialects.provider_rules import Limits
from pegboard.dialects.shared.content_blocks import get_content_blocks, parse_if_json, result_to_text
from pegboard.dialects.shared.function_calls import dict_or_empty, get_provider_name, is_model_role
from pegboard.model.call import ToolResult
from pegboard.model.tool import Tool

_VERSION_META_KEY = "io.modelcontextprotocol/protocolVersion"
# Since this revision, structured content may be any value and not only an object.
_ANY_STRUCTURED_CONTENT_SINCE = "2026-07-28"
_UNKNOWN_TOOL_CODE = -32602
_METHOD_PREFIXES = (
    *("tools/", "notifications/", "sampling/", "initialize", "ping", "resources/", "prompts/", "completion/"),
    *("logging/", "roots/", "elicitation/", "tasks/", "server/"),
)
_RESULT_KEYS = frozenset({"content", "structuredContent", "isError", "resultType"})

JsonObject = Mapping[str, Any]


class Mcp(MessagePerAnswer):
    """JSON-RPC messages; if the dialect is named, also bare params, bare results and sampling content."""

    name = "mcp"
    expected = "a JSON-RPC message, params {name, arguments}, a result {content, …}, or a block of the type tool_use"
    abilities = WITHOUT_HISTORY
    keys = frozenset({"jsonrpc", "toolUseId", "stopReason"})
    limits = Limits(name=re.compile(r"[A-Za-z0-9._-]{1,128}"))

    def recognises(self, item: Any) -> bool:
        """Recognise JSON-RPC with a method or a result of this protocol, or fields that only its sampling has."""
        if not isinstance(item, dict):
            return False
        if "jsonrpc" in item:
            return _is_message(item)
        if item.get("type") == "tool_result":
            return "toolUseId" in item
        return isinstance(item.get("role"), str) and "model" in item and any(map(_is_tool_use, _get_blocks(item)))

    def read(self, item: Any, into: Assembly) -> None:
        """Read a request, a response, bare params, a bare result, or a sampling message."""
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
        if "jsonrpc" in item:
            _read_message(item, into)
        elif item.get("type") in ("tool_use", "tool_result"):
            into.bare = item["type"] == "tool_use"
            _read_block(item, into)
        elif isinstance(item.get("role"), str):
            _read_blocks(item, into)
        elif isinstance(item.get("name"), str):
            into.bare = True
            into.call(item["name"], item.get("arguments"), extra=_get_version(item))
        elif _RESULT_KEYS & item.keys():
            _read_result(None, item, into)
        else:
            raise self.make_unreadable_error(item)

    def compose(self, calls: Sequence[AskedCall]) -> list[dict[str, Any]]:
        """Return one request per call; a call without an id becomes bare params, one from sampling a content block."""
        return [_compose_call(call) for call in calls]

    def render_one(self, answer: Answer) -> dict[str, Any]:
        """Return a response for each request, content for sampling, and a bare result for bare params."""
        extra, result = answer.call.extra, answer.result
        if extra.get("sampling"):
            content = _render_result(result, extra)
            return {
                "type": "tool_result",
                "toolUseId": answer.id,
                "content": content["content"],
                "isError": content["isError"],
            }
        if "rpc_id" not in extra:
            return {**_render_result(result, extra), "resultType": "complete"}
        response = {"jsonrpc": "2.0", "id": extra["rpc_id"]}
        if result.problem is not None and result.problem.code == "tool_not_found":
            return {**response, "error": {"code": _UNKNOWN_TOOL_CODE, "message": f"Unknown tool: {answer.call.name}"}}
        return {**response, "result": {**_render_result(result, extra), "resultType": "complete"}}

    def define(self, tool: Tool) -> dict[str, Any]:
        """Return the tool as a server lists it, with its own schemas."""
        schema = tool.input_schema
        definition: dict[str, Any] = {"name": get_provider_name(tool)}
        if tool.display_name:
            definition["title"] = tool.display_name
        definition["description"] = tool.description or ""
        definition["inputSchema"] = schema if schema.get("type") == "object" else {**schema, "type": "object"}
        if tool.output_schema is not None and tool.output_schema.get("type") == "object":
            definition["outputSchema"] = tool.output_schema
        hints = _get_hints(tool)
        return {**definition, "annotations": hints} if hints else definition


def _is_message(item: JsonObject) -> bool:
    method, result = item.get("method"), item.get("result")
    if isinstance(method, str):
        return method.startswith(_METHOD_PREFIXES)
    if isinstance(result, dict):
        return bool(_RESULT_KEYS & result.keys())
    return isinstance(item.get("error"), dict)


def _read_message(item: dict[str, Any], into: Assembly) -> None:
    params, result, error, identity = item.get("params"), item.get("result"), item.get("error"), item.get("id")
    params = params if isinstance(params, dict) else {}
    if item.get("method") == "tools/call":
        if not isinstance(params.get("name"), str):
            raise Unreadable(
                "unrecognised_format: the params of tools/call are {name, arguments}, and 'name' is a text"
            )
        into.bare = True
        is_id = isinstance(identity, str | int) and not isinstance(identity, bool)
        extra = {**_get_version(params), "rpc_id": identity} if is_id else _get_version(params)
        into.call(params["name"], params.get("arguments"), identity, extra=extra)
    elif item.get("method") == "sampling/createMessage":
        messages = params.get("messages")
        for message in messages if isinstance(messages, list) else ():
            _read_blocks(message, into)
    elif isinstance(error, dict):
        into.answer(identity, error=text_or_empty(error.get("message")) or "The request failed")
    elif isinstance(result, dict) and isinstance(result.get("role"), str):
        _read_blocks(result, into)
    elif isinstance(result, dict):
        _read_result(identity, result, into)


def _read_result(identity: Any, result: JsonObject, into: Assembly) -> None:
    if result.get("resultType", "complete") == "complete" and ("content" in result or "structuredContent" in result):
        output, error = _parse_result(result)
        into.answer(identity, output, error=error)


def _read_blocks(message: Any, into: Assembly) -> None:
    may_call = is_model_role(dict_or_empty(message).get("role"))
    for block in _get_blocks(message):
        if isinstance(block, dict) and (may_call or not _is_tool_use(block)):
            _read_block(block, into)


def _read_block(block: JsonObject, into: Assembly) -> None:
    if _is_tool_use(block):
        into.call(block.get("name", ""), block.get("input"), block.get("id"), extra={"sampling": True})
    elif block.get("type") == "tool_result":
        output, error = _parse_result(block)
        into.answer(block.get("toolUseId"), output, error=error)


def _get_blocks(message: Any) -> list[Any]:
    """Return the content blocks of a sampling message, which may be a single block."""
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else [content]


def _is_tool_use(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_use"


def _parse_result(result: JsonObject) -> tuple[Any, str | None]:
    """Return the output or the error of a result: structured content, else the only text, else all content."""
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    texts = [block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)]
    if result.get("isError") is True:
        return ABSENT, "\n".join(texts) or "The tool failed without an error message"
    if "structuredContent" in result:
        return result["structuredContent"], None
    return (parse_if_json(texts[0]), None) if len(texts) == len(blocks) == 1 else ({"content": blocks}, None)


def _get_version(params: JsonObject) -> Mapping[str, Any]:
    meta = params.get("_meta")
    version = meta.get(_VERSION_META_KEY) if isinstance(meta, dict) else None
    return {"protocol_version": version} if isinstance(version, str) else EMPTY_MAPPING


def _compose_call(call: AskedCall) -> dict[str, Any]:
    if call.extra.get("sampling"):
        return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments_or_text}
    params: dict[str, Any] = {"name": call.name, "arguments": call.arguments_or_text}
    if "protocol_version" in call.extra:
        params["_meta"] = {_VERSION_META_KEY: call.extra["protocol_version"]}
    if not call.id:
        return params
    return {"jsonrpc": "2.0", "id": call.extra.get("rpc_id", call.id), "method": "tools/call", "params": params}


def _render_result(result: ToolResult, extra: JsonObject) -> dict[str, Any]:
    """Return the content, the structured content if any, and whether it is an error."""
    if result.problem is not None:
        return {"content": [{"type": "text", "text": result_to_text(result)}], "isError": True}
    output, blocks = result.output, get_content_blocks(result)
    if blocks is not None:
        structured = {"structuredContent": output["structuredContent"]} if "structuredContent" in output else {}
        return {"content": blocks, **structured, "isError": False}
    values: dict[str, Any] = {"content": [{"type": "text", "text": result_to_text(result)}]}
    if isinstance(output, list) and extra.get("protocol_version", "") < _ANY_STRUCTURED_CONTENT_SINCE:
        output = {"result": output}
    if isinstance(output, dict | list):
        values["structuredContent"] = output
    return {**values, "isError": False}


def _get_hints(tool: Tool) -> dict[str, bool]:
    hints = {"readOnlyHint": tool.read_only, "destructiveHint": tool.destructive, "idempotentHint": tool.idempotent}
    return {name: True for name, is_so in hints.items() if is_so}
