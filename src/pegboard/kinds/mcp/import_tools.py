"""Builds tool definitions from the tools of another MCP server."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from pegboard.json_schema.wide_integers import AddNote, fit_schema
from pegboard.kinds.import_names import MAX_TAG_LENGTH, make_valid_name, shorten_text
from pegboard.kinds.mcp.upstream import UpstreamTool, describe_command
from pegboard.model.import_report import LeftOut
from pegboard.model.tool import Tool

# MCP's hints and the corresponding fields of a definition.
_HINTS = {"readOnlyHint": "read_only", "idempotentHint": "idempotent", "destructiveHint": "destructive"}


def build_definition(
    found: UpstreamTool, config: Mapping[str, Any], prefix: str = "", note: AddNote = lambda _text: None
) -> dict[str, Any]:
    """Return the definition of a tool that calls this one, pinned to its digest; `note` gets changes of the schema."""
    hints = {name: bool(found.annotations.get(hint)) for hint, name in _HINTS.items()}
    if hints["read_only"]:
        hints["destructive"] = False
    title = found.title or found.annotations.get("title")
    return {
        "name": make_valid_name(prefix + found.name),
        "description": shorten_text(found.description, 2000) if found.description else None,
        "display_name": shorten_text(title, 255) if isinstance(title, str) and title else None,
        "tool_type": "mcp",
        "config": {**config, "tool": found.name, "pinned": found.digest},
        "input_schema": stamp_schema(fit_schema(found.input_schema, note)),
        "output_schema": stamp_schema(fit_schema(found.output_schema, note))
        if found.output_schema is not None
        else None,
        **hints,
    }


def make_mcp_source_tag(config: Mapping[str, Any]) -> str:
    """Return the tag of all tools imported from this server: `mcp:HOST`, or `mcp:PROGRAM` for a command."""
    if config.get("server_url") is not None:
        name = urlsplit(str(config["server_url"])).netloc
    else:
        name = describe_command(config["command"])
    return f"mcp:{name}"[:MAX_TAG_LENGTH]


class ToolSelection:
    """Selects tools of a server by name patterns; without patterns it selects all."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = list(dict.fromkeys(patterns))
        self._used: set[str] = set()

    def __call__(self, found: UpstreamTool) -> bool:
        """True if a pattern matches this tool's name, or if there are no patterns."""
        fitting = [each for each in self._patterns if fnmatch.fnmatchcase(found.name.lower(), each.lower())]
        self._used.update(fitting)
        return bool(fitting) or not self._patterns

    def list_unused(self) -> list[LeftOut]:
        """Return the patterns that matched no tool."""
        return [
            LeftOut(each, "no tool of the server has a name like this")
            for each in self._patterns
            if each not in self._used
        ]


def is_same_upstream(tool: Tool, config: Mapping[str, Any]) -> bool:
    """True if the tool was imported from the server of this config."""
    mine = tool.config
    return mine.get("pinned") is not None and all(mine.get(key) == config.get(key) for key in ("server_url", "command"))


def stamp_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with MCP's default draft as `$schema` if it has none."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
