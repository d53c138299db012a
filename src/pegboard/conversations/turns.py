"""Split a payload of any dialect (messages, responses, items or histories) into turns of one speaker each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple

from pegboard.conversations.message_text import content_to_text, read_chunk_text, remove_thoughts_and_calls
from pegboard.dialects.shared.function_calls import dict_or_empty, filter_dicts, first_dict
from pegboard.dialects.sse_lines import parse_chunks
from pegboard.model.api_errors import Invalid

Speaker = Literal["user", "assistant", "system", "tool"]

MAX_TURNS = 10_000
_MAX_DEPTH = 4

_SPEAKER_BY_ROLE: dict[str, Speaker] = {
    **dict.fromkeys(("user", "human", "role_user", "tool-response"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "agent", "role_agent", "chatbot", "bot", "tool-call"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "ipython", "observation", "tool_result"), "tool"),
}
# Messages that are identified by their type; for a class name, the part before `Message`.
_SPEAKER_BY_TYPE: dict[str, Speaker] = {
    **_SPEAKER_BY_ROLE,
    **dict.fromkeys(("toolcallrequestevent", "toolcallsummary", "thoughtevent"), "assistant"),
    **dict.fromkeys(("functionexecutionresult", "toolcallexecutionevent"), "tool"),
}
# List items that are parts of a model's message, or answers to it, identified by the end of their type.
_SPEAKER_BY_TYPE_SUFFIX: tuple[tuple[tuple[str, ...], Speaker], ...] = (
    (("_output", "_tool_result", "_output_item", "approval_response"), "tool"),
    (("_call", "_call_item", "_list_tools", "approval_request", "tool_use", "reasoning_item"), "assistant"),
)
_SPEAKER_BY_PART_TYPE: dict[str, Speaker] = {
    **dict.fromkeys(("reasoning", "thinking", "redacted_thinking", "tool-call", "function.call", "text"), "assistant"),
    **dict.fromkeys(("message_output_item", "output_text"), "assistant"),
    **dict.fromkeys(("tool-result", "tool-error", "tool_result", "function.result"), "tool"),
}
_TEXT_TYPES = ("text", "output_text")
_SPEAKER_BY_PROMPT_KIND: dict[str, Speaker] = {
    "system-prompt": "system",
    "instructions": "system",
    "tool-return": "tool",
}
# Fields of a provider's response that its history does not accept.
_RESPONSE_ONLY_KEYS = frozenset({"stop_reason", "stop_sequence", "usage", "stop_details", "container"})


class Turn(NamedTuple):
    """One turn of a speaker; `raw` is its original form in a history of its dialect, a list if it consists of items.

    `role` is None if the speaker is unknown, and `tool` if the turn answers calls. `is_part` is True if following
    turns of the same speaker belong to it.
    """

    role: Speaker | None
    text: str | None
    raw: Any
    when: Any = None
    is_part: bool = False


def read_turns(raw: Any) -> list[Turn]:
    """Return the turns of a payload; raise Invalid if there are more than 10,000."""
    found: list[list[Turn]] = []
    for item, is_piece in _unwrap_payload(parse_chunks(raw), _MAX_DEPTH, is_piece=False):
        for turn in _read_item_turns(item, is_piece=is_piece):
            before = found[-1][-1] if found else None
            if before is not None and turn.is_part and before.is_part and turn.role == before.role:
                found[-1].append(turn)
            else:
                found.append([turn])
        if len(found) > MAX_TURNS:
            raise Invalid(f"More than {MAX_TURNS:,} messages at once; send fewer at a time")
    return [parts[0] if len(parts) == 1 else _join_turns(parts) for parts in found]


def read_assistant_text(raw: Any) -> str | None:
    """Return the assistant's text at the end of a payload, or None."""
    raw = parse_chunks(raw)
    if isinstance(raw, str):
        return remove_thoughts_and_calls(raw)
    if isinstance(raw, list):
        streamed = _join_streamed_text(raw)
        if streamed is not None:
            return remove_thoughts_and_calls(streamed)
    texts: list[str] = []
    for turn in reversed(read_turns(raw)):
        if turn.role != "assistant":
            break
        texts.append(turn.text or "")
    return "\n".join(text for text in reversed(texts) if text) or None


def _join_streamed_text(chunks: list[Any]) -> str | None:
    """Return the joined text of the chunks of a stream, or None if this is not a stream."""
    pieces = [read_chunk_text(chunk) for chunk in chunks]
    if not any(piece is not None for piece in pieces) or all(map(_is_whole_message, chunks)):
        return None
    return "".join(piece or "" for piece in pieces)


def _is_whole_message(chunk: Any) -> bool:
    return isinstance(chunk, dict) and isinstance(chunk.get("role"), str)


def _unwrap_payload(payload: Any, depth: int, *, is_piece: bool) -> Iterator[tuple[Any, bool]]:
    """Yield the unwrapped messages and items of a payload, and whether each may be part of a longer one."""
    if isinstance(payload, list) and depth:
        for item in payload:
            yield from _unwrap_payload(item, depth - 1, is_piece=False)
        return
    if isinstance(payload, dict) and depth and "role" not in payload:
        for key, opened in _UNWRAPPERS_BY_KEY.items():
            inner = opened(payload) if key in payload else None
            if inner is not None:
                is_piece = key == "candidates" or (key == "message" and "done" in payload)
                yield from _unwrap_payload(inner, depth - 1, is_piece=is_piece)
                return
    yield payload, is_piece


def _get_message(payload: dict[str, Any]) -> Any:
    message = payload["message"]
    if not isinstance(message, dict) or not ("role" in message or "tool_calls" in message):
        return None
    when = {"timestamp": payload["created_at"]} if isinstance(payload.get("created_at"), str) else {}
    return {"role": "assistant", **message, **({} if "timestamp" in message else when)}


def _get_choice_message(payload: dict[str, Any]) -> Any:
    message = first_dict(payload["choices"]).get("message")
    return {"role": "assistant", **message} if isinstance(message, dict) else None


def _get_output(payload: dict[str, Any]) -> Any:
    output = payload["output"]
    if "type" in payload or "toolCallId" in payload:
        return None  # the output of a tool, whatever it looks like
    if isinstance(output, dict):
        return output["message"] if isinstance(output.get("message"), dict) else None
    return output if isinstance(output, list) else None


def _get_content(payload: dict[str, Any]) -> Any:
    content = payload["content"]
    return content if isinstance(content, dict) and isinstance(content.get("parts"), list) else None


# By wrapping key, returns the wrapped value, or None if the key has another meaning in this payload.
_UNWRAPPERS_BY_KEY: dict[str, Callable[[dict[str, Any]], Any]] = {
    "messages": lambda payload: payload["messages"] if isinstance(payload["messages"], list) else None,
    "choices": _get_choice_message,
    "candidates": lambda payload: first_dict(payload["candidates"]).get("content"),
    "output": _get_output,
    "message": _get_message,
    "content": _get_content,
    "raw_item": lambda payload: payload["raw_item"] if isinstance(payload["raw_item"], dict) else None,
}


def _read_item_turns(item: Any, *, is_piece: bool) -> Iterable[Turn]:
    if not isinstance(item, dict):
        return [Turn(None, None, item)]
    kind = item.get("kind")
    if kind in ("request", "response") and isinstance(item.get("parts"), list):
        return (
            _read_request_turns(item)
            if kind == "request"
            else [Turn("assistant", _get_text(item), item, _get_timestamp(item))]
        )
    role = item.get("role")
    speaker = _SPEAKER_BY_ROLE.get(role.lower()) if isinstance(role, str) else None
    if speaker is not None:
        return _read_message_turns(item, speaker, is_piece=is_piece or "choice_index" in item)
    return [_read_typed_turn(item)]


def _read_message_turns(item: dict[str, Any], speaker: Speaker, *, is_piece: bool) -> list[Turn]:
    """Read a message with a role; answers to calls in a user message become a separate turn."""
    when = _get_timestamp(item)
    if speaker == "user":
        for key in ("content", "parts"):
            parts = item.get(key)
            answers = [part for part in filter_dicts(parts) if _is_answer(part)]
            if answers and isinstance(parts, list):
                rest = [part for part in parts if not (isinstance(part, dict) and _is_answer(part))]
                told = {**item, key: rest}
                return [Turn("tool", None, {**item, key: answers}, when)] + (
                    [Turn("user", _get_text(told, between="\n"), told, when)] if rest else []
                )
    kept = item
    if item.get("type") == "message" and not _RESPONSE_ONLY_KEYS.isdisjoint(item):
        kept = {"role": item["role"], "content": item.get("content")}
    is_part = speaker == "assistant" and (is_piece or (item.get("type") == "message" and "status" in item))
    text = _get_text(item, between="\n" if speaker in ("user", "system") else "")
    return [Turn(speaker, text, kept, when, is_part)]


def _read_typed_turn(item: dict[str, Any]) -> Turn:
    """Read a message or an item without a role, by its type."""
    kind = item.get("type")
    if item.get("lc") == 1 and isinstance(item.get("id"), list) and item["id"]:
        kind = item["id"][-1]
    if isinstance(kind, str) and "function" not in item:
        bare = kind.removesuffix("Chunk").removesuffix("Message").lower()
        part = _SPEAKER_BY_PART_TYPE.get(kind) or next(
            (who for ends, who in _SPEAKER_BY_TYPE_SUFFIX if kind.endswith(ends)), None
        )
        if part is not None and "source" not in item:
            return Turn(part, content_to_text(item) if kind in _TEXT_TYPES else None, item, is_part=True)
        speaker = _SPEAKER_BY_TYPE.get(bare)
        if bare == "text" and isinstance(item.get("source"), str):
            speaker = "user" if item["source"] == "user" else "assistant"
        if speaker is not None:
            inner = next((item[key] for key in ("data", "kwargs") if isinstance(item.get(key), dict)), item)
            return Turn(speaker, _get_text(inner), item, _get_timestamp(inner), is_part=kind.endswith("Chunk"))
    if isinstance(item.get("text"), str) and isinstance(item.get("toolCalls", item.get("tool_calls")), list):
        return Turn("assistant", item["text"] or None, item)
    return Turn(None, None, item)


def _read_request_turns(item: dict[str, Any]) -> Iterator[Turn]:
    """Yield the parts of a Pydantic AI request (instructions, prompts and tool results), each as a turn."""
    for part in filter_dicts(item["parts"]):
        kind = part.get("part_kind")
        speaker: Speaker = _SPEAKER_BY_PROMPT_KIND.get(kind, "user") if isinstance(kind, str) else "user"
        if kind == "retry-prompt" and part.get("tool_name"):
            speaker = "tool"
        text = None if speaker == "tool" else content_to_text([part], between="\n")
        yield Turn(speaker, text, {**item, "parts": [part]}, _get_timestamp(item))


def _get_text(item: dict[str, Any], between: str = "") -> str | None:
    """Return the text of a message from any of the fields that dialects use for it."""
    text = None
    for key in ("parts", "blocks", "items", "content"):
        content = item.get(key)
        if text is None and isinstance(content, str | list | dict) and not _is_call_list(content):
            text = content_to_text(content, between=between)
    for key in ("refusal", "tool_plan", "text"):
        text = text or (item[key] if isinstance(item.get(key), str) and item[key] else None)
    return text


def _is_call_list(content: Any) -> bool:
    """Return True if the content consists only of calls, as in AutoGen."""
    first = first_dict(content)
    return isinstance(first.get("name"), str) and ("arguments" in first or "call_id" in first)


def _is_answer(part: dict[str, Any]) -> bool:
    if part.get("type") == "tool_result" or dict_or_empty(part.get("metadata")).get("adk_type") == "function_response":
        return True
    return any(key in part for key in ("toolResult", "functionResponse", "function_response"))


def _get_timestamp(item: dict[str, Any]) -> Any:
    return next((item[key] for key in ("timestamp", "created_at", "createdAt") if item.get(key) is not None), None)


def _join_turns(parts: list[Turn]) -> Turn:
    text = "".join(part.text or "" for part in parts)
    return parts[0]._replace(text=text or None, raw=[part.raw for part in parts])
