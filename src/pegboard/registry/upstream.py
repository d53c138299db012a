"""Tools of another MCP server, described as tools of this board."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from pegboard.core.tool import Tool
from pegboard.executors.mcp.upstream import UpstreamTool, program_of
from pegboard.registry.openapi.naming import TAG_LENGTH, valid_name
from pegboard.registry.openapi.texts import cut_readably
from pegboard.registry.taking import LeftOut
from pegboard.registry.wide_integers import Note, fit_schema

# How each of the upstream's hints reads on this board.
_HINTS = {"readOnlyHint": "read_only", "idempotentHint": "idempotent", "destructiveHint": "destructive"}


def definition_from(
    found: UpstreamTool, config: Mapping[str, Any], prefix: str = "", note: Note = lambda _text: None
) -> dict[str, Any]:
    """The definition of a tool that calls this one, pinned to its current definition; `note` gets schema changes."""
    hints = {name: bool(found.annotations.get(hint)) for hint, name in _HINTS.items()}
    if hints["read_only"]:
        hints["destructive"] = False
    title = found.title or found.annotations.get("title")
    return {
        "name": valid_name(prefix + found.name),
        "description": cut_readably(found.description, 2000) if found.description else None,
        "display_name": cut_readably(title, 255) if isinstance(title, str) and title else None,
        "tool_type": "mcp",
        "config": {**config, "tool": found.name, "pinned": found.digest},
        "input_schema": stamped(fit_schema(found.input_schema, note)),
        "output_schema": stamped(fit_schema(found.output_schema, note)) if found.output_schema is not None else None,
        **hints,
    }


def source_tag(config: Mapping[str, Any]) -> str:
    """The tag of all tools that are imported from this server: `mcp:HOST`, or `mcp:PROGRAM` for a command."""
    if config.get("server_url") is not None:
        name = urlsplit(str(config["server_url"])).netloc
    else:
        name = program_of(config["command"])
    return f"mcp:{name}"[:TAG_LENGTH]


class Wanted:
    """Which of a server's tools are wanted: those that one of some patterns names, or all if there are none."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = list(dict.fromkeys(patterns))
        self._used: set[str] = set()

    def __call__(self, found: UpstreamTool) -> bool:
        """Whether this one is."""
        fitting = [each for each in self._patterns if fnmatch.fnmatchcase(found.name.lower(), each.lower())]
        self._used.update(fitting)
        return bool(fitting) or not self._patterns

    def unused(self) -> list[LeftOut]:
        """The patterns that named none."""
        return [
            LeftOut(each, "the server offers no tool of a name like this")
            for each in self._patterns
            if each not in self._used
        ]


def same_upstream(tool: Tool, config: Mapping[str, Any]) -> bool:
    """Whether the tool was taken on from the server that this config reaches."""
    mine = tool.config
    return mine.get("pinned") is not None and all(mine.get(key) == config.get(key) for key in ("server_url", "command"))


def stamped(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema, said to be of the draft that MCP means where it does not say."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
