"""A conversation with everything that histories have to convert."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pegboard.conversations.provider_history import History, build_history
from pegboard.dialects.catalog import load_dialects
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.model.call import Malformed
from pegboard.model.conversation import Message, MessageRole

KNOWN = load_dialects()
TALKING = [name for name, dialect in KNOWN.items() if "history" in dialect.abilities and name != "memory"]
WHEN = datetime(2026, 11, 16, tzinfo=UTC)
# Malformed arguments, in the form of dialects that allow only objects.
INVALID = "INVALID_JSON"

FROM_GEMINI = {
    "role": "model",
    "parts": [{"functionCall": {"name": "get_weather", "args": {"city": "Bern"}}, "thoughtSignature": "c2lnbmVk"}],
}


def message(
    place: int,
    role: MessageRole,
    content: str | None = None,
    *calls: dict[str, Any],
    dialect: str | None = None,
    raw: Any = None,
) -> Message:
    """Return one message of a conversation, with an id from its position."""
    return Message(f"m{place}", "thread", place, role, content, WHEN, calls, dialect, raw)


def call(identity: str, name: str = "get_weather", **more: Any) -> dict[str, Any]:
    """Return a call in memory form; by default of the weather in Bern."""
    return {"id": identity, "name": name, "arguments": {"city": "Bern"}, **more}


CONVERSATION = [
    message(0, "system", "Be brief."),
    message(1, "user", "How is the weather?"),
    message(
        2,
        "assistant",
        "I look.",
        call("call_1", result={"degrees": 7}),
        call("call_2", "get_time", arguments={"zone": ["a", {"b": 1.5}], "is_short": True}, error="no clock"),
    ),
    message(3, "assistant", "7 degrees."),
    message(4, "user", "And now?"),
    message(5, "assistant", None, call("", result="fine"), dialect="gemini_generate_content", raw=FROM_GEMINI),
    message(
        6, "assistant", None, call("call_3"), call("call_4", arguments=None, raw_arguments='{"city":', error="bad")
    ),
    message(7, "assistant", " "),
    message(8, "user", "Well?"),
]
CALLS = [one for message in CONVERSATION for one in message.tool_calls]


def history(name: str, messages: list[Message] | None = None) -> History:
    """The conversation in a dialect."""
    return build_history(CONVERSATION if messages is None else messages, KNOWN[name])


def arguments_of(asked: AskedCall) -> Any:
    """Return the arguments of a call, also if they could not be parsed."""
    return {INVALID: asked.arguments.text} if isinstance(asked.arguments, Malformed) else asked.arguments


def get_stored_arguments(stored: dict[str, Any]) -> Any:
    """Return the arguments of a stored call, also if they could not be parsed."""
    return {INVALID: stored["raw_arguments"]} if stored["arguments"] is None else stored["arguments"]
