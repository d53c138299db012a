"""Constraints in words, for providers that do not take them as keywords."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import orjson

_LONGEST = 200


def _json(value: Any) -> str:
    text = orjson.dumps(value).decode()
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


_WORDS: dict[str, Callable[[Any], str]] = {
    "default": lambda value: f"default {_json(value)}",
    "minLength": lambda value: f"at least {value} characters",
    "maxLength": lambda value: f"at most {value} characters",
    "pattern": lambda value: f"matches {_json(value)}",
    "format": lambda value: f"format {value}",
    "minimum": lambda value: f"at least {value}",
    "maximum": lambda value: f"at most {value}",
    "exclusiveMinimum": lambda value: f"more than {value}",
    "exclusiveMaximum": lambda value: f"less than {value}",
    "multipleOf": lambda value: f"a multiple of {value}",
    "minItems": lambda value: f"at least {value} items",
    "maxItems": lambda value: f"at most {value} items",
    "uniqueItems": lambda value: "no item twice" if value else "",
    "minProperties": lambda value: f"at least {value} properties",
    "maxProperties": lambda value: f"at most {value} properties",
    "contentEncoding": lambda value: f"encoded as {value}",
    "contentMediaType": lambda value: f"content of type {value}",
    "enum": lambda value: f"one of {_json(value)}",
}
SAYABLE = frozenset(_WORDS)


def said(word: str, value: Any) -> str:
    """The keyword's meaning in a few words, "" where there are none for it."""
    return _WORDS[word](value) if word in _WORDS else ""


def with_words(node: dict[str, Any], unsaid: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The schema with these keywords' meaning at the end of its description."""
    words = "; ".join(filter(None, (said(word, value) for word, value in unsaid)))
    if not words:
        return node
    told = node.get("description")
    return {**node, "description": f"{told} ({words})" if told else words[0].upper() + words[1:]}
