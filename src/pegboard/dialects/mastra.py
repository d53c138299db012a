"""Mastra: what its agents return and stream, and the three forms that seed systems met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pegboard.core.call import Malformed
from pegboard.core.tool import Tool
from pegboard.dialects.asked import ABSENT, AskedCall, Unreadable
from pegboard.dialects.assembly import Assembly, id_of, name_of
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.parts.defining import PORTABLE, name_for, schema_for
from pegboard.dialects.parts.vercel_outputs import output_for
from pegboard.dialects.parts.vercel_parts import (
    extra_of,
    finish_parts,
    read_call,
    read_message,
    read_part,
    release,
)
from pegboard.dialects.talk import Talk

# What Mastra leaves in the arguments for itself.
_INTERNAL = "__mastraMetadata"
# What a chunk has beside its payload, none of which is of a call.
_CHUNK = frozenset({"type", "from", "runId", "metadata", "payload"})
_STEP_ENDS = frozenset({"step-finish", "finish"})
# What a payload has beside a call, once that ended.
_SAYS_MORE = frozenset({"result", "output", "providerExecuted"})

Object = Mapping[str, Any]


class Direct(NamedTuple):
    """The fields of a call in any of the three forms; "" and None where it has none, ABSENT for no result."""

    id: str
    name: str
    arguments: Any
    result: Any


class Mastra(Dialect):
    """Chunks `{type, from, payload}`, and calls with their fields in a payload or directly."""

    name = "mastra"
    limits = PORTABLE
    keys = frozenset({"payload", "toolName", "toolCallId", "toolCalls", "content"})

    talk = Talk(system="apart", parts="content", part={"type": "text"}, objects=True)

    def recognises(self, item: Any) -> bool:
        """By a payload with an origin or a call in it, or by the names of a call's fields."""
        if not isinstance(item, dict):
            return False
        calls = item.get("toolCalls")
        if isinstance(calls, list):
            return any(isinstance(call, dict) and is_call(call) for call in calls)
        return is_call(item) or _parts_of(item) is not None

    def read(self, item: Any, into: Assembly) -> None:
        """A call in any form, a chunk of a stream, a message, or what an agent returns."""
        if not isinstance(item, dict):
            raise Unreadable("unrecognised_format: a call of mastra is an object")
        parts = _parts_of(item)
        if parts is not None:
            read_message(item, parts, into)
        elif isinstance(item.get("toolCalls"), list):
            for key in ("toolCalls", "toolResults"):
                for chunk in item[key] if isinstance(item.get(key), list) else ():
                    if isinstance(chunk, dict):
                        _read(chunk, into)
        elif isinstance(item.get("role"), str):
            read_message(item, item.get("content"), into)
        elif _read(item, into):
            into.bare = True
        elif not isinstance(item.get("type"), str):
            raise Unreadable(
                "unrecognised_format: a call of mastra has a 'toolName' or 'name' and 'args' or 'arguments', "
                "directly or in a 'payload'"
            )

    def finish(self, into: Assembly) -> None:
        """Take in the calls that nobody answered."""
        finish_parts(into)

    def compose(self, calls: Sequence[AskedCall]) -> list[dict[str, Any]]:
        """One chunk a call, as an agent returns them."""
        return [{"type": "tool-call", "from": "AGENT", "payload": _payload(call)} for call in calls]

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        """One tool message with every result."""
        return {"role": "tool", "content": [_answered(answer) for answer in answers]}

    def speak(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """An assistant message, as an agent takes them."""
        made = [
            {"type": "tool-call", "toolCallId": call.id, "toolName": call.name, "input": call.arguments or {}}
            for call in calls
        ]
        return [{"role": "assistant", "content": [*(self.talk.content(text) if text else ()), *made]}]

    def own(self, raw: Any) -> list[Any]:
        """A message as an agent takes it, and not as its memory keeps it."""
        return super().own(raw) if isinstance(raw, dict) and isinstance(raw.get("content"), str | list) else []

    def define(self, tool: Tool) -> dict[str, Any]:
        """What `createTool` takes, the schema as JSON schema."""
        return {"id": name_for(tool), "description": tool.description or "", "inputSchema": schema_for(tool)}


def direct_of(item: Object) -> Direct:
    """The fields of a call: those of its payload first, then its own."""
    payload = item.get("payload")
    identity, name, arguments = "", "", None
    result: Any = ABSENT
    places: tuple[Object, ...] = (item,)
    if isinstance(payload, dict):
        places = (payload,) if item.keys() <= _CHUNK else (payload, item)
    for place in places:
        get = place.get
        identity = identity or id_of(get("toolCallId")) or id_of(get("id"))
        name = name or name_of(get("toolName")) or name_of(get("name"))
        if arguments is None:
            arguments = get("args")
        if arguments is None:
            arguments = get("arguments")
        if result is ABSENT or result is None:
            result = get("result", get("output", result) if get("providerExecuted") is True else result)
    return Direct(identity, name, _clean(arguments), result)


def _read(item: Object, into: Assembly) -> bool:
    """Take in one chunk or call; False where it is neither."""
    kind, payload = item.get("type"), item.get("payload")
    if kind == "tool-call" and _is_ordinary(item, payload):
        read_call(item["payload"], into, held=True)
        return True
    call = direct_of(item)
    if kind == "tool-call" or not isinstance(kind, str):
        place: Object = payload if isinstance(payload, dict) else item
        if not call.name and (not isinstance(kind, str) or not call.id):
            return False
        # A result of null is how some write that there is none yet.
        result = ABSENT if call.result is None else call.result
        if call.arguments is None and "output" in place:
            # What was given to it is not said, only what came of it.
            result = place["output"]
        theirs = _is_theirs(place) or _is_theirs(item)
        if theirs or result is not ABSENT or not isinstance(kind, str):
            extra = extra_of(place)
            into.call(call.name, call.arguments, call.id, result=result, provider_executed=theirs, extra=extra)
        else:
            if place.get("toolCallId") != call.id or place.get("args") is not call.arguments or "toolName" not in place:
                place = {**place, "toolCallId": call.id, "toolName": call.name, "args": call.arguments}
            read_call(place, into, held=True)
        return True
    if kind in _STEP_ENDS:
        release(into)
    elif isinstance(payload, dict):
        read_part({**payload, "args": call.arguments, "type": kind}, into)
    else:
        read_part(item, into)
    return False


def _is_ordinary(item: Object, payload: Any) -> bool:
    """Whether a chunk has a call's fields where they are now, and says nothing of how it ended: most are so."""
    if type(payload) is not dict or not _SAYS_MORE.isdisjoint(payload) or not item.keys() <= _CHUNK:
        return False
    arguments = payload.get("args")
    named = type(payload.get("toolName")) is str and type(payload.get("toolCallId")) is str
    return named and type(arguments) is dict and _INTERNAL not in arguments


def is_call(item: Object) -> bool:
    """Whether this is a chunk, or a call in one of the three forms."""
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


def _parts_of(item: Object) -> list[Any] | None:
    """The parts of a message as Mastra's memory keeps it."""
    content = item.get("content")
    parts = content.get("parts") if isinstance(content, dict) and isinstance(item.get("role"), str) else None
    return parts if isinstance(parts, list) else None


def _is_theirs(place: Object) -> bool:
    return place.get("providerExecuted") is True


def _clean(arguments: Any) -> Any:
    if isinstance(arguments, dict) and _INTERNAL in arguments:
        return {key: value for key, value in arguments.items() if key != _INTERNAL}
    return arguments


def _payload(call: AskedCall) -> dict[str, Any]:
    given = call.arguments.text if isinstance(call.arguments, Malformed) else call.arguments or {}
    payload = {"toolCallId": call.id, "toolName": call.name, "args": given}
    if "provider_metadata" in call.extra:
        payload["providerMetadata"] = call.extra["provider_metadata"]
    if call.provider_executed:
        payload["providerExecuted"] = True
        if call.result is not ABSENT:
            payload["output"] = call.result
    return payload


def _answered(answer: Answer) -> dict[str, Any]:
    call = answer.call
    return {
        "type": "tool-result",
        "toolCallId": answer.id,
        "toolName": answer.name,
        "input": call.arguments if isinstance(call.arguments, dict) else {},
        "output": output_for(answer.result, _media),
    }


def _media(block: Object) -> dict[str, Any]:
    return {"type": "media", "data": block["data"], "mediaType": block["mimeType"]}
