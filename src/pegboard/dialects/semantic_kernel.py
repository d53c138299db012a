"""Semantic Kernel: messages of items, whole or in pieces; a function's name is its plugin's, a hyphen and its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.asked import AskedCall, Unreadable
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.parts.defining import PORTABLE, wrapped_function_for
from pegboard.dialects.parts.function_calls import text_of_arguments
from pegboard.dialects.parts.outputs import output_text
from pegboard.dialects.parts.picking import is_models
from pegboard.dialects.seen import seen
from pegboard.dialects.talk import Talk

_CALL, _RESULT, _MESSAGE = "function_call", "function_result", "message"
_BETWEEN = "-"


class SemanticKernel(Dialect):
    """Calls as items of the assistant's message; one message of the tool's for each answer."""

    name = "semantic_kernel"
    limits = PORTABLE
    keys = frozenset({"content_type", "messages"})

    talk = Talk(parts="items", part={"metadata": {}, "content_type": "text"})

    def recognises(self, item: Any) -> bool:
        """A message or item by its content type, or a history of such messages."""
        if not isinstance(item, dict):
            return False
        messages = item.get("messages")
        if isinstance(messages, list):
            return bool(messages) and _is_message(messages[0])
        return _is_message(item) or item.get("content_type") in (_CALL, _RESULT)

    def read(self, item: Any, into: Assembly) -> None:
        """A message, a chunk of one, a history, or one item."""
        if not isinstance(item, dict):
            raise _unreadable(item)
        if isinstance(item.get("messages"), list):
            for message in item["messages"]:
                if isinstance(message, dict):
                    _read_message(message, into)
        elif item.get("content_type") in (_CALL, _RESULT):
            into.bare = item["content_type"] == _CALL
            _read_item(item, into)
        elif isinstance(item.get("items"), list):
            _read_message(item, into)
        else:
            raise _unreadable(item)

    def finish(self, into: Assembly) -> None:
        """Those that were said to have no arguments have none."""
        for key in into.state or ():
            into.over(key)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """One message of the assistant."""
        return _message("assistant", [_composed(call) for call in calls])

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """A message for each answer: connectors send only the first result of one."""
        rendered = [_message("tool", [_rendered(answer)]) for answer in answers]
        return rendered if many else rendered[0]

    def say(self, role: str, text: str, id: str) -> list[Any]:
        """A message with one item."""
        return [_message(role, self.talk.content(text))]

    def define(self, tool: Tool) -> dict[str, Any]:
        """A function of a provider that takes functions."""
        return wrapped_function_for(tool)


def _is_message(item: Any) -> bool:
    return isinstance(item, dict) and item.get("content_type") == _MESSAGE and isinstance(item.get("items"), list)


def _read_message(message: dict[str, Any], into: Assembly) -> None:
    if message.get("choice_index", 0) not in (0, None):
        return  # an alternative to the first one, which is the one that counts
    items, may_call = message.get("items"), is_models(message.get("role"))
    for place, item in enumerate(items if isinstance(items, list) else ()):
        if not isinstance(item, dict) or (item.get("content_type") == _CALL and not may_call):
            continue
        if "choice_index" in message and item.get("content_type") == _CALL:
            _read_piece(item, place, into)
        else:
            _read_item(item, into)
    if message.get("finish_reason") and "choice_index" in message:
        into.all_over()


def _read_item(item: dict[str, Any], into: Assembly) -> None:
    if item.get("content_type") == _CALL:
        into.call(_name(item), item.get("arguments"), _id(item), extra=_extra(item))
    elif item.get("content_type") == _RESULT:
        into.answer(_id(item), item.get("result"), name=_name(item), extra=_extra(item))


def _read_piece(item: dict[str, Any], place: int, into: Assembly) -> None:
    arguments, index, name = item.get("arguments"), item.get("index"), _name(item)
    key = index if isinstance(index, int) else place
    if isinstance(arguments, Mapping):
        if isinstance(index, int):
            into.snapshot(key, arguments, name=name, id=_id(item), extra=_extra(item))
        else:
            # Some connectors number nothing: every chunk of theirs is a whole call.
            into.call(name, arguments, _id(item), extra=_extra(item))
        return
    if arguments == "{}":
        # The framework's own way to say that nothing has come; more may follow.
        into.state = into.state or {}
        into.state[key] = True
        arguments = ""
    into.piece(key, arguments, name=name, id=_id(item), extra=_extra(item))


def _name(item: Mapping[str, Any]) -> str:
    name, plugin, function = item.get("name"), item.get("plugin_name"), item.get("function_name")
    if isinstance(name, str) and name:
        return name
    if not isinstance(function, str) or not function:
        return ""
    return f"{plugin}{_BETWEEN}{function}" if isinstance(plugin, str) and plugin else function


def _id(item: Mapping[str, Any]) -> Any:
    """The id that the provider's answer goes by; the item's own may be another."""
    return item.get("call_id") or item.get("id")


def _extra(item: Mapping[str, Any]) -> dict[str, Any]:
    plugin, function = item.get("plugin_name"), item.get("function_name")
    extra: dict[str, Any] = {}
    if isinstance(plugin, str) and plugin and isinstance(function, str):
        extra = {"plugin_name": plugin, "function_name": function}
    if item.get("call_id") and isinstance(item.get("id"), str):
        extra["item_id"] = item["id"]
    return extra


def _named(name: str, extra: Mapping[str, Any]) -> dict[str, Any]:
    """The name, whole and in its parts."""
    plugin, function = extra.get("plugin_name"), extra.get("function_name")
    if not plugin:
        plugin, is_split, function = name.partition(_BETWEEN)
        if not is_split or not plugin or not function:
            return {"name": name, "function_name": name}
    return {"name": name, "function_name": function, "plugin_name": plugin}


def _ids(identity: str, extra: Mapping[str, Any]) -> dict[str, Any]:
    own = extra.get("item_id")
    return {"id": identity} if own is None else {"id": own, "call_id": identity}


def _composed(call: AskedCall) -> dict[str, Any]:
    item = {"metadata": {}, "content_type": _CALL} | _ids(call.id, call.extra) | _named(call.name, call.extra)
    return item | {"arguments": text_of_arguments(call)}


def _rendered(answer: Answer) -> dict[str, Any]:
    extra = answer.call.extra
    item = {"metadata": {}, "content_type": _RESULT} | _ids(answer.id, extra)
    return item | {"result": output_text(answer.result)} | _named(answer.name, extra)


def _message(role: str, items: list[dict[str, Any]]) -> dict[str, Any]:
    return {"metadata": {}, "content_type": _MESSAGE, "role": role, "items": items}


def _unreadable(item: Any) -> Unreadable:
    return Unreadable(
        f"unrecognised_format: this is {seen(item)}; semantic_kernel is a message with 'items', of which the calls "
        "have the content_type 'function_call'"
    )
