"""Cohere: chat v2, and the calls of v1 that have no ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.parts.content import blocks_of, described
from pegboard.dialects.parts.defining import PORTABLE, wrapped_function_for
from pegboard.dialects.parts.function_calls import is_function_call, read_function_calls, text_of_arguments
from pegboard.dialects.parts.held import held_in
from pegboard.dialects.parts.outputs import output_of, output_text
from pegboard.dialects.parts.picking import dict_of, dicts_of, first_of, is_models, key_of, unreadable

_DELTAS = frozenset({"message-start", "content-start", "content-delta", "tool-plan-delta"}) | {
    "tool-call-start",
    "tool-call-delta",
    "citation-start",
    "message-end",
}
_ENDS = frozenset({"content-end", "tool-call-end", "citation-end"})
_KINDS = _DELTAS | _ENDS | {"debug"}
_END_KEYS = frozenset({"type", "index"})
_V1_EVENTS = frozenset(
    {"stream-start", "stream-end", "text-generation", "tool-calls-generation", "tool-calls-chunk"}
) | {
    "search-queries-generation",
    "search-results",
    "citation-generation",
}
_V1_CALL = frozenset({"name", "parameters"})
# The model had not come to its end: a call without arguments is then not one that takes none.
_CUT_OFF = ("MAX_TOKENS", "ERROR", "TIMEOUT")
_EXPECTED = "a chat response, a message with tool_calls, a stream event, or a call {name, parameters}"


class CohereV2(Dialect):
    """Calls beside a `tool_plan`; streams that open, continue and end each call by its index."""

    name = "cohere_v2"
    limits = PORTABLE
    aliases = ("cohere",)
    keys = frozenset(
        {
            "message",
            "delta",
            "index",
            "tool_plan",
            "tool_calls",
            "tool_call_id",
            "parameters",
            "event_type",
            "tool_results",
            "outputs",
            "messages",
        }
    )

    def recognises(self, item: Any) -> bool:
        """What only Cohere writes: its events, tool_plan beside calls, finish_reason beside a message, parameters."""
        if not isinstance(item, dict):
            return False
        kind, event = item.get("type"), item.get("event_type")
        if isinstance(kind, str) or isinstance(event, str):
            return _is_event(item, kind) or (isinstance(event, str) and event in _V1_EVENTS)
        if isinstance(item.get("messages"), list):
            return any("tool_plan" in message for message in dicts_of(item["messages"]))
        if isinstance(item.get("message"), dict):
            # With an index it is a choice of a response of OpenAI or Mistral.
            return ("finish_reason" in item and "index" not in item) or "tool_plan" in item["message"]
        if item.get("role") == "tool" and isinstance(item.get("tool_call_id"), str):
            return isinstance(item.get("content"), str | list)
        first = first_of(item.get("tool_calls")) or dict_of(first_of(item.get("tool_results")).get("call"))
        return "tool_plan" in item or _is_v1_call(first or dict_of(item.get("call")) or item)

    def read(self, item: Any, into: Assembly) -> None:
        """A response, a message, an event of a stream or one call."""
        if not isinstance(item, dict):
            raise unreadable(item, self.name, _EXPECTED)
        held = held_in(into)
        results = dicts_of(item.get("tool_results")) or ([item] if "outputs" in item else [])
        if results:
            for result in results:
                call = dict_of(result.get("call"))
                name, parameters = call.get("name"), call.get("parameters")
                held.answer(into, name, result.get("outputs"), None, arguments=parameters)
            return
        held.release(into)
        if is_function_call(item):
            into.bare = True
            read_function_calls([item], into)
        elif isinstance(item.get("type"), str) and item["type"] in _KINDS:
            _read_event(item, into)
        elif isinstance(item.get("event_type"), str):
            _read_v1_event(item, into)
        elif isinstance(item.get("messages"), list):
            for message in dicts_of(item["messages"]):
                _read_message(message, into)
        elif isinstance(item.get("message"), dict):
            _read_message(item["message"], into)
        elif isinstance(item.get("role"), str) or isinstance(item.get("tool_calls"), list):
            _read_message(item, into)
        elif _is_v1_call(item):
            into.bare = True
            held.hold(item["name"], item["parameters"])
        elif "text" not in item:
            raise unreadable(item, self.name, _EXPECTED)

    def finish(self, into: Assembly) -> None:
        """The calls of v1 that nothing answered."""
        held_in(into).release(into)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """The assistant's message."""
        made = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": text_of_arguments(call)}}
            for call in calls
        ]
        return {"role": "assistant", "tool_plan": "", "tool_calls": made}

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """One message an answer: an object as a document that can be cited, anything else as text."""
        rendered = [_rendered(answer) for answer in answers]
        return rendered if many else rendered[0]

    def speak(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """The assistant's message; what it says beside calls is its plan."""
        return [{**self.compose(calls), "tool_plan": text or ""}]

    def define(self, tool: Tool) -> dict[str, Any]:
        """A function with its schema."""
        return wrapped_function_for(tool)


def _is_event(item: dict[str, Any], kind: Any) -> bool:
    if not isinstance(kind, str):
        return False
    return (kind in _DELTAS and isinstance(item.get("delta"), dict)) or (kind in _ENDS and item.keys() <= _END_KEYS)


def _is_v1_call(item: dict[str, Any]) -> bool:
    return item.keys() == _V1_CALL and isinstance(item["name"], str) and isinstance(item["parameters"], dict)


def _read_message(message: dict[str, Any], into: Assembly) -> None:
    if is_models(message.get("role")):
        held = held_in(into)
        read_function_calls(message.get("tool_calls"), into)
        for call in dicts_of(message.get("tool_calls")):
            if _is_v1_call(call):
                held.hold(call["name"], call["parameters"])
    if message.get("role") == "tool":
        result, error = output_of(_content(message.get("content")))
        into.answer(message.get("tool_call_id"), result, error=error)


def _content(content: Any) -> Any:
    """The data of a single document; any other content as it is."""
    if isinstance(content, list) and len(content) == 1:
        data = dict_of(first_of(content).get("document")).get("data")
        return content if data is None else data
    return content


def _read_event(event: dict[str, Any], into: Assembly) -> None:
    kind = event["type"]
    key = key_of(event.get("index"))
    delta = dict_of(event.get("delta"))
    if kind in ("tool-call-start", "tool-call-delta"):
        calls = dict_of(delta.get("message")).get("tool_calls")
        call = first_of(calls) or dict_of(calls)
        function = dict_of(call.get("function"))
        if call:
            into.piece(key, function.get("arguments"), name=function.get("name"), id=call.get("id"))
    elif kind == "tool-call-end":
        into.over(key)
    elif kind == "message-end" and delta.get("finish_reason") not in _CUT_OFF:
        into.all_over()


def _read_v1_event(event: dict[str, Any], into: Assembly) -> None:
    """Pieces by index, then all calls whole, then the whole response with them once more."""
    kind = event["event_type"]
    if kind == "tool-calls-chunk":
        delta = dict_of(event.get("tool_call_delta"))
        index = _whole(delta.get("index"))
        if index is not None:
            into.piece(("v1", index), delta.get("parameters"), name=delta.get("name"))
    elif kind == "tool-calls-generation":
        for place, call in enumerate(dicts_of(event.get("tool_calls"))):
            if into.holds(("v1", place)):
                into.over(("v1", place))
            elif _is_v1_call(call):
                into.call(call["name"], call["parameters"])


def _whole(index: Any) -> int | None:
    return int(index) if isinstance(index, int | float) and index == index // 1 else None


def _rendered(answer: Answer) -> dict[str, Any]:
    result = answer.result
    blocks = blocks_of(result)
    content: list[dict[str, Any]]
    if blocks:
        content = [{"type": "text", "text": described(block)} for block in blocks]
    elif result.problem is None and result.output_json[:1] == b"{" and result.output:
        content = [{"type": "document", "document": {"data": result.output}}]
    else:
        content = [{"type": "text", "text": output_text(result)}]
    return {"role": "tool", "tool_call_id": answer.id, "content": content}
