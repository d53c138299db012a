"""Ollama: complete calls in messages and chunks, and answers identified by tool name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.dialects.base import Answer, MessagePerAnswer
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.provider_rules import Limits, Talk
from pegboard.dialects.schema_adapters.root_object import REFUSED_ROOT_KEYWORDS
from pegboard.dialects.shared.function_calls import (
    HeldCalls,
    define_function,
    dict_or_empty,
    filter_dicts,
    first_dict,
    is_function_call,
    is_model_role,
    parse_output,
    read_function_calls,
    result_to_output_text,
)
from pegboard.dialects.shared.turns import unwrap_message
from pegboard.model.tool import Tool

# The schema keywords that Ollama's types keep; others never reach a model.
_PARAMETERS_KEYWORDS = ("type", "$defs", "items", "required", "properties")
_PROPERTY_KEYWORDS = ("type", "items", "description", "enum")
_IGNORED_KEYWORDS = frozenset(
    {"additionalProperties", "allOf", "anyOf", "const", "default", "exclusiveMaximum", "exclusiveMinimum", "format",
     "maximum", "maxItems", "maxLength", "minimum", "minItems", "minLength", "multipleOf", "not", "oneOf",
     "pattern", "patternProperties", "title", "uniqueItems"}
)  # fmt: skip


class Ollama(MessagePerAnswer):
    """Calls `{function: {name, arguments}}` with an object as arguments and no id."""

    name = "ollama"
    expected = "a chat response or its chunk, a message with tool_calls, or a call {function: {name, arguments}}"
    streams_messages = True
    keys = frozenset({"message", "messages", "tool_calls", "tool_name", "function"})
    limits = Limits(root=REFUSED_ROOT_KEYWORDS, needs_items=True, ignored=_IGNORED_KEYWORDS)

    talk = Talk(has_ids=False, objects=True)

    def recognises(self, item: Any) -> bool:
        """Recognise a message beside `done`, calls with only a function, or an answer with `tool_name`."""
        if not isinstance(item, dict):
            return False
        if isinstance(item.get("message"), dict):
            return isinstance(item.get("done"), bool)
        if isinstance(item.get("messages"), list):
            return any(
                self.recognises(message) for message in item["messages"] if "messages" not in dict_or_empty(message)
            )
        if isinstance(item.get("tool_calls"), list):
            return _is_bare_function(first_dict(item["tool_calls"]))
        if item.get("role") == "tool":
            return isinstance(item.get("tool_name"), str)
        return "role" not in item and _is_bare_function(item)

    def read(self, item: Any, into: Assembly) -> None:
        """Read a response, a chunk, a message or one call."""
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
        if isinstance(item.get("messages"), list):
            for message in filter_dicts(item["messages"]):
                if isinstance(message.get("role"), str):
                    self._read_message(message, into)
        else:
            self._read_message(item, into)

    def finish(self, into: Assembly) -> None:
        into.get_state(HeldCalls).release(into)

    def unwrap(self, response: Mapping[str, Any]) -> Any:
        """Return the message of a response or of a chunk."""
        return unwrap_message(response) if "done" in response else None

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """Return the assistant's message; malformed arguments stay text."""
        made = [{"function": {"name": call.name, "arguments": call.arguments_or_text}} for call in calls]
        return {"role": "assistant", "content": "", "tool_calls": made}

    def render_one(self, answer: Answer) -> dict[str, Any]:
        """Return one message per answer, with the tool's name and in the order of the calls."""
        return {"role": "tool", "content": result_to_output_text(answer.result), "tool_name": answer.name}

    def define(self, tool: Tool) -> dict[str, Any]:
        """Return a function definition with the schema keywords that Ollama keeps."""
        function = define_function(tool)
        parameters = _select_keywords(function["parameters"], _PARAMETERS_KEYWORDS)
        properties = dict_or_empty(parameters.get("properties"))
        parameters["properties"] = {
            key: _select_keywords(dict_or_empty(value), _PROPERTY_KEYWORDS) for key, value in properties.items()
        }
        return {"type": "function", "function": function | {"parameters": parameters}}

    def _read_message(self, item: dict[str, Any], into: Assembly) -> None:
        held = into.get_state(HeldCalls)
        message = item if "message" not in item else dict_or_empty(item["message"])
        if message.get("role") == "tool":
            result, error = parse_output(message.get("content"))
            name = message.get("tool_name", message.get("name"))
            held.answer(into, name, result, error, id=message.get("tool_call_id"))
            return
        held.release(into)
        calls = filter_dicts(message.get("tool_calls")) if is_model_role(message.get("role")) else []
        if item.get("done") is False:
            # A stream does not contain answers to its own calls, so they are not held back.
            read_function_calls(calls, into)
            return
        if is_function_call(item):
            into.bare = True
            calls = [item]
        elif not isinstance(message.get("role"), str) and "tool_calls" not in message and "message" not in item:
            raise self.make_unreadable_error(item)
        for call in calls:
            if is_function_call(call):
                held.hold(call["function"].get("name"), call["function"].get("arguments"), call.get("id"))


def _is_bare_function(item: dict[str, Any]) -> bool:
    if not is_function_call(item) or "type" in item:
        return False
    return isinstance(item["function"].get("arguments"), dict) and ("id" not in item or "index" in item["function"])


def _select_keywords(schema: Mapping[str, Any], keywords: Sequence[str]) -> dict[str, Any]:
    return {keyword: schema[keyword] for keyword in keywords if keyword in schema}
