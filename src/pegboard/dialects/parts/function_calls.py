"""Calls as `{id, type: function, function: {name, arguments}}`, which many providers took over from one another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.core.call import Malformed
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.store.types import json_text


def is_function_call(item: Any) -> bool:
    """Whether this is one such call."""
    return isinstance(item, dict) and isinstance(item.get("function"), dict)


def is_mistrals(item: Mapping[str, Any]) -> bool:
    """Whether a whole call is numbered and has an id of nine letters and digits, as only Mistral writes them."""
    identity = item.get("id")
    return "index" in item and isinstance(identity, str) and len(identity) == 9 and identity.isalnum()


def read_function_calls(items: Any, into: Assembly) -> None:
    """Take in a list of whole calls; what in it is none is passed over."""
    for item in items if isinstance(items, list) else ():
        if is_function_call(item):
            function = item["function"]
            into.call(function.get("name"), function.get("arguments"), item.get("id"))


def read_function_deltas(items: Any, into: Assembly, among: Any = None) -> None:
    """Take in pieces of calls by index, or by place where a server leaves that out; `among` tells messages apart."""
    for place, item in enumerate(items if isinstance(items, list) else ()):
        if not isinstance(item, dict):
            continue
        function = item.get("function")
        function = function if isinstance(function, dict) else {}
        index = item.get("index")
        key = (among, index if isinstance(index, int) else place)
        arguments = function.get("arguments")
        if isinstance(arguments, Mapping):
            into.snapshot(key, arguments, name=function.get("name"), id=item.get("id"))
        else:
            into.piece(key, arguments, name=function.get("name"), id=item.get("id"))


def text_of_arguments(call: AskedCall) -> str:
    """The arguments as JSON text; those that could not be read as the text they came as."""
    if isinstance(call.arguments, Malformed):
        return call.arguments.text
    return json_text(call.arguments or {})
