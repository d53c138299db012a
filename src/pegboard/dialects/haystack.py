"""Haystack: chat messages of parts, and streaming chunks with deltas of calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.asked import ABSENT, AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.parts.blocks import shown, told_in
from pegboard.dialects.parts.content import blocks_of, described, text_of
from pegboard.dialects.parts.defining import PORTABLE, function_for
from pegboard.dialects.parts.function_calls import read_function_calls, text_of_arguments
from pegboard.dialects.parts.held import held_in
from pegboard.dialects.parts.outputs import output_of
from pegboard.dialects.parts.picking import dict_of, dicts_of, first_of, is_models, key_of, unreadable, writable
from pegboard.dialects.talk import Talk

_PARTS = frozenset({"tool_call", "tool_call_result"})
_CALL = frozenset({"tool_name", "arguments", "id", "extra"})
_EXPECTED = "a ChatMessage with parts, a StreamingChunk, replies of a generator, or a call {tool_name, arguments, id}"


class Haystack(Dialect):
    """Calls as parts `{tool_call: {tool_name, arguments, id}}`; answers that repeat the call they come from."""

    name = "haystack"
    limits = PORTABLE
    keys = frozenset({"content", "_content", "component_info", "tool_calls", "tool_name", "replies", "messages"})

    talk = Talk(parts="content", objects=True)

    def recognises(self, item: Any) -> bool:
        """A message with such a part, a chunk of its stream, or a call with all of its fields."""
        if not isinstance(item, dict):
            return False
        if "component_info" in item or "tool_name" in first_of(item.get("tool_calls")):
            return True
        messages = item.get("replies", item.get("messages"))
        if isinstance(messages, list):
            return any(_has_parts(message) for message in dicts_of(messages))
        return _has_parts(item) or _is_call(item)

    def read(self, item: Any, into: Assembly) -> None:
        """A message, several as a generator replies them, a chunk or one call."""
        if not isinstance(item, dict):
            raise unreadable(item, self.name, _EXPECTED)
        replies, messages = item.get("replies"), item.get("messages")
        if isinstance(replies, list):
            # Several are alternatives to one another, of which one can be meant.
            for message in dicts_of(replies)[:1]:
                _read_message(message, into)
        elif isinstance(messages, list):
            for message in dicts_of(messages):
                _read_message(message, into)
        elif "component_info" in item or "tool_name" in first_of(item.get("tool_calls")):
            if is_models(item.get("role", item.get("_role"))):
                _read_chunk(item, into)
            else:
                into.has_dropped = True
        elif isinstance(item.get("role", item.get("_role")), str) or "_content" in item:
            _read_message(item, into)
        elif "tool_name" in item:
            held_in(into).release(into)
            into.bare = True
            held_in(into).hold(item["tool_name"], item.get("arguments"), item.get("id"))
        else:
            raise unreadable(item, self.name, _EXPECTED)

    def finish(self, into: Assembly) -> None:
        """The calls that nothing answered."""
        held_in(into).release(into)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """The assistant's message."""
        return {"role": "assistant", "meta": {}, "name": None, "content": [{"tool_call": _origin(c)} for c in calls]}

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """One message an answer, with the call it comes from."""
        rendered = [_rendered(answer) for answer in answers]
        return rendered if many else rendered[0]

    def say(self, role: str, text: str, id: str) -> list[Any]:
        """A ChatMessage with one part."""
        return [self.talk.said(role, text) | {"meta": {}, "name": None}]

    def define(self, tool: Tool) -> dict[str, Any]:
        """Name, description and schema."""
        return function_for(tool)


def _parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    return dicts_of(message.get("content", message.get("_content")))


def _has_parts(message: dict[str, Any]) -> bool:
    return any(not _PARTS.isdisjoint(part) for part in _parts(message))


def _is_call(item: dict[str, Any]) -> bool:
    return "id" in item and isinstance(item.get("tool_name"), str) and "arguments" in item and item.keys() <= _CALL


def _read_message(message: dict[str, Any], into: Assembly) -> None:
    held = held_in(into)
    parts = _parts(message)
    answers = [dict_of(part["tool_call_result"]) for part in parts if "tool_call_result" in part]
    role = message.get("role", message.get("_role"))
    if answers or role == "tool":
        for answer in answers:
            _read_answer(answer, into)
        if not answers:
            # As OpenAI writes it, which its messages are also given as.
            result, error = output_of(message.get("content"))
            held.answer(into, message.get("name"), result, error, id=message.get("tool_call_id"))
        return
    held.release(into)
    if not is_models(role):
        into.has_dropped = True
        return
    for part in parts:
        call = part.get("tool_call")
        if isinstance(call, dict):
            held.hold(call.get("tool_name"), call.get("arguments"), call.get("id"))
    read_function_calls(message.get("tool_calls"), into)


def _read_answer(answer: dict[str, Any], into: Assembly) -> None:
    origin = dict_of(answer.get("origin"))
    told = told_in(answer.get("result"))
    failed = answer.get("error") is True
    held_in(into).answer(
        into,
        origin.get("tool_name"),
        ABSENT if failed else told,
        shown(told) if failed else None,
        id=origin.get("id"),
        arguments=origin.get("arguments"),
    )


def _read_chunk(chunk: dict[str, Any], into: Assembly) -> None:
    calls = chunk.get("tool_calls", [chunk.get("tool_call")])
    for place, call in enumerate(dicts_of(calls)):
        index = key_of(call.get("index", chunk.get("index")))
        key = place if index is None else index
        into.piece(key, call.get("arguments"), name=call.get("tool_name"), id=call.get("id"))
    if isinstance(chunk.get("tool_call_result"), dict):
        _read_answer(chunk["tool_call_result"], into)
    if chunk.get("finish_reason") not in (None, "length", "content_filter"):
        into.all_over()


def _origin(call: AskedCall) -> dict[str, Any]:
    arguments = text_of_arguments(call) if call.is_malformed else call.arguments or {}
    return {"tool_name": call.name, "arguments": arguments, "id": call.id or None, "extra": None}


def _rendered(answer: Answer) -> dict[str, Any]:
    call, result = answer
    blocks = blocks_of(result)
    text = "\n".join(map(described, blocks)) if blocks else text_of(result)
    origin = _origin(call._replace(name=answer.name, id=answer.id))
    origin["arguments"] = writable(origin["arguments"])
    told = {"result": text, "origin": origin, "error": result.problem is not None}
    return {"role": "tool", "meta": {}, "name": None, "content": [{"tool_call_result": told}]}
