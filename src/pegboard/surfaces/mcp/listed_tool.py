"""One tool as MCP lists it, in both revisions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from pegboard.dialects.base import Dialect
from pegboard.model.json_text import json_text
from pegboard.model.tool import Tool
from pegboard.registry.compiled_tool import CompiledTool
from pegboard.surfaces.mcp.param_headers import ParamHeader, find_param_headers
from pegboard.surfaces.mcp.schema_2020 import convert_to_2020

# The members that follow from the fields of a tool, whatever another server sends.
_OWN_MEMBERS = frozenset({"name", "title", "description", "inputSchema", "outputSchema"})


class ListedTool:
    """The definition of a tool as JSON, and the parts of its schema that its calls need."""

    __slots__ = ("digest", "name", "param_headers", "session_json", "stateless_json")

    def __init__(self, compiled: CompiledTool, dialect: Dialect) -> None:
        tool = compiled.tool
        definition: dict[str, Any] = dialect.define(tool)
        self.name: str = definition["name"]
        definition["description"] = _describe(tool)
        input_schema = convert_to_2020(definition["inputSchema"])
        definition["inputSchema"] = input_schema
        self.param_headers: tuple[ParamHeader, ...] = find_param_headers(input_schema)
        theirs = compiled.kind.list_mcp_members(tool)
        definition.update({name: value for name, value in theirs.items() if name not in _OWN_MEMBERS})
        # Only an object is structured content in the older revision, so only the schema of an object is listed there.
        definition.pop("outputSchema", None)
        output_schema = None if tool.output_schema is None else convert_to_2020(tool.output_schema)
        self.session_json = self.stateless_json = _encode(definition, output_schema)
        if output_schema is not None and output_schema.get("type") != "object":
            self.session_json = _encode(definition, None)
        self.digest = hashlib.blake2b(self.stateless_json, digest_size=16).digest()


def _encode(definition: Mapping[str, Any], output_schema: Mapping[str, Any] | None) -> bytes:
    listed = definition if output_schema is None else {**definition, "outputSchema": output_schema}
    return json_text(listed).encode()


def _describe(tool: Tool) -> str:
    """Return the description, the display name, or the words of the name."""
    for text in (tool.description, tool.display_name):
        if text and text.strip():
            return text
    return re.sub(r"[_-]+", " ", tool.name).strip() or tool.name
