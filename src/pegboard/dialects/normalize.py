"""Normalise calls of any dialect for storage and display; nothing is rejected here, only execution rejects calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pegboard.dialects.catalog import load_dialects
from pegboard.dialects.detect import Dialects
from pegboard.dialects.mastra import is_mastra_call, read_call_fields
from pegboard.dialects.memory_form import UNKNOWN_TOOL_NAME
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.json_schema.arguments_text import parse_arguments
from pegboard.model.api_errors import Invalid
from pegboard.model.call import Malformed
from pegboard.model.ids import make_call_id, new_id


@dataclass(frozen=True, slots=True)
class NormalizedToolCall:
    """A call in normalised form.

    If the arguments cannot be parsed, `args` is empty and `raw_arguments` is their text; otherwise `raw_arguments` is
    None.
    """

    id: str
    tool_name: str
    args: Mapping[str, Any]
    result: Any = None
    raw_arguments: str | None = None


def normalize_tool_call(tool_call: Any) -> NormalizedToolCall:
    """Return the call, or the first of several, in normalised form; missing fields get defaults.

    A missing id becomes a new one, a missing name `unknown`, and missing arguments `{}`.
    """
    calls = _read_calls(tool_call) or [AskedCall("", {})]
    return _normalize_call(calls[0])


def normalize_tool_calls(tool_calls: Any) -> list[NormalizedToolCall]:
    """Return all calls of a list in normalised form, in order, including those of items such as messages."""
    return [_normalize_call(call) for item in _as_items(tool_calls) for call in _read_calls(item)]


def map_tool_calls_for_memory(raw_tool_calls: Any) -> list[dict[str, Any]]:
    """Return the calls of a list in memory form: `{id, name, arguments, result?, raw_arguments?}`."""
    return [_to_memory_form(call) for item in _as_items(raw_tool_calls) for call in _read_calls(item)]


def _as_items(tool_calls: Any) -> Iterable[Any]:
    if tool_calls is None:
        return ()
    return tool_calls if isinstance(tool_calls, list | tuple) else (tool_calls,)


def _read_calls(item: Any) -> list[AskedCall]:
    if not isinstance(item, dict):
        return [AskedCall("", {})]
    # Mastra's three forms have their own precedence of fields, so other dialects are not tried on them.
    if not is_mastra_call(item) or item.get("type") not in (None, "tool-call"):
        try:
            return list(_get_dialects().read(item).calls)
        except Invalid:
            pass
    call = read_call_fields(item)
    return [AskedCall(call.name, parse_arguments(call.arguments), call.id, call.result)]


def _normalize_call(call: AskedCall) -> NormalizedToolCall:
    kept = _to_memory_form(call)
    return NormalizedToolCall(
        kept["id"], kept["name"], kept["arguments"], kept.get("result"), kept.get("raw_arguments")
    )


def _to_memory_form(call: AskedCall) -> dict[str, Any]:
    arguments = call.arguments
    is_malformed = isinstance(arguments, Malformed)
    kept: dict[str, Any] = {
        "id": call.id or make_call_id(new_id()),
        "name": call.name or UNKNOWN_TOOL_NAME,
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
def _get_dialects() -> Dialects:
    return load_dialects()
