"""Detect messages without calls, such as the last one of an agent loop, and their dialect."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.dialects.parsed_calls import AskedCall, Unreadable, describe_payload
from pegboard.dialects.shared.gemini_parts import get_snake_case_name
from pegboard.dialects.unread_calls import ALTERNATIVE_KEYS, drop_later_alternatives, find_unread_call, is_named_call
from pegboard.model.api_errors import Fault

# The dialect of the response if the format is unknown: with no calls it renders an empty list.
FALLBACK_DIALECT = "plain"
_OPENAI, _ANTHROPIC, _GEMINI = "openai_chat", "anthropic_messages", "gemini_generate_content"
_BEDROCK, _MASTRA = "bedrock_converse", "mastra"

_KNOWN_ROLES = frozenset(
    {"assistant", "model", "ai", "agent", "chatbot", "role_agent", "user", "human", "role_user", "system", "developer"}
)
_DIALECT_BY_ROLE = {"model": _GEMINI, "assistant": _OPENAI}
# The fields that a message has beside or instead of its content.
_CONTENT_KEYS = frozenset({"content", "refusal", "audio", "reasoning", "reasoning_content"})
# Types of content blocks that are not calls.
_BLOCK_TYPES = frozenset(
    {"text", "output_text", "input_text", "thinking", "redacted_thinking", "reasoning", "refusal", "image", "image_url",
     "input_image", "audio", "input_audio", "document", "document_url", "file", "input_file", "reference"}
)  # fmt: skip
# The fields of Gemini's parts, as in JSON and as its Python library writes them; `text` alone occurs with any
# provider.
_GEMINI_WIRE_FIELDS = frozenset(
    {"mediaResolution", "codeExecutionResult", "executableCode", "fileData", "functionCall", "functionResponse",
     "inlineData", "thought", "thoughtSignature", "videoMetadata", "toolCall", "toolResponse", "partMetadata",
     "audioTranscription", "speechMetadata", "mediaProcessing"}
)  # fmt: skip
GEMINI_FIELDS = _GEMINI_WIRE_FIELDS | set(map(get_snake_case_name, _GEMINI_WIRE_FIELDS))
_BEDROCK_BLOCK_KEYS = frozenset(
    {"image", "document", "video", "audio", "guardContent", "cachePoint", "reasoningContent", "citationsContent",
     "searchResult"}
)  # fmt: skip
_GEMINI_BLOCKED_KEYS = frozenset({"promptFeedback", "prompt_feedback"})
# Keys, and types of blocks, that indicate a call or its answer in any provider's format.
_CALL_WORD = re.compile(
    r"(tool|function|action)[_.-]?(calls?|use|inputs?|invocations?|results?|responses?|requests?)|executed_tools",
    re.IGNORECASE,
)
_TYPE_KEYS = ("type", "kind", "part_kind", "content_type", "block_type", "adk_type")
# Metadata of a response: counts of server tools, and calls that the provider's library has already run.
_SKIPPED_KEYS = frozenset(
    {"usage", "usageMetadata", "usage_metadata", "automaticFunctionCallingHistory"}
    | {"automatic_function_calling_history"}
)
# A text that is more likely a payload or a stream which was cut off or is invalid.
_BROKEN_PAYLOAD = re.compile(r"\s*+(?:\{|\[\s*+[{\"\[]|(?:(?:event|id|retry):[^\n]*+\n)*+data:\s*+[{\[])")
_CODE_SPAN = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*+`", re.DOTALL)


def is_final_text(text: str) -> bool:
    """Return True if this is a model's text, and not a payload that could not be parsed."""
    return bool(text) and not text.isspace() and _BROKEN_PAYLOAD.match(text) is None


def remove_code(text: str) -> str:
    """Return the text without code blocks and code spans: marks of calls in code are examples."""
    return _CODE_SPAN.sub("", text)


def detect_final_turn(payload: Any) -> str | None:
    """Return the dialect for answering a message, history or part without calls; None for anything else."""
    found = _detect_list(payload) if isinstance(payload, list) else _detect_object(payload)
    return None if found is None or has_visible_calls(payload) else found


def check_all_calls_read(payload: Any, calls: Sequence[AskedCall], dialect: str) -> None:
    """Raise Unreadable if the payload contains a call that is not among those that were read."""
    path = find_unread_call(payload, calls)
    if path is None and (calls or not has_visible_calls(payload)):
        return
    where = f" at '{path}'" if path else ""
    unread = f"in a form that {dialect} does not read"
    raise Unreadable(
        f"unrecognised_format: this is {describe_payload(payload)}. It has a call{where} {unread}; "
        "send the provider's message or response unchanged",
        [Fault(path, f"a call {unread}")] if path else (),
    )


def has_visible_calls(payload: Any) -> bool:
    """Return True if a payload contains a call, or the answer to one, anywhere outside of its texts."""
    todo: list[Any] = [payload]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo += node
        elif isinstance(node, dict):
            if is_named_call(node):
                return True
            for key, value in node.items():
                if key in _SKIPPED_KEYS:
                    continue
                if key in ALTERNATIVE_KEYS and isinstance(value, list):
                    todo += drop_later_alternatives(value)
                    continue
                if _names_call(key, value):
                    return True
                if isinstance(value, dict | list):
                    todo.append(value)
    return False


def _names_call(key: Any, value: Any) -> bool:
    """Return True if a type, or the key of a value that is not empty, is a word for calls or their answers."""
    if key not in _TYPE_KEYS and (not value or not isinstance(value, str | dict | list)):
        return False
    word = value if key in _TYPE_KEYS else key
    return isinstance(word, str) and _CALL_WORD.search(word) is not None


def _detect_list(items: list[Any]) -> str | None:
    """Return the dialect of messages or parts; the first one that is specific to a provider decides."""
    found = [_detect_object(item) for item in items]
    if not found or None in found:
        return None
    return next((name for name in found if name not in (FALLBACK_DIALECT, _OPENAI)), found[-1])


def _detect_object(item: Any) -> str | None:
    if not isinstance(item, dict):
        return None
    listed = next((item[key] for key in ("messages", "contents") if isinstance(item.get(key), list)), None)
    if listed is not None:
        return _detect_list(listed)
    if isinstance(item.get("role"), str):
        return _detect_message(item, item.get("content"))
    return _detect_result(item, item.get("content")) or _detect_part(item)


def _detect_result(item: Mapping[str, Any], content: Any) -> str | None:
    """Return the dialect of an object that wraps a message, or of a message without its role."""
    if isinstance(content, dict) and isinstance(content.get("parts"), list):
        return _detect_parts(content["parts"], _GEMINI)  # a candidate
    if item.keys() == {"parts"}:
        return _detect_parts(item["parts"], _GEMINI)
    if isinstance(item.get("text"), str) and item.get("toolCalls") == []:
        return _MASTRA
    if item.get("candidates", item) is None or not _GEMINI_BLOCKED_KEYS.isdisjoint(item):
        return _GEMINI  # a response that was blocked
    if item.keys() == {"message"}:
        return _detect_object(item["message"])  # Bedrock's output
    # A message or delta that was serialised without its role.
    return _OPENAI if isinstance(content, str | list) and "tool_calls" in item else None


def _detect_message(message: Mapping[str, Any], content: Any) -> str | None:
    role = message["role"].lower()
    if role not in _KNOWN_ROLES:
        return None
    if "parts" in message and content is None:
        return _detect_parts(message["parts"], _GEMINI)
    if isinstance(content, list):
        return _detect_parts(content, _OPENAI)
    if isinstance(content, str) or (content is None and (message.keys() & _CONTENT_KEYS or len(message) == 1)):
        return _DIALECT_BY_ROLE.get(role, FALLBACK_DIALECT)
    return None


def _detect_parts(parts: Any, otherwise: str) -> str | None:
    """Return the dialect of a message with these parts, or None."""
    if parts is None or parts == []:
        return otherwise
    found = [_detect_part(part) for part in parts] if isinstance(parts, list) else [None]
    if None in found:
        return None
    known = next((name for name in found if name != FALLBACK_DIALECT), FALLBACK_DIALECT)
    return known if known != FALLBACK_DIALECT else otherwise if otherwise == _GEMINI else _BEDROCK


def _detect_part(part: Any) -> str | None:
    """Return the dialect of one part of a message, or None."""
    if not isinstance(part, dict):
        return None
    kind = part.get("type")
    if kind is not None:
        return _ANTHROPIC if isinstance(kind, str) and kind in _BLOCK_TYPES else None
    if part.keys() <= GEMINI_FIELDS | {"text"} and any(value is not None for value in part.values()):
        return FALLBACK_DIALECT if part.keys() == {"text"} else _GEMINI
    return _BEDROCK if len(part) == 1 and part.keys() <= _BEDROCK_BLOCK_KEYS else None
