"""What a tool of an MCP server answered, as the output of a tool of this board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import orjson

from pegboard.core.errors import ExecutionFailed

_MOST_SAID = 2000


def output_of(
    result: Mapping[str, Any], *, response: Literal["auto", "full"] = "auto", has_output_schema: bool = False
) -> Any:
    """Structured content or plain text where that is the whole answer, else every block as MCP writes it.

    An answer that says it is an error is raised as ExecutionFailed, with its own text.
    """
    content: Sequence[Mapping[str, Any]] = result.get("content") or []
    if result.get("isError"):
        raise ExecutionFailed(_said(content))
    structured = result.get("structuredContent")
    if response == "auto":
        if "structuredContent" in result:
            if has_output_schema or _says_only(content, structured):
                return structured
        elif len(content) == 1 and content[0].get("type") == "text":
            return content[0].get("text", "")
    whole: dict[str, Any] = {"content": content}
    if "structuredContent" in result:
        whole["structuredContent"] = structured
    return whole


def _says_only(content: Sequence[Mapping[str, Any]], structured: Any) -> bool:
    """Whether the blocks hold nothing that the structured content does not."""
    if not content:
        return True
    if len(content) == 1:
        return content[0].get("type") == "text" and _same(content[0].get("text", ""), structured)
    # Servers write each element of a list as a block of its own.
    items = _bare(structured)
    return (
        isinstance(items, list)
        and len(items) == len(content)
        and all(
            block.get("type") == "text" and _same(block.get("text", ""), item)
            for block, item in zip(content, items, strict=True)
        )
    )


def _same(text: str, structured: Any) -> bool:
    bare = _bare(structured)
    if text == bare:
        return True
    try:
        # As text: True equals 1 in Python, never in JSON.
        read = orjson.dumps(orjson.loads(text), option=orjson.OPT_SORT_KEYS)
        return any(read == orjson.dumps(value, option=orjson.OPT_SORT_KEYS) for value in (structured, bare))
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return False


def _bare(structured: Any) -> Any:
    """The value itself, where a server had to wrap it because structured content was an object once."""
    if isinstance(structured, dict) and structured.keys() == {"result"}:
        return structured["result"]
    return structured


def _said(content: Sequence[Mapping[str, Any]]) -> str:
    texts = [block["text"] for block in content if block.get("type") == "text" and isinstance(block.get("text"), str)]
    said = "\n".join(texts).strip()
    if not said:
        return "The tool failed and did not say why"
    return said if len(said) <= _MOST_SAID else said[: _MOST_SAID - 1] + "…"
