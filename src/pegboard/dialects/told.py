"""What is told of a call in texts that have no place of their own for a failure."""

from __future__ import annotations

import json

import orjson

from pegboard.core.call import ToolResult
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.base import Answer
from pegboard.dialects.content import blocks_of, described, text_of
from pegboard.dialects.function_calls import text_of_arguments


def outcome_text(result: ToolResult) -> str:
    """The output as text, or `{"error": message}`."""
    if result.problem is not None:
        return orjson.dumps({"error": result.problem.message}).decode()
    blocks = blocks_of(result)
    return text_of(result) if blocks is None else "\n".join(map(described, blocks))


def arguments_text(call: AskedCall) -> str:
    """The arguments as JSON text, also where they hold what no tool would be run with."""
    try:
        return text_of_arguments(call)
    except TypeError:  # an integer beyond 64 bits, or a depth at which the fast writer stops
        pass
    try:
        return json.dumps(call.arguments, default=str)
    except RecursionError:
        return "{}"


def name_told(answer: Answer) -> str:
    """The tool's name as the caller spelled it."""
    return answer.call.name or answer.result.tool_name
