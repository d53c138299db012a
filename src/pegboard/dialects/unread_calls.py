"""Find calls that are visible in a payload but were not read by its dialect.

Visible calls are compared with those that were read: by id if there is one, otherwise by how often a tool's name
occurs. Arguments and results of calls are not searched, since they may contain anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence, Set
from itertools import islice
from typing import Any, NamedTuple

from pegboard.dialects.call_assembler import read_id
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.shared.function_calls import is_model_role

# The keys for name and arguments of a call in any format.
_NAME_KEYS = ("name", "tool_name", "toolName", "function_name", "functionName")
NAME_KEYS = frozenset(_NAME_KEYS)
ARGUMENT_KEYS = frozenset(
    {"arguments", "args", "input", "tool_kwargs", "toolKwargs", "tool_args", "tool_input", "toolInput", "rawInput"}
)
# Several values are alternatives: only the first is read.
ALTERNATIVE_KEYS = frozenset({"choices", "candidates"})
# The maximum number of objects and lists that are visited.
MAX_NODES = 100_000
_MAX_PATH_CHARS = 200
_ID_KEYS = (
    "id", "call_id", "callId", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "tool_id", "toolId",
)  # fmt: skip
# Keys whose values are always calls.
_CALL_HOLDER_KEYS = frozenset(
    {"tool_calls", "toolCalls", "tool_call", "toolCall", "function_calls", "functionCalls", "function_call"}
    | {"functionCall", "tool_use", "toolUse"}
)
# Tool definitions, results, response metadata, and calls that the provider or its library has already run.
_KEYS_WITHOUT_NEW_CALLS = frozenset(
    {"tools", "functions", "tool_choice", "toolChoice", "toolConfig", "tool_config", "usage", "usageMetadata"}
    | {"usage_metadata", "automaticFunctionCallingHistory", "automatic_function_calling_history", "executed_tools"}
    | {"tool_results", "toolResults", "tool_result", "toolResult", "functionResponse", "function_response"}
    | {"toolResponse", "tool_response", "metadata", "results"}
)
_CALL_TYPE_KEYS = ("type", "kind", "content_type", "contentType")
_CALL_TYPES = frozenset({"tool_use", "toolUse", "tool_call", "tool-call", "toolCall", "function_call", "functionCall"})
_RESULT_TYPE_SUFFIXES = ("_result", "-result", "_output", "-output")
# Keys of arguments, and the texts that represent empty arguments.
_ALL_ARGUMENT_KEYS = (*ARGUMENT_KEYS, "parameters")
_EMPTY_ARGUMENT_TEXTS = ("", "{}", "null")
# Keys that only a piece of a streamed call has, whose call started earlier.
_PIECE_KEYS = frozenset({"index", "partialArgs", "partial_args", "willContinue", "will_continue"})


class _VisibleCall(NamedTuple):
    """A call that is visible in a payload; its name is "" if only its position indicates a call."""

    node: Any
    name: str
    ids: tuple[str, ...]
    place: int | None


def is_named_call(node: dict[str, Any]) -> bool:
    """Return True if an object has a name and arguments, and is not a tool definition."""
    if not any(isinstance(node.get(key), str) for key in NAME_KEYS & node.keys()):
        return False
    parameters = node.get("parameters")
    has_parameters = isinstance(parameters, dict) and parameters.keys().isdisjoint({"type", "properties"})
    return has_parameters or not ARGUMENT_KEYS.isdisjoint(node)


def drop_later_alternatives(items: list[Any]) -> list[Any]:
    """Return the items without later alternatives: only the first object, which is the one that is read, is kept."""
    first = next((item for item in items if isinstance(item, dict) and item.get("index") in (0, None)), None)
    return [item for item in items if item is first or not _is_alternative(item)]


def _is_alternative(item: Any) -> bool:
    """Return True for an alternative, and not for an event or a chunk of a stream at its place."""
    return isinstance(item, dict) and "type" not in item and ALTERNATIVE_KEYS.isdisjoint(item)


def find_unread_call(payload: Any, calls: Sequence[AskedCall]) -> str | None:
    """Return the path of a visible call that is not among these calls, or None."""
    if not isinstance(payload, dict | list):
        return None
    made = [call for call in calls if call.arguments is not None and not call.provider_executed]
    if {} not in [call.arguments for call in made] and _has_at_most_calls(len(made), payload):
        return None
    names_by_id: dict[str, set[str]] = {}
    for call in calls:
        names_by_id.setdefault(call.id, set()).add(call.name)
    names = Counter([call.name for call in calls])
    every = _find_visible_calls(payload, names)
    lost = _find_lost_arguments(every, made)
    if lost is not None:
        return _find_path(lost.node, payload)
    unread = _find_uncounted(every, names_by_id, names)
    return None if unread is None else _find_path(unread.node, payload)


def _find_uncounted(
    every: Sequence[_VisibleCall], names_by_id: Mapping[str, Set[str]], names: Counter[str]
) -> _VisibleCall | None:
    """Return a visible call that is neither read by its id nor among the others that were read, counted by name."""
    # Calls that were read by id: a repetition of one is not another call.
    read: set[tuple[str, str]] = set()
    pieces: set[tuple[str, int | None]] = set()
    others: dict[Any, _VisibleCall] = {}
    for shown in every:
        identity = next((one for one in shown.ids if one in names_by_id), None)
        if identity is not None and (not shown.name or not names_by_id[identity].isdisjoint((shown.name, ""))):
            read.add((shown.name, identity))
            pieces.add((shown.name, shown.place))
        else:
            mark = shown.ids or (id(shown.node) if shown.place is None else shown.place)
            others.setdefault((shown.name, mark), shown)
    unclaimed = names - Counter(name for name, _ in read)
    for shown in others.values():
        if not shown.ids and shown.place is not None and (shown.name, shown.place) in pieces:
            continue
        if unclaimed[shown.name] <= 0:
            return shown
        unclaimed[shown.name] -= 1
    return None


def _find_lost_arguments(every: Sequence[_VisibleCall], made: Sequence[AskedCall]) -> _VisibleCall | None:
    """Return a visible call with arguments that was read without any, or None."""
    full = {mark for call in made if call.arguments for mark in (call.id or call.name, call.name)}
    empty = {call.id or call.name for call in made if not call.arguments} - full
    for shown in every if empty else ():
        is_empty = shown.name in empty or not empty.isdisjoint(shown.ids)
        if is_empty and shown.name and any(_has_arguments(shown.node.get(key)) for key in _ALL_ARGUMENT_KEYS):
            return shown
    return None


def _has_arguments(arguments: Any) -> bool:
    if isinstance(arguments, str):
        return "".join(arguments.split()).strip('"') not in _EMPTY_ARGUMENT_TEXTS
    return bool(arguments)


def _has_at_most_calls(count: int, payload: Any) -> bool:
    """Return True if a quick scan shows that there are at most this many calls; this suffices for most payloads."""
    node = payload
    while True:
        if type(node) is list:
            if len(node) != 1:
                return _has_at_most_listed_calls(count, node)
            node = node[0]
        if type(node) is not dict:
            return False
        if not NAME_KEYS.isdisjoint(node) and not ARGUMENT_KEYS.isdisjoint(node):
            return count > 0
        held = None
        for key, value in node.items():
            if (type(value) is dict or type(value) is list) and value and key not in _KEYS_WITHOUT_NEW_CALLS:
                if held is not None:
                    return False
                held = key
        if held is None:
            return True
        node = node[held]
        if held in _CALL_HOLDER_KEYS and type(node) is list:
            return len(node) <= count


def _has_at_most_listed_calls(count: int, items: list[Any]) -> bool:
    """Scan a list of call blocks, or of messages with lists of calls, in the same way."""
    for item in items:
        if type(item) is not dict:
            return False
        if "role" in item and not is_model_role(item["role"]):
            continue
        has_arguments = not ARGUMENT_KEYS.isdisjoint(item)
        is_named = has_arguments or not NAME_KEYS.isdisjoint(item)
        inner = 0
        for key, value in () if has_arguments else item.items():
            if type(value) is list and key in _CALL_HOLDER_KEYS:
                inner += len(value)
            elif (type(value) is dict or type(value) is list) and value and key not in _KEYS_WITHOUT_NEW_CALLS:
                if not isinstance(value, dict) or not is_named_call(value):
                    return False
                inner += 1
        # A typed block around a call is that call.
        count -= inner + 1 if is_named else inner or _is_typed_call(item)
    return count >= 0


def _find_visible_calls(payload: Any, read: Container[str]) -> list[_VisibleCall]:
    """Return all visible calls; of several names of a call, the one that was read."""
    found: list[_VisibleCall] = []
    # Each node with the object that directly contains it.
    todo: list[tuple[Any, Any]] = [(payload, None)]
    for node, holder in islice(todo, MAX_NODES):
        if type(node) is list:
            bare = _list_bare_names(node)
            for item in bare:
                _collect_call(item, None, read, found)
            todo += [(item, None) for item in node if type(item) is dict or type(item) is list]
        elif _is_result_or_foreign_message(node):
            continue
        elif not NAME_KEYS.isdisjoint(node) and is_named_call(node):
            _collect_named_call(node, holder, read, found)
        elif _is_typed_call(node):
            _collect_call(node, holder, read, found)
        else:
            for key, value in node.items():
                if key in _CALL_HOLDER_KEYS:
                    for item, around in [(value, node)] if type(value) is dict else _list_call_candidates(value):
                        _collect_call(item, around, read, found)
                elif type(value) is list and key in ALTERNATIVE_KEYS:
                    todo.append((drop_later_alternatives(value), node))
                elif (type(value) is dict or type(value) is list) and key not in _KEYS_WITHOUT_NEW_CALLS:
                    todo.append((value, node))
    return found


def _list_call_candidates(calls: Any) -> list[tuple[Any, None]]:
    """Return the items of a list of calls that may be calls."""
    return [(item, None) for item in calls if isinstance(item, dict | list | str)] if type(calls) is list else []


def _is_result_or_foreign_message(node: dict[str, Any]) -> bool:
    """Return True for a result, or a message that is not the model's: nothing in it is a new call."""
    kind = node.get("type")
    return ("role" in node and not is_model_role(node["role"])) or (
        type(kind) is str and kind.endswith(_RESULT_TYPE_SUFFIXES)
    )


def _is_typed_call(node: dict[str, Any]) -> bool:
    for key in _CALL_TYPE_KEYS:
        if key in node:
            return type(node[key]) is str and node[key] in _CALL_TYPES
    return False


def _list_bare_names(items: list[Any]) -> list[dict[str, Any]]:
    """Return the items with only a name and an id, if another item of the list is a call."""
    if not any(type(item) is dict and (is_named_call(item) or _is_typed_call(item)) for item in items):
        return []
    return [item for item in items if type(item) is dict and _is_bare_name(item)]


def _is_bare_name(node: dict[str, Any]) -> bool:
    """Return True for an object with a name and an id, but without arguments or a type: among calls it is one too."""
    return (
        not NAME_KEYS.isdisjoint(node)
        and any(isinstance(node.get(key), str) for key in _ID_KEYS)
        and not any(isinstance(node.get(key), str) for key in _CALL_TYPE_KEYS)
        and "content" not in node
        and not is_named_call(node)
    )


def _collect_call(item: Any, holder: Any, read: Container[str], found: list[_VisibleCall]) -> None:
    """Collect an item at a position where only calls occur; it counts as a call even without a name."""
    if not item:
        return
    named: tuple[Any, Any] | None = None
    todo: list[tuple[Any, Any]] = [(item, holder)]
    is_named = False
    for node, around in islice(todo, MAX_NODES):
        if type(node) is list:
            todo += [(one, None) for one in node]
        elif type(node) is dict:
            if not NAME_KEYS.isdisjoint(node):
                if is_named_call(node):
                    _collect_named_call(node, around, read, found)
                    is_named = True
                    continue
                named = named or (node, around)
            todo += [(value, node) for value in node.values() if type(value) is dict or type(value) is list]
    if is_named or _is_piece(item):
        return
    node, around = named or (item, holder)
    found.append(_build_visible_call(node, around, read))


def _collect_named_call(node: dict[str, Any], holder: Any, read: Container[str], found: list[_VisibleCall]) -> None:
    """Collect an object with a name and arguments; with neither name nor id it is a piece of a stream."""
    shown = _build_visible_call(node, holder, read)
    if shown.name or shown.ids:
        found.append(shown)


def _build_visible_call(node: Any, holder: Any, read: Container[str]) -> _VisibleCall:
    if type(node) is not dict:
        return _VisibleCall(node, "", (node,) if isinstance(node, str) else (), None)
    names = [node[key] for key in _NAME_KEYS if isinstance(node.get(key), str) and node[key]]
    if isinstance(plugin := node.get("plugin_name"), str):
        names += [f"{plugin}-{one}" for one in names]
    name = next((one for one in names if one in read), names[0] if names else "")
    ids: list[str] = []
    place = None
    for one in (node, holder):
        if type(one) is dict:
            ids += [known for key in _ID_KEYS if key in one and (known := read_id(one[key]))]
            place = one["index"] if place is None and type(one.get("index")) is int else place
    return _VisibleCall(node, name, tuple(ids), place)


def _is_piece(item: Any) -> bool:
    """Return True for a piece of a streamed call."""
    while type(item) is dict and len(item) == 1:
        ((key, value),) = item.items()
        if key in ARGUMENT_KEYS:
            return isinstance(value, str)
        item = value
    return type(item) is dict and not _PIECE_KEYS.isdisjoint(item)


def _find_path(node: Any, payload: Any) -> str:
    """Return the path of this node in the payload, compared by identity."""
    todo: list[tuple[Any, tuple[Any, ...]]] = [(payload, ())]
    for one, path in todo:
        if one is node:
            return ".".join(map(str, path))[:_MAX_PATH_CHARS]
        for key, value in one.items() if type(one) is dict else enumerate(one) if type(one) is list else ():
            if value is node or type(value) is dict or type(value) is list:
                todo.append((value, (*path, key)))
    return ""
