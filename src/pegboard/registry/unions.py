"""Which of several forms a value was most likely meant to have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple


def is_near(node: Any, value: Any) -> bool:
    """Whether the value at least has a type that the schema allows."""
    if not isinstance(node, Mapping):
        return False
    kinds = node.get("type")
    if kinds is None:
        return True
    return not _kinds_of(value).isdisjoint(kinds if isinstance(kinds, list) else [kinds])


def distance(node: Any, value: Any, meant: Callable[[Any], Any]) -> tuple[int, int, int]:
    """How far the value is from the form: by the fields that tell forms apart, by what is missing."""
    if not isinstance(node, Mapping) or not isinstance(value, dict):
        return (0, 0, 0)
    shared = [(name, meant(part)) for name, part in node.get("properties", {}).items() if name in value]
    different = sum(not _tells(part, value[name]) for name, part in shared)
    absent = sum(name not in value for name in node.get("required", ()))
    return (different, absent, -len(shared))


class Tag(NamedTuple):
    """A field by which forms are told apart, what it may hold, and the forms that the value chose."""

    name: str
    options: list[Any]
    chosen: list[int]


def tag_of(nodes: Sequence[Any], value: Any, meant: Callable[[Any], Any]) -> Tag | None:
    """The field that has a constant of its own in every form, if the value has it and chose one form or none."""
    if not isinstance(value, dict) or len(nodes) < 2:
        return None
    for name in nodes[0].get("properties", {}):
        parts = _constants(name, nodes, meant) if name in value else []
        if parts:
            chosen = [index for index, part in enumerate(parts) if _tells(part, value[name])]
            options = [option for part in parts for option in part.get("enum", [part.get("const")])]
            if len(chosen) <= 1:
                return Tag(name, options, chosen)
    return None


def _constants(name: str, nodes: Sequence[Any], meant: Callable[[Any], Any]) -> list[Mapping[str, Any]]:
    """What each form says of the field; empty where one of them does not list what the field may hold."""
    parts: list[Mapping[str, Any]] = []
    for node in nodes:
        part = meant(node.get("properties", {}).get(name))
        if not isinstance(part, Mapping) or not ("const" in part or "enum" in part):
            return []
        parts.append(part)
    return parts


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
