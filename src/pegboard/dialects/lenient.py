"""Calls of any shape in one, for memory and display: nothing is refused here, only execution refuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pegboard.core.call import Malformed
from pegboard.core.ids import new_id
from pegboard.core.refusals import Invalid
from pegboard.dialects.asked import ABSENT, AskedCall
from pegboard.dialects.catalog import dialects
from pegboard.dialects.dialects import Dialects
from pegboard.dialects.mastra import direct_of, is_call
from pegboard.dialects.reading import arguments_of

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class NormalizedToolCall:
    """A call in the one shape.

    Arguments that cannot be read leave `args` empty, and `raw_arguments` is their text; it is None for all others.
    """

    id: str
    tool_name: str
    args: Mapping[str, Any]
    result: Any = None
    raw_arguments: str | None = None


def normalize_tool_call(tool_call: Any) -> NormalizedToolCall:
    """The call in the one shape, the first where it holds several; what it lacks is made up.

    No id becomes a new one, no name `unknown`, and no arguments become `{}`.
    """
    calls = _calls_of(tool_call) or [AskedCall("", {})]
    return _normalised(calls[0])


def normalize_tool_calls(tool_calls: Any) -> list[NormalizedToolCall]:
    """Every call of a list in the one shape, in order; also of items that hold several, such as messages."""
    return [_normalised(call) for item in _items(tool_calls) for call in _calls_of(item)]


def map_tool_calls_for_memory(raw_tool_calls: Any) -> list[dict[str, Any]]:
    """The calls of a list as memory keeps them: `{id, name, arguments, result?, raw_arguments?}`."""
    return [_remembered(call) for item in _items(raw_tool_calls) for call in _calls_of(item)]


def _items(tool_calls: Any) -> Iterable[Any]:
    if tool_calls is None:
        return ()
    return tool_calls if isinstance(tool_calls, list | tuple) else (tool_calls,)


def _calls_of(item: Any) -> list[AskedCall]:
    if not isinstance(item, dict):
        return [AskedCall("", {})]
    # Mastra's three forms go by their own priorities, whatever else is in them.
    if not is_call(item) or item.get("type") not in (None, "tool-call"):
        try:
            return list(_known().read(item).calls)
        except Invalid:
            pass
    call = direct_of(item)
    return [AskedCall(call.name, arguments_of(call.arguments), call.id, call.result)]


def _normalised(call: AskedCall) -> NormalizedToolCall:
    kept = _remembered(call)
    return NormalizedToolCall(
        kept["id"], kept["name"], kept["arguments"], kept.get("result"), kept.get("raw_arguments")
    )


def _remembered(call: AskedCall) -> dict[str, Any]:
    arguments = call.arguments
    is_malformed = isinstance(arguments, Malformed)
    kept: dict[str, Any] = {
        "id": call.id or f"call_{new_id().replace('-', '')}",
        "name": call.name or UNKNOWN,
        "arguments": {} if is_malformed else arguments or {},
    }
    if call.error is not None:
        kept["result"] = {"error": call.error}
    elif call.result is not ABSENT:
        kept["result"] = call.result
    if is_malformed:
        kept["raw_arguments"] = arguments.text
    return kept


@cache
def _known() -> Dialects:
    return dialects()
