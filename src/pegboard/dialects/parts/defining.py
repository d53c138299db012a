"""What definitions of tools have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.adapting import flat_root, with_items
from pegboard.dialects.adapting.root import REFUSED
from pegboard.dialects.limits import Limits

# What some provider or other refuses, so that no definition has it that may be handed to any.
PORTABLE = Limits(root=REFUSED, needs_items=True)


def name_for(tool: Tool) -> str:
    """The name a provider is given: the tool's own, or its alias where that would not fit."""
    return tool.alias or tool.name


def schema_for(tool: Tool) -> dict[str, Any]:
    """The tool's input schema as every provider takes it: one object at the root, items in every array, no draft."""
    return without_draft(with_items(flat_root(tool.input_schema)))


def without_draft(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema without the mark of its draft, always of an object; what adapts a schema must have seen the mark."""
    bare = {key: value for key, value in schema.items() if key != "$schema"}
    return bare if bare.get("type") == "object" else {"type": "object", "properties": {}, **bare}


def function_for(tool: Tool) -> dict[str, Any]:
    """`{name, description, parameters}`, which most providers wrap one way or another."""
    return {"name": name_for(tool), "description": tool.description or "", "parameters": schema_for(tool)}


def wrapped_function_for(tool: Tool) -> dict[str, Any]:
    """`{type: function, function: {name, description, parameters}}`."""
    return {"type": "function", "function": function_for(tool)}
