"""The arguments of a call, however a dialect writes them."""

from __future__ import annotations

import json
from typing import Any

import orjson

from pegboard.core.call import Malformed
from pegboard.core.errors import MalformedArguments
from pegboard.registry.arguments import parse_json


def arguments_of(given: Any) -> Any:
    """The arguments as an object, from an object or its JSON text; Malformed where they are neither.

    Nothing at all means no arguments. A text within a text is read too: some servers encode twice.
    """
    if type(given) is dict:
        return given
    if given is None:
        return {}
    if isinstance(given, str):
        return _from_text(given)
    if type(given) is Malformed:
        return given
    return Malformed(_shown(given), f"they must be a JSON object, and are {_kind(given)}")


def json_of(text: str) -> Any:
    """The value of a JSON text; raises MalformedArguments, also where a key is there twice."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise MalformedArguments("there is half of a surrogate pair in it") from None
    value = parse_json(data)
    check_keys(data, value)
    return value


def check_keys(data: bytes, value: Any) -> None:
    """Raise MalformedArguments if a key stands twice in one object: nobody can know which one was meant.

    Every key has a colon, so a text with no more colons than there are keys and colons in its value repeats none.
    """
    colons = data.count(b":")
    if colons > len(value if type(value) is dict else ()) and colons > _colons_of(value, in_texts=b"\\u" not in data):
        try:
            json.loads(data, object_pairs_hook=_no_pair_twice, parse_int=len, parse_float=len)
        except RecursionError:
            raise MalformedArguments("it is nested too deeply") from None


def _from_text(text: str) -> Any:
    if not text or text.isspace():
        return {}
    try:
        value = json_of(text)
        if isinstance(value, str):
            value = json_of(value) if value.strip() else {}
    except MalformedArguments as error:
        return Malformed(text, error.message)
    if value is None:
        return {}
    return value if type(value) is dict else Malformed(text, f"they must be a JSON object, and are {_kind(value)}")


def _colons_of(value: Any, *, in_texts: bool) -> int:
    """How many colons the value needs as JSON: one a key, and those in texts unless they might be escaped."""
    count = 0
    todo = [value]
    while todo:
        item = todo.pop()
        if type(item) is dict:
            count += len(item)
            todo += item.values()
            if in_texts:
                count += sum(key.count(":") for key in item)
        elif type(item) is list:
            todo += item
        elif in_texts and type(item) is str:
            count += item.count(":")
    return count


def _no_pair_twice(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise MalformedArguments(f"the key '{key[:100]}' is there twice; send it once")
        seen.add(key)


def _kind(value: Any) -> str:
    names = {list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null" if value is None else "something else")


def _shown(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError, RecursionError):
        return str(type(value).__name__)
