"""What a model is told of a call's end: text, or blocks of content where a provider takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.core.call import ToolResult

_KINDS = frozenset({"text", "image", "audio", "resource", "resource_link"})


def text_of(result: ToolResult) -> str:
    """The output as text: a string as it is, anything else as JSON; of a failure, its message."""
    if result.problem is not None:
        return result.problem.message
    text = result.output_json.decode()
    if text[:1] == '"':
        told: str = result.output
        return told
    return text


def blocks_of(result: ToolResult) -> list[Mapping[str, Any]] | None:
    """The blocks of an output that is content as MCP writes it, or None where it is plain data."""
    if result.problem is not None or not result.output_json.startswith(b'{"content":['):
        return None
    blocks: list[Mapping[str, Any]] = result.output["content"]
    known = all(isinstance(block, dict) and block.get("type") in _KINDS for block in blocks)
    return blocks if blocks and known else None


def described(block: Mapping[str, Any]) -> str:
    """A block in words, for who can only read."""
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", ""))
    if kind == "resource" and isinstance(block.get("resource"), dict):
        inner = block["resource"]
        return str(inner["text"]) if "text" in inner else f"[resource {inner.get('uri', '')}]"
    if kind == "resource_link":
        return f"[link {block.get('uri', '')}]"
    return f"[{kind} {block.get('mimeType', '')}]"
