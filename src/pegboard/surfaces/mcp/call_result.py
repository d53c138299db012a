"""The result of a call as MCP returns it."""

from __future__ import annotations

import orjson

from pegboard.dialects.shared.content_blocks import get_content_blocks
from pegboard.model.call import ToolResult
from pegboard.model.json_text import json_text
from pegboard.registry.snapshot import Snapshot
from pegboard.surfaces.mcp.protocol import EXECUTION_KEY, MethodResult, Revision

_EXECUTION_META = b'"' + EXECUTION_KEY.encode() + b'":"'


def encode_tool_result(result: ToolResult, revision: Revision, snapshot: Snapshot) -> MethodResult:
    """Return the content, the structured content if the output is JSON, and whether the call failed.

    A string is structured content only if the tool has an output schema.
    """
    meta = _EXECUTION_META + result.run_id.encode() + b'"'
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


def _has_output_schema(result: ToolResult, snapshot: Snapshot) -> bool:
    compiled = snapshot.find(result.tool_name)
    return compiled is not None and compiled.tool.output_schema is not None


def _encode_text(text: str) -> bytes:
    try:
        return b'"content":[{"type":"text","text":' + orjson.dumps(text) + b"}]"
    except TypeError:  # half of a surrogate pair, in the message of a tool
        return b'"content":[{"type":"text","text":' + json_text(text).encode() + b"}]"
