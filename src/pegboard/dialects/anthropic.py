"""Anthropic's Messages API: content blocks, with `tool_use` for calls and `tool_result` for answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import ABSENT, EMPTY_MAPPING, AskedCall
from pegboard.dialects.provider_rules import Limits, Talk
from pegboard.dialects.schema_adapters import fit_property_names, flatten_root, restore_property_names
from pegboard.dialects.schema_adapters.root_object import REFUSED_ROOT_KEYWORDS
from pegboard.dialects.shared.content_blocks import (
    BlockStream,
    arguments_to_object,
    describe_block,
    get_content_blocks,
    object_to_arguments,
    parse_result_content,
    read_image,
    result_to_text,
    to_text,
    truncate_arguments,
)
from pegboard.dialects.shared.function_calls import (
    dict_or_empty,
    get_provider_name,
    is_model_role,
    remove_draft_keyword,
)
from pegboard.dialects.shared.turns import Speaker, Turn, get_text, read_message_turn, read_part_turn, split_answers
from pegboard.model.tool import Tool

_PROPERTY_NAME_PATTERN = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_CALL_TYPES = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_EVENT_TYPES = frozenset(
    {"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
     "message_stop", "ping"}
)  # fmt: skip
# Fields of a response that a history does not accept.
_RESPONSE_ONLY_KEYS = frozenset({"stop_reason", "stop_sequence", "usage", "stop_details", "container"})
# With these stop reasons, the last block of a message may be incomplete.
_TRUNCATED_STOP_REASONS = ("max_tokens", "model_context_window_exceeded")
# Fields that have to be sent back with a call, and their names in `extra`.
_EXTRA_KEYS = {"caller": "caller", "toolset_name": "toolset_name", "server_name": "server"}


class AnthropicMessages(Dialect):
    """Messages of blocks; all answers of a turn go into one user message."""

    name = "anthropic_messages"
    expected = "messages of content blocks, or events of a stream"
    media = frozenset({"source"})
    aliases = ("anthropic",)
    keys = frozenset({"type", "content", "messages"})
    limits = Limits(
        name=re.compile(r"[a-zA-Z0-9_-]{1,128}"), property_name=_PROPERTY_NAME_PATTERN, root=REFUSED_ROOT_KEYWORDS
    )
    talk = Talk(
        system="apart",
        parts="content",
        part={"type": "text"},
        keys=frozenset({"role", "content"}),
        alternates=True,
        ids=re.compile(r"[a-zA-Z0-9_-]{1,64}"),
    )

    def recognises(self, item: Any) -> bool:
        """Recognise a stream event, a block that is a call or its result, or a message with such a block."""
        if isinstance(item, list):
            return any(_is_tool_block(block) for block in item)
        if not isinstance(item, dict):
            return False
        kind = item.get("type")
        if isinstance(kind, str) and (kind in _EVENT_TYPES or _is_tool_block(item)):
            return True
        if isinstance(messages := item.get("messages"), list):
            return any(map(_has_tool_blocks, messages))
        is_response = kind == "message" and "stop_reason" in item and item.get("role") == "assistant"
        return (is_response and isinstance(item.get("content"), list | dict)) or _has_tool_blocks(item)

    def read(self, item: Any, into: Assembly) -> None:
        """Read a response, a message, a block or an event, or a list of them."""
        for one in item if isinstance(item, list) else (item,):
            if not isinstance(one, dict):
                raise self.make_unreadable_error(one)
            kind = one.get("type")
            if isinstance(kind, str) and kind in _EVENT_TYPES:
                _read_event(kind, one, into)
            elif _is_tool_block(one):
                into.bare = one is item and kind in _CALL_TYPES
                _read_block(one, into)
            elif "content" in one:
                _read_message(one, into)
            elif isinstance(one.get("messages"), list):
                for message in one["messages"]:
                    _read_message(message, into)
            elif not isinstance(kind, str):
                raise self.make_unreadable_error(one)

    def finish(self, into: Assembly) -> None:
        """Add the calls that waited for a stop reason, as complete: no truncation was reported."""
        if into.state is not None:
            into.state.settle(into)

    def turns(self, item: Mapping[str, Any], speaker: Speaker | None) -> Sequence[Turn] | None:
        """Return the results in a user's message apart, a response as a history accepts it, or a block."""
        kind = item.get("type")
        if speaker is not None:
            turns = split_answers(item, speaker, lambda block: block.get("type") == "tool_result")
            if turns is None and kind == "message" and not _RESPONSE_ONLY_KEYS.isdisjoint(item):
                kept = {"role": item["role"], "content": item.get("content")}
                turns = [read_message_turn(item, speaker, raw=kept)]
            return turns
        if not isinstance(kind, str) or "function" in item or "source" in item:
            return None
        if kind in ("thinking", "redacted_thinking") or kind.endswith("tool_use"):
            return [read_part_turn(item, "assistant")]
        return [read_part_turn(item, "tool")] if kind == "tool_result" or kind.endswith("_tool_result") else None

    def chunk_text(self, chunk: Any) -> str | None:
        kind = get_text(chunk, "type")
        if kind == "content_block_delta":
            return get_text(chunk, "delta", "text")
        return "" if kind == "ping" or kind.startswith(("content_block_", "message_")) else None

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """Return one assistant message; calls that the provider ran are followed by their results."""
        return {"role": "assistant", "content": [block for call in calls for block in _compose_call(call)]}

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        return {"role": "user", "content": [_render_answer(answer) for answer in answers]}

    def define(self, tool: Tool) -> dict[str, Any]:
        described = {"description": tool.description} if tool.description else {}
        return {
            "name": get_provider_name(tool),
            **described,
            "input_schema": remove_draft_keyword(
                flatten_root(fit_property_names(tool.input_schema, _PROPERTY_NAME_PATTERN))
            ),
        }

    def restore(self, arguments: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments under the property names of the tool's own schema."""
        return restore_property_names(arguments, schema, _PROPERTY_NAME_PATTERN)


def _is_tool_block(item: Any) -> bool:
    """Return True for a call block or a result block."""
    if not isinstance(item, dict):
        return False
    kind = item.get("type")
    if not isinstance(kind, str):
        return False
    return "input" in item if kind in _CALL_TYPES else kind.endswith("tool_result") and "tool_use_id" in item


def _has_tool_blocks(message: Any) -> bool:
    """Return True if the message contains a call or a result."""
    if not isinstance(message, dict) or message.get("role") not in ("assistant", "user"):
        return False
    content = message.get("content")
    return any(map(_is_tool_block, content)) if isinstance(content, list) else _is_tool_block(content)


def _read_message(message: Any, into: Assembly) -> None:
    whole = dict_or_empty(message)
    content = whole.get("content")
    blocks: list[Any] = content if isinstance(content, list) else [content]
    last = blocks[-1] if whole.get("stop_reason") in _TRUNCATED_STOP_REASONS and blocks else None
    may_call = is_model_role(whole.get("role"))
    for block in blocks:
        if _is_tool_block(block) and (may_call or block["type"] not in _CALL_TYPES):
            _read_block(block, into, is_cut=block is last)


def _read_block(block: dict[str, Any], into: Assembly, *, is_cut: bool = False) -> None:
    kind = block["type"]
    if kind not in _CALL_TYPES:
        _read_result(block, into)
        return
    given = block.get("input")
    into.call(
        block.get("name", ""),
        truncate_arguments(given) if is_cut and kind == "tool_use" else object_to_arguments(given),
        block.get("id"),
        provider_executed=kind != "tool_use",
        extra=_get_extra(block),
    )


def _read_result(block: dict[str, Any], into: Assembly) -> None:
    """Read a result block; any type other than `tool_result` is the result of a call that the provider ran."""
    kind, content = block["type"], block.get("content")
    is_ours = kind == "tool_result"
    content_text = parse_result_content(content) if is_ours or kind == "mcp_tool_result" else content
    error = None
    if isinstance(content, dict) and to_text(content.get("type")).endswith("_error"):
        error = to_text(content.get("error_message") or content.get("error_code") or "error")
    elif block.get("is_error") is True:
        error = to_text(content_text)
    result = content_text if error is None else ABSENT
    into.answer(block.get("tool_use_id"), result, error=error, provider_executed=not is_ours)


def _get_extra(block: Mapping[str, Any]) -> Mapping[str, Any]:
    found = {name: block[key] for key, name in _EXTRA_KEYS.items() if block.get(key) is not None}
    return found or EMPTY_MAPPING


def _read_event(kind: str, event: dict[str, Any], into: Assembly) -> None:
    stream = into.get_state(BlockStream)
    delta = dict_or_empty(event.get("delta"))
    if kind == "content_block_delta":
        if delta.get("type") == "input_json_delta":
            stream.fill(stream.key(event.get("index")), delta.get("partial_json"), into)
    elif kind == "content_block_start":
        stream.settle(into)
        _begin_block(event, stream, into)
    elif kind == "content_block_stop":
        stream.stop(stream.key(event.get("index")), into)
    elif kind == "message_start":
        stream.begin_message(into)
        _read_message(event.get("message"), into)
    elif kind == "message_stop" or delta.get("stop_reason") is not None:
        stream.is_cut = stream.is_cut or delta.get("stop_reason") in _TRUNCATED_STOP_REASONS
        stream.end_message(into)


def _begin_block(event: dict[str, Any], stream: BlockStream, into: Assembly) -> None:
    block = dict_or_empty(event.get("content_block"))
    kind = block.get("type")
    if not _is_tool_block(block):
        return
    if kind not in _CALL_TYPES:
        _read_result(block, into)
        return
    stream.begin(
        stream.key(event.get("index")),
        into,
        name=block.get("name"),
        id=block.get("id"),
        is_server=kind != "tool_use",
        arguments=block.get("input"),
        extra=_get_extra(block),
    )


def _compose_call(call: AskedCall) -> list[dict[str, Any]]:
    extra = {key: call.extra[name] for key, name in _EXTRA_KEYS.items() if name in call.extra}
    block = {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_to_object(call), **extra}
    if not call.provider_executed:
        return [block]
    is_mcp = "server_name" in extra
    block["type"] = "mcp_tool_use" if is_mcp else "server_tool_use"
    if call.result is ABSENT and call.error is None:
        return [block]
    if is_mcp:
        content = to_text(call.result if call.error is None else call.error)
        result = {"type": "mcp_tool_result", "content": content, "is_error": call.error is not None}
    else:
        kind = f"{'tool_search' if call.name.startswith('tool_search_tool') else call.name}_tool_result"
        failed = {"type": f"{kind}_error", "error_code": call.error}
        result = {"type": kind, "content": call.result if call.error is None else failed}
    return [block, {"tool_use_id": call.id, **result}]


def _render_answer(answer: Answer) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": answer.id, "content": _render_content(answer)}
    if answer.result.problem is not None:
        block["is_error"] = True
    if "toolset_name" in answer.call.extra:
        block["toolset_name"] = answer.call.extra["toolset_name"]
    return block


def _render_content(answer: Answer) -> str | list[dict[str, Any]]:
    """Return text, or blocks if the output contains an image."""
    blocks = get_content_blocks(answer.result)
    if blocks is None:
        return result_to_text(answer.result)
    images = [read_image(block) for block in blocks]
    if not any(images):
        return "\n".join(map(describe_block, blocks))
    return [
        {"type": "image", "source": {"type": "base64", "media_type": image[0], "data": image[1]}}
        if image
        else {"type": "text", "text": text}
        for image, text in zip(images, map(describe_block, blocks), strict=True)
        if image or text
    ]
