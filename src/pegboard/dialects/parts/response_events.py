"""The events of OpenAI's Responses, item by item and piece by piece."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from pegboard.dialects.assembly import Assembly, name_of
from pegboard.dialects.parts.openai_calls import INPUT_END, input_piece
from pegboard.dialects.parts.response_items import (
    CALLS,
    Running,
    arguments_of_item,
    extra_of,
    extra_of_mcp,
    id_of_item,
    read_item,
    running_of,
)

_TEXT_DELTA = "response.custom_tool_call_input.delta"
_DELTAS = frozenset({"response.function_call_arguments.delta", "response.mcp_call_arguments.delta", _TEXT_DELTA})
_ARGUMENTS = frozenset({"response.function_call_arguments.done", "response.mcp_call_arguments.done"})
# Events that end a response; the last one is what the Realtime API says.
_ENDS = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done"}
)


def read_event(event: Mapping[str, Any], into: Assembly) -> None:
    """Take in one event; most carry nothing of a call."""
    kind = event.get("type")
    if not isinstance(kind, str):
        return
    running = running_of(into)
    if kind in _DELTAS:
        _read_delta(event, into, running)
    elif kind in _ARGUMENTS:
        key = _key(event, running)
        if key not in running.done:
            into.snapshot(key, event.get("arguments"), name=event.get("name"), id=event.get("call_id"))
    elif kind == "response.output_item.added":
        _begin(event, into, running)
    elif kind == "response.output_item.done":
        if isinstance(item := event.get("item"), dict):
            key = _key(event, running)
            if isinstance(item.get("id"), str):
                running.keys[item["id"]] = key
            _finish(key, item, into, running)
    elif kind == "response.created":
        _drop(into, running)
        running.keys.clear()
        running.done.clear()
    elif kind in _ENDS:
        _end(event.get("response"), into, running, completed=kind == "response.completed")


def _read_delta(event: Mapping[str, Any], into: Assembly, running: Running) -> None:
    key, text = _key(event, running), event.get("delta")
    if key in running.done:
        return
    if event["type"] == _TEXT_DELTA:
        text = input_piece(text, begins=key not in running.customs)
        running.customs.add(key)
    into.piece(key, text, id=event.get("call_id"))


def _begin(event: Mapping[str, Any], into: Assembly, running: Running) -> None:
    item = event.get("item")
    if not isinstance(item, dict) or not isinstance(item.get("type"), str):
        return
    key = _key(event, running)
    running.done.pop(key, None)
    if isinstance(item.get("id"), str):
        running.keys[item["id"]] = key
    if item["type"] in CALLS:
        into.piece(key, name=item.get("name"), id=item.get("call_id"), extra=extra_of(item))
    elif item["type"] == "mcp_call":
        name, extra = item.get("name"), extra_of_mcp(item)
        into.piece(key, name=name, id=item.get("id"), provider_executed=True, extra=extra)


def _finish(key: Hashable, item: dict[str, Any], into: Assembly, running: Running, *, cut: bool = False) -> None:
    """The whole item: it takes the place of its pieces, and is passed over where it came before."""
    identity = id_of_item(item)
    if running.done.get(key) == identity:
        return
    running.done[key] = identity
    running.raw.add(identity)
    running.customs.discard(key)
    if isinstance(kind := item.get("type"), str) and kind in CALLS:
        arguments = arguments_of_item(item, cut=cut)
        into.snapshot(key, arguments, name=name_of(item.get("name")), id=identity, extra=extra_of(item))
        into.over(key)
    else:
        read_item(item, into)


def _end(response: Any, into: Assembly, running: Running, *, completed: bool) -> None:
    """The whole response: what is new in it, and what is left of its pieces."""
    if not isinstance(response, dict):
        response = {}
    completed = completed or response.get("status") == "completed"
    output = response.get("output")
    items = output if isinstance(output, list) else []
    for place, item in enumerate(items):
        if isinstance(item, dict):
            identity = item.get("id")
            # Where events did not say the place of an item, it went by its id.
            key = running.keys.get(identity, place) if isinstance(identity, str) else place
            _finish(key, item, into, running, cut=not completed and place == len(items) - 1)
    if completed:
        for key in running.customs:
            into.piece(key, INPUT_END)
        running.customs.clear()
        into.all_over()
    else:
        _drop(into, running)


def _drop(into: Assembly, running: Running) -> None:
    """Nothing more comes for what was begun, and it is not complete."""
    running.customs.clear()
    into.all_ended()


def _key(event: Mapping[str, Any], running: Running) -> Hashable:
    """What the item of an event goes by: its place, which stays where gateways rewrite ids, or else its id."""
    index, identity = event.get("output_index"), event.get("item_id")
    if isinstance(index, int):
        return index
    if not isinstance(identity, str):
        item = event.get("item")
        identity = item.get("id") if isinstance(item, dict) else None
    return running.keys.get(identity, identity) if isinstance(identity, str) else None
