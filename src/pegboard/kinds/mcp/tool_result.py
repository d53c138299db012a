"""Converts the result of an MCP tool to the output of a tool of this board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import orjson

from pegboard.model.call_errors import ExecutionFailed

_MAX_ERROR_CHARS = 2000


def read_output(
    result: Mapping[str, Any], *, response: Literal["auto", "full"] = "auto", has_output_schema: bool = False
) -> Any:
    """Return the structured content or the text if that is the whole result, else all blocks as in MCP.

    Raise ExecutionFailed with the result's text if it is an error.
    """
    content: Sequence[Mapping[str, Any]] = result.get("content") or []
    if result.get("isError"):
        raise ExecutionFailed(_join_error_text(content))
    structured = result.get("structuredContent")
    if response == "auto":
        if "structuredContent" in result:
            if has_output_schema or _is_redundant(content, structured):
                return structured
        elif len(content) == 1 and content[0].get("type") == "text":
            return content[0].get("text", "")
    whole: dict[str, Any] = {"content": content}
    if "structuredContent" in result:
        whole["structuredContent"] = structured
    return whole


def _is_redundant(content: Sequence[Mapping[str, Any]], structured: Any) -> bool:
    """True if the blocks contain nothing beyond the structured content."""
    if not content:
        return True
    if len(content) == 1:
        return content[0].get("type") == "text" and _is_same_content(content[0].get("text", ""), structured)
    # Servers write each element of a list as a separate block.
    items = _unwrap_result(structured)
    return (
        isinstance(items, list)
        and len(items) == len(content)
        and all(
            block.get("type") == "text" and _is_same_content(block.get("text", ""), item)
            for block, item in zip(content, items, strict=True)
        )
    )


def _is_same_content(text: str, structured: Any) -> bool:
    bare = _unwrap_result(structured)
    if text == bare:
        return True
    try:
        # Compared as text: in Python True equals 1, in JSON it does not.
        read = orjson.dumps(orjson.loads(text), option=orjson.OPT_SORT_KEYS)
        return any(read == orjson.dumps(value, option=orjson.OPT_SORT_KEYS) for value in (structured, bare))
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return False


def _unwrap_result(structured: Any) -> Any:
    """Return the value itself if it is wrapped as {"result": …}: older protocols require an object."""
    if isinstance(structured, dict) and structured.keys() == {"result"}:
        return structured["result"]
    return structured


def _join_error_text(content: Sequence[Mapping[str, Any]]) -> str:
    texts = [block["text"] for block in content if block.get("type") == "text" and isinstance(block.get("text"), str)]
    message = "\n".join(texts).strip()
    if not message:
        return "The tool failed without an error message"
    return message if len(message) <= _MAX_ERROR_CHARS else message[: _MAX_ERROR_CHARS - 1] + "…"
