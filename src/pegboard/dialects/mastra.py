"""Mastra: results and streams of its agents, and the three forms of its calls in existing systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.call_assembler import Assembly, read_id, read_name
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.dialects.provider_rules import PORTABLE_LIMITS, Talk
from pegboard.dialects.shared.function_calls import build_portable_schema, get_provider_name
from pegboard.dialects.shared.turns import Speaker, Turn, get_text
from pegboard.dialects.shared.vercel_parts import (
    finish_parts,
    get_part_extra,
    read_call,
    read_message,
    read_part,
    release_held_calls,
    render_output,
)
from pegboard.model.tool import Tool

# A key that Mastra adds to arguments for its own use.
_METADATA_KEY = "__mastraMetadata"
# Keys of a chunk beside its payload; none is part of a call.
_CHUNK_KEYS = frozenset({"type", "from", "runId", "metadata", "payload"})
_STEP_END_TYPES = frozenset({"step-finish", "finish"})
# Keys that a payload has only after its call ended.
_OUTCOME_KEYS = frozenset({"result", "output", "providerExecuted"})

JsonObject = Mapping[str, Any]


class CallFields(NamedTuple):
    """The fields of a call in any of the three forms; a missing one is "" or None, a missing result ABSENT."""

    id: str
    name: str
    arguments: Any
    result: Any


class Mastra(Dialect):
    """Chunks `{type, from, payload}`, and calls with their fields in a payload or at the top level."""

    name = "mastra"
    expected = "a call with 'toolName' or 'name' and 'args' or 'arguments', directly or in a 'payload'"
    limits = PORTABLE_LIMITS
    keys = frozenset({"payload", "toolName", "toolCallId", "toolCalls", "content"})

    talk = Talk(system="apart", parts="content", part={"type": "text"}, objects=True)

    def recognises(self, item: Any) -> bool:
        """Recognise a payload with an origin or a call in it, or the names of a call's fields."""
        if not isinstance(item, dict):
            return False
        calls = item.get("toolCalls")
        if isinstance(calls, list):
            return any(isinstance(call, dict) and is_mastra_call(call) for call in calls)
        return is_mastra_call(item) or _get_message_parts(item) is not None

    def read(self, item: Any, into: Assembly) -> None:
        """Read a call in any form, a chunk of a stream, a message, or the result of an agent."""
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
        parts = _get_message_parts(item)
        if parts is not None:
            read_message(item, parts, into)
        elif isinstance(item.get("toolCalls"), list):
            for key in ("toolCalls", "toolResults"):
                for chunk in item[key] if isinstance(item.get(key), list) else ():
                    if isinstance(chunk, dict):
                        _read_chunk_or_call(chunk, into)
        elif isinstance(item.get("role"), str):
            read_message(item, item.get("content"), into)
        elif _read_chunk_or_call(item, into):
            into.bare = True
        elif not isinstance(item.get("type"), str):
            raise self.make_unreadable_error(item)

    def finish(self, into: Assembly) -> None:
        finish_parts(into)

    def turns(self, item: Mapping[str, Any], speaker: Speaker | None) -> Sequence[Turn] | None:
        """Return the result of an agent, a text beside a list of calls."""
        text = item.get("text")
        is_result = isinstance(text, str) and isinstance(item.get("toolCalls", item.get("tool_calls")), list)
        if not is_result or "type" in item or speaker is not None:
            return None
        return [Turn("assistant", text or None, item)]

    def chunk_text(self, chunk: Any) -> str | None:
        return get_text(chunk, "payload", "text") if get_text(chunk, "type") == "text-delta" else None

    def compose(self, calls: Sequence[AskedCall]) -> list[dict[str, Any]]:
        """Return one chunk per call, as an agent returns them."""
        return [{"type": "tool-call", "from": "AGENT", "payload": _compose_payload(call)} for call in calls]

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        return {"role": "tool", "content": [_render_answer(answer) for answer in answers]}

    def compose_turn(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """Return an assistant message in the form that an agent takes as input."""
        made = [
            {"type": "tool-call", "toolCallId": call.id, "toolName": call.name, "input": call.arguments or {}}
            for call in calls
        ]
        return [{"role": "assistant", "content": [*(self.talk.content(text) if text else ()), *made]}]

    def own(self, raw: Any) -> list[Any]:
        """Return a message in the form that an agent takes as input; those of Mastra's memory have another form."""
        return super().own(raw) if isinstance(raw, dict) and isinstance(raw.get("content"), str | list) else []

    def define(self, tool: Tool) -> dict[str, Any]:
        """Return the arguments of `createTool`, with the schema as JSON Schema."""
        return {
            "id": get_provider_name(tool),
            "description": tool.description or "",
            "inputSchema": build_portable_schema(tool),
        }


def read_call_fields(item: JsonObject) -> CallFields:
    """Return the fields of a call, from its payload first and then from the object itself."""
    payload = item.get("payload")
    identity, name, arguments = "", "", None
    result: Any = ABSENT
    places: tuple[JsonObject, ...] = (item,)
    if isinstance(payload, dict):
        places = (payload,) if item.keys() <= _CHUNK_KEYS else (payload, item)
    for place in places:
        get = place.get
        identity = identity or read_id(get("toolCallId")) or read_id(get("id"))
        name = name or read_name(get("toolName")) or read_name(get("name"))
        if arguments is None:
            arguments = get("args")
        if arguments is None:
            arguments = get("arguments")
        if result is ABSENT or result is None:
            result = get("result", get("output", result) if get("providerExecuted") is True else result)
    return CallFields(identity, name, _remove_metadata(arguments), result)


def _read_chunk_or_call(item: JsonObject, into: Assembly) -> bool:
    """Read one chunk or call; return False if it is neither."""
    kind, payload = item.get("type"), item.get("payload")
    if kind == "tool-call" and _is_plain_call_chunk(item, payload):
        read_call(item["payload"], into, held=True)
        return True
    call = read_call_fields(item)
    if kind == "tool-call" or not isinstance(kind, str):
        place: JsonObject = payload if isinstance(payload, dict) else item
        if not call.name and (not isinstance(kind, str) or not call.id):
            return False
        # Some clients write null for a missing result.
        result = ABSENT if call.result is None else call.result
        if call.arguments is None and "output" in place:
            # Only the output is given, without the arguments.
            result = place["output"]
        theirs = _is_provider_executed(place) or _is_provider_executed(item)
        if theirs or result is not ABSENT or not isinstance(kind, str):
            extra = get_part_extra(place)
            into.call(call.name, call.arguments, call.id, result=result, provider_executed=theirs, extra=extra)
        else:
            if place.get("toolCallId") != call.id or place.get("args") is not call.arguments or "toolName" not in place:
                place = {**place, "toolCallId": call.id, "toolName": call.name, "args": call.arguments}
            read_call(place, into, held=True)
        return True
    if kind in _STEP_END_TYPES:
        release_held_calls(into)
    elif isinstance(payload, dict):
        read_part({**payload, "args": call.arguments, "type": kind}, into)
    else:
        read_part(item, into)
    return False


def _is_plain_call_chunk(item: JsonObject, payload: Any) -> bool:
    """Return True for the common case: a chunk with a call in the current form and no result."""
    if type(payload) is not dict or not _OUTCOME_KEYS.isdisjoint(payload) or not item.keys() <= _CHUNK_KEYS:
        return False
    arguments = payload.get("args")
    named = type(payload.get("toolName")) is str and type(payload.get("toolCallId")) is str
    return named and type(arguments) is dict and _METADATA_KEY not in arguments


def is_mastra_call(item: JsonObject) -> bool:
    """Return True for a chunk, or for a call in one of the three forms."""
    payload = item.get("payload")
    if isinstance(payload, dict):
        has_call = isinstance(payload.get("toolName"), str) or "toolCallId" in payload
        return has_call or (isinstance(item.get("from"), str) and isinstance(item.get("type"), str))
    if isinstance(item.get("type"), str) or isinstance(item.get("role"), str):
        return False
    has_arguments = "args" in item or "arguments" in item
    if isinstance(item.get("toolName"), str):
        return has_arguments or "id" in item or "toolCallId" in item
    return "toolCallId" in item and isinstance(item.get("name"), str) and has_arguments


def _get_message_parts(item: JsonObject) -> list[Any] | None:
    """Return the parts of a message in the form of Mastra's memory, or None."""
    content = item.get("content")
    parts = content.get("parts") if isinstance(content, dict) and isinstance(item.get("role"), str) else None
    return parts if isinstance(parts, list) else None


def _is_provider_executed(place: JsonObject) -> bool:
    return place.get("providerExecuted") is True


def _remove_metadata(arguments: Any) -> Any:
    if isinstance(arguments, dict) and _METADATA_KEY in arguments:
        return {key: value for key, value in arguments.items() if key != _METADATA_KEY}
    return arguments


def _compose_payload(call: AskedCall) -> dict[str, Any]:
    payload = {"toolCallId": call.id, "toolName": call.name, "args": call.arguments_or_text}
    if "provider_metadata" in call.extra:
        payload["providerMetadata"] = call.extra["provider_metadata"]
    if call.provider_executed:
        payload["providerExecuted"] = True
        if call.result is not ABSENT:
            payload["output"] = call.result
    return payload


def _render_answer(answer: Answer) -> dict[str, Any]:
    call = answer.call
    return {
        "type": "tool-result",
        "toolCallId": answer.id,
        "toolName": answer.name,
        "input": call.arguments if isinstance(call.arguments, dict) else {},
        "output": render_output(answer.result, _write_media_block),
    }


def _write_media_block(block: JsonObject) -> dict[str, Any]:
    return {"type": "media", "data": block["data"], "mediaType": block["mimeType"]}
