"""Tools that the provider itself ran, as Groq tells of them in `executed_tools`."""

from __future__ import annotations

from typing import Any

from pegboard.dialects.asked import ABSENT
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.parts.picking import dicts_of

# Where the result is, in this order.
_RESULTS = ("output", "search_results", "code_results", "browser_results")


def read_executed_tools(tools: Any, into: Assembly) -> None:
    """Take in the tools of a whole message."""
    for tool in dicts_of(tools):
        into.call(_name(tool), tool.get("arguments"), result=_result(tool), provider_executed=True)


def read_executed_deltas(tools: Any, into: Assembly) -> None:
    """Take in the tools of one chunk: the first one of a tool has its arguments, a later one its result."""
    for place, tool in enumerate(dicts_of(tools)):
        index = tool.get("index")
        identity = f"executed_{index if isinstance(index, int) else place}"
        if not into.holds(identity):
            arguments = tool.get("arguments")
            text = arguments if isinstance(arguments, str) else ""
            into.piece(identity, text, name=_name(tool), id=identity, provider_executed=True)
        if (result := _result(tool)) is not ABSENT:
            into.answer(identity, result)


def _name(tool: dict[str, Any]) -> str:
    name = tool.get("name") or tool.get("type")
    return name if isinstance(name, str) else ""


def _result(tool: dict[str, Any]) -> Any:
    return next((tool[key] for key in _RESULTS if tool.get(key) is not None), ABSENT)
