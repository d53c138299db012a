"""A tool as one short row of a list: without schemas and config, in at most 300 bytes of JSON."""

from __future__ import annotations

from typing import Any

import orjson

from pegboard.json_schema.value_text import shorten
from pegboard.model.tool import Tool

MAX_SUMMARY_BYTES = 300


def build_tool_summary(tool: Tool) -> dict[str, Any]:
    """Return the row. Fields with their default are absent; tags, then the description are cut, never the name."""
    row = {
        "id": tool.id,
        "name": tool.name,
        "tool_type": str(tool.tool_type),
        "owner_id": tool.owner_id,
        "version": tool.version,
        "updated_at": tool.updated_at.replace(microsecond=0),
        **({} if tool.is_active else {"is_active": False}),
        **{name: True for name in ("is_public", "drifted", "is_deleted") if getattr(tool, name)},
    }
    tags: list[str] = []
    for tag in tool.tags:
        if _measure({**row, "tags": [*tags, tag]}) > MAX_SUMMARY_BYTES:
            break
        tags.append(tag)
    if tags:
        row["tags"] = tags
    text = " ".join((tool.description or "").split())
    room = MAX_SUMMARY_BYTES - _measure({**row, "description": ""})
    if text and room > 0 and (description := _cut(text, room)):
        row["description"] = description
    return row


def _measure(value: Any) -> int:
    return len(orjson.dumps(value))


def _cut(text: str, room: int) -> str:
    """Return the beginning of the text that takes at most this many bytes within a JSON string."""
    most = min(len(text), room)
    while most > 0 and _measure(shown := shorten(text, most)) - 2 > room:
        most -= max(1, (_measure(shown) - 2 - room) // 6)
    return shown if most > 0 else ""
