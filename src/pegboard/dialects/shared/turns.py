"""Turns of a conversation, and how to read them from messages in the common forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from pegboard.dialects.shared.function_calls import filter_dicts
from pegboard.dialects.shared.message_text import content_to_text, get_message_text

Speaker = Literal["user", "assistant", "system", "tool"]

_SPEAKER_BY_ROLE: dict[str, Speaker] = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "agent", "chatbot", "bot"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "ipython", "observation", "tool_result"), "tool"),
}
_TEXT_TYPES = ("text", "output_text")


class Turn(NamedTuple):
    """One turn of a speaker; `raw` is its original form in a history of its dialect, a list if it consists of items.

    `role` is None if the speaker is unknown, and `tool` if the turn answers calls. `is_part` is True if following
    turns of the same speaker belong to it. `dialect` names the dialect of answers that another one would misread.
    """

    role: Speaker | None
    text: str | None
    raw: Any
    when: Any = None
    is_part: bool = False
    dialect: str | None = None


def get_speaker(role: Any) -> Speaker | None:
    """Return the speaker for a role that many providers use, or None."""
    return _SPEAKER_BY_ROLE.get(role.lower()) if isinstance(role, str) else None


def unwrap_message(response: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the model's message under `message`, with the time of the response; None if there is none."""
    message = response.get("message")
    if not isinstance(message, dict) or not ("role" in message or "tool_calls" in message):
        return None
    message = {"role": "assistant", **message}
    if "timestamp" not in message and isinstance(response.get("created_at"), str):
        message["timestamp"] = response["created_at"]
    return message


def read_message_turn(
    item: Mapping[str, Any], speaker: Speaker, *, is_part: bool = False, raw: Mapping[str, Any] | None = None
) -> Turn:
    """Return the turn of a message of this speaker; `raw` is the message unless given."""
    text = get_message_text(item, between="\n" if speaker in ("user", "system") else "")
    return Turn(speaker, text, item if raw is None else raw, get_timestamp(item), is_part and speaker == "assistant")


def read_part_turn(item: Mapping[str, Any], speaker: Speaker) -> Turn:
    """Return the turn of an item that is a part of a message."""
    return Turn(speaker, content_to_text(item) if item.get("type") in _TEXT_TYPES else None, item, is_part=True)


def read_typed_turn(item: Mapping[str, Any], kind: Any, inner: Mapping[str, Any] | None = None) -> Turn | None:
    """Return the turn of a message whose type names its speaker, such as `human` or `AIMessageChunk`, or None.

    The message is `inner` if the item wraps it.
    """
    if not isinstance(kind, str) or "function" in item:
        return None
    if kind == "text" and "source" not in item:
        return read_part_turn(item, "assistant")
    speaker = get_speaker(kind.removesuffix("Chunk").removesuffix("Message"))
    if speaker is None:
        return None
    inner = item if inner is None else inner
    return Turn(speaker, get_message_text(inner), item, get_timestamp(inner), is_part=kind.endswith("Chunk"))


def split_answers(
    item: Mapping[str, Any], speaker: Speaker | None, is_answer: Callable[[dict[str, Any]], bool]
) -> list[Turn] | None:
    """Return the answers in a user's message and the rest of it as two turns; None if it has no answers."""
    if speaker != "user":
        return None
    for key in ("content", "parts"):
        parts = item.get(key)
        answers = [part for part in filter_dicts(parts) if is_answer(part)]
        if answers:
            rest = [part for part in parts or () if not (isinstance(part, dict) and is_answer(part))]
            turns = [Turn("tool", None, {**item, key: answers}, get_timestamp(item))]
            return turns + ([read_message_turn({**item, key: rest}, "user")] if rest else [])
    return None


def get_timestamp(item: Mapping[str, Any]) -> Any:
    """Return the timestamp of a message as it is, or None."""
    return next((item[key] for key in ("timestamp", "created_at", "createdAt") if item.get(key) is not None), None)
