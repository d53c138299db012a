"""How paths and values are shown in a message: short, and without what may be secret."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from pegboard.registry.subschemas import Path

LONGEST = 100
HIDDEN = "(hidden)"

_SECRET = re.compile(
    r"pass(?:word|wd|phrase)|secret|token$|api[_-]?key|authorization|credential|(?:private|access)[_-]?key", re.I
)
_MAX_OPTIONS = 30


def field_of(path: Path) -> str | None:
    """The path as `address.city` or `items[2].price`; None for the whole."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
    return cut(text, 2 * LONGEST) if path else None


def text_of(value: Any) -> str:
    """The value as JSON, cut short, with what lies under secret-looking keys left out."""
    return cut(_written(value, LONGEST))


def options_of(options: Iterable[Any]) -> str:
    """The options as `a, b, c`, cut readably where there are many."""
    words = [cut(option) if isinstance(option, str) else text_of(option) for option in options]
    shown: list[str] = []
    for word in words[:_MAX_OPTIONS]:
        if shown and sum(map(len, shown)) + len(word) > 4 * LONGEST:
            break
        shown.append(word)
    left = len(words) - len(shown)
    return ", ".join(shown) + (f", … ({left} more)" if left else "")


def is_secret(key: str) -> bool:
    """Whether a key looks as if its value should not be repeated."""
    return _SECRET.search(key) is not None


def cut(text: str, length: int = LONGEST) -> str:
    """The text, or its beginning where it is longer than that."""
    return text if len(text) <= length else text[: length - 1] + "…"


def _written(value: Any, room: int) -> str:
    if isinstance(value, str):
        return json.dumps(value[: room + 1], ensure_ascii=False)
    if isinstance(value, Mapping):
        return _joined("{", _entries(value), "}", room)
    if isinstance(value, list | tuple):
        return _joined("[", (("", item) for item in value), "]", room)
    if isinstance(value, int) and value.bit_length() > 4096:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, Decimal):
        return str(value)
    return json.dumps(value, default=str)


def _entries(value: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    for key, item in value.items():
        name = str(key)
        yield json.dumps(name[:LONGEST], ensure_ascii=False) + ": ", HIDDEN if is_secret(name) else item


def _joined(text: str, parts: Iterable[tuple[str, Any]], end: str, room: int) -> str:
    for index, (key, item) in enumerate(parts):
        text += (", " if index else "") + key
        if len(text) > room:
            return text
        text += HIDDEN if item is HIDDEN else _written(item, room - len(text))
    return text + end
