"""Pydantic AI: messages with parts as its type adapter serialises them, and the events of its streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.call_assembler import Assembly, read_id, read_name, text_or_empty
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.dialects.provider_rules import PORTABLE_LIMITS
from pegboard.dialects.shared.content_blocks import describe_block, get_content_blocks, result_to_text
from pegboard.dialects.shared.function_calls import (
    arguments_to_json,
    build_portable_schema,
    filter_dicts,
    get_provider_name,
)
from pegboard.dialects.shared.turns import Speaker, Turn, content_to_text, get_message_text, get_text, get_timestamp
from pegboard.model.call import ToolResult
from pegboard.model.tool import Tool

_CALL_KIND, _NATIVE_CALL_KIND = "tool-call", "builtin-tool-call"
_CALL_KINDS = (_CALL_KIND, _NATIVE_CALL_KIND)
_RETURN_KINDS = ("tool-return", "builtin-tool-return")
_RETRY_KIND = "retry-prompt"
# Fields of a part that are sent back to the provider, and their names in `extra`.
_EXTRA_KEYS = {"id": "part_id", "provider_name": "provider_name", "provider_details": "provider_details"}
# By role, the kind of a request part with text.
_PROMPT_KIND_BY_ROLE = {"user": "user-prompt", "system": "system-prompt"}
_SPEAKER_BY_PROMPT_KIND: Mapping[str, Speaker] = {
    "system-prompt": "system",
    "instructions": "system",
    "tool-return": "tool",
}
_FILE_TYPES = ("image", "audio")
_DEFINITION_DEFAULTS: dict[str, Any] = {
    "outer_typed_dict_key": None, "strict": None, "sequential": False, "kind": "function", "metadata": None,
    "timeout": None, "defer_loading": False, "unless_native": None, "with_native": None, "tool_kind": None,
    "unless_tool_kind": None, "return_schema": None, "include_return_schema": None, "toolset_id": None,
    "capability_id": None,
}  # fmt: skip


class _StreamState:
    """The state of a stream: the ids of its calls, and per index the arguments that came as objects."""

    __slots__ = ("ids", "objects", "texts")

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.objects: dict[int, dict[str, Any]] = {}
        self.texts: set[int] = set()


class PydanticAI(Dialect):
    """Calls as parts of a response; all answers as parts of one request."""

    name = "pydantic_ai"
    expected = "a message with 'kind' and 'parts', a part with 'part_kind', or an event with 'event_kind'"
    limits = PORTABLE_LIMITS
    keys = frozenset({"parts", "event_kind", "part_kind"})

    def recognises(self, item: Any) -> bool:
        """Recognise a message by its kind and parts, and an event or a part by its own kind."""
        if not isinstance(item, dict):
            return False
        if isinstance(item.get("event_kind"), str) or isinstance(item.get("part_kind"), str):
            return True
        parts = item.get("parts")
        if not isinstance(parts, list):
            return False
        return item.get("kind") in ("request", "response") or any(
            isinstance(part, dict) and "part_kind" in part for part in parts[:2]
        )

    def read(self, item: Any, into: Assembly) -> None:
        """Read a message, an event, or one part."""
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
        if "event_kind" in item:
            _read_event(item, into)
        elif isinstance(item.get("parts"), list):
            may_call = item.get("kind", "response") == "response"
            for part in item["parts"]:
                if may_call or not _is_call(part):
                    _read_part(part, into)
        elif "part_kind" in item:
            into.bare = item["part_kind"] == _CALL_KIND
            _read_part(item, into)
        else:
            raise self.make_unreadable_error(item)

    def turns(self, item: Mapping[str, Any], speaker: Speaker | None) -> Sequence[Turn] | None:
        """Return a response, or each part of a request (instructions, prompts and tool results), as a turn."""
        parts = item.get("parts")
        if not isinstance(parts, list) or item.get("kind") not in ("request", "response"):
            return None
        when = get_timestamp(item)
        if item["kind"] == "response":
            return [Turn("assistant", get_message_text(item), item, when)]
        turns = []
        for part in filter_dicts(parts):
            kind = part.get("part_kind")
            role: Speaker = _SPEAKER_BY_PROMPT_KIND.get(kind, "user") if isinstance(kind, str) else "user"
            if kind == _RETRY_KIND and part.get("tool_name"):
                role = "tool"
            text = None if role == "tool" else content_to_text([part], between="\n")
            turns.append(Turn(role, text, {**item, "parts": [part]}, when))
        return turns

    def chunk_text(self, chunk: Any) -> str | None:
        """Return the text that an event starts with or adds."""
        if not isinstance(chunk, dict) or "event_kind" not in chunk:
            return None
        begun = get_text(chunk, "part", "content") if get_text(chunk, "part", "part_kind") == "text" else ""
        return begun or get_text(chunk, "delta", "content_delta")

    def compose(self, calls: Sequence[AskedCall]) -> list[dict[str, Any]]:
        """Return one response; calls that the provider ran include their results."""
        return [{"parts": [part for call in calls for part in _compose_call(call)], "kind": "response"}]

    def render(self, answers: Sequence[Answer], *, many: bool) -> list[dict[str, Any]]:
        """Return one request with all results; the framework adds the timestamp."""
        request = {"instructions": None, "kind": "request", "run_id": None, "conversation_id": None, "metadata": None}
        return [{"parts": [_render_answer(answer) for answer in answers], **request, "state": "complete"}]

    def say(self, role: str, text: str, id: str) -> list[Any]:
        part = {"content": text, "part_kind": _PROMPT_KIND_BY_ROLE.get(role, "text")}
        return [{"parts": [part], "kind": "request" if role in _PROMPT_KIND_BY_ROLE else "response"}]

    def compose_turn(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """Return one response, with the text before the calls."""
        parts = self.say("assistant", text, id)[0]["parts"] if text else []
        return [{"parts": [*parts, *response["parts"]], "kind": "response"} for response in self.compose(calls)]

    def own(self, raw: Any) -> list[Any]:
        """Return the original message, or list of messages."""
        items = raw if isinstance(raw, list) else [raw]
        are_own = all(isinstance(item, dict) and item.get("kind") in ("request", "response") for item in items)
        return items if are_own else []

    def define(self, tool: Tool) -> dict[str, Any]:
        head = {"name": get_provider_name(tool), "parameters_json_schema": build_portable_schema(tool)}
        return head | {"description": tool.description or ""} | _DEFINITION_DEFAULTS


def _is_call(part: Any) -> bool:
    return isinstance(part, dict) and part.get("part_kind") in _CALL_KINDS


def _read_part(part: Any, into: Assembly) -> None:
    if not isinstance(part, dict):
        return
    kind, identity = part.get("part_kind"), part.get("tool_call_id")
    if kind in _CALL_KINDS:
        native = kind == _NATIVE_CALL_KIND
        into.call(
            part.get("tool_name", ""), part.get("args"), identity, provider_executed=native, extra=_get_extra(part)
        )
    elif kind in _RETURN_KINDS or (kind == _RETRY_KIND and part.get("tool_name")):
        content = part.get("content")
        is_good = kind != _RETRY_KIND and part.get("outcome", "success") == "success"
        into.answer(
            identity,
            content if is_good else ABSENT,
            error=None if is_good else _content_to_text(content),
            name=part.get("tool_name"),
            provider_executed=kind == _RETURN_KINDS[1],
        )


def _read_event(event: dict[str, Any], into: Assembly) -> None:
    state = into.get_state(_StreamState)
    kind, index, part = event["event_kind"], event.get("index"), event.get("part", event.get("result"))
    index = index if isinstance(index, int) else 0
    if kind == "part_delta":
        _read_delta(event.get("delta"), index, into, state)
    elif not isinstance(part, dict):
        return
    elif kind in ("part_start", "part_end") and part.get("part_kind") in _CALL_KINDS:
        _read_part_edge(part, index, into, state, is_end=kind == "part_end")
    elif kind in ("function_tool_call", "output_tool_call"):
        # The run repeats a call that was streamed as a part before.
        if read_id(part.get("tool_call_id")) not in state.ids:
            _read_part(part, into)
    elif part.get("part_kind") in _RETURN_KINDS or part.get("part_kind") == _RETRY_KIND:
        _read_part(part, into)


def _read_part_edge(part: dict[str, Any], index: int, into: Assembly, state: _StreamState, *, is_end: bool) -> None:
    """Read the start or the end of a part; the end repeats the whole part."""
    arguments = part.get("args")
    if not is_end:
        into.over(index)
        state.objects.pop(index, None)
        state.texts.discard(index)
    if identity := read_id(part.get("tool_call_id")):
        state.ids.add(identity)
    into.piece(
        index,
        name=part.get("tool_name"),
        id=identity,
        provider_executed=part.get("part_kind") == _NATIVE_CALL_KIND,
        extra=_get_extra(part),
    )
    if is_end:
        into.snapshot(index, arguments)
        into.over(index)
    else:
        _read_arguments(arguments, index, into, state)


def _read_delta(delta: Any, index: int, into: Assembly, state: _StreamState) -> None:
    if not isinstance(delta, dict) or delta.get("part_delta_kind") != "tool_call":
        return
    identity = read_id(delta.get("tool_call_id"))
    if identity:
        state.ids.add(identity)
    into.piece(index, more_name=read_name(delta.get("tool_name_delta")), id=identity, extra=_get_extra(delta))
    _read_arguments(delta.get("args_delta"), index, into, state)


def _read_arguments(given: Any, index: int, into: Assembly, state: _StreamState) -> None:
    """Add arguments: text is appended to text, an object updates an object; a mix of both is malformed."""
    if isinstance(given, dict):
        known = state.objects.setdefault(index, {})
        known.update(given)
        into.snapshot(index, [known] if index in state.texts else known)
    elif text := text_or_empty(given):
        state.texts.add(index)
        if index in state.objects:
            into.snapshot(index, [state.objects[index], text])
        else:
            into.piece(index, text)


def _get_extra(part: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part[key] for key, name in _EXTRA_KEYS.items() if part.get(key)}


def _compose_call(call: AskedCall) -> list[dict[str, Any]]:
    part: dict[str, Any] = {"tool_name": call.name, "args": arguments_to_json(call)}
    if call.id:
        part["tool_call_id"] = call.id
    part |= {key: call.extra[name] for key, name in _EXTRA_KEYS.items() if name in call.extra}
    if not call.provider_executed:
        return [part | {"part_kind": _CALL_KIND}]
    parts = [part | {"part_kind": _NATIVE_CALL_KIND}]
    if call.result is not ABSENT or call.error is not None:
        good = call.error is None
        returned = {"content": call.result if good else call.error, "outcome": "success" if good else "failed"}
        known = {key: value for key, value in part.items() if key not in ("args", "id")}
        parts.append(known | returned | {"part_kind": _RETURN_KINDS[1]})
    return parts


def _render_answer(answer: Answer) -> dict[str, Any]:
    part = {
        "tool_name": answer.name,
        "content": _render_content(answer.result),
        "tool_call_id": answer.id,
        "tool_kind": None,
        "metadata": None,
        "outcome": "success" if answer.result.success else "failed",
        "retry": None,
        "part_kind": _RETURN_KINDS[0],
    }
    if not isinstance(part["content"], str) and get_content_blocks(answer.result) is None:
        # The data contain no file, even if they look like one.
        part["content_file_digests"] = []
    return part


def _render_content(result: ToolResult) -> Any:
    if result.problem is not None:
        return result_to_text(result)
    blocks = get_content_blocks(result)
    if blocks is None:
        return result.output
    content = [_render_file(block) if block.get("type") in _FILE_TYPES else describe_block(block) for block in blocks]
    return content[0] if len(content) == 1 else content


def _render_file(block: Mapping[str, Any]) -> dict[str, Any]:
    return {"data": block.get("data", ""), "media_type": block.get("mimeType", ""), "kind": "binary"}


def _content_to_text(content: Any) -> str:
    try:
        return content if isinstance(content, str) else orjson.dumps(content).decode()
    except TypeError:
        return "failed"
