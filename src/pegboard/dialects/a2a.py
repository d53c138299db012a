"""A2A messages: calls as data parts, by the convention of Google's agents, since the protocol has none of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.asked import ABSENT, AskedCall
from pegboard.dialects.assembly import Assembly, id_of
from pegboard.dialects.base import CALLS, Answer, Dialect
from pegboard.dialects.limits import Limits
from pegboard.dialects.parts.defining import name_for
from pegboard.dialects.parts.function_parts import CODE, Parts, composed_parts, read_part, response_part
from pegboard.dialects.parts.picking import dict_of, dicts_of, is_models, unreadable
from pegboard.store.types import json_text

_EXPECTED = "a message, a task or an update of one whose data parts say in their metadata what they are"
# What a data part is said to be, and the part of an agent's content that it stands for.
_TYPES = {
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "executable_code": "executableCode",
    "code_execution_result": "codeExecutionResult",
}
_CARRIERS = {carrier: kind for kind, carrier in _TYPES.items()}
_CALLS = ("functionCall", "executableCode")
_UPDATES = ("task", "statusUpdate", "artifactUpdate")
_KINDS = ("message", "task", "status-update", "artifact-update")
_WRAP = "result"
# A2A's numbers are doubles: up to here each of them that has no fraction is one integer only.
_EXACT = 2**53


class _Messages(Parts):
    """Also what was read before: a task repeats in its history what came as an update."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[Any] = set()


class A2A(Dialect):
    """Messages of parts; every answer goes into one message."""

    name = "a2a"
    abilities = CALLS
    keys = frozenset({"messageId", "message", "kind", "data", "artifact", "jsonrpc", *_UPDATES})
    limits = Limits(has_schema=False)

    def recognises(self, item: Any) -> bool:
        """A message, a task, an update of one, or a data part with a call or its result."""
        if isinstance(item, list):
            return any(_carrier(part) is not None for part in item)
        if not isinstance(item, dict):
            return False
        if _carrier(item) is not None or ("messageId" in item and isinstance(item.get("parts"), list)):
            return True
        # Nothing of this protocol has a type: the artifact in another framework's message is what a tool gave.
        return "type" not in item and _is_told(_unwrapped(item))

    def read(self, item: Any, into: Assembly) -> None:
        """A message, a task, an update or a part, also as a JSON-RPC request or response."""
        if into.state is None:
            into.state = _Messages()
        state: _Messages = into.state
        state.begin()
        if isinstance(item, list):
            _read_parts({"parts": item}, state, into)
        elif _carrier(item) is not None:
            into.bare = _carrier(item) == "functionCall"
            _read_parts({"parts": [item]}, state, into)
        elif isinstance(item, dict) and isinstance(item.get("parts"), list):
            _read_parts(item, state, into)
        elif isinstance(item, dict) and (self.recognises(item) or "text" in item):
            for holder in _holders(_unwrapped(item)):
                _read_parts(holder, state, into)
        else:
            raise unreadable(item, self.name, _EXPECTED)
        state.end(into)

    def finish(self, into: Assembly) -> None:
        """What was held for an answer is handed over, what was not complete is cut off."""
        if into.state is not None:
            into.state.release(into)
            into.state.partial.cut(into)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """The message of an agent; its id is made from the first call's."""
        parts = [_data_part(part) for call in calls for part in _composed(call)]
        return {"messageId": f"calls-{calls[0].id if calls else ''}", "role": "ROLE_AGENT", "parts": parts}

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        """One message with every result; its id is made from the first call's."""
        parts = [_data_part(response_part(answer, answer.id, _WRAP)) for answer in answers]
        return {"messageId": f"results-{answers[0].id if answers else ''}", "role": "ROLE_USER", "parts": parts}

    def define(self, tool: Tool) -> dict[str, Any]:
        """A skill of an agent's card; there is no place for the schema in it."""
        name = name_for(tool)
        return {"id": name, "name": name, "description": tool.description or "", "tags": list(tool.tags)}


def _is_told(item: dict[str, Any]) -> bool:
    """Whether this is a message, a task or an update of one."""
    if any(isinstance(item.get(update), dict) for update in _UPDATES):
        return True
    holders = [holder for holder in _holders(item) if isinstance(holder.get("parts"), list)]
    if item.get("kind") in _KINDS or any("messageId" in holder for holder in holders):
        return bool(holders) or "status" in item
    return any(_carrier(part) is not None for holder in holders for part in holder["parts"])


def _unwrapped(item: dict[str, Any]) -> dict[str, Any]:
    """What a JSON-RPC request or response is about."""
    for key in ("result", "params"):
        if isinstance(item.get(key), dict) and "jsonrpc" in item:
            inner: dict[str, Any] = item[key]
            return inner
    return item


def _holders(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Whatever has parts, in the order in which it was said."""
    for one in (item, *dicts_of([item.get(update) for update in _UPDATES])):
        said = one.get("message"), dict_of(one.get("status")).get("message"), one.get("artifact")
        yield from (*dicts_of(one.get("history")), one, *dicts_of(list(said)))
        yield from dicts_of(one.get("artifacts"))


def _carrier(part: Any) -> str | None:
    """The part of an agent's content that a data part stands for."""
    if not isinstance(part, dict) or not isinstance(part.get("data"), dict):
        return None
    metadata = dict_of(part.get("metadata"))
    kind = metadata.get("adk_type", metadata.get("type"))
    return _TYPES.get(kind) if isinstance(kind, str) else None


def _read_parts(holder: Mapping[str, Any], state: _Messages, into: Assembly) -> None:
    """Take in the parts of a message or an artifact; what an earlier one said is not said again."""
    message = id_of(holder.get("messageId"))
    may_call = is_models(holder.get("role"))
    said = set()
    for place, part in enumerate(holder["parts"] if isinstance(holder.get("parts"), list) else ()):
        carrier = _carrier(part)
        if carrier is None or (carrier in _CALLS and not may_call):
            # Data that does not claim to be a call, or a call in the message of somebody else.
            is_data = isinstance(part, dict) and "data" in part and "function_" not in json_text(part.get("metadata"))
            into.has_dropped = into.has_dropped or is_data or not may_call
            continue
        inner = part["data"].get("data")
        data = inner if isinstance(inner, dict) and len(part["data"]) == 1 else part["data"]
        identity = id_of(data.get("id"))
        mark = (carrier, identity or (message, place) if identity or message else None)
        if mark[1] is not None and mark in state.seen:
            continue
        said.add(mark)
        is_long = dict_of(part["metadata"]).get("adk_is_long_running") is True
        read_part({carrier: whole_numbers(data)}, into, _WRAP, (identity,) if is_long and identity else ())
    state.seen |= said


def _composed(call: AskedCall) -> list[dict[str, Any]]:
    """The call, followed by its result where it was run elsewhere: there is no other way to say that it was."""
    if not call.provider_executed or call.name == CODE:
        return composed_parts(call)
    result = None if call.result is ABSENT else call.result
    response = {_WRAP: result} if call.error is None else {"error": call.error}
    answered = {"functionResponse": {"id": call.id, "name": call.name, "response": response}}
    return [*composed_parts(call._replace(provider_executed=False)), answered]


def _data_part(part: dict[str, Any]) -> dict[str, Any]:
    carrier = next(key for key in part if key in _CARRIERS)
    return {"data": part[carrier], "metadata": {"adk_type": _CARRIERS[carrier]}}


def whole_numbers(value: Any) -> Any:
    """The same value, with doubles that are integers as integers, at any depth."""
    root = [value]
    todo: list[Any] = [root]
    while todo:
        holder = todo.pop()
        for key, item in enumerate(holder) if isinstance(holder, list) else holder.items():
            if isinstance(item, float) and item.is_integer() and abs(item) < _EXACT:
                holder[key] = int(item)
            elif isinstance(item, dict | list):
                # What was given stays as it is.
                holder[key] = item.copy()
                todo.append(holder[key])
    return root[0]
