"""Definitions of functions as OpenAI takes them, and those under which it holds the model to the schema."""

from __future__ import annotations

from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.adapting import flat_root, strict_schema, with_items
from pegboard.dialects.parts.defining import function_for, without_draft


def openai_function_for(tool: Tool) -> dict[str, Any]:
    """`{name, description, parameters}`: one object at the root of the schema, and items in every array."""
    return function_for(tool) | {"parameters": without_draft(with_items(flat_root(tool.input_schema)))}


def strict_function_for(tool: Tool) -> dict[str, Any]:
    """`{name, description, parameters, strict}`: strict where the schema can be said that way, else as it is."""
    strict = strict_schema(tool.input_schema)
    function = openai_function_for(tool)
    return function | {"strict": False} if strict is None else function | {"parameters": strict, "strict": True}
