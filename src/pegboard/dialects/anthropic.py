"""Anthropic's Messages API: blocks of content, `tool_use` in and `tool_result` out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.asked import ABSENT, NOTHING, AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.blocks import cut_off, given_input, image_of, input_of, shown, unreadable, value_of
from pegboard.dialects.content import blocks_of, described, text_of
from pegboard.dialects.defining import name_for, schema_for
from pegboard.dialects.limits import Limits

_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_EVENTS = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
    }
)
# With these the last block of a message may lack its end.
_CUT = ("max_tokens", "model_context_window_exceeded")
# What has to go back with a call, and the names it is known by outside.
_EXTRA = {"caller": "caller", "toolset_name": "toolset_name", "server_name": "server"}


class _Stream:
    """Where a stream of events stands."""

    __slots__ = ("cut", "index", "message", "preset", "silent", "waiting")

    def __init__(self) -> None:
        self.message = 0
        self.index: Any = None
        self.cut = False
        # The blocks of which no argument came yet, and those that began with their arguments in them.
        self.silent: set[Any] = set()
        self.preset: set[Any] = set()
        # A block that ended without arguments: it has none, unless the message turns out to be cut off there.
        self.waiting: Any = None

    def key(self, event: Mapping[str, Any]) -> tuple[int, Any]:
        """What the blocks of this event go by."""
        index = event.get("index")
        if isinstance(index, int):
            self.index = index
        return self.message, self.index


class AnthropicMessages(Dialect):
    """Messages of blocks; every answer of a turn goes into one user message."""

    name = "anthropic_messages"
    aliases = ("anthropic",)
    keys = frozenset({"type", "content"})
    limits = Limits(
        name=re.compile(r"[a-zA-Z0-9_-]{1,128}"),
        property_name=re.compile(r"[a-zA-Z0-9_.-]{1,64}"),
    )

    def recognises(self, item: Any) -> bool:
        """An event of a stream, a block that is a call or its result, or a message with such a block."""
        if isinstance(item, list):
            return any(_is_block(block) for block in item)
        if not isinstance(item, dict):
            return False
        kind = item.get("type")
        if isinstance(kind, str) and (kind in _EVENTS or _is_block(item)):
            return True
        content = item.get("content")
        if item.get("role") not in ("assistant", "user") or not isinstance(content, list | dict):
            return False
        if kind == "message" and "stop_reason" in item:
            return True
        return any(_is_block(block) for block in (content if isinstance(content, list) else (content,)))

    def read(self, item: Any, into: Assembly) -> None:
        """A response, a message, a block or an event, or a list of them."""
        for one in item if isinstance(item, list) else (item,):
            if not isinstance(one, dict):
                raise unreadable(one, self.name, "messages of content blocks, or events of a stream")
            kind = one.get("type")
            if isinstance(kind, str) and kind in _EVENTS:
                _read_event(kind, one, into)
            elif _is_block(one):
                into.bare = one is item and kind in _CALLS
                _read_block(one, into)
            elif "content" in one:
                _read_message(one, into)
            elif isinstance(one.get("messages"), list):
                for message in one["messages"]:
                    _read_message(message, into)
            elif not isinstance(kind, str):
                raise unreadable(one, self.name, "messages of content blocks, or events of a stream")

    def finish(self, into: Assembly) -> None:
        """What waits to be known as complete is, as nothing says otherwise."""
        if isinstance(into.state, _Stream):
            _settle(into.state, into)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """One assistant message; what the provider ran itself is followed by its result."""
        return {"role": "assistant", "content": [block for call in calls for block in _composed(call)]}

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        """One user message with every result."""
        return {"role": "user", "content": [_rendered(answer) for answer in answers]}

    def define(self, tool: Tool) -> dict[str, Any]:
        """Name, description and input schema."""
        described = {"description": tool.description} if tool.description else {}
        return {"name": name_for(tool), **described, "input_schema": schema_for(tool)}


def _is_block(item: Any) -> bool:
    """Whether this is a call, or the result of one."""
    if not isinstance(item, dict):
        return False
    kind = item.get("type")
    if not isinstance(kind, str):
        return False
    return "input" in item if kind in _CALLS else kind.endswith("tool_result") and "tool_use_id" in item


def _read_message(message: Any, into: Assembly) -> None:
    if not isinstance(message, dict):
        return
    content = message.get("content")
    blocks = content if isinstance(content, list) else [content]
    last = blocks[-1] if message.get("stop_reason") in _CUT and blocks else None
    for block in blocks:
        if _is_block(block):
            _read_block(block, into, is_cut=block is last)


def _read_block(block: dict[str, Any], into: Assembly, *, is_cut: bool = False) -> None:
    kind = block["type"]
    if kind not in _CALLS:
        _read_result(block, into)
        return
    given = block.get("input")
    into.call(
        block.get("name", ""),
        cut_off(given) if is_cut and kind == "tool_use" else given_input(given),
        block.get("id"),
        provider_executed=kind != "tool_use",
        extra=_extra(block),
    )


def _read_result(block: dict[str, Any], into: Assembly) -> None:
    """Only `tool_result` is ours; any other kind of result says what the provider ran itself."""
    kind, content = block["type"], block.get("content")
    is_ours = kind == "tool_result"
    told = _told(content) if is_ours or kind == "mcp_tool_result" else content
    error = None
    if isinstance(content, dict) and shown(content.get("type")).endswith("_error"):
        error = shown(content.get("error_message") or content.get("error_code") or "error")
    elif block.get("is_error") is True:
        error = shown(told)
    result = told if error is None else ABSENT
    into.answer(block.get("tool_use_id"), result, error=error, provider_executed=not is_ours)


def _told(content: Any) -> Any:
    """What a result says: data where it is JSON text, blocks where there is more in it than text."""
    if isinstance(content, str):
        return value_of(content)
    if isinstance(content, list) and content:
        texts = [block.get("text") if isinstance(block, dict) else None for block in content]
        if all(isinstance(text, str) for text in texts):
            return value_of("\n".join(map(str, texts)))
    return content


def _extra(block: Mapping[str, Any]) -> Mapping[str, Any]:
    found = {name: block[key] for key, name in _EXTRA.items() if block.get(key) is not None}
    return found or NOTHING


def _read_event(kind: str, event: dict[str, Any], into: Assembly) -> None:
    if not isinstance(into.state, _Stream):
        into.state = _Stream()
    stream: _Stream = into.state
    if kind == "content_block_delta":
        _read_delta(event, stream, into)
    elif kind == "content_block_start":
        _settle(stream, into)
        _begin_block(event, stream, into)
    elif kind == "content_block_stop":
        key = stream.key(event)
        if key in stream.silent:
            stream.waiting = key
        elif key not in stream.preset:
            _end_block(key, into)
    elif kind == "message_start":
        _settle(stream, into)
        stream.message += 1
        stream.cut = False
        _read_message(event.get("message"), into)
    else:
        delta = event.get("delta")
        reason = delta.get("stop_reason") if isinstance(delta, dict) else None
        stream.cut = stream.cut or reason in _CUT
        if not stream.cut and (reason is not None or kind == "message_stop"):
            into.all_over()
