"""OpenAI's Responses API with its stream events, and the Agents SDK, which wraps its items and events."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from pegboard.dialects.base import Answer, MessagePerAnswer
from pegboard.dialects.call_assembler import Assembly, read_name
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.provider_rules import Limits, Talk
from pegboard.dialects.schema_adapters import remove_optional_nulls
from pegboard.dialects.schema_adapters.root_object import REFUSED_ROOT_KEYWORDS
from pegboard.dialects.shared.function_calls import define_function, filter_dicts
from pegboard.dialects.shared.openai_calls import (
    CUSTOM_INPUT_END,
    FUNCTION_NAME_PATTERN,
    define_strict_function,
    encode_custom_input_piece,
)
from pegboard.dialects.shared.openai_response_items import (
    CALL_ITEM_TYPES,
    ResponseState,
    compose_item,
    is_item,
    read_item,
    read_item_arguments,
    read_item_extra,
    read_item_id,
    read_items,
    read_mcp_extra,
    render_item,
    restore_items,
    write_message_item,
)
from pegboard.dialects.shared.turns import Speaker, Turn, get_text, read_message_turn, read_part_turn
from pegboard.model.tool import Tool

_TEXT_DELTA = "response.output_text.delta"
_CUSTOM_INPUT_DELTA = "response.custom_tool_call_input.delta"
_DELTA_TYPES = frozenset(
    {"response.function_call_arguments.delta", "response.mcp_call_arguments.delta", _CUSTOM_INPUT_DELTA}
)
_ARGUMENTS_DONE_TYPES = frozenset({"response.function_call_arguments.done", "response.mcp_call_arguments.done"})
# Events that end a response; the last one belongs to the Realtime API.
_RESPONSE_END_TYPES = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done"}
)


def read_response_event(event: Mapping[str, Any], into: Assembly) -> None:
    """Read one event; most contain nothing about a call."""
    kind = event.get("type")
    if not isinstance(kind, str):
        return
    running = into.get_state(ResponseState)
    if kind in _DELTA_TYPES:
        _read_delta(event, into, running)
    elif kind in _ARGUMENTS_DONE_TYPES:
        key = _get_item_key(event, running)
        if key not in running.done:
            into.snapshot(key, event.get("arguments"), name=event.get("name"), id=event.get("call_id"))
    elif kind == "response.output_item.added":
        _begin_item(event, into, running)
    elif kind == "response.output_item.done":
        if isinstance(item := event.get("item"), dict):
            key = _get_item_key(event, running)
            if isinstance(item.get("id"), str):
                running.keys[item["id"]] = key
            _finish_item(key, item, into, running)
    elif kind == "response.created":
        _drop_unfinished_items(into, running)
        running.keys.clear()
        running.done.clear()
    elif kind in _RESPONSE_END_TYPES:
        _end_response(event.get("response"), into, running, completed=kind == "response.completed")


def _read_delta(event: Mapping[str, Any], into: Assembly, running: ResponseState) -> None:
    key, text = _get_item_key(event, running), event.get("delta")
    if key in running.done:
        return
    if event["type"] == _CUSTOM_INPUT_DELTA:
        text = encode_custom_input_piece(text, begins=key not in running.customs)
        running.customs.add(key)
    into.piece(key, text, id=event.get("call_id"))


def _begin_item(event: Mapping[str, Any], into: Assembly, running: ResponseState) -> None:
    item = event.get("item")
    if not isinstance(item, dict) or not isinstance(item.get("type"), str):
        return
    key = _get_item_key(event, running)
    running.done.pop(key, None)
    if isinstance(item.get("id"), str):
        running.keys[item["id"]] = key
    if item["type"] in CALL_ITEM_TYPES:
        into.piece(key, name=item.get("name"), id=item.get("call_id"), extra=read_item_extra(item))
    elif item["type"] == "mcp_call":
        name, extra = item.get("name"), read_mcp_extra(item)
        into.piece(key, name=name, id=item.get("id"), provider_executed=True, extra=extra)


def _finish_item(
    key: Hashable, item: dict[str, Any], into: Assembly, running: ResponseState, *, cut: bool = False
) -> None:
    """Read a complete item: it replaces its pieces, and is skipped if it was read before."""
    identity = read_item_id(item)
    if running.done.get(key) == identity:
        return
    running.done[key] = identity
    running.raw.add(identity)
    running.customs.discard(key)
    if isinstance(kind := item.get("type"), str) and kind in CALL_ITEM_TYPES:
        arguments = read_item_arguments(item, cut=cut)
        into.snapshot(key, arguments, name=read_name(item.get("name")), id=identity, extra=read_item_extra(item))
        into.over(key)
    else:
        read_item(item, into)


def _end_response(response: Any, into: Assembly, running: ResponseState, *, completed: bool) -> None:
    """Read the complete response: add its new items, and end what was streamed."""
    if not isinstance(response, dict):
        response = {}
    completed = completed or response.get("status") == "completed"
    output = response.get("output")
    items = output if isinstance(output, list) else []
    for place, item in enumerate(items):
        if isinstance(item, dict):
            identity = item.get("id")
            # If events had no index for an item, its key is its id.
            key = running.keys.get(identity, place) if isinstance(identity, str) else place
            _finish_item(key, item, into, running, cut=not completed and place == len(items) - 1)
    if completed:
        for key in running.customs:
            into.piece(key, CUSTOM_INPUT_END)
        running.customs.clear()
        into.complete_all()
    else:
        _drop_unfinished_items(into, running)


def _drop_unfinished_items(into: Assembly, running: ResponseState) -> None:
    """End the calls that were started as incomplete."""
    running.customs.clear()
    into.close_incomplete()


def _get_item_key(event: Mapping[str, Any], running: ResponseState) -> Hashable:
    """Return the key of an event's item: its index, which is stable even if gateways rewrite ids, or else its id."""
    index, identity = event.get("output_index"), event.get("item_id")
    if isinstance(index, int):
        return index
    if not isinstance(identity, str):
        item = event.get("item")
        identity = item.get("id") if isinstance(item, dict) else None
    return running.keys.get(identity, identity) if isinstance(identity, str) else None


# The ends of the types of items that a model makes, and of those that answer them.
_MODEL_TYPE_SUFFIXES = ("_call", "_list_tools", "approval_request")
_ANSWER_TYPE_SUFFIXES = ("_output", "approval_response")
# Agents hand over to each other by calls that they make and answer themselves.
_HANDOFF_TYPES = ("handoff_call_item", "handoff_output_item")
_EVENT_DATA_KEYS: Mapping[str, str] = {
    "raw_response_event": "data",
    "run_item_stream_event": "item",
    "agent_updated_stream_event": "new_agent",
}


class OpenAIResponses(MessagePerAnswer):
    """Items of the type `function_call`, each answered by one `function_call_output`."""

    name = "openai_responses"
    expected = "a response with 'output', an item with a 'type', or an event whose type begins with 'response.'"
    media = frozenset({"input_image", "input_file", "input_text", "output_text"})
    keys = frozenset({"type", "output", "input"})
    limits = Limits(name=FUNCTION_NAME_PATTERN, root=REFUSED_ROOT_KEYWORDS, needs_items=True)
    talk = Talk(ids=re.compile(r".{1,64}", re.DOTALL))

    def recognises(self, item: Any) -> bool:
        """Recognise a response, an item of one, or an event of its stream."""
        if not isinstance(item, dict):
            return False
        kind = item.get("type")
        if isinstance(kind, str):
            return kind.startswith("response.") or is_item(item)
        if item.get("object") == "response":
            return isinstance(item.get("output"), list)
        return "model" in item and any(map(is_item, filter_dicts(item.get("input"))))

    def read(self, item: Any, into: Assembly) -> None:
        """Read one response, item or event."""
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
        kind = item.get("type")
        if isinstance(kind, str):
            if kind.startswith("response."):
                read_response_event(item, into)
            else:
                into.bare = kind in CALL_ITEM_TYPES
                read_item(item, into)
        elif isinstance(output := item.get("output"), list):
            read_items(output, into, cut=item.get("status") in ("incomplete", "in_progress"))
        elif isinstance(given := item.get("input"), list):
            read_items(given, into)
        elif "role" not in item and "error" not in item:
            raise self.make_unreadable_error(item)

    def restore(self, arguments: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments without nulls that mean absent."""
        return remove_optional_nulls(arguments, schema)

    def unwrap(self, response: Mapping[str, Any]) -> Any:
        output = response.get("output")
        is_result = "type" in response or "toolCallId" in response
        return output if isinstance(output, list) and not is_result else None

    def turns(self, item: Mapping[str, Any], speaker: Speaker | None) -> Sequence[Turn] | None:
        """Return an item as a part of the model's turn, or as an answer."""
        kind = item.get("type")
        if not isinstance(kind, str):
            return None
        if speaker is not None:
            is_item = kind == "message" and "status" in item and "stop_reason" not in item
            return [read_message_turn(item, speaker, is_part=True)] if is_item and speaker == "assistant" else None
        if "function" in item or "source" in item:
            return None
        if kind in ("reasoning", "output_text") or kind.endswith(_MODEL_TYPE_SUFFIXES):
            return [read_part_turn(item, "assistant")]
        return [read_part_turn(item, "tool")] if kind.endswith(_ANSWER_TYPE_SUFFIXES) else None

    def chunk_text(self, chunk: Any) -> str | None:
        kind = get_text(chunk, "type")
        if not kind.startswith("response."):
            return None
        return get_text(chunk, "delta") if kind == _TEXT_DELTA else ""

    def compose(self, calls: Sequence[AskedCall]) -> list[dict[str, Any]]:
        """Return one item per call, as in a response's output and in the next request's input."""
        return [item for call in calls if (item := compose_item(call)) is not None]

    def render_one(self, answer: Answer) -> dict[str, Any]:
        return render_item(answer)

    def say(self, role: str, text: str, id: str) -> list[Any]:
        return [write_message_item(role, text)]

    def own(self, raw: Any) -> list[Any]:
        return restore_items(raw)

    def define(self, tool: Tool) -> dict[str, Any]:
        """Return `{type: function, name, …}`, not strict, with the tool's own schema."""
        return {"type": "function", **define_function(tool), "strict": False}

    def define_strictly(self, tool: Tool) -> dict[str, Any]:
        """Return the same definition, strict if strict mode can express the schema."""
        return {"type": "function", **define_strict_function(tool)}


class OpenAIAgents(OpenAIResponses):
    """Run items and stream events of the Agents SDK, which wrap items and events of Responses."""

    name = "openai_agents"
    media = frozenset[str]()
    keys = frozenset({"raw_item", "data", "item", "new_agent", "new_items"})
    limits = Limits(name=FUNCTION_NAME_PATTERN, root=REFUSED_ROOT_KEYWORDS, needs_items=True, strict=True)

    def recognises(self, item: Any) -> bool:
        """Recognise a run item, an event of a run, or a whole run."""
        if not isinstance(item, dict):
            return False
        kind = item.get("type")
        if not isinstance(kind, str):
            return isinstance(item.get("new_items"), list)
        if kind in _EVENT_DATA_KEYS:
            return isinstance(item.get(_EVENT_DATA_KEYS[kind]), dict)
        return kind.endswith("_item") and isinstance(item.get("raw_item"), dict)

    def read(self, item: Any, into: Assembly) -> None:
        """Read one run item, event or run, or a bare item or event of Responses."""
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
        kind = item.get("type")
        if kind == "raw_response_event":
            if isinstance(data := item.get("data"), dict):
                read_response_event(data, into)
        elif kind == "run_item_stream_event":
            _read_run_item(item.get("item"), into)
        elif isinstance(item.get("raw_item"), dict):
            into.bare = item["raw_item"].get("type") in ("function_call", "custom_tool_call")
            _read_run_item(item, into)
        elif isinstance(items := item.get("new_items"), list):
            for inner in items:
                _read_run_item(inner, into)
        else:
            super().read(item, into)

    def unwrap(self, response: Mapping[str, Any]) -> Any:
        return response["raw_item"] if isinstance(response.get("raw_item"), dict) else None

    def turns(self, item: Mapping[str, Any], speaker: Speaker | None) -> Sequence[Turn] | None:
        """Return a run item without its Responses item as a part of a turn."""
        kind = item.get("type")
        if not isinstance(kind, str) or "function" in item or "source" in item or speaker is not None:
            return None
        if kind in ("message_output_item", "reasoning_item") or kind.endswith("_call_item"):
            return [read_part_turn(item, "assistant")]
        return [read_part_turn(item, "tool")] if kind.endswith("_output_item") else None

    def chunk_text(self, chunk: Any) -> str | None:
        """Return the text of the Responses event in a raw event."""
        if get_text(chunk, "type") != "raw_response_event":
            return None
        return get_text(chunk, "data", "delta") if get_text(chunk, "data", "type") == _TEXT_DELTA else ""

    def compose(self, calls: Sequence[AskedCall]) -> list[dict[str, Any]]:
        return [{"type": "tool_call_item", "raw_item": item} for item in super().compose(calls)]

    def compose_turn(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """Return the Responses items that run items wrap."""
        return [*(self.say("assistant", text, id) if text else ()), *super().compose(calls)]

    def own(self, raw: Any) -> list[Any]:
        """Return the Responses items of a run or of a run item."""
        items = raw.get("new_items", [raw]) if isinstance(raw, dict) else raw
        return restore_items([item.get("raw_item", item) for item in filter_dicts(items)])

    def define(self, tool: Tool) -> dict[str, Any]:
        """Return the fields of a FunctionTool, strict if strict mode can express the schema."""
        function = define_strict_function(tool)
        return {
            "name": function["name"],
            "description": function["description"],
            "params_json_schema": function["parameters"],
            "strict_json_schema": function["strict"],
        }

    def define_strictly(self, tool: Tool) -> dict[str, Any]:
        """Return the definition, which is already strict."""
        return self.define(tool)


def _read_run_item(item: Any, into: Assembly) -> None:
    """Read a run item; skip a call that was read from an event before."""
    raw = item.get("raw_item") if isinstance(item, dict) else None
    if not isinstance(raw, dict):
        return
    if item.get("type") in _HANDOFF_TYPES:
        into.has_dropped = True
        return
    kind = raw.get("type")
    is_answer = isinstance(kind, str) and kind.endswith("_output")
    if is_answer or read_item_id(raw) not in into.get_state(ResponseState).raw:
        read_item(raw, into)
