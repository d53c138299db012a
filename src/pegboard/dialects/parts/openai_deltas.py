"""Calls of OpenAI's Chat Completions that come in pieces: the deltas of a stream."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import Any

from pegboard.dialects.assembly import Assembly, id_of
from pegboard.dialects.parts.openai_calls import INPUT_END, input_piece
from pegboard.dialects.parts.picking import dict_of

CUSTOM: Mapping[str, Any] = MappingProxyType({"custom": True})
# What a delta without calls has.
TEXTS = frozenset({"content", "refusal", "reasoning", "reasoning_content"})


class OpenCalls:
    """The calls of a stream that are being written: their keys, the last one, and which are of custom tools.

    `is_message` until it is known whether what looks like a delta is a whole message with numbered calls.
    """

    __slots__ = ("customs", "is_message", "keys", "last")

    def __init__(self) -> None:
        self.keys: set[Hashable] = set()
        self.last: Hashable = None
        self.customs: dict[Hashable, str] = {}
        self.is_message = False


def read_deltas(deltas: list[Any], into: Assembly) -> None:
    """Take in the pieces of calls in one delta."""
    if into.state is None:
        into.state = OpenCalls()
    calls: OpenCalls = into.state
    for place, item in enumerate(deltas):
        if not isinstance(item, dict):
            continue
        index = item.get("index")
        key = calls.last = index if isinstance(index, int) else place
        calls.keys.add(key)
        if isinstance(custom := item.get("custom"), dict):
            _read_custom_delta(key, item.get("id"), custom, into)
            continue
        function = dict_of(item.get("function"))
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            into.snapshot(key, arguments, name=function.get("name"), id=item.get("id"))
        else:
            into.piece(key, arguments, name=function.get("name"), id=item.get("id"))


def _read_custom_delta(key: Hashable, id: Any, custom: dict[str, Any], into: Assembly) -> None:
    customs = into.state.customs
    identity = id_of(id)
    if identity and customs.get(key, identity) != identity:
        _close_custom(key, into)
    text = input_piece(custom.get("input"), begins=key not in customs)
    customs[key] = customs.get(key) or identity
    into.piece(key, text, name=custom.get("name"), id=id, extra=CUSTOM)


def _close_custom(key: Hashable, into: Assembly) -> None:
    del into.state.customs[key]
    into.piece(key, INPUT_END)
    into.over(key)


def end_calls(into: Assembly, *, cut: bool) -> None:
    """The message is complete; where it was cut off, all but the call that was being written."""
    calls: OpenCalls = into.state
    unfinished = {calls.last} if cut else set()
    for key in calls.customs.keys() - unfinished:
        _close_custom(key, into)
    for key in calls.keys - unfinished:
        into.over(key)
    into.all_ended()
    into.state = None


def is_begun(call: dict[str, Any]) -> bool:
    """Whether this is a call of a delta whose arguments have yet to come; or of a message, and it has none."""
    arguments = dict_of(call.get("function")).get("arguments")
    if not isinstance(call.get("index"), int) or not isinstance(arguments, str):
        return False
    return not arguments.rstrip().endswith("}")


def is_continued(call: dict[str, Any]) -> bool:
    """Whether this is more of the arguments of a call in an earlier delta."""
    function = dict_of(call.get("function"))
    if not isinstance(call.get("index"), int) or call.get("id") is not None or function.get("name") is not None:
        return False
    return isinstance(function.get("arguments"), str)
