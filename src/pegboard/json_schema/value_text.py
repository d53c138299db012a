"""Format paths and values for messages: short, and without values that may be secret."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from pegboard.json_schema.schema_document import Path
from pegboard.model.secrets import HIDDEN, is_secret_name

MAX_TEXT_LENGTH = 100
_MAX_OPTIONS = 30


def format_field_path(path: Path) -> str | None:
    """Return the path as `address.city` or `items[2].price`, or None for the whole value."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
    return shorten(text, 2 * MAX_TEXT_LENGTH) if path else None


def format_value(value: Any) -> str:
    """Return the value as shortened JSON, with the values of keys that look secret hidden."""
    return shorten(_write_value(value, MAX_TEXT_LENGTH))


def format_options(options: Iterable[Any]) -> str:
    """Return the options as `a, b, c`; a long list is shortened with the number of the rest."""
    words = [shorten(option) if isinstance(option, str) else format_value(option) for option in options]
    shown: list[str] = []
    for word in words[:_MAX_OPTIONS]:
        if shown and sum(map(len, shown)) + len(word) > 4 * MAX_TEXT_LENGTH:
            break
        shown.append(word)
    left = len(words) - len(shown)
    return ", ".join(shown) + (f", … ({left} more)" if left else "")


def shorten(text: str, length: int = MAX_TEXT_LENGTH) -> str:
    """Return the text, shortened to `length` characters if it is longer."""
    return text if len(text) <= length else text[: length - 1] + "…"


def _write_value(value: Any, room: int) -> str:
    if isinstance(value, str):
        return json.dumps(value[: room + 1], ensure_ascii=False)
    if isinstance(value, Mapping):
        return _join_parts("{", _iterate_entries(value), "}", room)
    if isinstance(value, list | tuple):
        return _join_parts("[", (("", item) for item in value), "]", room)
    if isinstance(value, int) and value.bit_length() > 4096:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, Decimal):
        return str(value)
    return json.dumps(value, default=str)


def _iterate_entries(value: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    for key, item in value.items():
        name = str(key)
        yield json.dumps(name[:MAX_TEXT_LENGTH], ensure_ascii=False) + ": ", HIDDEN if is_secret_name(name) else item


def _join_parts(text: str, parts: Iterable[tuple[str, Any]], end: str, room: int) -> str:
    for index, (key, item) in enumerate(parts):
        text += (", " if index else "") + key
        if len(text) > room:
            return text
        text += HIDDEN if item is HIDDEN else _write_value(item, room - len(text))
    return text + end
