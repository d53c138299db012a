"""The entries and events of Mistral's Conversations API, and the ids that Mistral takes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from pegboard.dialects.asked import ABSENT, NOTHING, AskedCall
from pegboard.dialects.assembly import Assembly, id_of
from pegboard.dialects.parts.function_calls import text_of_arguments
from pegboard.dialects.parts.outputs import output_of
from pegboard.dialects.parts.picking import key_of

_CALLS = frozenset({"function.call", "function.call.delta", "function.result"})
_EXECUTIONS = frozenset(
    {"tool.execution", "tool.execution.started", "tool.execution.delta", "tool.execution.done"},
)
_EVENTS = (
    _CALLS
    | _EXECUTIONS
    | {
        "message.input",
        "message.output",
        "message.output.delta",
        "agent.handoff",
        "agent.handoff.started",
        "agent.handoff.done",
        "conversation.response.started",
        "conversation.response.done",
        "conversation.response.error",
    }
)
_CONVERSATIONS: Mapping[str, Any] = {"api": "conversations"}

FITTING = re.compile(r"[a-zA-Z0-9]{9}", re.ASCII)
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def is_event(kind: Any) -> bool:
    """Whether an entry or event is of this type."""
    return isinstance(kind, str) and kind in _EVENTS


def read_entry(entry: dict[str, Any], into: Assembly) -> None:
    """Take in one entry or event."""
    kind = entry.get("type")
    identity = given_id(entry.get("tool_call_id"))
    name, arguments = entry.get("name"), entry.get("arguments")
    # A function that waits for the user's word is run by Mistral when it has come.
    theirs = entry.get("confirmation_status") is not None
    extra = {**_CONVERSATIONS, **kept_id(identity)}
    if kind == "function.call":
        into.call(name or "", arguments, identity, provider_executed=theirs, extra=extra)
    elif kind == "function.call.delta":
        key = ("call", key_of(entry.get("id")) or id_of(identity) or key_of(entry.get("output_index")))
        into.piece(key, arguments, name=name, id=identity, provider_executed=theirs, extra=extra)
    elif kind == "function.result":
        result, error = output_of(entry.get("result"))
        into.answer(identity, result, error=error, extra=extra)
    elif isinstance(kind, str) and kind in _EXECUTIONS:
        _read_execution(entry, into)
    elif kind == "conversation.response.done":
        into.all_over()


def _read_execution(entry: dict[str, Any], into: Assembly) -> None:
    kind, identity, info = entry["type"], entry.get("id"), entry.get("info")
    result = ABSENT if info is None else info
    if kind == "tool.execution":
        into.call(
            entry.get("name") or "",
            entry.get("arguments"),
            identity,
            result=result,
            provider_executed=True,
            extra=_CONVERSATIONS,
        )
        return
    key = ("execution", key_of(identity))
    into.piece(
        key,
        entry.get("arguments"),
        name=entry.get("name"),
        id=identity,
        provider_executed=True,
        extra=_CONVERSATIONS,
    )
    if kind == "tool.execution.done":
        if result is not ABSENT and given_id(identity):
            into.answer(identity, result)
        into.over(key)


def given_id(given: Any) -> Any:
    """An id; the SDK writes "null" where there is none."""
    return None if given == "null" else given


def kept_id(identity: Any) -> Mapping[str, Any]:
    """The id as it was given, where it is not one that Mistral itself makes."""
    if not identity or not isinstance(identity, str) or FITTING.fullmatch(identity):
        return NOTHING
    return {"tool_call_id": identity}


def id_for(call: AskedCall, identity: str) -> str:
    """The id Mistral is given for a call."""
    given = call.extra.get("tool_call_id")
    if isinstance(given, str) and given == call.id:
        return given
    return identity if FITTING.fullmatch(identity) else _fitted(identity)


def _fitted(identity: str) -> str:
    """Nine letters and digits that stand for any id."""
    number = int.from_bytes(hashlib.sha256(identity.encode("utf-8", "surrogatepass")).digest()[:8])
    digits = []
    for _ in range(9):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(digits)


def entry_of(call: AskedCall) -> dict[str, Any]:
    """The entry that makes this call."""
    arguments = text_of_arguments(call)
    if call.provider_executed:
        entry = {"object": "entry", "type": "tool.execution", "id": call.id, "name": call.name, "arguments": arguments}
        return entry if call.result is ABSENT else entry | {"info": call.result}
    identity = id_for(call, call.id) if call.id else "null"
    return {
        "object": "entry",
        "type": "function.call",
        "tool_call_id": identity,
        "name": call.name,
        "arguments": arguments,
    }
