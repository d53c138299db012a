"""Haystack: chat messages with parts, and streaming chunks with deltas of calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.dialects.base import Answer, MessagePerAnswer
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.dialects.provider_rules import PORTABLE_LIMITS, Talk
from pegboard.dialects.shared.content_blocks import (
    describe_result,
    parse_result_content,
    to_text,
)
from pegboard.dialects.shared.function_calls import (
    HeldCalls,
    define_function,
    dict_or_empty,
    filter_dicts,
    first_dict,
    is_model_role,
    parse_output,
    read_function_calls,
    read_stream_key,
    to_serializable,
)
from pegboard.model.tool import Tool

_PART_KEYS = frozenset({"tool_call", "tool_call_result"})
_CALL_KEYS = frozenset({"tool_name", "arguments", "id", "extra"})


class Haystack(MessagePerAnswer):
    """Calls as parts `{tool_call: {tool_name, arguments, id}}`; each answer repeats its call."""

    name = "haystack"
    expected = "a ChatMessage, a StreamingChunk, replies of a generator, or a call {tool_name, arguments, id}"
    limits = PORTABLE_LIMITS
    keys = frozenset({"content", "_content", "component_info", "tool_calls", "tool_name", "replies", "messages"})

    talk = Talk(parts="content", objects=True)

    def recognises(self, item: Any) -> bool:
        """Recognise a message with such a part, a chunk of its stream, or a call with all its fields."""
        if not isinstance(item, dict):
            return False
        if "component_info" in item or "tool_name" in first_dict(item.get("tool_calls")):
            return True
        messages = item.get("replies", item.get("messages"))
        if isinstance(messages, list):
            return any(_has_call_parts(message) for message in filter_dicts(messages))
        return _has_call_parts(item) or _is_call(item)

    def read(self, item: Any, into: Assembly) -> None:
        """Read a message, the replies of a generator, a chunk or one call."""
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
        replies, messages = item.get("replies"), item.get("messages")
        if isinstance(replies, list):
            # Several replies are alternatives: only the first is read.
            into.has_dropped = into.has_dropped or len(replies) > 1
            for message in filter_dicts(replies)[:1]:
                _read_message(message, into)
        elif isinstance(messages, list):
            for message in filter_dicts(messages):
                _read_message(message, into)
        elif "component_info" in item or "tool_name" in first_dict(item.get("tool_calls")):
            if is_model_role(item.get("role", item.get("_role"))):
                _read_chunk(item, into)
            else:
                into.has_dropped = True
        elif isinstance(item.get("role", item.get("_role")), str) or "_content" in item:
            _read_message(item, into)
        elif "tool_name" in item:
            into.get_state(HeldCalls).release(into)
            into.bare = True
            into.get_state(HeldCalls).hold(item["tool_name"], item.get("arguments"), item.get("id"))
        else:
            raise self.make_unreadable_error(item)

    def finish(self, into: Assembly) -> None:
        into.get_state(HeldCalls).release(into)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        return {
            "role": "assistant",
            "meta": {},
            "name": None,
            "content": [{"tool_call": _compose_call(c)} for c in calls],
        }

    def render_one(self, answer: Answer) -> dict[str, Any]:
        """Return one message per answer, with the call it belongs to."""
        call, result = answer
        origin = _compose_call(call._replace(name=answer.name, id=answer.id))
        origin["arguments"] = to_serializable(origin["arguments"])
        values = {"result": describe_result(result), "origin": origin, "error": result.problem is not None}
        return {"role": "tool", "meta": {}, "name": None, "content": [{"tool_call_result": values}]}

    def say(self, role: str, text: str, id: str) -> list[Any]:
        return [self.talk.build_message(role, text) | {"meta": {}, "name": None}]

    def define(self, tool: Tool) -> dict[str, Any]:
        return define_function(tool)


def _get_parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    return filter_dicts(message.get("content", message.get("_content")))


def _has_call_parts(message: dict[str, Any]) -> bool:
    return any(not _PART_KEYS.isdisjoint(part) for part in _get_parts(message))


def _is_call(item: dict[str, Any]) -> bool:
    return "id" in item and isinstance(item.get("tool_name"), str) and "arguments" in item and item.keys() <= _CALL_KEYS


def _read_message(message: dict[str, Any], into: Assembly) -> None:
    held = into.get_state(HeldCalls)
    parts = _get_parts(message)
    answers = [dict_or_empty(part["tool_call_result"]) for part in parts if "tool_call_result" in part]
    role = message.get("role", message.get("_role"))
    if answers or role == "tool":
        for answer in answers:
            _read_answer(answer, into)
        if not answers:
            # In OpenAI's format, in which Haystack messages also occur.
            result, error = parse_output(message.get("content"))
            held.answer(into, message.get("name"), result, error, id=message.get("tool_call_id"))
        return
    held.release(into)
    if not is_model_role(role):
        into.has_dropped = True
        return
    for part in parts:
        call = part.get("tool_call")
        if isinstance(call, dict):
            held.hold(call.get("tool_name"), call.get("arguments"), call.get("id"))
    read_function_calls(message.get("tool_calls"), into)


def _read_answer(answer: dict[str, Any], into: Assembly) -> None:
    origin = dict_or_empty(answer.get("origin"))
    content = parse_result_content(answer.get("result"))
    failed = answer.get("error") is True
    into.get_state(HeldCalls).answer(
        into,
        origin.get("tool_name"),
        ABSENT if failed else content,
        to_text(content) if failed else None,
        id=origin.get("id"),
        arguments=origin.get("arguments"),
    )


def _read_chunk(chunk: dict[str, Any], into: Assembly) -> None:
    calls = chunk.get("tool_calls", [chunk.get("tool_call")])
    for place, call in enumerate(filter_dicts(calls)):
        index = read_stream_key(call.get("index", chunk.get("index")))
        key = place if index is None else index
        into.piece(key, call.get("arguments"), name=call.get("tool_name"), id=call.get("id"))
    if isinstance(chunk.get("tool_call_result"), dict):
        _read_answer(chunk["tool_call_result"], into)
    if chunk.get("finish_reason") not in (None, "length", "content_filter"):
        into.complete_all()


def _compose_call(call: AskedCall) -> dict[str, Any]:
    return {"tool_name": call.name, "arguments": call.arguments_or_text, "id": call.id or None, "extra": None}
