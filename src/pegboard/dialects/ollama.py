"""Ollama: whole calls in messages and chunks, and answers that go by the tool's name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.core.call import Malformed
from pegboard.core.tool import Tool
from pegboard.dialects.adapting.root import REFUSED
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.limits import Limits
from pegboard.dialects.parts.defining import function_for
from pegboard.dialects.parts.function_calls import is_function_call, read_function_calls
from pegboard.dialects.parts.held import held_in
from pegboard.dialects.parts.outputs import output_of, output_text
from pegboard.dialects.parts.picking import dict_of, dicts_of, first_of, is_models, unreadable
from pegboard.dialects.talk import Talk

# What its own types keep of a schema; the rest of it never reaches a model.
_OF_PARAMETERS = ("type", "$defs", "items", "required", "properties")
_OF_PROPERTIES = ("type", "items", "description", "enum")
_EXPECTED = "a chat response or its chunk, a message with tool_calls, or a call {function: {name, arguments}}"


class Ollama(Dialect):
    """Calls `{function: {name, arguments}}` with an object for arguments and no id."""

    name = "ollama"
    keys = frozenset({"message", "messages", "tool_calls", "tool_name", "function"})
    limits = Limits(
        root=REFUSED,
        needs_items=True,
        ignored=frozenset(
            {
                "additionalProperties",
                "allOf",
                "anyOf",
                "const",
                "default",
                "exclusiveMaximum",
                "exclusiveMinimum",
                "format",
                "maximum",
                "maxItems",
                "maxLength",
                "minimum",
                "minItems",
                "minLength",
                "multipleOf",
                "not",
                "oneOf",
                "pattern",
                "patternProperties",
                "title",
                "uniqueItems",
            }
        ),
    )

    talk = Talk(has_ids=False, objects=True)

    def recognises(self, item: Any) -> bool:
        """A message beside `done`, calls that are only a function with an object, or an answer by tool_name."""
        if not isinstance(item, dict):
            return False
        if isinstance(item.get("message"), dict):
            return isinstance(item.get("done"), bool)
        if isinstance(item.get("messages"), list):
            return any(self.recognises(message) for message in item["messages"] if "messages" not in dict_of(message))
        if isinstance(item.get("tool_calls"), list):
            return _is_bare_function(first_of(item["tool_calls"]))
        if item.get("role") == "tool":
            return isinstance(item.get("tool_name"), str)
        return "role" not in item and _is_bare_function(item)

    def read(self, item: Any, into: Assembly) -> None:
        """A response, a chunk, a message or one call."""
        if not isinstance(item, dict):
            raise unreadable(item, self.name, _EXPECTED)
        if isinstance(item.get("messages"), list):
            for message in dicts_of(item["messages"]):
                if isinstance(message.get("role"), str):
                    _read(message, into)
        else:
            _read(item, into)

    def finish(self, into: Assembly) -> None:
        """The calls that nothing answered."""
        held_in(into).release(into)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """The assistant's message; arguments that could not be read stay the text they were."""
        made = [{"function": {"name": call.name, "arguments": _arguments(call)}} for call in calls]
        return {"role": "assistant", "content": "", "tool_calls": made}

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """One message an answer, by the tool's name and in the order of the calls."""
        rendered = [_rendered(answer) for answer in answers]
        return rendered if many else rendered[0]

    def define(self, tool: Tool) -> dict[str, Any]:
        """A function with what Ollama keeps of its schema."""
        function = function_for(tool)
        parameters = _kept(function["parameters"], _OF_PARAMETERS)
        properties = dict_of(parameters.get("properties"))
        parameters["properties"] = {key: _kept(dict_of(value), _OF_PROPERTIES) for key, value in properties.items()}
        return {"type": "function", "function": function | {"parameters": parameters}}


def _read(item: dict[str, Any], into: Assembly) -> None:
    held = held_in(into)
    message = item if "message" not in item else dict_of(item["message"])
    if message.get("role") == "tool":
        result, error = output_of(message.get("content"))
        name = message.get("tool_name", message.get("name"))
        held.answer(into, name, result, error, id=message.get("tool_call_id"))
        return
    held.release(into)
    calls = dicts_of(message.get("tool_calls")) if is_models(message.get("role")) else []
    if item.get("done") is False:
        # A stream: nothing in it answers its own calls, so they need not wait.
        read_function_calls(calls, into)
        return
    if is_function_call(item):
        into.bare = True
        calls = [item]
    elif not isinstance(message.get("role"), str) and "tool_calls" not in message and "message" not in item:
        raise unreadable(item, Ollama.name, _EXPECTED)
    for call in calls:
        if is_function_call(call):
            held.hold(call["function"].get("name"), call["function"].get("arguments"), call.get("id"))


def _is_bare_function(item: dict[str, Any]) -> bool:
    if not is_function_call(item) or "type" in item:
        return False
    return isinstance(item["function"].get("arguments"), dict) and ("id" not in item or "index" in item["function"])


def _arguments(call: AskedCall) -> Any:
    return call.arguments.text if isinstance(call.arguments, Malformed) else call.arguments or {}


def _kept(schema: Mapping[str, Any], keywords: Sequence[str]) -> dict[str, Any]:
    return {keyword: schema[keyword] for keyword in keywords if keyword in schema}


def _rendered(answer: Answer) -> dict[str, Any]:
    return {"role": "tool", "content": output_text(answer.result), "tool_name": answer.name}
