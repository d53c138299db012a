"""Shared code of OpenAI's dialects: choices, calls that were cut off, custom tools, and strict definitions.

Several choices are alternatives, so only the first is read: otherwise the same calls would run several times.
"""

from __future__ import annotations

import json
import re
from typing import Any

from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.provider_rules import Limits
from pegboard.dialects.schema_adapters import to_strict_schema
from pegboard.dialects.schema_adapters.root_object import REFUSED_ROOT_KEYWORDS
from pegboard.dialects.shared.function_calls import define_function
from pegboard.model.call import Malformed
from pegboard.model.tool import Tool

FUNCTION_NAME_PATTERN = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
# Ends a text that `encode_custom_input_piece` started.
CUSTOM_INPUT_END = '"}'
_TRUNCATED_MESSAGE = "the model was cut off before the arguments were complete"


def read_function_arguments(given: Any, *, cut: bool) -> Any:
    """Return the arguments; if the model was cut off, empty ones are Malformed."""
    return (
        Malformed("", _TRUNCATED_MESSAGE)
        if cut and (given is None or (isinstance(given, str) and not given.strip()))
        else given
    )


def read_custom_input(given: Any, *, cut: bool) -> Any:
    """Return the text for a custom tool as arguments; Malformed if it was cut off, since it may be incomplete."""
    return Malformed(given if isinstance(given, str) else "", _TRUNCATED_MESSAGE) if cut else {"input": given}


def encode_custom_input_piece(text: Any, *, begins: bool) -> str:
    """Return a piece of the text for a custom tool as JSON, so that a truncated text is not parsed as complete."""
    return ('{"input":"' if begins else "") + json.dumps(text if isinstance(text, str) else "")[1:-1]


def get_custom_input(call: AskedCall) -> str:
    """Return the text that a call passes to a custom tool."""
    if isinstance(call.arguments, Malformed):
        return call.arguments.text
    given = (call.arguments or {}).get("input", "")
    return given if isinstance(given, str) else json.dumps(given)


CHAT_LIMITS = Limits(name=FUNCTION_NAME_PATTERN, tools=128, root=REFUSED_ROOT_KEYWORDS, needs_items=True)
EXPECTED_CHAT_PAYLOAD = "a response with 'choices', a message with a 'role', a history with 'messages', or one call"
# Finish reasons after which the last call may be incomplete.
TRUNCATED_FINISH_REASONS = ("length", "content_filter")


def get_first_choice(choices: list[Any]) -> dict[str, Any] | None:
    """Return the first alternative: chunks number each by index, responses list them in order."""
    for choice in choices:
        if isinstance(choice, dict) and (choice.get("index") in (0, None) or "message" in choice):
            return choice
    return None


def wrap_choice(item: dict[str, Any]) -> dict[str, Any]:
    """Wrap a bare choice in a response; return anything else unchanged."""
    if "choices" in item or "type" in item or ("message" not in item and "delta" not in item):
        return item
    index = item.get("index")
    if not isinstance(index, int) or not isinstance(item.get("message", item.get("delta")), dict):
        return item
    # Only the first choice is read.
    return {"choices": [item if index == 0 else {"index": index}]}


def has_chat_content(choice: dict[str, Any]) -> bool:
    """Return True for a message, or for a chunk that has more than a role."""
    if isinstance(choice.get("message"), dict):
        return True
    delta = choice.get("delta")
    if not isinstance(delta, dict):
        return False
    return choice.get("finish_reason") not in (None, "function_call") or any(
        value for key, value in delta.items() if key != "role"
    )


def get_function_call(choice: dict[str, Any]) -> dict[str, Any] | None:
    """Return the `function_call` of the legacy format, or None."""
    body = choice.get("message") or choice.get("delta")
    function = body.get("function_call") if isinstance(body, dict) else None
    return function if isinstance(function, dict) else None


def wrap_single_calls(item: dict[str, Any]) -> dict[str, Any]:
    """Return the item with `tool_calls` as a list if it is a single object, as text-generation-inference writes it."""
    if isinstance(calls := item.get("tool_calls"), dict):
        return {**item, "tool_calls": [calls]}
    choices = item.get("choices")
    choice: Any = choices[0] if isinstance(choices, list) and choices else None
    for name in ("message", "delta") if isinstance(choice, dict) else ():
        fields = choice.get(name)
        if isinstance(fields, dict) and isinstance(fields.get("tool_calls"), dict):
            return {**item, "choices": [{**choice, name: wrap_single_calls(fields)}]}
    messages = item.get("messages")
    if isinstance(messages, list) and any(_has_single_call(message) for message in messages):
        listed = [wrap_single_calls(message) if _has_single_call(message) else message for message in messages]
        return {**item, "messages": listed}
    return item


def _has_single_call(message: Any) -> bool:
    return isinstance(message, dict) and isinstance(message.get("tool_calls"), dict)


def define_strict_function(tool: Tool) -> dict[str, Any]:
    """Return `{name, description, parameters, strict}`, strict if strict mode can express the schema."""
    strict = to_strict_schema(tool.input_schema)
    function = define_function(tool)
    return function | {"strict": False} if strict is None else function | {"parameters": strict, "strict": True}
