"""Picking values out of JSON that may have any shape at any depth."""

from __future__ import annotations

import json
from typing import Any

import orjson

from pegboard.dialects.asked import Unreadable
from pegboard.dialects.seen import seen

_MODELS = frozenset({"assistant", "model", "ai", "agent", "role_agent", "chatbot"})


def is_models(role: Any) -> bool:
    """Whether a message of this role, or of none, is what a model says: what looks like a call elsewhere is none."""
    return role == "assistant" or role is None or (isinstance(role, str) and role.lower() in _MODELS)


def dict_of(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def dicts_of(value: Any) -> list[dict[str, Any]]:
    """The objects in a list, or in anything else none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def first_of(value: Any) -> dict[str, Any]:
    """The first thing in a list if it is an object, else an empty one."""
    return dict_of(value[0]) if isinstance(value, list) and value else {}


def key_of(value: Any) -> int | str | None:
    """A number or text that chunks of a stream go by, or None."""
    return value if isinstance(value, int | str) else None


def writable(value: Any) -> Any:
    """The value, or its text where answers cannot hold it: integers beyond 64 bits, or nested too deeply."""
    try:
        orjson.dumps(value)
    except TypeError:
        try:
            return json.dumps(value)
        except RecursionError:
            return "[nested too deeply]"
    return value


def unreadable(item: Any, dialect: str, expected: str) -> Unreadable:
    """The refusal of an item that is not in this dialect."""
    return Unreadable(f"unrecognised_format: this is {seen(item)}, not {dialect}; expected {expected}")
