"""Cohere: chat v2, and calls of v1, which have no ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.dialects.base import Answer, MessagePerAnswer
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.provider_rules import PORTABLE_LIMITS
from pegboard.dialects.shared.content_blocks import describe_block, get_content_blocks
from pegboard.dialects.shared.function_calls import (
    HeldCalls,
    compose_function_call,
    dict_or_empty,
    filter_dicts,
    first_dict,
    is_function_call,
    is_model_role,
    parse_output,
    read_function_calls,
    read_stream_key,
    result_to_output_text,
)
from pegboard.dialects.shared.turns import Speaker, Turn, get_text, read_message_turn

_DELTA_EVENTS = frozenset({"message-start", "content-start", "content-delta", "tool-plan-delta"}) | {
    "tool-call-start",
    "tool-call-delta",
    "citation-start",
    "message-end",
}
_END_EVENTS = frozenset({"content-end", "tool-call-end", "citation-end"})
_EVENT_TYPES = _DELTA_EVENTS | _END_EVENTS | {"debug"}
_END_EVENT_KEYS = frozenset({"type", "index"})
_V1_EVENTS = frozenset(
    {"stream-start", "stream-end", "text-generation", "tool-calls-generation", "tool-calls-chunk"}
) | {
    "search-queries-generation",
    "search-results",
    "citation-generation",
}
_EVENTS_WITHOUT_TEXT = frozenset({"content-start", "content-end", "message-start", "message-end"})
_V1_CALL_KEYS = frozenset({"name", "parameters"})
# The output of the model was truncated: a call without arguments is then incomplete.
_TRUNCATED_REASONS = ("MAX_TOKENS", "ERROR", "TIMEOUT")


class CohereV2(MessagePerAnswer):
    """Calls beside a `tool_plan`; streams start, continue and end each call by its index."""

    name = "cohere_v2"
    expected = "a chat response, a message with tool_calls, a stream event, or a call {name, parameters}"
    limits = PORTABLE_LIMITS
    aliases = ("cohere",)
    keys = frozenset(
        {"message", "delta", "index", "tool_plan", "tool_calls", "tool_call_id", "parameters", "event_type",
         "tool_results", "outputs", "messages"}
    )  # fmt: skip

    def recognises(self, item: Any) -> bool:
        """Recognise its events, `tool_plan`, `finish_reason` beside a message, and `parameters`: only Cohere writes
        these.
        """
        if not isinstance(item, dict):
            return False
        kind, event = item.get("type"), item.get("event_type")
        if isinstance(kind, str) or isinstance(event, str):
            return _is_event(item, kind) or (isinstance(event, str) and event in _V1_EVENTS)
        if isinstance(item.get("messages"), list):
            return any("tool_plan" in message for message in filter_dicts(item["messages"]))
        if isinstance(item.get("message"), dict):
            # With an index, it is a choice in a response of OpenAI or Mistral.
            return ("finish_reason" in item and "index" not in item) or "tool_plan" in item["message"]
        if item.get("role") == "tool" and isinstance(item.get("tool_call_id"), str):
            return isinstance(item.get("content"), str | list)
        first = first_dict(item.get("tool_calls")) or dict_or_empty(first_dict(item.get("tool_results")).get("call"))
        return "tool_plan" in item or _is_v1_call(first or dict_or_empty(item.get("call")) or item)

    def read(self, item: Any, into: Assembly) -> None:
        """Read a response, a message, a stream event or one call."""
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
        held = into.get_state(HeldCalls)
        results = filter_dicts(item.get("tool_results")) or ([item] if "outputs" in item else [])
        if results:
            for result in results:
                call = dict_or_empty(result.get("call"))
                name, parameters = call.get("name"), call.get("parameters")
                held.answer(into, name, result.get("outputs"), None, arguments=parameters)
            return
        held.release(into)
        if is_function_call(item):
            into.bare = True
            read_function_calls([item], into)
        elif isinstance(item.get("type"), str) and item["type"] in _EVENT_TYPES:
            _read_event(item, into)
        elif isinstance(item.get("event_type"), str):
            _read_v1_event(item, into)
        elif isinstance(item.get("messages"), list):
            for message in filter_dicts(item["messages"]):
                _read_message(message, into)
        elif isinstance(item.get("message"), dict):
            _read_message(item["message"], into)
        elif isinstance(item.get("role"), str) or isinstance(item.get("tool_calls"), list):
            _read_message(item, into)
        elif _is_v1_call(item):
            into.bare = True
            held.hold(item["name"], item["parameters"])
        elif "text" not in item:
            raise self.make_unreadable_error(item)

    def finish(self, into: Assembly) -> None:
        into.get_state(HeldCalls).release(into)

    def turns(self, item: Mapping[str, Any], speaker: Speaker | None) -> Sequence[Turn] | None:
        """Return an answer that consists of documents, which otherwise looks like OpenAI's."""
        if speaker != "tool":
            return None
        parts = filter_dicts(item.get("content"))
        if not any(part.get("type") == "document" and "document" in part for part in parts):
            return None
        return [read_message_turn(item, "tool")._replace(dialect=self.name)]

    def chunk_text(self, chunk: Any) -> str | None:
        """Return the text of an event: of the answer, or of the plan before calls."""
        kind = get_text(chunk, "type")
        if kind == "content-delta":
            return get_text(chunk, "delta", "message", "content", "text")
        if kind == "tool-plan-delta":
            return get_text(chunk, "delta", "message", "tool_plan")
        is_event = kind in _EVENTS_WITHOUT_TEXT or kind.startswith(("tool-call-", "tool-plan-"))
        return "" if is_event else None

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        return {"role": "assistant", "tool_plan": "", "tool_calls": [compose_function_call(call) for call in calls]}

    def render_one(self, answer: Answer) -> dict[str, Any]:
        """Return one message per answer: an object as a document that can be cited, other values as text."""
        result = answer.result
        blocks = get_content_blocks(result)
        content: list[dict[str, Any]]
        if blocks:
            content = [{"type": "text", "text": describe_block(block)} for block in blocks]
        elif result.problem is None and result.output_json[:1] == b"{" and result.output:
            content = [{"type": "document", "document": {"data": result.output}}]
        else:
            content = [{"type": "text", "text": result_to_output_text(result)}]
        return {"role": "tool", "tool_call_id": answer.id, "content": content}

    def compose_turn(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """Return the assistant's message; text beside calls is its `tool_plan`."""
        return [{**self.compose(calls), "tool_plan": text or ""}]


def _is_event(item: dict[str, Any], kind: Any) -> bool:
    if not isinstance(kind, str):
        return False
    return (kind in _DELTA_EVENTS and isinstance(item.get("delta"), dict)) or (
        kind in _END_EVENTS and item.keys() <= _END_EVENT_KEYS
    )


def _is_v1_call(item: dict[str, Any]) -> bool:
    return item.keys() == _V1_CALL_KEYS and isinstance(item["name"], str) and isinstance(item["parameters"], dict)


def _read_message(message: dict[str, Any], into: Assembly) -> None:
    if is_model_role(message.get("role")):
        held = into.get_state(HeldCalls)
        read_function_calls(message.get("tool_calls"), into)
        for call in filter_dicts(message.get("tool_calls")):
            if _is_v1_call(call):
                held.hold(call["name"], call["parameters"])
    if message.get("role") == "tool":
        result, error = parse_output(_unwrap_document(message.get("content")))
        into.answer(message.get("tool_call_id"), result, error=error)


def _unwrap_document(content: Any) -> Any:
    """Return the data of a single document; other content unchanged."""
    if isinstance(content, list) and len(content) == 1:
        data = dict_or_empty(first_dict(content).get("document")).get("data")
        return content if data is None else data
    return content


def _read_event(event: dict[str, Any], into: Assembly) -> None:
    kind = event["type"]
    key = read_stream_key(event.get("index"))
    delta = dict_or_empty(event.get("delta"))
    if kind in ("tool-call-start", "tool-call-delta"):
        calls = dict_or_empty(delta.get("message")).get("tool_calls")
        call = first_dict(calls) or dict_or_empty(calls)
        function = dict_or_empty(call.get("function"))
        if call:
            into.piece(key, function.get("arguments"), name=function.get("name"), id=call.get("id"))
    elif kind == "tool-call-end":
        into.over(key)
    elif kind == "message-end" and delta.get("finish_reason") not in _TRUNCATED_REASONS:
        into.complete_all()


def _read_v1_event(event: dict[str, Any], into: Assembly) -> None:
    """Read an event of v1: pieces by index, then all complete calls, then the whole response, which repeats them."""
    kind = event["event_type"]
    if kind == "tool-calls-chunk":
        delta = dict_or_empty(event.get("tool_call_delta"))
        index = _to_integer(delta.get("index"))
        if index is not None:
            into.piece(("v1", index), delta.get("parameters"), name=delta.get("name"))
    elif kind == "tool-calls-generation":
        for place, call in enumerate(filter_dicts(event.get("tool_calls"))):
            if into.holds(("v1", place)):
                into.over(("v1", place))
            elif _is_v1_call(call):
                into.call(call["name"], call["parameters"])


def _to_integer(index: Any) -> int | None:
    return int(index) if isinstance(index, int | float) and index == index // 1 else None
