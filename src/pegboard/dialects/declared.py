"""What the schema in a declaration says, whatever the declaration looks like around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_NAMES = ("properties", "patternProperties", "$defs", "definitions")
_DATA = ("default", "enum", "const", "examples", "required")
_MAX_LOOKED_AT = 50


class Declared(NamedTuple):
    """The keywords and descriptions of a schema, the names of its properties, how many there are and how deep."""

    keywords: frozenset[str]
    names: frozenset[str]
    properties: int
    levels: int
    told: str


def declared_in(definition: Any) -> Declared | None:
    """What the parameters in a declaration are said to be, or None where no schema is found in it."""
    schema = _schema_in(definition)
    if schema is None:
        return None
    keywords: set[str] = set()
    names: set[str] = set()
    told: list[str] = []
    properties = levels = 0
    todo: list[tuple[Any, int]] = [(schema, 0)]
    while todo:
        node, level = todo.pop()
        if isinstance(node, list):
            todo += [(child, level) for child in node]
        if not isinstance(node, Mapping):
            continue
        keywords.update(node)
        if isinstance(node.get("description"), str):
            told.append(node["description"].casefold())
        if isinstance(node.get("properties"), Mapping):
            level += 1
            levels = max(levels, level)
            names.update(node["properties"])
            properties += len(node["properties"])
        for word, value in node.items():
            if word in _NAMES and isinstance(value, Mapping):
                todo += [(child, level) for child in value.values()]
            elif word not in _DATA:
                todo.append((value, level))
    return Declared(frozenset(keywords), frozenset(names), properties, levels, "\n".join(told))


def name_in(definition: Any) -> str | None:
    """The name that a declaration gives its tool, or None where it is a text."""
    return next((node["name"] for node in _outside_in(definition) if isinstance(node.get("name"), str)), None)


def _schema_in(definition: Any) -> Mapping[str, Any] | None:
    for node in _outside_in(definition):
        if isinstance(node.get("properties"), Mapping) or node.get("type") in ("object", "OBJECT"):
            return node
    return None


def _outside_in(definition: Any) -> Iterator[Mapping[str, Any]]:
    """The objects of a declaration, the outer ones first."""
    todo = [definition]
    for node in todo:
        if isinstance(node, Mapping):
            yield node
        if len(todo) < _MAX_LOOKED_AT:
            todo += node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ()
