"""LlamaIndex: messages with blocks, tool selections, and events of its agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.dialects.base import Answer, MessagePerAnswer
from pegboard.dialects.call_assembler import Assembly, read_id
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.provider_rules import PORTABLE_LIMITS, Talk
from pegboard.dialects.shared.content_blocks import (
    describe_block,
    get_content_blocks,
    parse_result_content,
    result_to_text,
    to_text,
)
from pegboard.dialects.shared.function_calls import (
    dict_or_empty,
    filter_dicts,
    first_dict,
    is_function_call,
    parse_output,
    result_to_output_text,
    to_serializable,
)

# How often a call was announced by the output of an agent, by id.
_AnnouncedCalls = dict[str, int]


class LlamaIndex(MessagePerAnswer):
    """Calls as blocks of a message, or `{tool_id, tool_name, tool_kwargs}`.

    Its streams are cumulative: every message contains all previous content, so the last one counts.
    """

    name = "llama_index"
    expected = "a ChatMessage with blocks, a ToolSelection, a ToolOutput, or an event of an agent"
    limits = PORTABLE_LIMITS
    keys = frozenset(
        {"blocks", "additional_kwargs", "message", "tool_kwargs", "tool_output", "raw_output", "current_agent_name",
         "value"}
    )  # fmt: skip

    talk = Talk(parts="blocks", part={"block_type": "text"})

    def recognises(self, item: Any) -> bool:
        """Recognise blocks beside a role, or the fields of its selections, outputs and events."""
        if not isinstance(item, dict):
            return False
        item = _unwrap_event(item)
        message = item.get("message")
        if _is_message(message if isinstance(message, dict) else item):
            return True
        if isinstance(item.get("tool_name"), str):
            return "tool_kwargs" in item or "tool_output" in item or "raw_output" in item
        return isinstance(item.get("current_agent_name"), str)

    def read(self, item: Any, into: Assembly) -> None:
        """Read a message or a snapshot of it, a selection, an output or an event."""
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
        item = _unwrap_event(item)
        message = item.get("message", item)
        if isinstance(message, dict) and (_is_message(message) or isinstance(message.get("role"), str)):
            _read_message(message, into)
        elif isinstance(item.get("tool_output"), dict):
            _read_output(item["tool_output"], item.get("tool_id"), item.get("tool_kwargs"), item.get("tool_name"), into)
        elif "raw_output" in item:
            kwargs = dict_or_empty(item.get("raw_input")).get("kwargs")
            _read_output(item, None, kwargs, item.get("tool_name"), into)
        elif "tool_kwargs" in item:
            into.bare = True
            _read_selection(item, into)
        elif "response" in item or "current_agent_name" in item:
            _read_agent_event(item, into)
        else:
            raise self.make_unreadable_error(item)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """Return the assistant's message; malformed arguments stay text."""
        blocks = [
            {
                "block_type": "tool_call",
                "tool_call_id": call.id or None,
                "tool_name": call.name,
                "tool_kwargs": call.arguments_or_text,
            }
            for call in calls
        ]
        return {"role": "assistant", "additional_kwargs": {}, "blocks": blocks}

    def render_one(self, answer: Answer) -> dict[str, Any]:
        """Return one message per answer; a failed call without an id becomes a ToolOutput, which has an error flag."""
        call, result = answer
        name = answer.name
        if result.problem is not None and not call.id:
            text = result_to_text(result)
            return {
                "blocks": [{"block_type": "text", "text": text}],
                "tool_name": name,
                "raw_input": {"kwargs": {} if call.is_malformed else to_serializable(call.arguments or {})},
                "raw_output": text,
                "is_error": True,
            }
        blocks = get_content_blocks(result)
        return {
            "role": "tool",
            "additional_kwargs": {"tool_call_id": answer.id, "name": name},
            "blocks": [_write_content_block(block) for block in blocks]
            if blocks
            else [{"block_type": "text", "text": result_to_output_text(result)}],
        }

    def say(self, role: str, text: str, id: str) -> list[Any]:
        return [self.talk.build_message(role, text) | {"additional_kwargs": {}}]


def _unwrap_event(item: dict[str, Any]) -> dict[str, Any]:
    """Return the object inside the wrapper of a workflow's serialiser."""
    return item["value"] if item.get("__is_pydantic") is True and isinstance(item.get("value"), dict) else item


def _is_message(item: dict[str, Any]) -> bool:
    if not isinstance(item.get("role"), str):
        return False
    blocks, more = item.get("blocks"), dict_or_empty(item.get("additional_kwargs"))
    if isinstance(blocks, list):
        return not blocks or "block_type" in first_dict(blocks)
    return isinstance(more.get("tool_calls"), list) or isinstance(more.get("tool_call_id"), str)


def _read_message(message: dict[str, Any], into: Assembly) -> None:
    more = dict_or_empty(message.get("additional_kwargs"))
    if message.get("role") != "assistant":
        # The snapshots before it belong to a message that is now complete.
        into.complete_all()
        if message.get("role") == "tool":
            result, error = parse_output(message.get("blocks", message.get("content")))
            into.answer(more.get("tool_call_id"), result, error=error, name=more.get("name"))
        return
    calls = [block for block in filter_dicts(message.get("blocks")) if block.get("block_type") == "tool_call"]
    for place, call in enumerate(calls):
        into.snapshot(place, call.get("tool_kwargs"), name=call.get("tool_name"), id=call.get("tool_call_id"))
    for place, call in enumerate([] if calls else filter_dicts(more.get("tool_calls"))):
        if is_function_call(call):
            function = call["function"]
            into.snapshot(place, function.get("arguments"), name=function.get("name"), id=call.get("id"))


def _read_agent_event(event: dict[str, Any], into: Assembly) -> None:
    """Read an agent's stream as snapshots, or its output, whose calls are repeated by ToolCall events."""
    selections = filter_dicts(event.get("tool_calls"))
    if "delta" in event:
        for place, selection in enumerate(selections):
            kwargs, name = selection.get("tool_kwargs"), selection.get("tool_name")
            into.snapshot(place, kwargs, name=name, id=selection.get("tool_id"))
        return
    for selection in selections:
        _read_selection(selection, into)
        announced = into.get_state(_AnnouncedCalls)
        identity = read_id(selection.get("tool_id"))
        announced[identity] = announced.get(identity, 0) + 1
    if not selections and isinstance(event.get("response"), dict):
        _read_message(event["response"], into)


def _read_selection(selection: dict[str, Any], into: Assembly) -> None:
    announced, identity = into.get_state(_AnnouncedCalls), read_id(selection.get("tool_id"))
    if announced.get(identity):
        announced[identity] -= 1
    else:
        into.call(selection.get("tool_name") or "", selection.get("tool_kwargs"), identity)


def _read_output(output: dict[str, Any], identity: Any, kwargs: Any, name: Any, into: Assembly) -> None:
    text = "".join(to_text(block.get("text", "")) for block in filter_dicts(output.get("blocks")))
    raw = output.get("raw_output")
    if output.get("is_error") is True:
        into.answer(identity, error=text or to_text(raw), name=name, arguments=kwargs)
    else:
        into.answer(identity, parse_result_content(text if raw is None else raw), name=name, arguments=kwargs)


def _write_content_block(block: Mapping[str, Any]) -> dict[str, Any]:
    if block.get("type") == "image" and isinstance(block.get("data"), str):
        return {"block_type": "image", "image": block["data"], "image_mimetype": block.get("mimeType")}
    return {"block_type": "text", "text": describe_block(block)}
