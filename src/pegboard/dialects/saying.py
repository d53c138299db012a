"""Who says what in a payload of any dialect: messages, responses, items and histories as turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple

from pegboard.core.refusals import Invalid
from pegboard.dialects.lines import chunks_of
from pegboard.dialects.parts.picking import dict_of, dicts_of, first_of
from pegboard.dialects.spoken import aloud, piece_of, text_of_content

Speaker = Literal["user", "assistant", "system", "tool"]

MAX_TURNS = 10_000
_DEEPEST = 4

_ROLES: dict[str, Speaker] = {
    **dict.fromkeys(("user", "human", "role_user", "tool-response"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "agent", "role_agent", "chatbot", "bot", "tool-call"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "ipython", "observation", "tool_result"), "tool"),
}
# Messages that are told by their type; the name of a class is cut down to what is before `Message`.
_TYPES: dict[str, Speaker] = {
    **_ROLES,
    **dict.fromkeys(("toolcallrequestevent", "toolcallsummary", "thoughtevent"), "assistant"),
    **dict.fromkeys(("functionexecutionresult", "toolcallexecutionevent"), "tool"),
}
# Items that are parts of what a model says, or answers to it, and stand in a list by themselves.
_PART_ENDS: tuple[tuple[tuple[str, ...], Speaker], ...] = (
    (("_output", "_tool_result", "_output_item", "approval_response"), "tool"),
    (("_call", "_call_item", "_list_tools", "approval_request", "tool_use", "reasoning_item"), "assistant"),
)
_PARTS: dict[str, Speaker] = {
    **dict.fromkeys(("reasoning", "thinking", "redacted_thinking", "tool-call", "function.call", "text"), "assistant"),
    **dict.fromkeys(("message_output_item", "output_text"), "assistant"),
    **dict.fromkeys(("tool-result", "tool-error", "tool_result", "function.result"), "tool"),
}
_TEXTS = ("text", "output_text")
_PROMPTS: dict[str, Speaker] = {"system-prompt": "system", "instructions": "system", "tool-return": "tool"}
# What a provider's answer says of itself, and no history may hold.
_ANSWER_ONLY = frozenset({"stop_reason", "stop_sequence", "usage", "stop_details", "container"})


class Turn(NamedTuple):
    """What somebody says at one go; `raw` is how it stands in a history of its dialect, a list where it is items.

    `role` is None where nobody can tell whose it is, `tool` where it answers calls; `is_part` where what follows from
    the same speaker belongs to it.
    """

    role: Speaker | None
    text: str | None
    raw: Any
    when: Any = None
    is_part: bool = False


def turns(raw: Any) -> list[Turn]:
    """What is said in a payload, turn by turn; raises Invalid where there is more than anybody would say."""
    found: list[list[Turn]] = []
    for item, is_piece in _opened(chunks_of(raw), _DEEPEST, is_piece=False):
        for turn in _turns_of(item, is_piece=is_piece):
            before = found[-1][-1] if found else None
            if before is not None and turn.is_part and before.is_part and turn.role == before.role:
                found[-1].append(turn)
            else:
                found.append([turn])
        if len(found) > MAX_TURNS:
            raise Invalid(f"More than {MAX_TURNS:,} messages at once; send fewer at a time")
    return [parts[0] if len(parts) == 1 else _joined(parts) for parts in found]


def said(raw: Any) -> str | None:
    """The text that the assistant says in a payload, after everything else in it; None where there is none."""
    raw = chunks_of(raw)
    if isinstance(raw, str):
        return aloud(raw)
    if isinstance(raw, list):
        streamed = _streamed(raw)
        if streamed is not None:
            return aloud(streamed)
    texts: list[str] = []
    for turn in reversed(turns(raw)):
        if turn.role != "assistant":
            break
        texts.append(turn.text or "")
    return "\n".join(text for text in reversed(texts) if text) or None


def _streamed(chunks: list[Any]) -> str | None:
    """The text that the chunks of a stream bring, or None where this is no stream."""
    pieces = [piece_of(chunk) for chunk in chunks]
    if not any(piece is not None for piece in pieces) or all(map(_is_whole, chunks)):
        return None
    return "".join(piece or "" for piece in pieces)


def _is_whole(chunk: Any) -> bool:
    return isinstance(chunk, dict) and isinstance(chunk.get("role"), str)


def _opened(payload: Any, depth: int, *, is_piece: bool) -> Iterator[tuple[Any, bool]]:
    """The messages and items in a payload, out of what wraps them; and whether each may be a piece of a longer one."""
    if isinstance(payload, list) and depth:
        for item in payload:
            yield from _opened(item, depth - 1, is_piece=False)
        return
    if isinstance(payload, dict) and depth and "role" not in payload:
        for key, opened in _WRAPPERS.items():
            inner = opened(payload) if key in payload else None
            if inner is not None:
                is_piece = key == "candidates" or (key == "message" and "done" in payload)
                yield from _opened(inner, depth - 1, is_piece=is_piece)
                return
    yield payload, is_piece


def _message_in(payload: dict[str, Any]) -> Any:
    message = payload["message"]
    if not isinstance(message, dict) or not ("role" in message or "tool_calls" in message):
        return None
    when = {"timestamp": payload["created_at"]} if isinstance(payload.get("created_at"), str) else {}
    return {"role": "assistant", **message, **({} if "timestamp" in message else when)}


def _choice_in(payload: dict[str, Any]) -> Any:
    message = first_of(payload["choices"]).get("message")
    return {"role": "assistant", **message} if isinstance(message, dict) else None


def _output_in(payload: dict[str, Any]) -> Any:
    output = payload["output"]
    if "type" in payload or "toolCallId" in payload:
        return None  # what a tool gave, whatever that looks like
    if isinstance(output, dict):
        return output["message"] if isinstance(output.get("message"), dict) else None
    return output if isinstance(output, list) else None


def _content_in(payload: dict[str, Any]) -> Any:
    content = payload["content"]
    return content if isinstance(content, dict) and isinstance(content.get("parts"), list) else None


# By the key that wraps: what is in it, or None where it is something else.
_WRAPPERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "messages": lambda payload: payload["messages"] if isinstance(payload["messages"], list) else None,
    "choices": _choice_in,
    "candidates": lambda payload: first_of(payload["candidates"]).get("content"),
    "output": _output_in,
    "message": _message_in,
    "content": _content_in,
    "raw_item": lambda payload: payload["raw_item"] if isinstance(payload["raw_item"], dict) else None,
}


def _turns_of(item: Any, *, is_piece: bool) -> Iterable[Turn]:
    if not isinstance(item, dict):
        return [Turn(None, None, item)]
    kind = item.get("kind")
    if kind in ("request", "response") and isinstance(item.get("parts"), list):
        return _requested(item) if kind == "request" else [Turn("assistant", _text_in(item), item, _when(item))]
    role = item.get("role")
    speaker = _ROLES.get(role.lower()) if isinstance(role, str) else None
    if speaker is not None:
        return _spoken(item, speaker, is_piece=is_piece or "choice_index" in item)
    return [_told_by_type(item)]


def _spoken(item: dict[str, Any], speaker: Speaker, *, is_piece: bool) -> list[Turn]:
    """A message with a role; the answers to calls that somebody's message begins with are a turn of their own."""
    when = _when(item)
    if speaker == "user":
        for key in ("content", "parts"):
            parts = item.get(key)
            answers = [part for part in dicts_of(parts) if _is_answer(part)]
            if answers and isinstance(parts, list):
                rest = [part for part in parts if not (isinstance(part, dict) and _is_answer(part))]
                told = {**item, key: rest}
                return [Turn("tool", None, {**item, key: answers}, when)] + (
                    [Turn("user", _text_in(told, between="\n"), told, when)] if rest else []
                )
    kept = item
    if item.get("type") == "message" and not _ANSWER_ONLY.isdisjoint(item):
        kept = {"role": item["role"], "content": item.get("content")}
    is_part = speaker == "assistant" and (is_piece or (item.get("type") == "message" and "status" in item))
    text = _text_in(item, between="\n" if speaker in ("user", "system") else "")
    return [Turn(speaker, text, kept, when, is_part)]


def _told_by_type(item: dict[str, Any]) -> Turn:
    """A message or an item without a role."""
    kind = item.get("type")
    if item.get("lc") == 1 and isinstance(item.get("id"), list) and item["id"]:
        kind = item["id"][-1]
    if isinstance(kind, str) and "function" not in item:
        bare = kind.removesuffix("Chunk").removesuffix("Message").lower()
        part = _PARTS.get(kind) or next((who for ends, who in _PART_ENDS if kind.endswith(ends)), None)
        if part is not None and "source" not in item:
            return Turn(part, text_of_content(item) if kind in _TEXTS else None, item, is_part=True)
        speaker = _TYPES.get(bare)
        if bare == "text" and isinstance(item.get("source"), str):
            speaker = "user" if item["source"] == "user" else "assistant"
        if speaker is not None:
            inner = next((item[key] for key in ("data", "kwargs") if isinstance(item.get(key), dict)), item)
            return Turn(speaker, _text_in(inner), item, _when(inner), is_part=kind.endswith("Chunk"))
    if isinstance(item.get("text"), str) and isinstance(item.get("toolCalls", item.get("tool_calls")), list):
        return Turn("assistant", item["text"] or None, item)
    return Turn(None, None, item)


def _requested(item: dict[str, Any]) -> Iterator[Turn]:
    """What stands in one request to a model: instructions, somebody's words and answers, each as its own turn."""
    for part in dicts_of(item["parts"]):
        kind = part.get("part_kind")
        speaker: Speaker = _PROMPTS.get(kind, "user") if isinstance(kind, str) else "user"
        if kind == "retry-prompt" and part.get("tool_name"):
            speaker = "tool"
        text = None if speaker == "tool" else text_of_content([part], between="\n")
        yield Turn(speaker, text, {**item, "parts": [part]}, _when(item))


def _text_in(item: dict[str, Any], between: str = "") -> str | None:
    """What a message says, wherever its dialect puts that."""
    text = None
    for key in ("parts", "blocks", "items", "content"):
        content = item.get(key)
        if text is None and isinstance(content, str | list | dict) and not _is_calls(content):
            text = text_of_content(content, between=between)
    for key in ("refusal", "tool_plan", "text"):
        text = text or (item[key] if isinstance(item.get(key), str) and item[key] else None)
    return text


def _is_calls(content: Any) -> bool:
    """Whether content is calls and nothing else, as one framework has it."""
    first = first_of(content)
    return isinstance(first.get("name"), str) and ("arguments" in first or "call_id" in first)


def _is_answer(part: dict[str, Any]) -> bool:
    if part.get("type") == "tool_result" or dict_of(part.get("metadata")).get("adk_type") == "function_response":
        return True
    return any(key in part for key in ("toolResult", "functionResponse", "function_response"))


def _when(item: dict[str, Any]) -> Any:
    return next((item[key] for key in ("timestamp", "created_at", "createdAt") if item.get(key) is not None), None)


def _joined(parts: list[Turn]) -> Turn:
    text = "".join(part.text or "" for part in parts)
    return parts[0]._replace(text=text or None, raw=[part.raw for part in parts])
