"""What a model is told of a call's end: text, or blocks of content where a provider takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.core.call import ToolResult

# What an output has that is content, and the texts that each kind of block has.
_CONTENT = frozenset({"content", "structuredContent", "isError", "_meta"})
_KINDS: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource": (),
    "resource_link": ("uri",),
}


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
    output = result.output
    blocks: list[Mapping[str, Any]] = output["content"]
    return blocks if blocks and output.keys() <= _CONTENT and all(map(_is_block, blocks)) else None


def _is_block(block: Any) -> bool:
    """Whether this is a block with all that its kind has: what only looks like one is a tool's own data."""
    kind = block.get("type") if isinstance(block, dict) else None
    texts = _KINDS.get(kind) if isinstance(kind, str) else None
    if texts is None or not all(isinstance(block.get(key), str) for key in texts):
        return False
    return kind != "resource" or isinstance(block.get("resource"), dict)


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
