"""Render one result in a dialect."""

from __future__ import annotations

from typing import Any

from pegboard import ToolResult
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.parsed_calls import AskedCall


def answer_of(result: ToolResult, call: AskedCall | None = None) -> Answer:
    """Return the answer to a call that was made by name only."""
    return Answer(call or AskedCall(result.tool_name, {}, result.call_id or ""), result)


def rendered(dialect: Dialect, result: ToolResult) -> Any:
    """Return the result as the dialect writes it."""
    return dialect.render((answer_of(result),), many=False)
