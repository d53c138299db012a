"""Anthropic's Messages API: blocks of content, `tool_use` in and `tool_result` out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.adapting import fitted_names, flat_root, own_names
from pegboard.dialects.adapting.root import REFUSED
from pegboard.dialects.asked import ABSENT, NOTHING, AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.limits import Limits
from pegboard.dialects.parts.block_stream import BlockStream, stream_in
from pegboard.dialects.parts.blocks import cut_off, given_input, image_of, input_of, shown, told_in
from pegboard.dialects.parts.content import blocks_of, described, text_of
from pegboard.dialects.parts.defining import name_for, without_draft
from pegboard.dialects.parts.picking import dict_of, is_models, unreadable
from pegboard.dialects.talk import Talk

_EXPECTED = "messages of content blocks, or events of a stream"
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
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


class AnthropicMessages(Dialect):
    """Messages of blocks; every answer of a turn goes into one user message."""

    name = "anthropic_messages"
    aliases = ("anthropic",)
    keys = frozenset({"type", "content", "messages"})
    limits = Limits(name=re.compile(r"[a-zA-Z0-9_-]{1,128}"), property_name=_PROPERTY, root=REFUSED)
    talk = Talk(
        system="apart",
        parts="content",
        part={"type": "text"},
        keys=frozenset({"role", "content"}),
        alternates=True,
        ids=re.compile(r"[a-zA-Z0-9_-]{1,64}"),
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
        if isinstance(messages := item.get("messages"), list):
            return any(map(_has_blocks, messages))
        is_response = kind == "message" and "stop_reason" in item and item.get("role") == "assistant"
        return (is_response and isinstance(item.get("content"), list | dict)) or _has_blocks(item)

    def read(self, item: Any, into: Assembly) -> None:
        """A response, a message, a block or an event, or a list of them."""
        for one in item if isinstance(item, list) else (item,):
            if not isinstance(one, dict):
                raise unreadable(one, self.name, _EXPECTED)
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
                raise unreadable(one, self.name, _EXPECTED)

    def finish(self, into: Assembly) -> None:
        """What waits to be known as complete is, as nothing says otherwise."""
        if into.state is not None:
            stream_in(into).settle(into)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """One assistant message; what the provider ran itself is followed by its result."""
        return {"role": "assistant", "content": [block for call in calls for block in _composed(call)]}

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        """One user message with every result."""
        return {"role": "user", "content": [_rendered(answer) for answer in answers]}

    def define(self, tool: Tool) -> dict[str, Any]:
        """Name, description and input schema."""
        described = {"description": tool.description} if tool.description else {}
        return {
            "name": name_for(tool),
            **described,
            "input_schema": without_draft(flat_root(fitted_names(tool.input_schema, _PROPERTY))),
        }

    def restore(self, arguments: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments under the names that the tool's own schema has for them."""
        return own_names(arguments, schema, _PROPERTY)


def _is_block(item: Any) -> bool:
    """Whether this is a call, or the result of one."""
    if not isinstance(item, dict):
        return False
    kind = item.get("type")
    if not isinstance(kind, str):
        return False
    return "input" in item if kind in _CALLS else kind.endswith("tool_result") and "tool_use_id" in item


def _has_blocks(message: Any) -> bool:
    """Whether a call or the result of one is in this message."""
    if not isinstance(message, dict) or message.get("role") not in ("assistant", "user"):
        return False
    content = message.get("content")
    return any(map(_is_block, content)) if isinstance(content, list) else _is_block(content)


def _read_message(message: Any, into: Assembly) -> None:
    whole = dict_of(message)
    content = whole.get("content")
    blocks: list[Any] = content if isinstance(content, list) else [content]
    last = blocks[-1] if whole.get("stop_reason") in _CUT and blocks else None
    may_call = is_models(whole.get("role"))
    for block in blocks:
        if _is_block(block) and (may_call or block["type"] not in _CALLS):
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
    told = told_in(content) if is_ours or kind == "mcp_tool_result" else content
    error = None
    if isinstance(content, dict) and shown(content.get("type")).endswith("_error"):
        error = shown(content.get("error_message") or content.get("error_code") or "error")
    elif block.get("is_error") is True:
        error = shown(told)
    result = told if error is None else ABSENT
    into.answer(block.get("tool_use_id"), result, error=error, provider_executed=not is_ours)


def _extra(block: Mapping[str, Any]) -> Mapping[str, Any]:
    found = {name: block[key] for key, name in _EXTRA.items() if block.get(key) is not None}
    return found or NOTHING


def _read_event(kind: str, event: dict[str, Any], into: Assembly) -> None:
    stream = stream_in(into)
    delta = dict_of(event.get("delta"))
    if kind == "content_block_delta":
        if delta.get("type") == "input_json_delta":
            stream.fill(stream.key(event.get("index")), delta.get("partial_json"), into)
    elif kind == "content_block_start":
        stream.settle(into)
        _begin_block(event, stream, into)
    elif kind == "content_block_stop":
        stream.stop(stream.key(event.get("index")), into)
    elif kind == "message_start":
        stream.message_begins(into)
        _read_message(event.get("message"), into)
    elif kind == "message_stop" or delta.get("stop_reason") is not None:
        stream.is_cut = stream.is_cut or delta.get("stop_reason") in _CUT
        stream.message_ends(into)


def _begin_block(event: dict[str, Any], stream: BlockStream, into: Assembly) -> None:
    block = dict_of(event.get("content_block"))
    kind = block.get("type")
    if not _is_block(block):
        return
    if kind not in _CALLS:
        _read_result(block, into)
        return
    stream.begin(
        stream.key(event.get("index")),
        into,
        name=block.get("name"),
        id=block.get("id"),
        is_server=kind != "tool_use",
        arguments=block.get("input"),
        extra=_extra(block),
    )


def _composed(call: AskedCall) -> list[dict[str, Any]]:
    extra = {key: call.extra[name] for key, name in _EXTRA.items() if name in call.extra}
    block = {"type": "tool_use", "id": call.id, "name": call.name, "input": input_of(call), **extra}
    if not call.provider_executed:
        return [block]
    is_mcp = "server_name" in extra
    block["type"] = "mcp_tool_use" if is_mcp else "server_tool_use"
    if call.result is ABSENT and call.error is None:
        return [block]
    if is_mcp:
        told = shown(call.result if call.error is None else call.error)
        result = {"type": "mcp_tool_result", "content": told, "is_error": call.error is not None}
    else:
        kind = f"{'tool_search' if call.name.startswith('tool_search_tool') else call.name}_tool_result"
        failed = {"type": f"{kind}_error", "error_code": call.error}
        result = {"type": kind, "content": call.result if call.error is None else failed}
    return [block, {"tool_use_id": call.id, **result}]


def _rendered(answer: Answer) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": answer.id, "content": _content(answer)}
    if answer.result.problem is not None:
        block["is_error"] = True
    if "toolset_name" in answer.call.extra:
        block["toolset_name"] = answer.call.extra["toolset_name"]
    return block


def _content(answer: Answer) -> str | list[dict[str, Any]]:
    """Text, or blocks where the output has a picture in it."""
    blocks = blocks_of(answer.result)
    if blocks is None:
        return text_of(answer.result)
    images = [image_of(block) for block in blocks]
    if not any(images):
        return "\n".join(map(described, blocks))
    return [
        {"type": "image", "source": {"type": "base64", "media_type": image[0], "data": image[1]}}
        if image
        else {"type": "text", "text": text}
        for image, text in zip(images, map(described, blocks), strict=True)
        if image or text
    ]
