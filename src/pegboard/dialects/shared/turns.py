"""Turns of a conversation, and how to read them and their text from messages in the common forms.

Parts that are not text become a name in brackets, such as [image].
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from pegboard.dialects.shared.function_calls import dict_or_empty, filter_dicts, first_dict

# Keys and types of parts that are calls, answers, reasoning or separators, and therefore not part of the text.
_CALL_KEYS = frozenset(
    {
        *("functionCall", "function_call", "functionResponse", "function_response", "toolUse", "toolResult"),
        *("tool_call", "tool_call_result", "toolInvocation", "executableCode", "codeExecutionResult", "cachePoint"),
        *("executable_code", "code_execution_result", "reasoningContent", "reasoning"),
    }
)
_CALL_KIND = re.compile(
    r"(?:dynamic-|server_|mcp_|builtin-|custom_)?(?:tool|function)(?:[-_.].*)?"
    r"|retry-prompt|\w+_tool_result|step-(?:start|finish)|source|source-.*|data-.*|compaction"
    r"|thinking|redacted_thinking|reasoning|thought|reasoning_content"
)
_KIND_KEYS = ("type", "block_type", "part_kind", "content_type", "kind")
_PROMPT_KINDS = ("user-prompt", "system-prompt", "retry-prompt")
_MEDIA_TYPES = ("image", "audio", "video", "document", "file")
_MIME_KEYS = ("mimeType", "mime_type", "mediaType", "media_type")
_PART_LIST_KEYS = ("parts", "blocks", "items", "content")
_TEXT_KEYS = ("refusal", "tool_plan", "text")


def get_message_text(item: Mapping[str, Any], between: str = "") -> str | None:
    """Return the text of a message, with `between` between its parts; None if it has none."""
    text = None
    for key in _PART_LIST_KEYS:
        content = item.get(key)
        if text is None and isinstance(content, str | list | dict) and not _is_call_list(content):
            text = content_to_text(content, between=between)
    return text or next((item[key] for key in _TEXT_KEYS if isinstance(item.get(key), str) and item[key]), None)


def content_to_text(content: Any, *, between: str = "") -> str | None:
    """Return the text of content that is a string, a part or a list of parts; None if it has no text."""
    if isinstance(content, str):
        return content or None
    texts: list[str] = []
    was_named = False
    for part in content if isinstance(content, list) else [content]:
        text, is_named = _part_to_text(part)
        if text:
            # A placeholder such as [image] is on its own line.
            gap = "\n" if is_named or was_named else between
            texts += [gap, text] if texts and not texts[-1].endswith("\n") else [text]
            was_named = is_named
    return "".join(texts) or None


def get_text(item: Any, *path: str) -> str:
    """Return the text at this path of keys, or "" if there is none."""
    for key in path:
        item = dict_or_empty(item).get(key)
    return item if isinstance(item, str) else ""


def _is_call_list(content: Any) -> bool:
    """Return True if the content consists only of calls, as in AutoGen."""
    first = first_dict(content)
    return isinstance(first.get("name"), str) and ("arguments" in first or "call_id" in first)


def _part_to_text(part: Any) -> tuple[str, bool]:
    """Return the text of a part, and True if it is only a placeholder for another medium."""
    if not isinstance(part, dict):
        return get_text(part), False
    kind = next((part[key] for key in _KIND_KEYS if isinstance(part.get(key), str)), "")
    if kind in _PROMPT_KINDS or (kind == "text" and isinstance(part.get("content"), str)):
        return _prompt_to_text(part.get("content")), False
    if part.get("thought") is True or _CALL_KIND.fullmatch(kind) or not _CALL_KEYS.isdisjoint(part):
        return "", False
    text = next((part[key] for key in ("text", "refusal") if isinstance(part.get(key), str)), None)
    if text is not None or "adk_type" in dict_or_empty(part.get("metadata")):
        return text or "", False
    return f"[{_name_medium(part, kind)}]", True


def _prompt_to_text(content: Any) -> str:
    """Return the text of a prompt part: a string or a list of strings and media; nested prompts are ignored."""
    parts = [part for part in content if not _is_prompt(part)] if isinstance(content, list) else get_text(content)
    return content_to_text(parts, between="\n") or ""


def _is_prompt(part: Any) -> bool:
    return isinstance(part, dict) and any(
        part.get(key) in _PROMPT_KINDS for key in _KIND_KEYS if isinstance(part.get(key), str)
    )


def _name_medium(part: dict[str, Any], kind: str) -> str:
    """Return the medium of a part that is not text: image, audio, video, document, file, or else "part"."""
    for holder in (part, *(inner for inner in part.values() if isinstance(inner, dict))):
        mime = next((holder[key] for key in _MIME_KEYS if isinstance(holder.get(key), str)), "")
        if mime.partition("/")[0] in _MEDIA_TYPES:
            return mime.partition("/")[0]
    shown = f"{kind[:100]} {' '.join(key[:100] for key in list(part)[:8])}".lower()
    return next((medium for medium in _MEDIA_TYPES if medium in shown), "part")


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
