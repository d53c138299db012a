"""The additional members of an imported tool's definition that only MCP clients see."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pegboard.json_schema.wide_integers import AddNote
from pegboard.model.json_text import json_text
from pegboard.model.tool import Tool

if TYPE_CHECKING:
    from pegboard.kinds.mcp.upstream import UpstreamTool

# MCP's hints and the corresponding fields of a definition.
HINTS = {"readOnlyHint": "read_only", "idempotentHint": "idempotent", "destructiveHint": "destructive"}
# Limits for what is stored only for MCP clients, such as icons.
MAX_LISTED_CHARS = 32_768
MAX_LISTED_MEMBERS = 32


def select_listed_members(found: UpstreamTool, note: AddNote) -> dict[str, Any]:
    """Return the members of the definition that only MCP clients see; `note` gets the names of dropped ones."""
    members = {"annotations": found.annotations, **found.others}
    theirs = members["annotations"] or {}
    if all(name in HINTS and value is True for name, value in theirs.items()):
        del members["annotations"]  # the fields of the tool have them
    listed: dict[str, Any] = {}
    for name, value in members.items():
        text = json_text(value)
        if len(text) > MAX_LISTED_CHARS:
            note(f"'{name}' is not listed: it has more than {MAX_LISTED_CHARS:,} characters")
        elif "{{" in text or "{{" in name:
            note(f"'{name}' is not listed: it holds '{{{{', which would refer to a secret of yours")
        elif len(listed) < MAX_LISTED_MEMBERS:
            listed[name] = json.loads(text)
    return listed


def list_mcp_members(tool: Tool) -> dict[str, Any]:
    """Return the members with which MCP lists an imported tool, beside those of every tool of the board."""
    listed = tool.config.get("listed")
    if not isinstance(listed, dict):
        return {}
    members = dict(listed)
    theirs = members.pop("annotations", {})
    if isinstance(theirs, dict) and theirs:
        # The owner may have changed the fields of the tool after the import.
        own = {hint: getattr(tool, name) for hint, name in HINTS.items()}
        changed = {hint: value for hint, value in own.items() if value is not bool(theirs.get(hint))}
        members["annotations"] = {**theirs, **changed}
    return members
