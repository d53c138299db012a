"""Definitions under which OpenAI holds the model to the schema."""

from __future__ import annotations

from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.adapting import strict_schema
from pegboard.dialects.parts.defining import function_for


def strict_function_for(tool: Tool) -> dict[str, Any]:
    """`{name, description, parameters, strict}`: strict where the schema can be said that way, else as it is."""
    strict = strict_schema(tool.input_schema)
    function = function_for(tool)
    return function | {"strict": False} if strict is None else function | {"parameters": strict, "strict": True}
