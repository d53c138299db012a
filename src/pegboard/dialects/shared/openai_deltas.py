"""Read deltas of streamed calls in OpenAI's Chat Completions, and Groq's `executed_tools`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import Any

from pegboard.dialects.call_assembler import Assembly, read_id
from pegboard.dialects.parsed_calls import ABSENT
from pegboard.dialects.shared.function_calls import dict_or_empty, filter_dicts
from pegboard.dialects.shared.openai_calls import CUSTOM_INPUT_END, encode_custom_input_piece

CUSTOM_CALL_EXTRA: Mapping[str, Any] = MappingProxyType({"custom": True})
# The keys of a delta without calls.
TEXT_DELTA_KEYS = frozenset({"content", "refusal", "reasoning", "reasoning_content"})


class OpenCalls:
    """The open calls of a stream: their keys, the last one, and which belong to custom tools.

    `is_message` is True if the calls came in a message with a role, which is complete unless deltas follow.
    """

    __slots__ = ("customs", "is_message", "keys", "last")

    def __init__(self) -> None:
        self.keys: set[Hashable] = set()
        self.last: Hashable = None
        self.customs: dict[Hashable, str] = {}
        self.is_message = False


def read_deltas(deltas: list[Any], into: Assembly) -> None:
    """Read the pieces of calls in one delta."""
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
        function = dict_or_empty(item.get("function"))
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            into.snapshot(key, arguments, name=function.get("name"), id=item.get("id"))
        else:
            into.piece(key, arguments, name=function.get("name"), id=item.get("id"))


def _read_custom_delta(key: Hashable, id: Any, custom: dict[str, Any], into: Assembly) -> None:
    customs = into.state.customs
    identity = read_id(id)
    if identity and customs.get(key, identity) != identity:
        _close_custom(key, into)
    text = encode_custom_input_piece(custom.get("input"), begins=key not in customs)
    customs[key] = customs.get(key) or identity
    into.piece(key, text, name=custom.get("name"), id=id, extra=CUSTOM_CALL_EXTRA)


def _close_custom(key: Hashable, into: Assembly) -> None:
    del into.state.customs[key]
    into.piece(key, CUSTOM_INPUT_END)
    into.over(key)


def end_calls(into: Assembly, *, cut: bool) -> None:
    """End the calls of a message; if it was cut off, the last call stays incomplete."""
    calls: OpenCalls = into.state
    unfinished = {calls.last} if cut else set()
    for key in calls.customs.keys() - unfinished:
        _close_custom(key, into)
    for key in calls.keys - unfinished:
        into.over(key)
    into.close_incomplete()
    into.state = None


def is_first_delta(call: dict[str, Any]) -> bool:
    """Return True for a first delta, whose arguments follow, or for a message's call without arguments."""
    arguments = dict_or_empty(call.get("function")).get("arguments")
    if not isinstance(call.get("index"), int) or not isinstance(arguments, str):
        return False
    return not arguments.rstrip().endswith("}")


def is_continued_delta(call: dict[str, Any]) -> bool:
    """Return True for a delta that continues the arguments of a call."""
    function = dict_or_empty(call.get("function"))
    if not isinstance(call.get("index"), int) or call.get("id") is not None or function.get("name") is not None:
        return False
    return isinstance(function.get("arguments"), str)


# The keys that may contain the result, in order of precedence.
_RESULT_KEYS = ("output", "search_results", "code_results", "browser_results")


def read_executed_tools(tools: Any, into: Assembly) -> None:
    """Read the tools of a complete message."""
    for tool in filter_dicts(tools):
        into.call(
            _get_executed_name(tool), tool.get("arguments"), result=_get_executed_result(tool), provider_executed=True
        )


def read_executed_deltas(tools: Any, into: Assembly) -> None:
    """Read the tools of one chunk: the first chunk of a tool has its arguments, a later one its result."""
    for place, tool in enumerate(filter_dicts(tools)):
        index = tool.get("index")
        identity = f"executed_{index if isinstance(index, int) else place}"
        if not into.holds(identity):
            arguments = tool.get("arguments")
            text = arguments if isinstance(arguments, str) else ""
            into.piece(identity, text, name=_get_executed_name(tool), id=identity, provider_executed=True)
        if (result := _get_executed_result(tool)) is not ABSENT:
            into.answer(identity, result)


def _get_executed_name(tool: dict[str, Any]) -> str:
    name = tool.get("name") or tool.get("type")
    return name if isinstance(name, str) else ""


def _get_executed_result(tool: dict[str, Any]) -> Any:
    return next((tool[key] for key in _RESULT_KEYS if tool.get(key) is not None), ABSENT)
