"""Which of several forms a value was most likely meant to have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def is_near(node: Any, value: Any) -> bool:
    """Whether the value at least has a type that the schema allows."""
    if not isinstance(node, Mapping):
        return False
    kinds = node.get("type")
    if kinds is None:
        return True
    return not _kinds_of(value).isdisjoint(kinds if isinstance(kinds, list) else [kinds])


def distance(node: Any, value: Any, meant: Callable[[Any], Any]) -> tuple[bool, int, int, int]:
    """How far the value is from the form: by type, by the fields that tell forms apart, by what is missing."""
    if not isinstance(node, Mapping) or not isinstance(value, dict):
        return (not is_near(node, value), 0, 0, 0)
    shared = [(name, meant(part)) for name, part in node.get("properties", {}).items() if name in value]
    different = sum(not _tells(part, value[name]) for name, part in shared)
    absent = sum(name not in value for name in node.get("required", ()))
    return (not is_near(node, value), different, absent, -len(shared))


def _tells(part: Any, value: Any) -> bool:
    if isinstance(part, Mapping) and "const" in part:
        return bool(part["const"] == value)
    return not isinstance(part, Mapping) or "enum" not in part or value in part["enum"]


def _kinds_of(value: Any) -> set[str]:
    if isinstance(value, bool):
        return {"boolean"}
    if isinstance(value, int | float):
        return {"number", "integer"} if float(value).is_integer() else {"number"}
    kinds = ((str, "string"), (dict, "object"), ((list, tuple), "array"), (type(None), "null"))
    return {name for kind, name in kinds if isinstance(value, kind)}
