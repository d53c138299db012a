"""AG2: the events of its calls and results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.asked import ABSENT, AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import WHOLE, Answer, Dialect
from pegboard.dialects.parts.content import text_of
from pegboard.dialects.parts.defining import PORTABLE, wrapped_function_for
from pegboard.dialects.parts.function_calls import text_of_arguments
from pegboard.dialects.parts.picking import dict_of, dicts_of, unreadable
from pegboard.store.types import json_text

_CALL, _CALLS, _BUILTIN = "ToolCallEvent", "ToolCallsEvent", "BuiltinToolCallEvent"
_RESULT, _ERROR, _RESULTS = "ToolResultEvent", "ToolErrorEvent", "ToolResultsEvent"
_TYPES = frozenset({_CALL, _CALLS, _BUILTIN, _RESULT, _ERROR, _RESULTS})
_MESSAGE = {"role", "content"}
_EXPECTED = f"an event whose 'type' is one of {', '.join(sorted(_TYPES))}"


class AG2(Dialect):
    """Events by their type: `ToolCallEvent`, `ToolCallsEvent`, and `ToolResultEvent` for each answer."""

    name = "ag2"
    keys = frozenset({"vendor_metadata", "calls", "parent_id", "results"})
    limits = PORTABLE
    abilities = (*WHOLE[:1], "stream", *WHOLE[1:])

    def recognises(self, item: Any) -> bool:
        """An event of a call or a result."""
        return isinstance(item, dict) and isinstance(item.get("type"), str) and item["type"] in _TYPES

    def read(self, item: Any, into: Assembly) -> None:
        """One event; a message of a history that holds only text has no calls."""
        if isinstance(item, dict) and item.keys() == _MESSAGE:
            return
        if not self.recognises(item):
            raise unreadable(item, self.name, _EXPECTED)
        kind = item["type"]
        if kind == _CALL:
            into.bare = True
            _read_call(item, into)
        elif kind == _BUILTIN:
            _read_call(item, into, provider_executed=True)
        elif kind == _CALLS:
            for call in dicts_of(item.get("calls")):
                _read_call(call, into, provider_executed=call.get("type") == _BUILTIN)
        elif kind == _RESULTS:
            for result in dicts_of(item.get("results")):
                _read_result(result, into)
        else:
            _read_result(item, into)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """One event with all calls."""
        return {"type": _CALLS, "calls": [_composed(call) for call in calls]}

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """An event for each answer."""
        rendered = [_rendered(answer) for answer in answers]
        return rendered if many else rendered[0]

    def define(self, tool: Tool) -> dict[str, Any]:
        """A function as the provider's model takes it."""
        return wrapped_function_for(tool)


def _read_call(item: dict[str, Any], into: Assembly, *, provider_executed: bool = False) -> None:
    into.call(item.get("name", ""), item.get("arguments"), item.get("id"), provider_executed=provider_executed)


def _read_result(item: dict[str, Any], into: Assembly) -> None:
    result = _value_of(item.get("result"))
    if item.get("type") == _ERROR:
        error = item.get("error") or item.get("content") or result
        text = error if isinstance(error, str) else json_text(error)
        into.answer(item.get("parent_id"), ABSENT, error=text, name=item.get("name"))
    else:
        into.answer(item.get("parent_id"), result, name=item.get("name"))


def _value_of(result: Any) -> Any:
    """The data of the one part of a result, or of all parts as a list."""
    parts = dict_of(result).get("parts")
    if not isinstance(parts, list):
        return result
    values = [
        part.get("data", part.get("content", part.get("text", part))) if isinstance(part, dict) else part
        for part in parts
    ]
    return values[0] if len(values) == 1 else values


def _composed(call: AskedCall) -> dict[str, Any]:
    made: dict[str, Any] = {"vendor_metadata": {}, "source": None, "id": call.id, "name": call.name}
    kind = _BUILTIN if call.provider_executed else _CALL
    return {"type": kind, **made, "arguments": text_of_arguments(call)}


def _rendered(answer: Answer) -> dict[str, Any]:
    head = {"parent_id": answer.id, "name": answer.name}
    if answer.result.problem is not None:
        message = text_of(answer.result)
        return {"type": _ERROR, **head, "error": message, "result": {"parts": [{"type": "DataInput", "data": message}]}}
    return {"type": _RESULT, **head, "result": {"parts": [{"type": "DataInput", "data": answer.result.output}]}}
