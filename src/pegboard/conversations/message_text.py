"""Extract the text of a message's content in any dialect; other media become a name in brackets, such as [image]."""

from __future__ import annotations

import re
from typing import Any

from pegboard.dialects.shared.function_calls import dict_or_empty, first_dict
from pegboard.json_schema.arguments_text import parse_json_text
from pegboard.model.call_errors import MalformedArguments

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

_THOUGHT_PATTERN = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
# The channel in which Kimi K3 answers the user; reasoning and calls are in other channels.
_KIMI_RESPONSE = re.compile(r"<\|open\|>response<\|sep\|>(.*?)(?:<\|(?:close|open)\|>|\Z)", re.DOTALL)
# The beginning of calls that are written into text; the text for the user comes before.
_CALL_OPENER = re.compile(
    r"<tool_call>|<\|tool_calls?|\[TOOL_CALLS\]|<function=|<｜tool▁calls?▁begin｜>|<\|START_ACTION\|>|<function_calls>"
    r"|<\|python_tag\|>|<minimax:tool_call>|<｜DSML｜|<\|(?:im_end|eot_id|eom_id)\|>|(?:\A|\n)Action:| to=functions\."
    r"|<\|open\|>tools"
)
_TEMPLATE_HEADER = re.compile(
    r"<\|turn>\w*|<｜\w+｜>|<\|\w+\|>(?:assistant\b)?|\]~b\]\w*|\A(?=[{\[]\s*[\"{\[]).*", re.DOTALL
)

# By type of a stream chunk, the paths to its text.
_TEXT_PATHS_BY_TYPE: dict[str, tuple[tuple[str, ...], ...]] = {
    "response.output_text.delta": (("delta",),),
    "TEXT_MESSAGE_CONTENT": (("delta",),),
    "TEXT_MESSAGE_CHUNK": (("delta",),),
    "content_block_delta": (("delta", "text"),),
    "content-delta": (("delta", "message", "content", "text"),),
    "tool-plan-delta": (("delta", "message", "tool_plan"),),
    "text-delta": (("delta",), ("textDelta",), ("text",), ("payload", "text")),
}
# Types of chunks without text.
_TYPES_WITHOUT_TEXT = frozenset(
    {
        *("ping", "start", "finish", "start-step", "finish-step", "step-start", "step-finish", "text-start"),
        *("text-end", "content-start", "content-end", "message-start", "message-end", "reasoning-delta"),
    }
)
_EVENT_PREFIXES = ("response.", "content_block_", "message_", "tool-input-", "tool-call-", "tool-plan-")
_BLOCK_EVENT_KEYS = frozenset(
    {"contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStart", "messageStop"}
)
_NUMBERED_LINE = re.compile(r"[0-9a-z]:[\"\[{]")


def content_to_text(content: Any, *, between: str = "") -> str | None:
    """Return the text of content that is a string, a part or a list of parts; None if it has no text."""
    if isinstance(content, str):
        return content or None
    texts: list[str] = []
    was_named = False
    for part in content if isinstance(content, list) else [content]:
        said, is_named = _part_to_text(part)
        if said:
            # A placeholder such as [image] is on its own line.
            gap = "\n" if is_named or was_named else between
            texts += [gap, said] if texts and not texts[-1].endswith("\n") else [said]
            was_named = is_named
    return "".join(texts) or None


def remove_thoughts_and_calls(text: str) -> str | None:
    """Return a text without the model's reasoning and without the calls written into it; None if nothing is left."""
    if (response := _KIMI_RESPONSE.search(text)) is not None:
        return response[1].strip() or None
    said = _THOUGHT_PATTERN.sub("", text).rpartition("</think>")[2]
    opener = _CALL_OPENER.search(said)
    return _TEMPLATE_HEADER.sub("", said[: opener.start()] if opener else said).strip() or None


def read_chunk_text(chunk: Any) -> str | None:
    """Return the text in a chunk of a stream, "" if it has other content, or None if it is not a chunk."""
    if isinstance(chunk, str):
        return _read_line_text(chunk) if _NUMBERED_LINE.match(chunk) else chunk
    item = dict_or_empty(chunk)
    if "event_kind" in item:
        part = dict_or_empty(item.get("part"))
        begun = _text_or_empty(part.get("content")) if part.get("part_kind") == "text" else ""
        return begun or _text_or_empty(_get_path(item, ("delta", "content_delta")))
    choice = first_dict(item.get("choices"))
    if "delta" in choice and "message" not in choice:
        return content_to_text(dict_or_empty(choice["delta"]).get("content") or "") or ""
    if not _BLOCK_EVENT_KEYS.isdisjoint(item):
        return _text_or_empty(_get_path(item, ("contentBlockDelta", "delta", "text")))
    kind = item.get("type")
    return _read_typed_chunk_text(item, kind) if isinstance(kind, str) else None


def _read_typed_chunk_text(item: dict[str, Any], kind: str) -> str | None:
    if kind == "raw_response_event" and dict_or_empty(item.get("data")).get("type") != kind:
        return read_chunk_text(item.get("data"))
    if kind in _TEXT_PATHS_BY_TYPE:
        return next(filter(None, (_text_or_empty(_get_path(item, path)) for path in _TEXT_PATHS_BY_TYPE[kind])), "")
    return "" if kind.startswith(_EVENT_PREFIXES) or kind.isupper() or kind in _TYPES_WITHOUT_TEXT else None


def _read_line_text(line: str) -> str:
    """Return the text of a line of the Vercel data stream protocol, which numbers its lines: `0:"…"`."""
    if not line.startswith("0:"):
        return ""
    try:
        return _text_or_empty(parse_json_text(line[2:].strip()))
    except MalformedArguments:
        return ""


def _get_path(item: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        item = dict_or_empty(item).get(key)
    return item


def _part_to_text(part: Any) -> tuple[str, bool]:
    """Return the text of a part, and True if it is only a placeholder for another medium."""
    if not isinstance(part, dict):
        return _text_or_empty(part), False
    kind = next((part[key] for key in _KIND_KEYS if isinstance(part.get(key), str)), "")
    if kind in _PROMPT_KINDS or (kind == "text" and isinstance(part.get("content"), str)):
        return _prompt_to_text(part.get("content")), False
    if part.get("thought") is True or _CALL_KIND.fullmatch(kind) or not _CALL_KEYS.isdisjoint(part):
        return "", False
    said = next((part[key] for key in ("text", "refusal") if isinstance(part.get(key), str)), None)
    if said is not None or "adk_type" in dict_or_empty(part.get("metadata")):
        return said or "", False
    return f"[{_name_medium(part, kind)}]", True


def _prompt_to_text(content: Any) -> str:
    """Return the text of a prompt part: a string or a list of strings and media; nested prompts are ignored."""
    parts = [part for part in content if not _is_prompt(part)] if isinstance(content, list) else _text_or_empty(content)
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


def _text_or_empty(value: Any) -> str:
    return value if isinstance(value, str) else ""
