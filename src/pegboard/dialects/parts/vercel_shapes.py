"""Which version of Vercel's AI SDK an object is of: its parts have the same types, and not quite the same fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

# Events of a stream that carry no call: those of every version, and those of some.
_EVENTS = frozenset({"finish", "text-delta", "response-metadata"})
_EVENTS_OF_4 = _EVENTS | {"step-start", "step-finish", "reasoning", "reasoning-signature", "redacted-reasoning"}
# Those that later versions have too, told by a field.
_FIELDS_OF_4 = {"text-delta": "textDelta", "reasoning": "textDelta", "step-start": "messageId"}
_EVENTS_SINCE_5 = _EVENTS | {
    *("start", "start-step", "finish-step", "abort", "stream-start", "message-metadata"),
    *("text-start", "text-end", "reasoning-start", "reasoning-delta", "reasoning-end", "source-url", "source-document"),
}
_STARTS_OF_4 = frozenset({"tool-call-streaming-start", "tool-invocation"})
_BY_OTHER_IDS = frozenset({"tool-input-start", "tool-input-delta", "tool-input-end"})
_APPROVALS = frozenset({"tool-approval-request", "tool-approval-response"})

Object = Mapping[str, Any]
IsPart = Callable[[Object], bool]


def is_since_5(item: Object) -> bool:
    """Whether this is a part, message, result or event of version 5 or a later one."""
    if isinstance(item.get("type"), str) and "role" not in item:
        is_event = item["type"] in _EVENTS_SINCE_5 and "payload" not in item and "textDelta" not in item
        return is_event or _is_part_since_5(item)
    parts = item.get("parts")
    if isinstance(parts, list) and isinstance(item.get("role"), str):
        return _is_ui_message_since_5(parts)
    if isinstance(item.get("toolName"), str):
        return isinstance(item.get("toolCallId"), str) and "input" in item
    return _holds(item, _is_part_since_5)


def is_4(item: Object) -> bool:
    """Whether this is a part, message, result or event of version 4 or an earlier one."""
    if isinstance(item.get("type"), str) and "role" not in item:
        kind = item["type"]
        is_event = kind in _EVENTS_OF_4 and "payload" not in item and _FIELDS_OF_4.get(kind, "type") in item
        return is_event or _is_part_of_4(item)
    if "toolCallType" in item:
        return "toolCallId" in item
    if _any(item.get("parts"), _is_part_of_4) or _any(item.get("toolInvocations"), _is_invocation):
        return True
    return _holds(item, _is_part_of_4)


def _holds(item: Object, is_part: IsPart) -> bool:
    """Whether such a part is in the message, in one of the messages or among the calls."""
    if _any(item.get("content"), is_part):
        return True
    messages = item.get("messages")
    if isinstance(messages, list):
        return any(
            isinstance(message, dict) and (_any(message.get("content"), is_part) or _any(message.get("parts"), is_part))
            for message in messages
        )
    return "role" not in item and _any(item.get("toolCalls"), is_part)


def _any(parts: Any, is_part: IsPart) -> bool:
    return isinstance(parts, list) and any(isinstance(part, dict) and is_part(part) for part in parts)


def _is_part_since_5(part: Object) -> bool:
    kind = part.get("type")
    if not isinstance(kind, str) or not (kind.startswith("tool-") or kind == "dynamic-tool"):
        return False
    if "args" in part or "argsTextDelta" in part or "payload" in part or "toolInvocation" in part:
        return False
    if "toolCallId" in part:
        return kind != "tool-call-streaming-start"
    return ("id" in part and kind in _BY_OTHER_IDS) or ("approvalId" in part and kind in _APPROVALS)


def _is_part_of_4(part: Object) -> bool:
    kind = part.get("type")
    if "payload" in part or not isinstance(kind, str):
        return "toolCallType" in part and "args" in part
    if kind in _STARTS_OF_4:
        return "toolCallId" in part or isinstance(part.get("toolInvocation"), dict)
    if "toolCallId" not in part:
        return False
    if kind == "tool-call-delta":
        return "argsTextDelta" in part
    return (kind == "tool-call" and "args" in part) or (kind == "tool-result" and "result" in part)


def _is_invocation(part: Object) -> bool:
    return "toolCallId" in part and "state" in part


def _is_ui_message_since_5(parts: list[Any]) -> bool:
    first = parts[0] if parts else None
    return isinstance(first, dict) and isinstance(first.get("type"), str) and not _any(parts, _is_part_of_4)
