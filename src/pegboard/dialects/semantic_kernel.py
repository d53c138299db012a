"""Semantic Kernel: messages with items, whole or streamed; a function's full name is `plugin-function`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.dialects.base import Answer, MessagePerAnswer
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.provider_rules import PORTABLE_LIMITS, Talk
from pegboard.dialects.shared.function_calls import (
    arguments_to_json,
    is_model_role,
    result_to_output_text,
)
from pegboard.dialects.shared.turns import Speaker, Turn, read_message_turn

_CALL_TYPE, _RESULT_TYPE, _MESSAGE_TYPE = "function_call", "function_result", "message"
_NAME_SEPARATOR = "-"


class SemanticKernel(MessagePerAnswer):
    """Calls as items of the assistant's message; one tool message per answer."""

    name = "semantic_kernel"
    expected = "a message with 'items', whose calls have the content_type 'function_call'"
    limits = PORTABLE_LIMITS
    keys = frozenset({"content_type", "messages"})

    talk = Talk(parts="items", part={"metadata": {}, "content_type": "text"})

    def recognises(self, item: Any) -> bool:
        """Recognise a message or item by its content type, or a history of such messages."""
        if not isinstance(item, dict):
            return False
        messages = item.get("messages")
        if isinstance(messages, list):
            return bool(messages) and _is_message(messages[0])
        return _is_message(item) or item.get("content_type") in (_CALL_TYPE, _RESULT_TYPE)

    def read(self, item: Any, into: Assembly) -> None:
        """Read a message, a chunk of one, a history, or one item."""
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
        if isinstance(item.get("messages"), list):
            for message in item["messages"]:
                if isinstance(message, dict):
                    _read_message(message, into)
        elif item.get("content_type") in (_CALL_TYPE, _RESULT_TYPE):
            into.bare = item["content_type"] == _CALL_TYPE
            _read_item(item, into)
        elif isinstance(item.get("items"), list):
            _read_message(item, into)
        else:
            raise self.make_unreadable_error(item)

    def finish(self, into: Assembly) -> None:
        """Mark the calls that were streamed with `{}` as complete, without arguments."""
        for key in into.state or ():
            into.over(key)

    def turns(self, item: Mapping[str, Any], speaker: Speaker | None) -> Sequence[Turn] | None:
        """Return a chunk of a message as a part of a turn."""
        if speaker is None or "choice_index" not in item:
            return None
        return [read_message_turn(item, speaker, is_part=True)]

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        return _build_message("assistant", [_compose_call(call) for call in calls])

    def render_one(self, answer: Answer) -> dict[str, Any]:
        """Return one message per answer: connectors send only the first result of a message."""
        return _build_message("tool", [_render_answer(answer)])

    def say(self, role: str, text: str, id: str) -> list[Any]:
        return [_build_message(role, self.talk.content(text))]


def _is_message(item: Any) -> bool:
    return isinstance(item, dict) and item.get("content_type") == _MESSAGE_TYPE and isinstance(item.get("items"), list)


def _read_message(message: dict[str, Any], into: Assembly) -> None:
    if message.get("choice_index", 0) not in (0, None):
        into.has_dropped = True  # an alternative: only the first one is read
        return
    items, may_call = message.get("items"), is_model_role(message.get("role"))
    for place, item in enumerate(items if isinstance(items, list) else ()):
        if not isinstance(item, dict) or (item.get("content_type") == _CALL_TYPE and not may_call):
            continue
        if "choice_index" in message and item.get("content_type") == _CALL_TYPE:
            _read_piece(item, place, into)
        else:
            _read_item(item, into)
    if message.get("finish_reason") and "choice_index" in message:
        into.complete_all()


def _read_item(item: dict[str, Any], into: Assembly) -> None:
    if item.get("content_type") == _CALL_TYPE:
        into.call(_get_name(item), item.get("arguments"), _get_id(item), extra=_get_extra(item))
    elif item.get("content_type") == _RESULT_TYPE:
        into.answer(_get_id(item), item.get("result"), name=_get_name(item), extra=_get_extra(item))


def _read_piece(item: dict[str, Any], place: int, into: Assembly) -> None:
    arguments, index, name = item.get("arguments"), item.get("index"), _get_name(item)
    key = index if isinstance(index, int) else place
    if isinstance(arguments, Mapping):
        if isinstance(index, int):
            into.snapshot(key, arguments, name=name, id=_get_id(item), extra=_get_extra(item))
        else:
            # Some connectors set no index: each of their chunks is a complete call.
            into.call(name, arguments, _get_id(item), extra=_get_extra(item))
        return
    if arguments == "{}":
        # The framework writes `{}` before any arguments have arrived; more may follow.
        into.get_state(dict[Any, bool])[key] = True
        arguments = ""
    into.piece(key, arguments, name=name, id=_get_id(item), extra=_get_extra(item))


def _get_name(item: Mapping[str, Any]) -> str:
    name, plugin, function = item.get("name"), item.get("plugin_name"), item.get("function_name")
    if isinstance(name, str) and name:
        return name
    if not isinstance(function, str) or not function:
        return ""
    return f"{plugin}{_NAME_SEPARATOR}{function}" if isinstance(plugin, str) and plugin else function


def _get_id(item: Mapping[str, Any]) -> Any:
    """Return the id that the provider uses for the call; the item's own id may differ."""
    return item.get("call_id") or item.get("id")


def _get_extra(item: Mapping[str, Any]) -> dict[str, Any]:
    plugin, function = item.get("plugin_name"), item.get("function_name")
    extra: dict[str, Any] = {}
    if isinstance(plugin, str) and plugin and isinstance(function, str):
        extra = {"plugin_name": plugin, "function_name": function}
    if item.get("call_id") and isinstance(item.get("id"), str):
        extra["item_id"] = item["id"]
    return extra


def _write_name(name: str, extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the full name and its parts."""
    plugin, function = extra.get("plugin_name"), extra.get("function_name")
    if not plugin:
        plugin, is_split, function = name.partition(_NAME_SEPARATOR)
        if not is_split or not plugin or not function:
            return {"name": name, "function_name": name}
    return {"name": name, "function_name": function, "plugin_name": plugin}


def _write_ids(identity: str, extra: Mapping[str, Any]) -> dict[str, Any]:
    own = extra.get("item_id")
    return {"id": identity} if own is None else {"id": own, "call_id": identity}


def _compose_call(call: AskedCall) -> dict[str, Any]:
    item = (
        {"metadata": {}, "content_type": _CALL_TYPE}
        | _write_ids(call.id, call.extra)
        | _write_name(call.name, call.extra)
    )
    return item | {"arguments": arguments_to_json(call)}


def _render_answer(answer: Answer) -> dict[str, Any]:
    extra = answer.call.extra
    item = {"metadata": {}, "content_type": _RESULT_TYPE} | _write_ids(answer.id, extra)
    return item | {"result": result_to_output_text(answer.result)} | _write_name(answer.name, extra)


def _build_message(role: str, items: list[dict[str, Any]]) -> dict[str, Any]:
    return {"metadata": {}, "content_type": _MESSAGE_TYPE, "role": role, "items": items}
