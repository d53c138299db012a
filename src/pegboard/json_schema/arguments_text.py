"""Parse the arguments of a call, in any of the forms that dialects use."""

from __future__ import annotations

import json
from typing import Any

import orjson

from pegboard.json_schema.read_arguments import parse_json
from pegboard.model.call import Malformed
from pegboard.model.call_errors import MalformedArguments


def parse_arguments(given: Any) -> Any:
    """Return the arguments as a dict, from a dict or its JSON text; return Malformed if they are neither.

    None and an empty text mean no arguments. JSON text within a JSON string is decoded too: some servers encode twice.
    """
    if type(given) is dict:
        return given
    if given is None:
        return {}
    if isinstance(given, str):
        return _parse_arguments_text(given)
    if type(given) is Malformed:
        return given
    return Malformed(_value_to_text(given), f"they must be a JSON object, and are {_name_json_type(given)}")


def parse_json_text(text: str) -> Any:
    """Return the value of a JSON text; raise MalformedArguments if it is not valid JSON or has a duplicate key."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise MalformedArguments("it contains half of a surrogate pair") from None
    value = parse_json(data)
    reject_duplicate_keys(data, value)
    return value


def reject_duplicate_keys(data: bytes, value: Any) -> None:
    """Raise MalformedArguments if an object has a duplicate key: it is ambiguous which value is meant.

    Every key has a colon, so a text with no more colons than there are keys and colons in its value has no duplicates;
    only other texts are parsed a second time.
    """
    colons = data.count(b":")
    if colons > len(value if type(value) is dict else ()) and colons > _count_colons(
        value, in_texts=b"\\u" not in data
    ):
        try:
            json.loads(data, object_pairs_hook=_check_pairs_unique, parse_int=len, parse_float=len)
        except RecursionError:
            raise MalformedArguments("it is nested too deeply") from None


def _parse_arguments_text(text: str) -> Any:
    if not text or text.isspace():
        return {}
    try:
        value = parse_json_text(text)
        if isinstance(value, str):
            value = parse_json_text(value) if value.strip() else {}
    except MalformedArguments as error:
        return Malformed(text, error.message)
    if value is None:
        return {}
    if type(value) is dict:
        return value
    return Malformed(text, f"they must be a JSON object, and are {_name_json_type(value)}")


def _count_colons(value: Any, *, in_texts: bool) -> int:
    """Return how many colons the value has as JSON: one per key, and those in strings unless they may be escaped."""
    count = 0
    todo = [value]
    while todo:
        item = todo.pop()
        if type(item) is dict:
            count += len(item)
            todo += item.values()
            if in_texts:
                count += "".join(item).count(":")
        elif type(item) is list:
            todo += item
        elif in_texts and type(item) is str:
            count += item.count(":")
    return count


def _check_pairs_unique(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise MalformedArguments(f"the key '{key[:100]}' occurs twice; send it once")
        seen.add(key)


def _name_json_type(value: Any) -> str:
    names = {list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null" if value is None else "something else")


def _value_to_text(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError, RecursionError):
        return str(type(value).__name__)
