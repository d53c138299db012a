"""Shared helpers of dialects: function definitions and calls, calls without ids, and results as text.

Many providers use the format `{id, type: function, function: {name, arguments}}`. Calls without ids are held back
until it is known whether the next message answers them by name.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson

from pegboard.dialects.call_assembler import Assembly, read_id, read_name
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.dialects.schema_adapters import add_missing_items, flatten_root
from pegboard.dialects.shared.content_blocks import describe_result
from pegboard.json_schema.arguments_text import parse_json_text
from pegboard.model.call import Malformed, ToolResult
from pegboard.model.call_errors import MalformedArguments
from pegboard.model.json_text import json_text
from pegboard.model.tool import Tool


def get_provider_name(tool: Tool) -> str:
    """Return the name for a provider: the tool's own, or its alias if it has one."""
    return tool.alias or tool.name


def build_portable_schema(tool: Tool) -> dict[str, Any]:
    """Return the input schema in a form that every provider accepts: an object at the root, `items`, no `$schema`."""
    return remove_draft_keyword(add_missing_items(flatten_root(tool.input_schema)))


def remove_draft_keyword(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object schema without `$schema`; call it after the adapters, which need the draft."""
    bare = {key: value for key, value in schema.items() if key != "$schema"}
    return bare if bare.get("type") == "object" else {"type": "object", "properties": {}, **bare}


def define_function(tool: Tool) -> dict[str, Any]:
    """Return `{name, description, parameters}`, which most providers wrap."""
    return {
        "name": get_provider_name(tool),
        "description": tool.description or "",
        "parameters": build_portable_schema(tool),
    }


def define_wrapped_function(tool: Tool) -> dict[str, Any]:
    """Return `{type: function, function: {name, description, parameters}}`."""
    return {"type": "function", "function": define_function(tool)}


def is_function_call(item: Any) -> bool:
    """Return True for an object with a `function` object."""
    return isinstance(item, dict) and isinstance(item.get("function"), dict)


def has_mistral_id(item: Mapping[str, Any]) -> bool:
    """Return True if a call has an index and an id of nine letters and digits, as only Mistral writes them."""
    identity = item.get("id")
    return "index" in item and isinstance(identity, str) and len(identity) == 9 and identity.isalnum()


def read_function_calls(items: Any, into: Assembly) -> None:
    """Read a list of complete calls; other items are skipped."""
    for item in items if isinstance(items, list) else ():
        if is_function_call(item):
            function = item["function"]
            into.call(function.get("name"), function.get("arguments"), item.get("id"))


def read_function_deltas(items: Any, into: Assembly) -> None:
    """Read pieces of calls by index, or by position if a server omits it."""
    for place, item in enumerate(items if isinstance(items, list) else ()):
        if not isinstance(item, dict):
            continue
        function = item.get("function")
        function = function if isinstance(function, dict) else {}
        index = item.get("index")
        key = index if isinstance(index, int) else place
        arguments = function.get("arguments")
        if isinstance(arguments, Mapping):
            into.snapshot(key, arguments, name=function.get("name"), id=item.get("id"))
        else:
            into.piece(key, arguments, name=function.get("name"), id=item.get("id"))


def arguments_to_json(call: AskedCall) -> str:
    """Return the arguments as JSON text; malformed ones as their original text."""
    if isinstance(call.arguments, Malformed):
        return call.arguments.text
    return json_text(call.arguments or {})


def compose_function_call(call: AskedCall) -> dict[str, Any]:
    """Return a call as `{id, type: function, function: {name, arguments}}`."""
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments_to_json(call)}}


class _HeldCall(NamedTuple):
    name: str
    arguments: Any
    id: str
    result: Any = ABSENT
    error: str | None = None
    # False if only the answer is in the payload, and not the call.
    is_asked: bool = True


class HeldCalls:
    """The latest calls, which are held back because their answers follow directly."""

    def __init__(self) -> None:
        self._calls: list[_HeldCall] = []
        self._open: dict[tuple[str, str], deque[int]] = {}

    def hold(self, name: Any, arguments: Any, id: Any = None) -> None:
        """Hold back one call."""
        call = _HeldCall(read_name(name), arguments, read_id(id))
        self._open.setdefault(_get_answer_key(call.id, call.name), deque()).append(len(self._calls))
        self._calls.append(call)

    def answer(
        self, into: Assembly, name: Any, result: Any, error: str | None, *, id: Any = None, arguments: Any = None
    ) -> None:
        """Answer the first open call with this id, or this name if there is no id; else add a separate answer."""
        places = self._open.get(_get_answer_key(read_id(id), read_name(name)))
        if places:
            place = places.popleft()
            self._calls[place] = self._calls[place]._replace(result=result, error=error)
        elif self._calls:
            # Keep its position among the calls that are held back.
            self._calls.append(_HeldCall(read_name(name), arguments, read_id(id), result, error, is_asked=False))
        else:
            into.answer(id, result, error=error, name=read_name(name), arguments=arguments)

    def release(self, into: Assembly) -> None:
        """Add all calls that are held back to the assembly."""
        for name, arguments, identity, result, error, is_asked in self._calls:
            if is_asked:
                into.call(name, arguments, identity, result=result, error=error)
            else:
                into.answer(identity, result, error=error, name=name, arguments=arguments)
        self._calls.clear()
        self._open.clear()


def _get_answer_key(identity: str, name: str) -> tuple[str, str]:
    return ("id", identity) if identity else ("name", name)


# The maximum number of characters that are copied if a result answers several calls together.
_MAX_COPIED_CHARS = 64 * 1024
SHARED_RESULT_TEXT = "(answered together with the calls after it: see the last one)"


def result_to_output_text(result: ToolResult) -> str:
    """Return the output as text, with content blocks described; for a failure, `{"error": message}`."""
    text = describe_result(result)
    return text if result.problem is None else orjson.dumps({"error": text}).decode()


def parse_output(content: Any) -> tuple[Any, str | None]:
    """Return the result and the error in such a text, or in a list of text parts; one of the two is absent."""
    if isinstance(content, list) and content and all(map(_has_text, content)):
        content = "\n".join(part["text"] for part in content)
    if not isinstance(content, str) or content[:1] not in ("{", "["):
        return content, None
    try:
        value = parse_json_text(content)
    except MalformedArguments:
        return content, None
    if isinstance(value, dict) and value.keys() == {"error"} and isinstance(value["error"], str):
        return ABSENT, value["error"]
    return value, None


def split_shared_result(text: str, count: int) -> list[str]:
    """Return the result of each of `count` calls that this text answers together.

    A long text is not copied, since the size could grow quadratically: then only the last call gets it.
    """
    if len(text) * (count - 1) <= _MAX_COPIED_CHARS:
        return [text] * count
    return [*[SHARED_RESULT_TEXT] * (count - 1), text]


def _has_text(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("text"), str)


_MODEL_ROLES = frozenset({"assistant", "model", "ai", "agent", "role_agent", "chatbot"})


def is_model_role(role: Any) -> bool:
    """Return True for the role of a model, or for no role: in other messages nothing is a call."""
    return role == "assistant" or role is None or (isinstance(role, str) and role.lower() in _MODEL_ROLES)


def dict_or_empty(value: Any) -> dict[str, Any]:
    """Return the value if it is a dict, else an empty dict."""
    return value if isinstance(value, dict) else {}


def filter_dicts(value: Any) -> list[dict[str, Any]]:
    """Return the dicts of a list; an empty list for any other value."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def first_dict(value: Any) -> dict[str, Any]:
    """Return the first item of a list if it is a dict, else an empty dict."""
    return dict_or_empty(value[0]) if isinstance(value, list) and value else {}


def read_stream_key(value: Any) -> int | str | None:
    """Return a number or string that identifies chunks of a stream, or None."""
    return value if isinstance(value, int | str) else None


def replace_items(value: Any, replace: Callable[[Any], Any]) -> Any:
    """Return a copy of the value with each item, at any depth, replaced; what is inserted is not searched further."""
    root = [value]
    todo: list[Any] = [root]
    while todo:
        holder = todo.pop()
        for key, item in enumerate(holder) if isinstance(holder, list) else holder.items():
            holder[key] = replace(item)
            if holder[key] is item and isinstance(item, dict | list):
                # Copy: the caller's value is not modified.
                holder[key] = item.copy()
                todo.append(holder[key])
    return root[0]


def to_serializable(value: Any) -> Any:
    """Return the value, or its text if orjson cannot write it: integers beyond 64 bits, or nested too deeply."""
    try:
        orjson.dumps(value)
    except TypeError:
        try:
            return json.dumps(value)
        except RecursionError:
            return "[nested too deeply]"
    return value
