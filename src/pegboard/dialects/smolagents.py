"""smolagents: chat messages with tool calls, their deltas, and texts with `Action:` and JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pegboard.core.errors import MalformedArguments
from pegboard.core.tool import Tool
from pegboard.dialects.asked import ABSENT, AskedCall, Unreadable
from pegboard.dialects.assembly import Assembly, checked_text, id_of
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.parts.defining import PORTABLE, wrapped_function_for
from pegboard.dialects.parts.function_calls import is_function_call, read_function_deltas, text_of_arguments
from pegboard.dialects.parts.outputs import output_text, shared_results
from pegboard.dialects.parts.picking import is_models
from pegboard.dialects.parts.react import Step, is_object, steps_of
from pegboard.dialects.reading import arguments_of, json_of
from pegboard.dialects.seen import seen

_ROLES = ("tool-call", "tool-response")
_NAME = re.compile(r'"(?:name|action)"\s*:\s*"([^"\\]{1,255})"')


@dataclass(slots=True)
class _Heard:
    """What a conversation has said so far."""

    texts: list[str] = field(default_factory=list)
    has_calls: bool = False
    is_complete: bool = False
    unanswered: list[str] = field(default_factory=list)


class Smolagents(Dialect):
    """Calls in a message or in a text; the answers are one observation."""

    name = "smolagents"
    limits = PORTABLE
    keys = frozenset({"token_usage", "tool_calls"})
    marks = ("Action:",)

    def recognises(self, item: Any) -> bool:
        """A text whose last action is JSON, or a message or delta with what only this framework's have."""
        if isinstance(item, str):
            steps = steps_of(item).steps
            return bool(steps) and is_object(steps[-1].action)
        if not isinstance(item, dict):
            return False
        if "token_usage" in item or item.get("role") in _ROLES:
            return "content" in item or "tool_calls" in item
        calls = item.get("tool_calls")
        first = calls[0] if isinstance(calls, list) and calls else None
        return isinstance(first, dict) and is_function_call(first) and "description" in first["function"]

    def read(self, item: Any, into: Assembly) -> None:
        """A message, a delta, a piece of text, or one call."""
        heard = into.state = into.state or _Heard()
        if isinstance(item, str):
            heard.texts.append(item)
        elif not isinstance(item, dict):
            raise _unreadable(item)
        elif is_function_call(item):
            into.bare = True
            _read_call(item, into, heard)
        elif isinstance(item.get("name"), str):
            into.bare = True
            into.call(item["name"], _arguments(item["name"], item.get("arguments"), into), item.get("id"))
        elif "role" in item:
            _read_message(item, into, heard)
        elif "tool_calls" in item or "content" in item:
            _read_delta(item, into, heard)
        else:
            raise _unreadable(item)

    def finish(self, into: Assembly) -> None:
        """The actions of a text that came in pieces, and a stream's end."""
        heard = into.state
        if heard is None:
            return
        if heard.is_complete:
            into.all_over()
        if heard.texts and not heard.has_calls:
            _read_text("".join(heard.texts), into)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """One message of the assistant."""
        return _message("assistant", "") | {"tool_calls": [_composed(call) for call in calls]}

    def render(self, answers: Sequence[Answer], *, many: bool) -> list[dict[str, Any]]:
        """The calls once more, then what was observed."""
        observed = "\n".join(output_text(answer.result) for answer in answers)
        return [
            _message("tool-call", [{"type": "text", "text": f"Calling tools:\n{_shown(answers)}"}]),
            _message("tool-response", [{"type": "text", "text": f"Observation:\n{observed}"}]),
        ]

    def say(self, role: str, text: str, id: str) -> list[Any]:
        """A message with one part."""
        return [_message(role, [{"type": "text", "text": text}])]

    def define(self, tool: Tool) -> dict[str, Any]:
        """A function of a provider that takes functions."""
        return wrapped_function_for(tool)


def _read_message(item: dict[str, Any], into: Assembly, heard: _Heard) -> None:
    text = _text(item.get("content"))
    if item["role"] == "tool-response":
        # It names no call: what was asked before is what it answers.
        observed = text.removeprefix("Observation:").strip()
        for identity, result in zip(heard.unanswered, shared_results(observed, len(heard.unanswered)), strict=True):
            into.answer(identity, result)
        heard.unanswered.clear()
        return
    calls = item.get("tool_calls")
    if not is_models(item["role"]):
        return
    if isinstance(calls, list) and calls:
        for call in calls:
            if is_function_call(call):
                _read_call(call, into, heard)
    elif item["role"] == "assistant":
        _read_text(text, into)


def _read_delta(item: dict[str, Any], into: Assembly, heard: _Heard) -> None:
    if item.get("tool_calls"):
        heard.has_calls = True
        read_function_deltas(item["tool_calls"], into)
    heard.texts.append(_text(item.get("content")))
    # Some servers count as they go: that the count came says that it is over only when nothing else comes.
    heard.is_complete = heard.is_complete or bool(item.get("token_usage"))


def _read_call(call: dict[str, Any], into: Assembly, heard: _Heard) -> None:
    function = call["function"]
    name = function.get("name")
    into.call(name, _arguments(name, function.get("arguments"), into), call.get("id"))
    if identity := id_of(call.get("id")):
        heard.unanswered.append(identity)


def _read_text(text: str, into: Assembly) -> None:
    for step in steps_of(text).asked():
        if is_object(step.action):
            _read_action(step, into)


def _read_action(step: Step, into: Assembly) -> None:
    start, end = step.action.find("{"), step.action.rfind("}")
    blob = step.action[start : end + 1] if end > start else step.action[start:]
    result = ABSENT if step.observation is None else step.observation
    try:
        action = json_of(blob)
    except MalformedArguments:
        found = _NAME.search(blob)
        into.call(found[1] if found else "", blob, result=result)
        return
    name = action.get("name", action.get("action"))
    if isinstance(name, str):
        given = action.get("arguments", action.get("action_input"))
        into.call(name, _arguments(name, given, into), action.get("id"), result=result)


def _arguments(name: Any, given: Any, into: Assembly) -> Any:
    """The arguments; a bare value is that of the one parameter there is, as if it were given by position."""
    if isinstance(given, dict) or not isinstance(name, str) or isinstance(arguments_of(given), dict):
        return given
    value = given
    if isinstance(given, str):
        try:
            value = json_of(given)
        except MalformedArguments:
            if given.lstrip()[:1] in ("{", "[", '"'):
                return given
    parameter = _only_parameter(into.schema_of(name))
    return given if parameter is None or isinstance(value, dict) else {parameter: value}


def _only_parameter(schema: Mapping[str, Any] | None) -> str | None:
    if schema is None:
        return None
    names = list(schema.get("required") or schema.get("properties") or ())
    return names[0] if len(names) == 1 else None


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(checked_text(part.get("text")) for part in content if isinstance(part, dict))
    return checked_text(content)


def _composed(call: AskedCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": text_of_arguments(call), "description": None}
    return {"id": call.id, "type": "function", "function": function}


def _shown(answers: Sequence[Answer]) -> str:
    """The calls as Python shows them, which is how the framework repeats them."""
    calls = []
    for answer in answers:
        call = answer.call
        arguments = text_of_arguments(call) if call.is_malformed else call.arguments
        function = {"name": answer.name, "arguments": arguments}
        calls.append({"id": answer.id, "type": "function", "function": function})
    try:
        return str(calls)
    except RecursionError:
        return str([{"id": answer.id, "name": answer.name} for answer in answers])


def _message(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "tool_calls": None, "raw": None, "token_usage": None}


def _unreadable(item: Any) -> Unreadable:
    return Unreadable(
        f"unrecognised_format: this is {seen(item)}; smolagents is a message or delta with 'tool_calls', or a text "
        "with 'Action:' and JSON"
    )
