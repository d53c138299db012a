"""Fill in the defaults of a schema for arguments that a call leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from pegboard.json_schema.schema_document import SchemaDocument


@dataclass(slots=True, eq=False)
class SchemaDefaults:
    """The defaults of an object, of its nested objects, and of the objects in its arrays."""

    values: dict[str, Any] = field(default_factory=dict)
    inside: dict[str, SchemaDefaults] = field(default_factory=dict)
    items: SchemaDefaults | None = None

    def __bool__(self) -> bool:
        return bool(self.values or self.inside or self.items is not None)

    def fill(self, value: Any) -> Any:
        """Return the value with its defaults, or the same object if nothing was absent."""
        if isinstance(value, dict):
            return self._fill_object(value)
        if isinstance(value, list) and self.items is not None:
            filled = [self.items.fill(item) for item in value]
            return filled if any(new is not old for new, old in zip(filled, value, strict=True)) else value
        return value

    def _fill_object(self, value: dict[str, Any]) -> dict[str, Any]:
        result = value
        for name, default in self.values.items():
            if name not in value:
                result = dict(value) if result is value else result
                result[name] = copy_if_mutable(default)
        for name, defaults in self.inside.items():
            if name in value:
                filled = defaults.fill(value[name])
                if filled is not value[name]:
                    result = dict(value) if result is value else result
                    result[name] = filled
        return result


def copy_if_mutable(value: Any) -> Any:
    """Return a deep copy if the value is a dict or list, else the value itself."""
    return deepcopy(value) if isinstance(value, dict | list) else value


def read_defaults(document: SchemaDocument) -> SchemaDefaults:
    """Return the defaults that the document declares."""
    made: dict[int, SchemaDefaults] = {}
    holders: dict[int, list[SchemaDefaults]] = {}
    todo: list[tuple[Any, SchemaDefaults]] = []

    def get_defaults(node: Any, holder: SchemaDefaults | None = None) -> SchemaDefaults:
        if id(node) not in made:
            made[id(node)] = SchemaDefaults()
            todo.append((node, made[id(node)]))
        if holder is not None:
            holders.setdefault(id(made[id(node)]), []).append(holder)
        return made[id(node)]

    root = get_defaults(document.root)
    while todo:
        node, defaults = todo.pop()
        for part in _list_applied_schemas(document, node):
            properties = part.get("properties")
            for name, child in properties.items() if isinstance(properties, Mapping) else ():
                if isinstance(child, Mapping):
                    if "default" in child:
                        defaults.values.setdefault(name, child["default"])
                    defaults.inside.setdefault(name, get_defaults(child, defaults))
            if isinstance(part.get("items"), Mapping):
                defaults.items = get_defaults(part["items"], defaults)

    useful: set[int] = set()
    rising = [defaults for defaults in made.values() if defaults.values]
    while rising:
        defaults = rising.pop()
        if id(defaults) not in useful:
            useful.add(id(defaults))
            rising += holders.get(id(defaults), ())
    for defaults in made.values():
        defaults.inside = {name: inner for name, inner in defaults.inside.items() if id(inner) in useful}
        if id(defaults.items) not in useful:
            defaults.items = None
    return root


def _list_applied_schemas(document: SchemaDocument, node: Any) -> list[Mapping[str, Any]]:
    """Return the schemas that always apply to the same value as the node.

    These are the node itself, its references, its allOf, and the branch of a union if only one accepts objects or
    arrays.
    """
    found: list[Mapping[str, Any]] = []
    seen: set[int] = set()
    todo = [node]
    while todo:
        part = todo.pop()
        if not isinstance(part, Mapping) or id(part) in seen:
            continue
        seen.add(id(part))
        found.append(part)
        todo += [document.resolve(reference) for _, reference in document.references(part)]
        if document.has_overriding_reference(part):
            continue
        todo += part.get("allOf", ())
        for word in ("anyOf", "oneOf"):
            objects = [branch for branch in part.get(word, ()) if _may_be_container(branch)]
            if len(objects) == 1:
                todo.append(objects[0])
    return found


def _may_be_container(branch: Any) -> bool:
    if not isinstance(branch, Mapping):
        return branch is True
    kinds = branch.get("type", ["object"])
    return bool({"object", "array"} & set(kinds if isinstance(kinds, list) else [kinds]))
