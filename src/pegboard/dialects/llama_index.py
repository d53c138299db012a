"""LlamaIndex: messages of blocks, tool selections, and the events of its agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly, id_of
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.parts.blocks import shown, told_in
from pegboard.dialects.parts.content import blocks_of, described, text_of
from pegboard.dialects.parts.defining import PORTABLE, wrapped_function_for
from pegboard.dialects.parts.function_calls import is_function_call, text_of_arguments
from pegboard.dialects.parts.outputs import output_of, output_text
from pegboard.dialects.parts.picking import dict_of, dicts_of, first_of, unreadable, writable
from pegboard.dialects.talk import Talk

_EXPECTED = "a ChatMessage with blocks, a ToolSelection, a ToolOutput, or an event of an agent"


class LlamaIndex(Dialect):
    """Calls as blocks of a message, or `{tool_id, tool_name, tool_kwargs}`.

    Its streams are cumulative: every message holds all that came before, so that the last one counts.
    """

    name = "llama_index"
    limits = PORTABLE
    keys = frozenset(
        {
            "blocks",
            "additional_kwargs",
            "message",
            "tool_kwargs",
            "tool_output",
            "raw_output",
            "current_agent_name",
            "value",
        }
    )

    talk = Talk(parts="blocks", part={"block_type": "text"})

    def recognises(self, item: Any) -> bool:
        """Blocks beside a role, or the names of its selections, outputs and events."""
        if not isinstance(item, dict):
            return False
        item = _unwrapped(item)
        message = item.get("message")
        if _is_message(message if isinstance(message, dict) else item):
            return True
        if isinstance(item.get("tool_name"), str):
            return "tool_kwargs" in item or "tool_output" in item or "raw_output" in item
        return isinstance(item.get("current_agent_name"), str)

    def read(self, item: Any, into: Assembly) -> None:
        """A message or a snapshot of it, a selection, an output or an event."""
        if not isinstance(item, dict):
            raise unreadable(item, self.name, _EXPECTED)
        item = _unwrapped(item)
        message = item.get("message", item)
        if isinstance(message, dict) and (_is_message(message) or isinstance(message.get("role"), str)):
            _read_message(message, into)
        elif isinstance(item.get("tool_output"), dict):
            _read_output(item["tool_output"], item.get("tool_id"), item.get("tool_kwargs"), item.get("tool_name"), into)
        elif "raw_output" in item:
            kwargs = dict_of(item.get("raw_input")).get("kwargs")
            _read_output(item, None, kwargs, item.get("tool_name"), into)
        elif "tool_kwargs" in item:
            into.bare = True
            _read_selection(item, into)
        elif "response" in item or "current_agent_name" in item:
            _read_agent(item, into)
        else:
            raise unreadable(item, self.name, _EXPECTED)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """The assistant's message; arguments that could not be read stay the text they were."""
        blocks = [
            {
                "block_type": "tool_call",
                "tool_call_id": call.id or None,
                "tool_name": call.name,
                "tool_kwargs": text_of_arguments(call) if call.is_malformed else call.arguments or {},
            }
            for call in calls
        ]
        return {"role": "assistant", "additional_kwargs": {}, "blocks": blocks}

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """A message an answer; a failed call that has no id is a ToolOutput, which can say that it failed."""
        rendered = [_rendered(answer) for answer in answers]
        return rendered if many else rendered[0]

    def say(self, role: str, text: str, id: str) -> list[Any]:
        """A ChatMessage with one block."""
        return [self.talk.said(role, text) | {"additional_kwargs": {}}]

    def define(self, tool: Tool) -> dict[str, Any]:
        """A function with its schema, as to_openai_tool gives it."""
        return wrapped_function_for(tool)


def _unwrapped(item: dict[str, Any]) -> dict[str, Any]:
    """What a workflow's serialiser wrapped."""
    return item["value"] if item.get("__is_pydantic") is True and isinstance(item.get("value"), dict) else item


def _is_message(item: dict[str, Any]) -> bool:
    if not isinstance(item.get("role"), str):
        return False
    blocks, more = item.get("blocks"), dict_of(item.get("additional_kwargs"))
    if isinstance(blocks, list):
        return not blocks or "block_type" in first_of(blocks)
    return isinstance(more.get("tool_calls"), list) or isinstance(more.get("tool_call_id"), str)


def _read_message(message: dict[str, Any], into: Assembly) -> None:
    more = dict_of(message.get("additional_kwargs"))
    if message.get("role") != "assistant":
        # The snapshots before it are of a message that is complete.
        into.all_over()
        if message.get("role") == "tool":
            result, error = output_of(message.get("blocks", message.get("content")))
            into.answer(more.get("tool_call_id"), result, error=error, name=more.get("name"))
        return
    calls = [block for block in dicts_of(message.get("blocks")) if block.get("block_type") == "tool_call"]
    for place, call in enumerate(calls):
        into.snapshot(place, call.get("tool_kwargs"), name=call.get("tool_name"), id=call.get("tool_call_id"))
    for place, call in enumerate([] if calls else dicts_of(more.get("tool_calls"))):
        if is_function_call(call):
            function = call["function"]
            into.snapshot(place, function.get("arguments"), name=function.get("name"), id=call.get("id"))


def _read_agent(event: dict[str, Any], into: Assembly) -> None:
    """The stream of an agent as snapshots, and its output, which each ToolCall event repeats."""
    selections = dicts_of(event.get("tool_calls"))
    if "delta" in event:
        for place, selection in enumerate(selections):
            kwargs, name = selection.get("tool_kwargs"), selection.get("tool_name")
            into.snapshot(place, kwargs, name=name, id=selection.get("tool_id"))
        return
    for selection in selections:
        _read_selection(selection, into)
        announced = _announced(into)
        identity = id_of(selection.get("tool_id"))
        announced[identity] = announced.get(identity, 0) + 1
    if not selections and isinstance(event.get("response"), dict):
        _read_message(event["response"], into)


def _read_selection(selection: dict[str, Any], into: Assembly) -> None:
    announced, identity = _announced(into), id_of(selection.get("tool_id"))
    if announced.get(identity):
        announced[identity] -= 1
    else:
        into.call(selection.get("tool_name") or "", selection.get("tool_kwargs"), identity)


def _read_output(output: dict[str, Any], identity: Any, kwargs: Any, name: Any, into: Assembly) -> None:
    text = "".join(shown(block.get("text", "")) for block in dicts_of(output.get("blocks")))
    raw = output.get("raw_output")
    if output.get("is_error") is True:
        into.answer(identity, error=text or shown(raw), name=name, arguments=kwargs)
    else:
        into.answer(identity, told_in(text if raw is None else raw), name=name, arguments=kwargs)


def _announced(into: Assembly) -> dict[str, int]:
    if into.state is None:
        into.state = {}
    state: dict[str, int] = into.state
    return state


def _rendered(answer: Answer) -> dict[str, Any]:
    call, result = answer
    name = answer.name
    if result.problem is not None and not call.id:
        text = text_of(result)
        return {
            "blocks": [{"block_type": "text", "text": text}],
            "tool_name": name,
            "raw_input": {"kwargs": {} if call.is_malformed else writable(call.arguments or {})},
            "raw_output": text,
            "is_error": True,
        }
    blocks = blocks_of(result)
    return {
        "role": "tool",
        "additional_kwargs": {"tool_call_id": answer.id, "name": name},
        "blocks": [_block(block) for block in blocks]
        if blocks
        else [{"block_type": "text", "text": output_text(result)}],
    }


def _block(block: Mapping[str, Any]) -> dict[str, Any]:
    if block.get("type") == "image" and isinstance(block.get("data"), str):
        return {"block_type": "image", "image": block["data"], "image_mimetype": block.get("mimeType")}
    return {"block_type": "text", "text": described(block)}
