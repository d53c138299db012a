"""The Model Context Protocol: calls as JSON-RPC requests, and those a model makes while a server samples it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.core.call import Malformed, ToolResult
from pegboard.core.tool import Tool
from pegboard.dialects.asked import ABSENT, NOTHING, AskedCall, Unreadable
from pegboard.dialects.assembly import Assembly, checked_text
from pegboard.dialects.base import CALLS, Answer, Dialect
from pegboard.dialects.limits import Limits
from pegboard.dialects.parts.blocks import value_of
from pegboard.dialects.parts.content import blocks_of, text_of
from pegboard.dialects.parts.defining import name_for
from pegboard.dialects.parts.picking import dict_of, is_models

_VERSION = "io.modelcontextprotocol/protocolVersion"
# Since this revision structured content may be any value, and not only an object.
_ANY_STRUCTURE = "2026-07-28"
_UNKNOWN_TOOL = -32602
_METHODS = (
    *("tools/", "notifications/", "sampling/", "initialize", "ping", "resources/", "prompts/", "completion/"),
    *("logging/", "roots/", "elicitation/", "tasks/", "server/"),
)
_RESULT_KEYS = frozenset({"content", "structuredContent", "isError", "resultType"})

Object = Mapping[str, Any]


class Mcp(Dialect):
    """JSON-RPC messages; by name also the params alone, results alone, and content of sampling."""

    name = "mcp"
    abilities = CALLS
    keys = frozenset({"jsonrpc", "toolUseId", "stopReason"})
    limits = Limits(name=re.compile(r"[A-Za-z0-9._-]{1,128}"))

    def recognises(self, item: Any) -> bool:
        """By JSON-RPC with a method or a result of this protocol, or by what only its sampling says."""
        if not isinstance(item, dict):
            return False
        if "jsonrpc" in item:
            return _is_message(item)
        if item.get("type") == "tool_result":
            return "toolUseId" in item
        return isinstance(item.get("role"), str) and "model" in item and any(map(_is_use, _blocks(item)))

    def read(self, item: Any, into: Assembly) -> None:
        """A request, a response, the params or the result of one alone, or a message of sampling."""
        if not isinstance(item, dict):
            raise Unreadable("unrecognised_format: mcp has JSON-RPC messages, and this is no object")
        if "jsonrpc" in item:
            _read_message(item, into)
        elif item.get("type") in ("tool_use", "tool_result"):
            into.bare = item["type"] == "tool_use"
            _read_block(item, into)
        elif isinstance(item.get("role"), str):
            _read_blocks(item, into)
        elif isinstance(item.get("name"), str):
            into.bare = True
            into.call(item["name"], item.get("arguments"), extra=_version_of(item))
        elif _RESULT_KEYS & item.keys():
            _read_result(None, item, into)
        else:
            raise Unreadable(
                "unrecognised_format: mcp has JSON-RPC messages, or what is in one: params {name, arguments}, "
                "a result {content, …}, or content of the type tool_use"
            )

    def compose(self, calls: Sequence[AskedCall]) -> list[dict[str, Any]]:
        """One request a call; those without an id are params alone, those of sampling its content."""
        return [_composed(call) for call in calls]

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """A response to each request, content to sampling, and to params alone the result."""
        rendered = [_rendered(answer) for answer in answers]
        return rendered if many else rendered[0]

    def define(self, tool: Tool) -> dict[str, Any]:
        """The tool as a server lists it, with its schemas as they are."""
        schema = tool.input_schema
        definition: dict[str, Any] = {"name": name_for(tool)}
        if tool.display_name:
            definition["title"] = tool.display_name
        definition["description"] = tool.description or ""
        definition["inputSchema"] = schema if schema.get("type") == "object" else {**schema, "type": "object"}
        if tool.output_schema is not None and tool.output_schema.get("type") == "object":
            definition["outputSchema"] = tool.output_schema
        hints = _hints(tool)
        return {**definition, "annotations": hints} if hints else definition


def _is_message(item: Object) -> bool:
    method, result = item.get("method"), item.get("result")
    if isinstance(method, str):
        return method.startswith(_METHODS)
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
        extra = {**_version_of(params), "rpc_id": identity} if is_id else _version_of(params)
        into.call(params["name"], params.get("arguments"), identity, extra=extra)
    elif item.get("method") == "sampling/createMessage":
        messages = params.get("messages")
        for message in messages if isinstance(messages, list) else ():
            _read_blocks(message, into)
    elif isinstance(error, dict):
        into.answer(identity, error=checked_text(error.get("message")) or "The request failed")
    elif isinstance(result, dict) and isinstance(result.get("role"), str):
        _read_blocks(result, into)
    elif isinstance(result, dict):
        _read_result(identity, result, into)


def _read_result(identity: Any, result: Object, into: Assembly) -> None:
    if result.get("resultType", "complete") == "complete" and ("content" in result or "structuredContent" in result):
        output, error = _ended(result)
        into.answer(identity, output, error=error)


def _read_blocks(message: Any, into: Assembly) -> None:
    may_call = is_models(dict_of(message).get("role"))
    for block in _blocks(message):
        if isinstance(block, dict) and (may_call or not _is_use(block)):
            _read_block(block, into)


def _read_block(block: Object, into: Assembly) -> None:
    if _is_use(block):
        into.call(block.get("name", ""), block.get("input"), block.get("id"), extra={"sampling": True})
    elif block.get("type") == "tool_result":
        output, error = _ended(block)
        into.answer(block.get("toolUseId"), output, error=error)


def _blocks(message: Any) -> list[Any]:
    """What a message of sampling holds: one block, or several."""
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else [content]


def _is_use(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_use"


def _ended(result: Object) -> tuple[Any, str | None]:
    """The output or the error in a result: what is structured, else what its only text holds, else its content."""
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    texts = [block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)]
    if result.get("isError") is True:
        return ABSENT, "\n".join(texts) or "The tool failed and did not say why"
    if "structuredContent" in result:
        return result["structuredContent"], None
    return (value_of(texts[0]), None) if len(texts) == len(blocks) == 1 else ({"content": blocks}, None)


def _version_of(params: Object) -> Mapping[str, Any]:
    meta = params.get("_meta")
    version = meta.get(_VERSION) if isinstance(meta, dict) else None
    return {"protocol_version": version} if isinstance(version, str) else NOTHING


def _composed(call: AskedCall) -> dict[str, Any]:
    given = call.arguments.text if isinstance(call.arguments, Malformed) else call.arguments or {}
    if call.extra.get("sampling"):
        return {"type": "tool_use", "id": call.id, "name": call.name, "input": given}
    params: dict[str, Any] = {"name": call.name, "arguments": given}
    if "protocol_version" in call.extra:
        params["_meta"] = {_VERSION: call.extra["protocol_version"]}
    if not call.id:
        return params
    return {"jsonrpc": "2.0", "id": call.extra.get("rpc_id", call.id), "method": "tools/call", "params": params}


def _rendered(answer: Answer) -> dict[str, Any]:
    extra, result = answer.call.extra, answer.result
    if extra.get("sampling"):
        told = _result(result, extra)
        return {"type": "tool_result", "toolUseId": answer.id, "content": told["content"], "isError": told["isError"]}
    if "rpc_id" not in extra:
        return {**_result(result, extra), "resultType": "complete"}
    response = {"jsonrpc": "2.0", "id": extra["rpc_id"]}
    if result.problem is not None and result.problem.code == "tool_not_found":
        return {**response, "error": {"code": _UNKNOWN_TOOL, "message": f"Unknown tool: {answer.call.name}"}}
    return {**response, "result": {**_result(result, extra), "resultType": "complete"}}


def _result(result: ToolResult, extra: Object) -> dict[str, Any]:
    """Content, what of it is structured, and whether it is an error."""
    if result.problem is not None:
        return {"content": [{"type": "text", "text": text_of(result)}], "isError": True}
    output, blocks = result.output, blocks_of(result)
    if blocks is not None:
        structured = {"structuredContent": output["structuredContent"]} if "structuredContent" in output else {}
        return {"content": blocks, **structured, "isError": False}
    told: dict[str, Any] = {"content": [{"type": "text", "text": text_of(result)}]}
    if isinstance(output, list) and extra.get("protocol_version", "") < _ANY_STRUCTURE:
        output = {"result": output}
    if isinstance(output, dict | list):
        told["structuredContent"] = output
    return {**told, "isError": False}


def _hints(tool: Tool) -> dict[str, bool]:
    hints = {"readOnlyHint": tool.read_only, "destructiveHint": tool.destructive, "idempotentHint": tool.idempotent}
    return {name: True for name, is_so in hints.items() if is_so}
