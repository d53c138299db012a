"""A2A messages, with calls as data parts by the convention of the ADK, since the protocol does not define calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from pegboard.dialects.base import WITHOUT_HISTORY, Answer, Dialect
from pegboard.dialects.call_assembler import Assembly, read_id
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.dialects.provider_rules import Limits
from pegboard.dialects.shared.function_calls import (
    dict_or_empty,
    filter_dicts,
    get_provider_name,
    is_model_role,
    replace_items,
)
from pegboard.dialects.shared.gemini_parts import (
    CODE_EXECUTION,
    PartsState,
    compose_parts,
    read_part,
    render_response_part,
)
from pegboard.dialects.shared.turns import Speaker, Turn, split_answers
from pegboard.model.json_text import json_text
from pegboard.model.tool import Tool

# By the type in a data part's metadata, the ADK part that it represents.
_FIELD_BY_ADK_TYPE = {
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "executable_code": "executableCode",
    "code_execution_result": "codeExecutionResult",
}
_ADK_TYPE_BY_FIELD = {carrier: kind for kind, carrier in _FIELD_BY_ADK_TYPE.items()}
_CALL_FIELDS = ("functionCall", "executableCode")
_UPDATE_KEYS = ("task", "statusUpdate", "artifactUpdate")
_MESSAGE_KINDS = ("message", "task", "status-update", "artifact-update")
_RESULT_KEY = "result"
# Numbers in A2A are doubles; below this limit every integer is exact.
_MAX_EXACT_INTEGER = 2**53


class _MessagesState(PartsState):
    """Also records what was read: the history of a task repeats messages that were sent as updates."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[Any] = set()


class A2A(Dialect):
    """Messages of parts; all answers go into one message."""

    name = "a2a"
    expected = "a message, a task or an update, whose data parts have a type in their metadata"
    speakers: ClassVar[Mapping[str, Speaker]] = {"role_user": "user", "role_agent": "assistant"}
    abilities = WITHOUT_HISTORY
    keys = frozenset({"messageId", "message", "kind", "data", "artifact", "jsonrpc", *_UPDATE_KEYS})
    limits = Limits(has_schema=False)

    def recognises(self, item: Any) -> bool:
        """Recognise a message, a task, an update, or a data part with a call or its result."""
        if isinstance(item, list):
            return any(_get_part_field(part) is not None for part in item)
        if not isinstance(item, dict):
            return False
        if _get_part_field(item) is not None or ("messageId" in item and isinstance(item.get("parts"), list)):
            return True
        # A2A objects have no `type`; an `artifact` in another framework's message is the output of a tool.
        return "type" not in item and _is_message_task_or_update(_unwrap_json_rpc(item))

    def read(self, item: Any, into: Assembly) -> None:
        """Read a message, a task, an update or a part, also within a JSON-RPC request or response."""
        state = into.get_state(_MessagesState)
        state.begin()
        if isinstance(item, list):
            _read_parts({"parts": item}, state, into)
        elif _get_part_field(item) is not None:
            into.bare = _get_part_field(item) == "functionCall"
            _read_parts({"parts": [item]}, state, into)
        elif isinstance(item, dict) and isinstance(item.get("parts"), list):
            _read_parts(item, state, into)
        elif isinstance(item, dict) and (self.recognises(item) or "text" in item):
            for holder in _iter_part_holders(_unwrap_json_rpc(item)):
                _read_parts(holder, state, into)
        else:
            raise self.make_unreadable_error(item)
        state.end(into)

    def finish(self, into: Assembly) -> None:
        """Add the calls that waited for an answer, and mark incomplete ones as cut off."""
        into.get_state(_MessagesState).finish(into)

    def turns(self, item: Mapping[str, Any], speaker: Speaker | None) -> Sequence[Turn] | None:
        """Return the answers in a user's message apart."""
        return split_answers(item, speaker, _is_answer)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """Return an agent message whose id is derived from the first call's id."""
        parts = [_build_data_part(part) for call in calls for part in _compose_call(call)]
        return {"messageId": f"calls-{calls[0].id if calls else ''}", "role": "ROLE_AGENT", "parts": parts}

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        """Return one message with all results, whose id is derived from the first call's id."""
        parts = [_build_data_part(render_response_part(answer, answer.id, _RESULT_KEY)) for answer in answers]
        return {"messageId": f"results-{answers[0].id if answers else ''}", "role": "ROLE_USER", "parts": parts}

    def define(self, tool: Tool) -> dict[str, Any]:
        """Return a skill of an agent card, which cannot hold a schema."""
        name = get_provider_name(tool)
        return {"id": name, "name": name, "description": tool.description or "", "tags": list(tool.tags)}


def _is_message_task_or_update(item: dict[str, Any]) -> bool:
    """Return True for a message, a task or an update."""
    if any(isinstance(item.get(update), dict) for update in _UPDATE_KEYS):
        return True
    holders = [holder for holder in _iter_part_holders(item) if isinstance(holder.get("parts"), list)]
    if item.get("kind") in _MESSAGE_KINDS or any("messageId" in holder for holder in holders):
        return bool(holders) or "status" in item
    return any(_get_part_field(part) is not None for holder in holders for part in holder["parts"])


def _unwrap_json_rpc(item: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a JSON-RPC request or response, or the item itself."""
    for key in ("result", "params"):
        if isinstance(item.get(key), dict) and "jsonrpc" in item:
            inner: dict[str, Any] = item[key]
            return inner
    return item


def _iter_part_holders(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the objects that have parts, in chronological order."""
    for one in (item, *filter_dicts([item.get(update) for update in _UPDATE_KEYS])):
        seen = one.get("message"), dict_or_empty(one.get("status")).get("message"), one.get("artifact")
        yield from (*filter_dicts(one.get("history")), one, *filter_dicts(list(seen)))
        yield from filter_dicts(one.get("artifacts"))


def _get_part_field(part: Any) -> str | None:
    """Return the ADK part that a data part represents, or None."""
    if not isinstance(part, dict) or not isinstance(part.get("data"), dict):
        return None
    metadata = dict_or_empty(part.get("metadata"))
    kind = metadata.get("adk_type", metadata.get("type"))
    return _FIELD_BY_ADK_TYPE.get(kind) if isinstance(kind, str) else None


def _read_parts(holder: Mapping[str, Any], state: _MessagesState, into: Assembly) -> None:
    """Read the parts of a message or an artifact; skip those that were read before."""
    message = read_id(holder.get("messageId"))
    may_call = is_model_role(holder.get("role"))
    seen = set()
    for place, part in enumerate(holder["parts"] if isinstance(holder.get("parts"), list) else ()):
        carrier = _get_part_field(part)
        if carrier is None or (carrier in _CALL_FIELDS and not may_call):
            # Data that is not marked as a call, or a call in a message that is not from the model.
            is_data = isinstance(part, dict) and "data" in part and "function_" not in json_text(part.get("metadata"))
            into.has_dropped = into.has_dropped or is_data or not may_call
            continue
        inner = part["data"].get("data")
        data = inner if isinstance(inner, dict) and len(part["data"]) == 1 else part["data"]
        identity = read_id(data.get("id"))
        mark = (carrier, identity or (message, place) if identity or message else None)
        if mark[1] is not None and mark in state.seen:
            continue
        seen.add(mark)
        is_long = dict_or_empty(part["metadata"]).get("adk_is_long_running") is True
        read_part(
            {carrier: convert_whole_floats(data)},
            into,
            _RESULT_KEY,
            (identity,) if is_long and identity else (),
        )
    state.seen |= seen


def _compose_call(call: AskedCall) -> list[dict[str, Any]]:
    """Return the call, followed by its result if the provider ran it: A2A has no other way to express that."""
    if not call.provider_executed or call.name == CODE_EXECUTION:
        return compose_parts(call)
    result = None if call.result is ABSENT else call.result
    response = {_RESULT_KEY: result} if call.error is None else {"error": call.error}
    answered = {"functionResponse": {"id": call.id, "name": call.name, "response": response}}
    return [*compose_parts(call._replace(provider_executed=False)), answered]


def _build_data_part(part: dict[str, Any]) -> dict[str, Any]:
    carrier = next(key for key in part if key in _ADK_TYPE_BY_FIELD)
    return {"data": part[carrier], "metadata": {"adk_type": _ADK_TYPE_BY_FIELD[carrier]}}


def convert_whole_floats(value: Any) -> Any:
    """Return the value with whole floats converted to integers, at any depth."""
    return replace_items(value, _convert_whole_float)


def _convert_whole_float(item: Any) -> Any:
    is_whole = isinstance(item, float) and item.is_integer() and abs(item) < _MAX_EXACT_INTEGER
    return int(item) if is_whole else item


def _is_answer(part: Mapping[str, Any]) -> bool:
    return dict_or_empty(part.get("metadata")).get("adk_type") == "function_response"
