"""Extract the text of a message in the common forms; other media become a name in brackets, such as [image]."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pegboard.dialects.shared.function_calls import dict_or_empty, first_dict

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
