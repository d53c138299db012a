"""Pydantic AI: messages of parts as its adapter writes them, and the events of its streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from pegboard.core.call import ToolResult
from pegboard.core.tool import Tool
from pegboard.dialects.asked import ABSENT, AskedCall, Unreadable
from pegboard.dialects.assembly import Assembly, checked_text, id_of, name_of
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.parts.content import blocks_of, described, text_of
from pegboard.dialects.parts.defining import PORTABLE, name_for, schema_for
from pegboard.dialects.parts.function_calls import text_of_arguments
from pegboard.dialects.seen import seen

_CALL, _NATIVE_CALL = "tool-call", "builtin-tool-call"
_CALLS = (_CALL, _NATIVE_CALL)
_RETURNS = ("tool-return", "builtin-tool-return")
_RETRY = "retry-prompt"
# What the provider gets back, by the name it has on a call.
_EXTRA = {"id": "part_id", "provider_name": "provider_name", "provider_details": "provider_details"}
# What the parts of a request are that say something, by role.
_SAID = {"user": "user-prompt", "system": "system-prompt"}
_FILES = ("image", "audio")
_DEFINITION: dict[str, Any] = {
    "outer_typed_dict_key": None, "strict": None, "sequential": False, "kind": "function", "metadata": None,
    "timeout": None, "defer_loading": False, "unless_native": None, "with_native": None, "tool_kind": None,
    "unless_tool_kind": None, "return_schema": None, "include_return_schema": None, "toolset_id": None,
    "capability_id": None,
}  # fmt: skip


class _Heard:
    """What a stream has said: the ids of its calls, and for each index the arguments that came as objects."""

    __slots__ = ("ids", "objects", "texts")

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.objects: dict[int, dict[str, Any]] = {}
        self.texts: set[int] = set()


class PydanticAI(Dialect):
    """Calls as parts of a response; all answers as parts of one request."""

    name = "pydantic_ai"
    limits = PORTABLE
    keys = frozenset({"parts", "event_kind", "part_kind"})

    def recognises(self, item: Any) -> bool:
        """A message by its kind and parts, an event or a part by its own kind."""
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
        """A message, an event, or one part."""
        if not isinstance(item, dict):
            raise _unreadable(item)
        if "event_kind" in item:
            _read_event(item, into)
        elif isinstance(item.get("parts"), list):
            may_call = item.get("kind", "response") == "response"
            for part in item["parts"]:
                if may_call or not _is_call(part):
                    _read_part(part, into)
        elif "part_kind" in item:
            into.bare = item["part_kind"] == _CALL
            _read_part(item, into)
        else:
            raise _unreadable(item)

    def compose(self, calls: Sequence[AskedCall]) -> list[dict[str, Any]]:
        """One response; what the provider ran itself has its return in it."""
        return [{"parts": [part for call in calls for part in _composed(call)], "kind": "response"}]

    def render(self, answers: Sequence[Answer], *, many: bool) -> list[dict[str, Any]]:
        """One request with all returns; the framework stamps it with the time."""
        request = {"instructions": None, "kind": "request", "run_id": None, "conversation_id": None, "metadata": None}
        return [{"parts": [_rendered(answer) for answer in answers], **request, "state": "complete"}]

    def say(self, role: str, text: str, id: str) -> list[Any]:
        """A request or a response with one part."""
        part = {"content": text, "part_kind": _SAID.get(role, "text")}
        return [{"parts": [part], "kind": "request" if role in _SAID else "response"}]

    def speak(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """One response, with its text before the calls."""
        said = self.say("assistant", text, id)[0]["parts"] if text else []
        return [{"parts": [*said, *response["parts"]], "kind": "response"} for response in self.compose(calls)]

    def own(self, raw: Any) -> list[Any]:
        """A message as it came, or a list of them."""
        items = raw if isinstance(raw, list) else [raw]
        are_own = all(isinstance(item, dict) and item.get("kind") in ("request", "response") for item in items)
        return items if are_own else []

    def define(self, tool: Tool) -> dict[str, Any]:
        """A tool definition of the framework."""
        head = {"name": name_for(tool), "parameters_json_schema": schema_for(tool)}
        return head | {"description": tool.description or ""} | _DEFINITION


def _is_call(part: Any) -> bool:
    return isinstance(part, dict) and part.get("part_kind") in _CALLS


def _read_part(part: Any, into: Assembly) -> None:
    if not isinstance(part, dict):
        return
    kind, identity = part.get("part_kind"), part.get("tool_call_id")
    if kind in _CALLS:
        native = kind == _NATIVE_CALL
        into.call(part.get("tool_name", ""), part.get("args"), identity, provider_executed=native, extra=_extra(part))
    elif kind in _RETURNS or (kind == _RETRY and part.get("tool_name")):
        content = part.get("content")
        is_good = kind != _RETRY and part.get("outcome", "success") == "success"
        into.answer(
            identity,
            content if is_good else ABSENT,
            error=None if is_good else _text(content),
            name=part.get("tool_name"),
            provider_executed=kind == _RETURNS[1],
        )


def _read_event(event: dict[str, Any], into: Assembly) -> None:
    heard = into.state = into.state or _Heard()
    kind, index, part = event["event_kind"], event.get("index"), event.get("part", event.get("result"))
    index = index if isinstance(index, int) else 0
    if kind == "part_delta":
        _read_delta(event.get("delta"), index, into, heard)
    elif not isinstance(part, dict):
        return
    elif kind in ("part_start", "part_end") and part.get("part_kind") in _CALLS:
        _read_edge(part, index, into, heard, is_end=kind == "part_end")
    elif kind in ("function_tool_call", "output_tool_call"):
        # The run says once more what a part said before.
        if id_of(part.get("tool_call_id")) not in heard.ids:
            _read_part(part, into)
    elif part.get("part_kind") in _RETURNS or part.get("part_kind") == _RETRY:
        _read_part(part, into)


def _read_edge(part: dict[str, Any], index: int, into: Assembly, heard: _Heard, *, is_end: bool) -> None:
    """Where a part begins or ends: its end has all of it once more."""
    arguments = part.get("args")
    if not is_end:
        into.over(index)
        heard.objects.pop(index, None)
        heard.texts.discard(index)
    if identity := id_of(part.get("tool_call_id")):
        heard.ids.add(identity)
    into.piece(
        index,
        name=part.get("tool_name"),
        id=identity,
        provider_executed=part.get("part_kind") == _NATIVE_CALL,
        extra=_extra(part),
    )
    if is_end:
        into.snapshot(index, arguments)
        into.over(index)
    else:
        _read_arguments(arguments, index, into, heard)


def _read_delta(delta: Any, index: int, into: Assembly, heard: _Heard) -> None:
    if not isinstance(delta, dict) or delta.get("part_delta_kind") != "tool_call":
        return
    identity = id_of(delta.get("tool_call_id"))
    if identity:
        heard.ids.add(identity)
    into.piece(index, more_name=name_of(delta.get("tool_name_delta")), id=identity, extra=_extra(delta))
    _read_arguments(delta.get("args_delta"), index, into, heard)


def _read_arguments(given: Any, index: int, into: Assembly, heard: _Heard) -> None:
    """More of the arguments: text follows text, and an object adds to an object. The two do not go together."""
    if isinstance(given, dict):
        known = heard.objects.setdefault(index, {})
        known.update(given)
        into.snapshot(index, [known] if index in heard.texts else known)
    elif text := checked_text(given):
        heard.texts.add(index)
        if index in heard.objects:
            into.snapshot(index, [heard.objects[index], text])
        else:
            into.piece(index, text)


def _extra(part: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part[key] for key, name in _EXTRA.items() if part.get(key)}


def _composed(call: AskedCall) -> list[dict[str, Any]]:
    part: dict[str, Any] = {"tool_name": call.name, "args": text_of_arguments(call)}
    if call.id:
        part["tool_call_id"] = call.id
    part |= {key: call.extra[name] for key, name in _EXTRA.items() if name in call.extra}
    if not call.provider_executed:
        return [part | {"part_kind": _CALL}]
    parts = [part | {"part_kind": _NATIVE_CALL}]
    if call.result is not ABSENT or call.error is not None:
        good = call.error is None
        returned = {"content": call.result if good else call.error, "outcome": "success" if good else "failed"}
        known = {key: value for key, value in part.items() if key not in ("args", "id")}
        parts.append(known | returned | {"part_kind": _RETURNS[1]})
    return parts


def _rendered(answer: Answer) -> dict[str, Any]:
    part = {
        "tool_name": answer.name,
        "content": _content(answer.result),
        "tool_call_id": answer.id,
        "tool_kind": None,
        "metadata": None,
        "outcome": "success" if answer.result.success else "failed",
        "retry": None,
        "part_kind": _RETURNS[0],
    }
    if not isinstance(part["content"], str) and blocks_of(answer.result) is None:
        # No file is in it, whatever its data look like.
        part["content_file_digests"] = []
    return part


def _content(result: ToolResult) -> Any:
    if result.problem is not None:
        return text_of(result)
    blocks = blocks_of(result)
    if blocks is None:
        return result.output
    content = [_file(block) if block.get("type") in _FILES else described(block) for block in blocks]
    return content[0] if len(content) == 1 else content


def _file(block: Mapping[str, Any]) -> dict[str, Any]:
    return {"data": block.get("data", ""), "media_type": block.get("mimeType", ""), "kind": "binary"}


def _text(content: Any) -> str:
    try:
        return content if isinstance(content, str) else orjson.dumps(content).decode()
    except TypeError:
        return "failed"


def _unreadable(item: Any) -> Unreadable:
    return Unreadable(
        f"unrecognised_format: this is {seen(item)}; pydantic_ai is a message with 'kind' and 'parts', of which the "
        "calls have the part_kind 'tool-call', or an event with 'event_kind'"
    )
