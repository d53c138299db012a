"""The result of a call as MCP returns it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from pegboard.dialects.shared.content_blocks import get_content_blocks
from pegboard.model.call import ToolResult
from pegboard.model.call_errors import ExecutionFailed
from pegboard.model.json_text import json_text
from pegboard.model.mcp_exchange import McpExchange
from pegboard.registry.snapshot import Snapshot
from pegboard.surfaces.mcp.protocol import EXECUTION_KEY, SERVER_INFO_KEY, MethodResult, Revision

_EXECUTION_META = b'"' + EXECUTION_KEY.encode() + b'":"'
# Members of a result that the board sets itself.
_OWN_MEMBERS = frozenset({"_meta", "resultType", "ttlMs", "cacheScope"})


def encode_tool_result(
    result: ToolResult, revision: Revision, snapshot: Snapshot, exchange: McpExchange
) -> MethodResult:
    """Return the content, the structured content if the output is JSON, and whether the call failed.

    The result of another MCP server is returned as it is. A string is structured content only if the tool has an
    output schema.
    """
    meta = encode_execution_meta(result)
    if exchange.result is not None and _is_of_exchange(result, exchange.result):
        return _encode_upstream_result(exchange.result, meta, revision)
    if result.problem is not None:
        return MethodResult(_encode_text(result.problem.message) + b',"isError":true', meta)
    blocks = get_content_blocks(result)
    if blocks is not None:
        members = b'"content":' + json_text(blocks).encode()
        if "structuredContent" in result.output:
            structured = result.output["structuredContent"]
            if revision.is_stateless or isinstance(structured, dict):
                members += b',"structuredContent":' + json_text(structured).encode()
        return MethodResult(members + b',"isError":false', meta)
    output = result.output_json
    if output.startswith(b'"'):
        members = b'"content":[{"type":"text","text":' + output + b"}]"
        has_structure = revision.is_stateless and _has_output_schema(result, snapshot)
    else:
        members = _encode_text(output.decode())
        has_structure = revision.is_stateless or output.startswith(b"{")
    if has_structure:
        members += b',"structuredContent":' + output
    return MethodResult(members + b',"isError":false', meta)


def encode_execution_meta(result: ToolResult) -> bytes:
    """Return the member of `_meta` with the id of the journal row."""
    return _EXECUTION_META + result.run_id.encode() + b'"'


def _is_of_exchange(result: ToolResult, returned: Mapping[str, Any]) -> bool:
    """True if the call ended with this result of another server, and not with a fallback or an error of the board."""
    if result.problem is None:
        return not result.fallback and not returned.get("isError")
    return result.problem.code == ExecutionFailed.code and bool(returned.get("isError"))


def _encode_upstream_result(returned: Mapping[str, Any], meta: bytes, revision: Revision) -> MethodResult:
    """Return the members as another server sent them; those that belong to one connection are our own."""
    members = {"content": [], **returned, "isError": bool(returned.get("isError"))}
    structured = members.get("structuredContent")
    if not revision.is_stateless and "structuredContent" in members and not isinstance(structured, dict):
        # In this revision, structured content is an object; other values are returned as text.
        del members["structuredContent"]
        members["content"] = members["content"] or [{"type": "text", "text": json_text(structured)}]
    encoded, theirs = encode_upstream_members(members)
    return MethodResult(encoded, meta + b"," + theirs if theirs else meta)


def encode_upstream_members(returned: Mapping[str, Any]) -> tuple[bytes, bytes]:
    """Return the members of another server's result and those of its `_meta`, as far as the board has no own ones."""
    members = {name: value for name, value in returned.items() if name not in _OWN_MEMBERS}
    theirs = returned.get("_meta")
    kept: dict[str, Any] = {}
    if isinstance(theirs, dict):
        kept = {name: value for name, value in theirs.items() if name not in (SERVER_INFO_KEY, EXECUTION_KEY)}
    return json_text(members).encode()[1:-1], json_text(kept).encode()[1:-1]


def _has_output_schema(result: ToolResult, snapshot: Snapshot) -> bool:
    compiled = snapshot.find(result.tool_name)
    return compiled is not None and compiled.tool.output_schema is not None


def _encode_text(text: str) -> bytes:
    try:
        return b'"content":[{"type":"text","text":' + orjson.dumps(text) + b"}]"
    except TypeError:  # half of a surrogate pair, in the message of a tool
        return b'"content":[{"type":"text","text":' + json_text(text).encode() + b"}]"
