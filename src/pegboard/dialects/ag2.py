"""AG2: events of calls and results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.dialects.base import WITHOUT_STREAM, Answer, MessagePerAnswer
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.dialects.provider_rules import PORTABLE_LIMITS
from pegboard.dialects.shared.content_blocks import result_to_text
from pegboard.dialects.shared.function_calls import (
    arguments_to_json,
    dict_or_empty,
    filter_dicts,
    first_dict,
)
from pegboard.model.json_text import json_text

_CALL_EVENT, _CALLS_EVENT, _BUILTIN_CALL_EVENT = "ToolCallEvent", "ToolCallsEvent", "BuiltinToolCallEvent"
_RESULT_EVENT, _ERROR_EVENT, _RESULTS_EVENT = "ToolResultEvent", "ToolErrorEvent", "ToolResultsEvent"
# A call that the client runs; it has the fields of other calls.
_CLIENT_CALL_EVENT = "ClientToolCallEvent"
_ERROR_EVENT_TYPES = frozenset({_ERROR_EVENT, "ToolNotFoundEvent"})
_EVENT_TYPES = _ERROR_EVENT_TYPES | {
    _CALL_EVENT,
    _CLIENT_CALL_EVENT,
    _CALLS_EVENT,
    _BUILTIN_CALL_EVENT,
    _RESULT_EVENT,
    "BuiltinToolResultEvent",
    _RESULTS_EVENT,
}
# Keys of AG2's serialisation: the class of a nested event, of an exception and of a data class.
_EVENT_CLASS_KEY, _EXCEPTION_CLASS_KEY, _DATACLASS_KEY = "__event__", "__exception__", "__dataclass__"
_MESSAGE_KEYS = {"role", "content"}


class AG2(MessagePerAnswer):
    """Events identified by type: `ToolCallEvent`, `ToolCallsEvent`, and `ToolResultEvent` for each answer."""

    name = "ag2"
    expected = f"an event whose 'type' is one of {', '.join(sorted(_EVENT_TYPES))}"
    keys = frozenset({"vendor_metadata", "calls", "parent_id", "results", _EVENT_CLASS_KEY})
    limits = PORTABLE_LIMITS
    abilities = (*WITHOUT_STREAM[:1], "stream", *WITHOUT_STREAM[1:])

    def recognises(self, item: Any) -> bool:
        """Recognise an event of a call or a result."""
        return isinstance(item, dict) and _get_event_type(item) in _EVENT_TYPES

    def read(self, item: Any, into: Assembly) -> None:
        """Read one event; a history message with only text has no calls."""
        if isinstance(item, dict) and item.keys() == _MESSAGE_KEYS:
            return
        if not self.recognises(item):
            raise self.make_unreadable_error(item)
        kind = _get_event_type(item)
        if kind in (_CALL_EVENT, _CLIENT_CALL_EVENT):
            into.bare = True
            _read_call(item, into)
        elif kind == _BUILTIN_CALL_EVENT:
            _read_call(item, into, provider_executed=True)
        elif kind == _CALLS_EVENT:
            for call in filter_dicts(item.get("calls")):
                _read_call(call, into, provider_executed=_get_event_type(call) == _BUILTIN_CALL_EVENT)
        elif kind == _RESULTS_EVENT:
            for result in filter_dicts(item.get("results")):
                _read_result(result, into)
        else:
            _read_result(item, into)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        return {"type": _CALLS_EVENT, "calls": [_compose_call(call) for call in calls]}

    def render_one(self, answer: Answer) -> dict[str, Any]:
        head = {"parent_id": answer.id, "name": answer.name}
        if answer.result.problem is None:
            return {"type": _RESULT_EVENT, **head, "result": {"parts": [_write_input(answer.result.output)]}}
        message = result_to_text(answer.result)
        error = {_EXCEPTION_CLASS_KEY: "Exception", "message": message}
        return {"type": _ERROR_EVENT, **head, "error": error, "result": {"parts": [_write_input(message)]}}


def _get_event_type(item: dict[str, Any]) -> str:
    """Return the class of an event, from `type` or `__event__`; an outer event may have neither."""
    kind = item.get("type", item.get(_EVENT_CLASS_KEY))
    if isinstance(kind, str):
        return kind.rpartition(".")[2]
    for key, name in (("calls", _CALLS_EVENT), ("results", _RESULTS_EVENT)):
        if _EVENT_CLASS_KEY in first_dict(item.get(key)):
            return name
    return ""


def _read_call(item: dict[str, Any], into: Assembly, *, provider_executed: bool = False) -> None:
    into.call(item.get("name", ""), item.get("arguments"), item.get("id"), provider_executed=provider_executed)


def _read_result(item: dict[str, Any], into: Assembly) -> None:
    result = _get_result_value(item.get("result"))
    if _get_event_type(item) in _ERROR_EVENT_TYPES:
        error = _get_error_message(item.get("error")) or result
        text = error if isinstance(error, str) else json_text(error)
        into.answer(item.get("parent_id"), ABSENT, error=text, name=item.get("name"))
    else:
        into.answer(item.get("parent_id"), result, name=item.get("name"))


def _get_error_message(error: Any) -> Any:
    """Return the message of a serialised exception, or its class if the message is empty; other values unchanged."""
    if not isinstance(error, dict) or _EXCEPTION_CLASS_KEY not in error:
        return error
    return error.get("message") or error[_EXCEPTION_CLASS_KEY]


def _get_result_value(result: Any) -> Any:
    """Return the data of a result's only part, or a list with the data of all parts."""
    fields = dict_or_empty(result)
    parts = (dict_or_empty(fields.get("data")) if _DATACLASS_KEY in fields else fields).get("parts")
    if not isinstance(parts, list):
        return result
    values = [
        part.get("data", part.get("content", part.get("text", part))) if isinstance(part, dict) else part
        for part in parts
    ]
    return values[0] if len(values) == 1 else values


def _compose_call(call: AskedCall) -> dict[str, Any]:
    made: dict[str, Any] = {"vendor_metadata": {}, "source": None, "id": call.id, "name": call.name}
    kind = _BUILTIN_CALL_EVENT if call.provider_executed else _CALL_EVENT
    return {"type": kind, **made, "arguments": arguments_to_json(call)}


def _write_input(value: Any) -> dict[str, Any]:
    """Return a model input: AG2 has one type for text and one for other data."""
    return {"type": "TextInput", "content": value} if isinstance(value, str) else {"type": "DataInput", "data": value}
