"""smolagents: chat messages with tool calls, their deltas, and texts with `Action:` and JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.call_assembler import Assembly, read_id, text_or_empty
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.dialects.provider_rules import PORTABLE_LIMITS
from pegboard.dialects.shared.function_calls import (
    arguments_to_json,
    is_function_call,
    is_model_role,
    read_function_deltas,
    result_to_output_text,
    split_shared_result,
)
from pegboard.dialects.shared.react_text import ReactStep, is_json_action, parse_react_steps
from pegboard.dialects.shared.turns import Speaker
from pegboard.json_schema.arguments_text import parse_arguments, parse_json_text
from pegboard.model.call_errors import MalformedArguments

_TOOL_ROLES = ("tool-call", "tool-response")
_NAME_PATTERN = re.compile(r'"(?:name|action)"\s*:\s*"([^"\\]{1,255})"')


@dataclass(slots=True)
class _StreamState:
    """The state of a conversation while it is read."""

    texts: list[str] = field(default_factory=list)
    has_calls: bool = False
    is_complete: bool = False
    unanswered_ids: list[str] = field(default_factory=list)


class Smolagents(Dialect):
    """Calls in a message or in a text; all answers in one observation."""

    name = "smolagents"
    expected = "a message or a delta with 'tool_calls', or a text with 'Action:' and JSON"
    speakers: ClassVar[Mapping[str, Speaker]] = {"tool-call": "assistant", "tool-response": "user"}
    limits = PORTABLE_LIMITS
    keys = frozenset({"token_usage", "tool_calls"})
    marks = ("Action:",)

    def recognises(self, item: Any) -> bool:
        """Recognise a text whose last action is JSON, or fields that only this framework's messages have."""
        if isinstance(item, str):
            steps = parse_react_steps(item).steps
            return bool(steps) and is_json_action(steps[-1].action)
        if not isinstance(item, dict):
            return False
        if "token_usage" in item or item.get("role") in _TOOL_ROLES:
            return "content" in item or "tool_calls" in item
        calls = item.get("tool_calls")
        first = calls[0] if isinstance(calls, list) and calls else None
        return isinstance(first, dict) and is_function_call(first) and "description" in first["function"]

    def read(self, item: Any, into: Assembly) -> None:
        """Read a message, a delta, a piece of text, or one call."""
        state = into.get_state(_StreamState)
        if isinstance(item, str):
            state.texts.append(item)
        elif not isinstance(item, dict):
            raise self.make_unreadable_error(item)
        elif is_function_call(item):
            into.bare = True
            _read_call(item, into, state)
        elif isinstance(item.get("name"), str):
            into.bare = True
            into.call(item["name"], _read_arguments(item["name"], item.get("arguments"), into), item.get("id"))
        elif "role" in item:
            _read_message(item, into, state)
        elif "tool_calls" in item or "content" in item:
            _read_delta(item, into, state)
        else:
            raise self.make_unreadable_error(item)

    def finish(self, into: Assembly) -> None:
        """Add the actions of a streamed text, and end a stream."""
        state = into.state
        if state is None:
            return
        if state.is_complete:
            into.complete_all()
        if state.texts and not state.has_calls:
            _read_text("".join(state.texts), into)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        return _build_message("assistant", "") | {"tool_calls": [_compose_call(call) for call in calls]}

    def render(self, answers: Sequence[Answer], *, many: bool) -> list[dict[str, Any]]:
        """Return a message that repeats the calls, and one with the observation."""
        observed = "\n".join(result_to_output_text(answer.result) for answer in answers)
        return [
            _build_message("tool-call", [{"type": "text", "text": f"Calling tools:\n{_format_calls(answers)}"}]),
            _build_message("tool-response", [{"type": "text", "text": f"Observation:\n{observed}"}]),
        ]

    def say(self, role: str, text: str, id: str) -> list[Any]:
        return [_build_message(role, [{"type": "text", "text": text}])]


def _read_message(item: dict[str, Any], into: Assembly, state: _StreamState) -> None:
    text = _content_to_text(item.get("content"))
    if item["role"] == "tool-response":
        # It has no call id: it answers all calls before it.
        observed = text.removeprefix("Observation:").strip()
        for identity, result in zip(
            state.unanswered_ids, split_shared_result(observed, len(state.unanswered_ids)), strict=True
        ):
            into.answer(identity, result)
        state.unanswered_ids.clear()
        return
    calls = item.get("tool_calls")
    if not is_model_role(item["role"]):
        return
    if isinstance(calls, list) and calls:
        for call in calls:
            if is_function_call(call):
                _read_call(call, into, state)
    elif item["role"] == "assistant":
        _read_text(text, into)


def _read_delta(item: dict[str, Any], into: Assembly, state: _StreamState) -> None:
    if item.get("tool_calls"):
        state.has_calls = True
        read_function_deltas(item["tool_calls"], into)
    state.texts.append(_content_to_text(item.get("content")))
    # Some servers send usage with every chunk, so it marks the end only if no other chunk follows.
    state.is_complete = state.is_complete or bool(item.get("token_usage"))


def _read_call(call: dict[str, Any], into: Assembly, state: _StreamState) -> None:
    function = call["function"]
    name = function.get("name")
    into.call(name, _read_arguments(name, function.get("arguments"), into), call.get("id"))
    if identity := read_id(call.get("id")):
        state.unanswered_ids.append(identity)


def _read_text(text: str, into: Assembly) -> None:
    for step in parse_react_steps(text).list_actions():
        if is_json_action(step.action):
            _read_action(step, into)


def _read_action(step: ReactStep, into: Assembly) -> None:
    start, end = step.action.find("{"), step.action.rfind("}")
    blob = step.action[start : end + 1] if end > start else step.action[start:]
    result = ABSENT if step.observation is None else step.observation
    try:
        action = parse_json_text(blob)
    except MalformedArguments:
        found = _NAME_PATTERN.search(blob)
        into.call(found[1] if found else "", blob, result=result)
        return
    name = action.get("name", action.get("action"))
    if isinstance(name, str):
        given = action.get("arguments", action.get("action_input"))
        into.call(name, _read_arguments(name, given, into), action.get("id"), result=result)


def _read_arguments(name: Any, given: Any, into: Assembly) -> Any:
    """Return the arguments; a bare value is assigned to the tool's only parameter, like a positional argument."""
    if isinstance(given, dict) or not isinstance(name, str) or isinstance(parse_arguments(given), dict):
        return given
    value = given
    if isinstance(given, str):
        try:
            value = parse_json_text(given)
        except MalformedArguments:
            if given.lstrip()[:1] in ("{", "[", '"'):
                return given
    parameter = _find_only_parameter(into.schema_of(name))
    return given if parameter is None or isinstance(value, dict) else {parameter: value}


def _find_only_parameter(schema: Mapping[str, Any] | None) -> str | None:
    if schema is None:
        return None
    names = list(schema.get("required") or schema.get("properties") or ())
    return names[0] if len(names) == 1 else None


def _content_to_text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(text_or_empty(part.get("text")) for part in content if isinstance(part, dict))
    return text_or_empty(content)


def _compose_call(call: AskedCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments_to_json(call), "description": None}
    return {"id": call.id, "type": "function", "function": function}


def _format_calls(answers: Sequence[Answer]) -> str:
    """Return the calls in Python notation, as the framework repeats them."""
    calls = []
    for answer in answers:
        call = answer.call
        arguments = arguments_to_json(call) if call.is_malformed else call.arguments
        function = {"name": answer.name, "arguments": arguments}
        calls.append({"id": answer.id, "type": "function", "function": function})
    try:
        return str(calls)
    except RecursionError:
        return str([{"id": answer.id, "name": answer.name} for answer in answers])


def _build_message(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "tool_calls": None, "raw": None, "token_usage": None}
