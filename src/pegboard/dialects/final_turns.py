"""Messages without calls, such as the last one of an agent loop: whether a payload is one, and in which dialect."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# The dialect of the answer where the format is unknown: its empty answer is an empty list.
UNKNOWN = "plain"
_OPENAI, _ANTHROPIC, _GEMINI = "openai_chat", "anthropic_messages", "gemini_generate_content"
_BEDROCK, _MASTRA = "bedrock_converse", "mastra"

_ROLES = frozenset(
    {"assistant", "model", "ai", "agent", "chatbot", "role_agent", "user", "human", "role_user", "system", "developer"}
)
_BY_ROLE = {"model": _GEMINI, "assistant": _OPENAI}
# What a message has beside or instead of its content.
_SAID = frozenset({"content", "refusal", "audio", "reasoning", "reasoning_content"})
# Blocks of content with a type that hold no call.
_BLOCKS = frozenset(
    {"text", "output_text", "input_text", "thinking", "redacted_thinking", "reasoning", "refusal", "image", "image_url",
     "input_image", "audio", "input_audio", "document", "document_url", "file", "input_file", "reference"}
)  # fmt: skip
# The fields of Gemini's parts as JSON and as its Python library write them; `text` may stand alone in any provider's.
_OF_GEMINI = frozenset(
    {"mediaResolution", "codeExecutionResult", "executableCode", "fileData", "functionCall", "functionResponse",
     "inlineData", "thought", "thoughtSignature", "videoMetadata", "toolCall", "toolResponse", "partMetadata",
     "audioTranscription", "speechMetadata", "mediaProcessing"}
)  # fmt: skip
GEMINI_FIELDS = _OF_GEMINI | {re.sub("([A-Z])", lambda found: f"_{found[1].lower()}", name) for name in _OF_GEMINI}
_BEDROCK_BLOCKS = frozenset(
    {"image", "document", "video", "audio", "guardContent", "cachePoint", "reasoningContent", "citationsContent",
     "searchResult"}
)  # fmt: skip
_BLOCKED = frozenset({"promptFeedback", "prompt_feedback"})
# Keys, and types of blocks, that announce a call or its answer in any provider's format.
_CALL = re.compile(
    r"(tool|function|action)[_.-]?(calls?|use|invocations?|results?|responses?|requests?)|executed_tools", re.IGNORECASE
)
_TYPES = ("type", "kind", "part_kind", "content_type", "block_type", "adk_type")
# The keys that an object with a name and arguments has in any format.
_NAMES = frozenset({"name", "tool_name", "toolName", "function_name", "functionName"})
_ARGUMENTS = frozenset(
    {"arguments", "args", "input", "tool_kwargs", "toolKwargs", "tool_args", "tool_input", "toolInput", "rawInput"}
)
_ALTERNATIVES = ("choices", "candidates")
# What a response tells of itself: counts of server tools, and calls that the provider's library has run.
_NOT_LOOKED_INTO = frozenset(
    {"usage", "usageMetadata", "usage_metadata", "automaticFunctionCallingHistory"}
    | {"automatic_function_calling_history"}
)
# A text that is rather a payload or a stream which could not be read: it was cut off, or is broken.
_BROKEN = re.compile(r"\s*+(?:\{|\[\s*+[{\"\[]|(?:(?:event|id|retry):[^\n]*+\n)*+data:\s*+[{\[])")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*+`", re.DOTALL)


def is_final_text(text: str) -> bool:
    """Whether this is what a model says in words, and not a payload that could not be read."""
    return bool(text) and not text.isspace() and _BROKEN.match(text) is None


def without_code(text: str) -> str:
    """The text without its blocks and spans of code: marks of calls in those are examples."""
    return _CODE.sub("", text)


def dialect_of_turn(payload: Any) -> str | None:
    """The dialect that a message, a history or a part without calls is answered in; None for anything else."""
    found = _of_list(payload) if isinstance(payload, list) else _of_object(payload)
    return None if found is None or has_calls(payload) else found


def has_calls(payload: Any) -> bool:
    """Whether a call, or the answer to one, is visible anywhere in a payload outside of its texts."""
    todo: list[Any] = [payload]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo += node
        elif isinstance(node, dict):
            if _is_named_call(node):
                return True
            for key, value in node.items():
                if key in _NOT_LOOKED_INTO:
                    continue
                if key in _ALTERNATIVES and isinstance(value, list):
                    # Only the first is read.
                    todo += [item for item in value if not isinstance(item, dict) or item.get("index") in (0, None)]
                    continue
                word = value if key in _TYPES else key if value and isinstance(value, str | dict | list) else None
                if isinstance(word, str) and _CALL.search(word):
                    return True
                if isinstance(value, dict | list):
                    todo.append(value)
    return False


def _is_named_call(node: dict[str, Any]) -> bool:
    """Whether an object has a name and arguments, and is no definition of a tool."""
    if not any(isinstance(node.get(key), str) for key in _NAMES & node.keys()):
        return False
    parameters = node.get("parameters")
    has_parameters = isinstance(parameters, dict) and parameters.keys().isdisjoint({"type", "properties"})
    return has_parameters or not _ARGUMENTS.isdisjoint(node)


def _of_list(items: list[Any]) -> str | None:
    """The dialect of messages or parts: the first one that only one provider writes decides."""
    found = [_of_object(item) for item in items]
    if not found or None in found:
        return None
    return next((name for name in found if name not in (UNKNOWN, _OPENAI)), found[-1])


def _of_object(item: Any) -> str | None:
    if not isinstance(item, dict):
        return None
    listed = next((item[key] for key in ("messages", "contents") if isinstance(item.get(key), list)), None)
    if listed is not None:
        return _of_list(listed)
    if isinstance(item.get("role"), str):
        return _of_message(item, item.get("content"))
    return _of_result(item, item.get("content")) or _of_part(item)


def _of_result(item: Mapping[str, Any], content: Any) -> str | None:
    """The dialect of what holds a message, or is one without its role."""
    if isinstance(content, dict) and isinstance(content.get("parts"), list):
        return _of_parts(content["parts"], _GEMINI)  # a candidate
    if item.keys() == {"parts"}:
        return _of_parts(item["parts"], _GEMINI)
    if isinstance(item.get("text"), str) and item.get("toolCalls") == []:
        return _MASTRA
    if item.get("candidates", item) is None or not _BLOCKED.isdisjoint(item):
        return _GEMINI  # a response that was blocked
    if item.keys() == {"message"}:
        return _of_object(item["message"])  # Bedrock's output
    # A message or a delta of one that was dumped without its role.
    return _OPENAI if isinstance(content, str | list) and "tool_calls" in item else None


def _of_message(message: Mapping[str, Any], content: Any) -> str | None:
    role = message["role"].lower()
    if role not in _ROLES:
        return None
    if "parts" in message and content is None:
        return _of_parts(message["parts"], _GEMINI)
    if isinstance(content, list):
        return _of_parts(content, _OPENAI)
    if isinstance(content, str) or (content is None and (message.keys() & _SAID or len(message) == 1)):
        return _BY_ROLE.get(role, UNKNOWN)
    return None


def _of_parts(parts: Any, otherwise: str) -> str | None:
    """The dialect of a message with these parts."""
    if parts is None or parts == []:
        return otherwise
    found = [_of_part(part) for part in parts] if isinstance(parts, list) else [None]
    if None in found:
        return None
    known = next((name for name in found if name != UNKNOWN), UNKNOWN)
    return known if known != UNKNOWN else otherwise if otherwise == _GEMINI else _BEDROCK


def _of_part(part: Any) -> str | None:
    """The dialect of one part of a message."""
    if not isinstance(part, dict):
        return None
    kind = part.get("type")
    if kind is not None:
        return _ANTHROPIC if isinstance(kind, str) and kind in _BLOCKS else None
    if part.keys() <= GEMINI_FIELDS | {"text"} and any(value is not None for value in part.values()):
        return UNKNOWN if part.keys() == {"text"} else _GEMINI
    return _BEDROCK if len(part) == 1 and part.keys() <= _BEDROCK_BLOCKS else None
