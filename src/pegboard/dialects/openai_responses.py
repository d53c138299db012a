"""OpenAI's Responses, and its Agents SDK, which wraps their items and events."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.adapting import without_nulls
from pegboard.dialects.adapting.root import REFUSED
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.limits import Limits
from pegboard.dialects.parts.defining import function_for
from pegboard.dialects.parts.openai_calls import NAME
from pegboard.dialects.parts.openai_strict import strict_function_for
from pegboard.dialects.parts.picking import dicts_of, unreadable
from pegboard.dialects.parts.response_events import read_event
from pegboard.dialects.parts.response_items import (
    CALLS,
    composed_item,
    id_of_item,
    is_item,
    own_items,
    read_item,
    read_items,
    rendered_item,
    running_of,
    said_item,
)
from pegboard.dialects.talk import Talk

_TALK = Talk(ids=re.compile(r".{1,64}", re.DOTALL))
_EXPECTED = "a response with 'output', an item with a 'type', or an event whose type begins with 'response.'"
# Agents hand over to one another by calls that they make and answer themselves.
_HANDOFFS = ("handoff_call_item", "handoff_output_item")
_EVENTS: Mapping[str, str] = {
    "raw_response_event": "data",
    "run_item_stream_event": "item",
    "agent_updated_stream_event": "new_agent",
}


class OpenAIResponses(Dialect):
    """Items of the type `function_call`, answered by one `function_call_output` each."""

    name = "openai_responses"
    keys = frozenset({"type", "output", "input"})
    limits = Limits(name=NAME, root=REFUSED, needs_items=True)
    talk = _TALK

    def recognises(self, item: Any) -> bool:
        """A response, an item of one, or an event of its stream."""
        if not isinstance(item, dict):
            return False
        kind = item.get("type")
        if isinstance(kind, str):
            return kind.startswith("response.") or is_item(item)
        if item.get("object") == "response":
            return isinstance(item.get("output"), list)
        return "model" in item and any(map(is_item, dicts_of(item.get("input"))))

    def read(self, item: Any, into: Assembly) -> None:
        """One response, item or event."""
        _read(self, item, into)

    def restore(self, arguments: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments without the nulls that stand for nothing."""
        return without_nulls(arguments, schema)

    def compose(self, calls: Sequence[AskedCall]) -> list[dict[str, Any]]:
        """An item for each call, as they stand in a response's output and in the next request's input."""
        return [item for call in calls if (item := composed_item(call)) is not None]

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """An item for each answer."""
        rendered = [rendered_item(answer) for answer in answers]
        return rendered if many else rendered[0]

    def say(self, role: str, text: str, id: str) -> list[Any]:
        """A message among the items."""
        return [said_item(role, text)]

    def own(self, raw: Any) -> list[Any]:
        """The items of a response."""
        return own_items(raw)

    def define(self, tool: Tool) -> dict[str, Any]:
        """`{type: function, name, …}`, not strict, with the schema as it is."""
        return {"type": "function", **function_for(tool), "strict": False}

    def define_strictly(self, tool: Tool) -> dict[str, Any]:
        """The same, strict where the schema can be said that way."""
        return {"type": "function", **strict_function_for(tool)}


class OpenAIAgents(Dialect):
    """Run items and stream events of the Agents SDK around items and events of Responses."""

    name = "openai_agents"
    keys = frozenset({"raw_item", "data", "item", "new_agent", "new_items"})
    limits = Limits(name=NAME, root=REFUSED, needs_items=True, strict=True)
    talk = _TALK

    def recognises(self, item: Any) -> bool:
        """A run item, an event of a run, or a whole run."""
        if not isinstance(item, dict):
            return False
        kind = item.get("type")
        if not isinstance(kind, str):
            return isinstance(item.get("new_items"), list)
        if kind in _EVENTS:
            return isinstance(item.get(_EVENTS[kind]), dict)
        return kind.endswith("_item") and isinstance(item.get("raw_item"), dict)

    def read(self, item: Any, into: Assembly) -> None:
        """One run item, event or run; items and events of Responses also as they are."""
        if not isinstance(item, dict):
            raise unreadable(item, self.name, _EXPECTED)
        kind = item.get("type")
        if kind == "raw_response_event":
            if isinstance(data := item.get("data"), dict):
                read_event(data, into)
        elif kind == "run_item_stream_event":
            _read_run_item(item.get("item"), into)
        elif isinstance(item.get("raw_item"), dict):
            into.bare = item["raw_item"].get("type") in ("function_call", "custom_tool_call")
            _read_run_item(item, into)
        elif isinstance(items := item.get("new_items"), list):
            for inner in items:
                _read_run_item(inner, into)
        else:
            _read(self, item, into)

    def restore(self, arguments: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments without the nulls that stand for nothing."""
        return without_nulls(arguments, schema)

    def compose(self, calls: Sequence[AskedCall]) -> list[dict[str, Any]]:
        """A run item for each call."""
        items = [item for call in calls if (item := composed_item(call)) is not None]
        return [{"type": "tool_call_item", "raw_item": item} for item in items]

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """An item of Responses for each answer, as the input of the next run takes them."""
        rendered = [rendered_item(answer) for answer in answers]
        return rendered if many else rendered[0]

    def say(self, role: str, text: str, id: str) -> list[Any]:
        """A message among the items, as the input of the next run takes them."""
        return [said_item(role, text)]

    def speak(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """The items of Responses that run items are made from."""
        items = [item for call in calls if (item := composed_item(call)) is not None]
        return [*(self.say("assistant", text, id) if text else ()), *items]

    def own(self, raw: Any) -> list[Any]:
        """The items of Responses in a run, or in one of its items."""
        items = raw.get("new_items", [raw]) if isinstance(raw, dict) else raw
        return own_items([item.get("raw_item", item) for item in dicts_of(items)])

    def define(self, tool: Tool) -> dict[str, Any]:
        """The fields of a FunctionTool: strict where the schema can be said that way."""
        function = strict_function_for(tool)
        return {
            "name": function["name"],
            "description": function["description"],
            "params_json_schema": function["parameters"],
            "strict_json_schema": function["strict"],
        }

    def define_strictly(self, tool: Tool) -> dict[str, Any]:
        """It is strict anyway."""
        return self.define(tool)


def _read(dialect: Dialect, item: Any, into: Assembly) -> None:
    if not isinstance(item, dict):
        raise unreadable(item, dialect.name, _EXPECTED)
    kind = item.get("type")
    if isinstance(kind, str):
        if kind.startswith("response."):
            read_event(item, into)
        else:
            into.bare = kind in CALLS
            read_item(item, into)
    elif isinstance(output := item.get("output"), list):
        read_items(output, into, cut=item.get("status") in ("incomplete", "in_progress"))
    elif isinstance(given := item.get("input"), list):
        read_items(given, into)
    elif "role" not in item and "error" not in item:
        raise unreadable(item, dialect.name, _EXPECTED)


def _read_run_item(item: Any, into: Assembly) -> None:
    """What a run says of a call that came as an event before is passed over."""
    raw = item.get("raw_item") if isinstance(item, dict) else None
    if not isinstance(raw, dict):
        return
    if item.get("type") in _HANDOFFS:
        into.has_dropped = True
        return
    kind = raw.get("type")
    is_answer = isinstance(kind, str) and kind.endswith("_output")
    if is_answer or id_of_item(raw) not in running_of(into).raw:
        read_item(raw, into)
