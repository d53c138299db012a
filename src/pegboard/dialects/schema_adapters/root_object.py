"""Adapt argument schemas for OpenAI and Anthropic: one object at the root, and `items` in every array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from pegboard.dialects.schema_adapters.inline_refs import (
    SCHEMA_KEYWORDS,
    SCHEMA_LIST_KEYWORDS,
    SCHEMA_MAP_KEYWORDS,
    inline_references,
)
from pegboard.dialects.schema_adapters.optional_nulls import is_null_valid
from pegboard.json_schema.schema_document import SchemaDocument

ALTERNATIVE_KEYWORDS = ("anyOf", "oneOf")
# Keywords that these providers reject at the root of a schema.
REFUSED_ROOT_KEYWORDS = frozenset({"anyOf", "oneOf", "allOf", "enum", "not"})
_MAX_DEPTH = 16
_MAX_PARTS = 500
_MAX_LISTED = 8
_MAX_VALUE_CHARS = 60
# References into the root's alternatives.
_ROOT_ALTERNATIVE_POINTERS = (b'"#/anyOf/', b'"#/oneOf/', b'"#/allOf/')
_NAMED_SCHEMA_KEYWORDS = SCHEMA_MAP_KEYWORDS | {"$defs", "definitions"}


class _ObjectSchema(NamedTuple):
    """The constraints of a schema on an object: its properties, the required ones, and whether others are forbidden."""

    properties: dict[str, Any]
    required: tuple[str, ...]
    is_closed: bool
    words: tuple[str, ...]


def flatten_root(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with one object at the root that accepts at least the same; the same object if unchanged.

    The properties of all alternatives are merged, and the description explains which belong together. Arguments are
    still validated with the tool's own schema.
    """
    if _is_flat(schema):
        return schema if isinstance(schema, dict) else dict(schema)
    if any(pointer in orjson.dumps(schema, default=str) for pointer in _ROOT_ALTERNATIVE_POINTERS):
        # The targets are removed from the root, so the references must be inlined.
        schema = inline_references(schema) or schema
    whole = _RootFlattener(schema).object(schema, 0)
    dropped = REFUSED_ROOT_KEYWORDS | {"$ref", "required", "unevaluatedProperties"}
    flat: dict[str, Any] = {word: value for word, value in schema.items() if word not in dropped}
    flat |= {"type": "object", "properties": whole.properties}
    if whole.required:
        flat["required"] = list(whole.required)
    if whole.is_closed:
        flat["additionalProperties"] = False
    if whole.words:
        words = "; ".join(whole.words)
        description = schema.get("description")
        flat["description"] = f"{description} ({words})" if description else words[0].upper() + words[1:]
    return flat


def add_missing_items(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with `items` in every array; the same object if unchanged."""
    whole = _add_items_to_node(schema)
    return whole if isinstance(whole, dict) else dict(schema)


def remove_absent_nulls(arguments: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments without nulls that no schema of the property allows: properties of other alternatives."""
    if _is_flat(schema) or None not in arguments.values():
        return arguments
    document = SchemaDocument(schema)
    declared: dict[str, list[Any]] = {}
    seen: set[int] = set()
    todo: list[Any] = [schema]
    while todo:
        node = todo.pop()
        if not isinstance(node, Mapping) or id(node) in seen:
            continue
        seen.add(id(node))
        for name, child in node.get("properties", {}).items():
            declared.setdefault(name, []).append(child)
        todo += [child for _, child in document.iterate_in_place(node)]
    absent = {
        name
        for name, value in arguments.items()
        if value is None and name in declared and not any(is_null_valid(child, document) for child in declared[name])
    }
    return {name: value for name, value in arguments.items() if name not in absent} if absent else arguments


def _is_flat(schema: Mapping[str, Any]) -> bool:
    return REFUSED_ROOT_KEYWORDS.isdisjoint(schema) and "$ref" not in schema


class _RootFlattener:
    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._document = SchemaDocument(schema)
        self._left = _MAX_PARTS

    def object(self, node: Any, depth: int) -> _ObjectSchema:
        """Return the constraints of this schema on an object, merged with those of its parts."""
        self._left -= 1
        if not isinstance(node, Mapping) or depth > _MAX_DEPTH or self._left < 0:
            return _ObjectSchema({}, (), is_closed=False, words=())
        parts = [self._document.resolve(target) for _, target in self._document.references(node)]
        if self._document.has_overriding_reference(node):
            return self.object(parts[0], depth + 1)
        whole = _ObjectSchema(
            dict(node.get("properties", {})),
            tuple(node.get("required", ())),
            is_closed=node.get("additionalProperties") is False or node.get("unevaluatedProperties") is False,
            words=(),
        )
        for part in (*parts, *_get_list(node, "allOf")):
            whole = _intersect_objects(whole, self.object(part, depth + 1))
        for word in ALTERNATIVE_KEYWORDS:
            branches = [self.object(part, depth + 1) for part in _get_list(node, word) if part is not False]
            if branches:
                whole = _intersect_objects(whole, _unite_objects(branches, is_exclusive=word == "oneOf"))
        return whole


def _get_list(node: Mapping[str, Any], word: str) -> Sequence[Any]:
    parts = node.get(word)
    return parts if isinstance(parts, list) else ()


def _intersect_objects(one: _ObjectSchema, other: _ObjectSchema) -> _ObjectSchema:
    """Return the constraints of both; each may describe properties that the other requires."""
    properties = dict(one.properties)
    for name, schema in other.properties.items():
        mine = properties.get(name, schema)
        trivial = mine in (True, {})
        if trivial or mine == schema:
            properties[name] = schema
        elif schema not in (True, {}):
            properties[name] = {"allOf": [mine, schema]}
    required = tuple(dict.fromkeys((*one.required, *other.required)))
    return _ObjectSchema(properties, required, one.is_closed or other.is_closed, (*one.words, *other.words))


def _unite_objects(branches: Sequence[_ObjectSchema], *, is_exclusive: bool) -> _ObjectSchema:
    """Return the constraints that any of several alternatives satisfies."""
    names = dict.fromkeys(name for branch in branches for name in branch.properties)
    properties = {
        name: _unite_schemas([branch.properties[name] for branch in branches if name in branch.properties])
        for name in names
    }
    shared = [name for name in branches[0].required if all(name in branch.required for branch in branches)]
    sets = list(dict.fromkeys(filter(None, (_describe_alternative(branch) for branch in branches))))
    words: tuple[str, ...] = tuple(word for branch in branches for word in branch.words)
    if len(sets) > 1:
        more = " or …" if len(sets) > _MAX_LISTED else ""
        which = "exactly one of" if is_exclusive else "one of"
        words = (f"give {which}: {' or '.join(sets[:_MAX_LISTED])}{more}", *words)
    return _ObjectSchema(properties, tuple(shared), all(branch.is_closed for branch in branches), words)


def _unite_schemas(schemas: list[Any]) -> Any:
    """Return one schema that accepts whatever any of these accepts."""
    different = [schema for place, schema in enumerate(schemas) if schema not in schemas[:place]]
    if len(different) == 1:
        return different[0]
    choices = [_get_enum_values(schema) for schema in different]
    if all(choice is not None for choice in choices):
        kinds = {schema.get("type") for schema in different}
        listed = [value for choice in choices for value in choice or ()]
        kind = {"type": kinds.pop()} if len(kinds) == 1 and None not in kinds else {}
        return {**kind, "enum": [value for place, value in enumerate(listed) if value not in listed[:place]]}
    return {"anyOf": different}


def _get_enum_values(schema: Any) -> list[Any] | None:
    """Return the values of a schema that is only an enumeration, or None."""
    if not isinstance(schema, Mapping) or not schema.keys() <= {"const", "enum", "type"}:
        return None
    return [schema["const"]] if "const" in schema else schema.get("enum")


def _describe_alternative(branch: _ObjectSchema) -> str:
    """Return the required properties of an alternative, or else all, with the values that identify it."""
    received = []
    for name in branch.required or branch.properties:
        choices = _get_enum_values(branch.properties.get(name))
        value = f"={orjson.dumps(choices[0]).decode()[:_MAX_VALUE_CHARS]}" if choices and len(choices) == 1 else ""
        received.append(f"'{name}'{value}")
    return " with ".join(received[:_MAX_LISTED]) + (" …" if len(received) > _MAX_LISTED else "")


def _add_items_to_node(node: Any) -> Any:
    if not isinstance(node, Mapping):
        return node
    changed: dict[str, Any] = {}
    for word, value in node.items():
        made: Any = value
        if word in _NAMED_SCHEMA_KEYWORDS and isinstance(value, Mapping):
            made = {name: _add_items_to_node(child) for name, child in value.items()}
            made = value if all(made[name] is value[name] for name in value) else made
        elif word in SCHEMA_LIST_KEYWORDS and isinstance(value, list):
            made = [_add_items_to_node(child) for child in value]
            made = value if all(new is old for new, old in zip(made, value, strict=True)) else made
        elif word in SCHEMA_KEYWORDS:
            made = _add_items_to_node(value)
        if made is not value:
            changed[word] = made
    kind, items = node.get("type"), changed.get("items", node.get("items"))
    if isinstance(items, list):
        # A tuple: these providers cannot express a separate schema for each position.
        changed["items"] = _unite_schemas(items) if items else {}
    elif (kind == "array" or (isinstance(kind, list) and "array" in kind)) and not isinstance(items, Mapping):
        changed["items"] = {}
    return {**node, **changed} if changed else node
