"""What the two forms of OpenAI's Chat Completions have in common: choices, and how they end.

Several choices are alternatives to one another, so only the first is read: running the calls of all would do several
times what is to be done once.
"""

from __future__ import annotations

from typing import Any

from pegboard.dialects.adapting.root import REFUSED
from pegboard.dialects.limits import Limits
from pegboard.dialects.parts.openai_calls import NAME

LIMITS = Limits(name=NAME, tools=128, root=REFUSED, needs_items=True)
EXPECTED = "a response with 'choices', a message with a 'role', a history with 'messages', or one call"
# Reasons to finish that leave the last call unfinished.
CUT = ("length", "content_filter")


def choice_of(choices: list[Any]) -> dict[str, Any] | None:
    """The first alternative: chunks give each by its index, responses in order."""
    for choice in choices:
        if isinstance(choice, dict) and (choice.get("index") in (0, None) or "message" in choice):
            return choice
    return None


def as_response(item: dict[str, Any]) -> dict[str, Any]:
    """The response that holds this choice, where the item is a choice alone; anything else as it is."""
    if "choices" in item or "type" in item or ("message" not in item and "delta" not in item):
        return item
    index = item.get("index")
    if not isinstance(index, int) or not isinstance(item.get("message", item.get("delta")), dict):
        return item
    # Of several choices only the first is read.
    return {"choices": [item if index == 0 else {"index": index}]}


def says_something(choice: dict[str, Any]) -> bool:
    """Whether this is a message, or a chunk that carries more than who speaks."""
    if isinstance(choice.get("message"), dict):
        return True
    delta = choice.get("delta")
    if not isinstance(delta, dict):
        return False
    return choice.get("finish_reason") not in (None, "function_call") or any(
        value for key, value in delta.items() if key != "role"
    )


def function_call_of(choice: dict[str, Any]) -> dict[str, Any] | None:
    """The one call of the older form, if there is one."""
    body = choice.get("message") or choice.get("delta")
    function = body.get("function_call") if isinstance(body, dict) else None
    return function if isinstance(function, dict) else None


def with_listed_calls(item: dict[str, Any]) -> dict[str, Any]:
    """The item with `tool_calls` as a list where it is one object, as text-generation-inference writes it."""
    if isinstance(calls := item.get("tool_calls"), dict):
        return {**item, "tool_calls": [calls]}
    choices = item.get("choices")
    choice: Any = choices[0] if isinstance(choices, list) and choices else None
    for name in ("message", "delta") if isinstance(choice, dict) else ():
        said = choice.get(name)
        if isinstance(said, dict) and isinstance(said.get("tool_calls"), dict):
            return {**item, "choices": [{**choice, name: with_listed_calls(said)}]}
    messages = item.get("messages")
    if isinstance(messages, list) and any(_is_one_call(message) for message in messages):
        listed = [with_listed_calls(message) if _is_one_call(message) else message for message in messages]
        return {**item, "messages": listed}
    return item


def _is_one_call(message: Any) -> bool:
    return isinstance(message, dict) and isinstance(message.get("tool_calls"), dict)
