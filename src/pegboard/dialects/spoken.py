"""The text in a message's content, whatever its parts are called; what is no text is named in brackets."""

from __future__ import annotations

import re
from typing import Any

from pegboard.core.errors import MalformedArguments
from pegboard.dialects.parts.picking import dict_of, first_of
from pegboard.dialects.reading import json_of

# Keys and kinds of parts that are calls, answers to them, thoughts, or marks between them.
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
_KINDS = ("type", "block_type", "part_kind", "content_type", "kind")
_PROMPTS = ("user-prompt", "system-prompt", "retry-prompt")
_MEDIA = ("image", "audio", "video", "document", "file")
_MIME = ("mimeType", "mime_type", "mediaType", "media_type")

_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
# The channel in which Kimi K3 answers the user; thoughts and calls are in channels of their own.
_RESPONSE = re.compile(r"<\|open\|>response<\|sep\|>(.*?)(?:<\|(?:close|open)\|>|\Z)", re.DOTALL)
# What calls that are written into text begin with; what a model says aloud comes before.
_OPENER = re.compile(
    r"<tool_call>|<\|tool_calls?|\[TOOL_CALLS\]|<function=|<｜tool▁calls?▁begin｜>|<\|START_ACTION\|>|<function_calls>"
    r"|<\|python_tag\|>|<minimax:tool_call>|<｜DSML｜|<\|(?:im_end|eot_id|eom_id)\|>|(?:\A|\n)Action:| to=functions\."
    r"|<\|open\|>tools"
)
_HEADER = re.compile(r"<\|turn>\w*|<｜\w+｜>|<\|\w+\|>(?:assistant\b)?|\]~b\]\w*|\A(?=[{\[]\s*[\"{\[]).*", re.DOTALL)

# Where the chunks of a stream have their text, by their type.
_PIECES: dict[str, tuple[tuple[str, ...], ...]] = {
    "response.output_text.delta": (("delta",),),
    "TEXT_MESSAGE_CONTENT": (("delta",),),
    "TEXT_MESSAGE_CHUNK": (("delta",),),
    "content_block_delta": (("delta", "text"),),
    "content-delta": (("delta", "message", "content", "text"),),
    "tool-plan-delta": (("delta", "message", "tool_plan"),),
    "text-delta": (("delta",), ("textDelta",), ("text",), ("payload", "text")),
}
# Chunks that bring no text.
_MARKS = frozenset(
    {
        *("ping", "start", "finish", "start-step", "finish-step", "step-start", "step-finish", "text-start"),
        *("text-end", "content-start", "content-end", "message-start", "message-end", "reasoning-delta"),
    }
)
_EVENTS = ("response.", "content_block_", "message_", "tool-input-", "tool-call-", "tool-plan-")
_BLOCK_EVENTS = frozenset({"contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStart", "messageStop"})
_LINE = re.compile(r"[0-9a-z]:[\"\[{]")


def text_of_content(content: Any, *, between: str = "") -> str | None:
    """The text of content that is a text, a part, or a list of parts; None where there is none."""
    if isinstance(content, str):
        return content or None
    texts: list[str] = []
    was_named = False
    for part in content if isinstance(content, list) else [content]:
        said, is_named = _text_of_part(part)
        if said:
            # What stands for something else stands on a line of its own.
            gap = "\n" if is_named or was_named else between
            texts += [gap, said] if texts and not texts[-1].endswith("\n") else [said]
            was_named = is_named
    return "".join(texts) or None


def aloud(text: str) -> str | None:
    """What a text says without the model's thoughts and the calls that are written into it."""
    if (response := _RESPONSE.search(text)) is not None:
        return response[1].strip() or None
    said = _THOUGHT.sub("", text).rpartition("</think>")[2]
    opener = _OPENER.search(said)
    return _HEADER.sub("", said[: opener.start()] if opener else said).strip() or None


def piece_of(chunk: Any) -> str | None:
    """The piece of text that a chunk of a stream brings, "" where it brings something else; None if it is no chunk."""
    if isinstance(chunk, str):
        return _of_line(chunk) if _LINE.match(chunk) else chunk
    item = dict_of(chunk)
    if "event_kind" in item:
        part = dict_of(item.get("part"))
        begun = _text(part.get("content")) if part.get("part_kind") == "text" else ""
        return begun or _text(_under(item, ("delta", "content_delta")))
    choice = first_of(item.get("choices"))
    if "delta" in choice and "message" not in choice:
        return text_of_content(dict_of(choice["delta"]).get("content") or "") or ""
    if not _BLOCK_EVENTS.isdisjoint(item):
        return _text(_under(item, ("contentBlockDelta", "delta", "text")))
    kind = item.get("type")
    return _typed_piece(item, kind) if isinstance(kind, str) else None


def _typed_piece(item: dict[str, Any], kind: str) -> str | None:
    if kind == "raw_response_event" and dict_of(item.get("data")).get("type") != kind:
        return piece_of(item.get("data"))
    if kind in _PIECES:
        return next(filter(None, (_text(_under(item, path)) for path in _PIECES[kind])), "")
    return "" if kind.startswith(_EVENTS) or kind.isupper() or kind in _MARKS else None


def _of_line(line: str) -> str:
    """The text in a line of the protocol that numbers its lines: `0:"…"`."""
    if not line.startswith("0:"):
        return ""
    try:
        return _text(json_of(line[2:].strip()))
    except MalformedArguments:
        return ""


def _under(item: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        item = dict_of(item).get(key)
    return item


def _text_of_part(part: Any) -> tuple[str, bool]:
    """What a part says, and whether that only names what it is."""
    if not isinstance(part, dict):
        return _text(part), False
    kind = next((part[key] for key in _KINDS if isinstance(part.get(key), str)), "")
    if kind in _PROMPTS or (kind == "text" and isinstance(part.get("content"), str)):
        return _prompted(part.get("content")), False
    if part.get("thought") is True or _CALL_KIND.fullmatch(kind) or not _CALL_KEYS.isdisjoint(part):
        return "", False
    said = next((part[key] for key in ("text", "refusal") if isinstance(part.get(key), str)), None)
    if said is not None or "adk_type" in dict_of(part.get("metadata")):
        return said or "", False
    return f"[{_medium(part, kind)}]", True


def _prompted(content: Any) -> str:
    """What stands in a prompt, whose content is a text or a list of texts and other things, never of prompts."""
    parts = [part for part in content if not _is_prompt(part)] if isinstance(content, list) else _text(content)
    return text_of_content(parts, between="\n") or ""


def _is_prompt(part: Any) -> bool:
    return isinstance(part, dict) and any(part.get(key) in _PROMPTS for key in _KINDS if isinstance(part.get(key), str))


def _medium(part: dict[str, Any], kind: str) -> str:
    """What a part that is no text is."""
    for holder in (part, *(inner for inner in part.values() if isinstance(inner, dict))):
        mime = next((holder[key] for key in _MIME if isinstance(holder.get(key), str)), "")
        if mime.partition("/")[0] in _MEDIA:
            return mime.partition("/")[0]
    shown = f"{kind[:100]} {' '.join(key[:100] for key in list(part)[:8])}".lower()
    return next((medium for medium in _MEDIA if medium in shown), "part")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
