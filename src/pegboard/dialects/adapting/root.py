"""Schemas of arguments as OpenAI and Anthropic take them: one object at the root, and items in every array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from pegboard.dialects.adapting.inlining import LISTS, MAPS, ONE, inlined
from pegboard.dialects.adapting.nulls import fits_null
from pegboard.registry.subschemas import Document

ALTERNATIVES = ("anyOf", "oneOf")
# What these providers refuse at the root of a schema.
REFUSED = frozenset({"anyOf", "oneOf", "allOf", "enum", "not"})
_MAX_DEPTH = 16
_MAX_PARTS = 500
_MAX_SHOWN = 8
_LONGEST = 60
# References to what stands in the root's alternatives.
_INTO = (b'"#/anyOf/', b'"#/oneOf/', b'"#/allOf/')
_HOLDERS = MAPS | {"$defs", "definitions"}


class _Object(NamedTuple):
    """What a schema says of an object: its properties, those it requires, and whether it takes no others."""

    properties: dict[str, Any]
    required: tuple[str, ...]
    is_closed: bool
    words: tuple[str, ...]


def flat_root(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as one object that fits whatever the given one does; the same object if it is one already.

    The properties of all alternatives stand side by side, and the description says which go together. The arguments are
    those of the tool's own schema, which decides about them.
    """
    if _is_flat(schema):
        return schema if isinstance(schema, dict) else dict(schema)
    if any(pointer in orjson.dumps(schema, default=str) for pointer in _INTO):
        # What is no longer there cannot be referred to.
        schema = inlined(schema) or schema
    whole = _Flattening(schema).object(schema, 0)
    dropped = REFUSED | {"$ref", "required", "unevaluatedProperties"}
    flat: dict[str, Any] = {word: value for word, value in schema.items() if word not in dropped}
    flat |= {"type": "object", "properties": whole.properties}
    if whole.required:
        flat["required"] = list(whole.required)
    if whole.is_closed:
        flat["additionalProperties"] = False
    if whole.words:
        words = "; ".join(whole.words)
        told = schema.get("description")
        flat["description"] = f"{told} ({words})" if told else words[0].upper() + words[1:]
    return flat


def with_items(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with one schema for the items of every array; the same object if that is so already."""
    whole = _with_items(schema)
    return whole if isinstance(whole, dict) else dict(schema)


def without_absent(arguments: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without the nulls of other alternatives: those that no schema of the property takes."""
    if _is_flat(schema) or None not in arguments.values():
        return arguments
    document = Document(schema)
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
        todo += [child for _, child in document.in_place(node)]
    absent = {
        name
        for name, value in arguments.items()
        if value is None and name in declared and not any(fits_null(child, document) for child in declared[name])
    }
    return {name: value for name, value in arguments.items() if name not in absent} if absent else arguments


def _is_flat(schema: Mapping[str, Any]) -> bool:
    return REFUSED.isdisjoint(schema) and "$ref" not in schema


class _Flattening:
    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._document = Document(schema)
        self._left = _MAX_PARTS

    def object(self, node: Any, depth: int) -> _Object:
        """What this schema says of an object, with what its parts say of the same one."""
        self._left -= 1
        if not isinstance(node, Mapping) or depth > _MAX_DEPTH or self._left < 0:
            return _Object({}, (), is_closed=False, words=())
        parts = [self._document.resolve(target) for _, target in self._document.references(node)]
        if self._document.overrides(node):
            return self.object(parts[0], depth + 1)
        whole = _Object(
            dict(node.get("properties", {})),
            tuple(node.get("required", ())),
            is_closed=node.get("additionalProperties") is False or node.get("unevaluatedProperties") is False,
            words=(),
        )
        for part in (*parts, *_listed(node, "allOf")):
            whole = _both(whole, self.object(part, depth + 1))
        for word in ALTERNATIVES:
            branches = [self.object(part, depth + 1) for part in _listed(node, word) if part is not False]
            if branches:
                whole = _both(whole, _either(branches, is_exclusive=word == "oneOf"))
        return whole


def _listed(node: Mapping[str, Any], word: str) -> Sequence[Any]:
    parts = node.get(word)
    return parts if isinstance(parts, list) else ()


def _both(one: _Object, other: _Object) -> _Object:
    """What fits both; each may describe what the other requires."""
    properties = dict(one.properties)
    for name, schema in other.properties.items():
        mine = properties.get(name, schema)
        trivial = mine in (True, {})
        if trivial or mine == schema:
            properties[name] = schema
        elif schema not in (True, {}):
            properties[name] = {"allOf": [mine, schema]}
    required = tuple(dict.fromkeys((*one.required, *other.required)))
    return _Object(properties, required, one.is_closed or other.is_closed, (*one.words, *other.words))


def _either(branches: Sequence[_Object], *, is_exclusive: bool) -> _Object:
    """What fits any of several alternatives."""
    names = dict.fromkeys(name for branch in branches for name in branch.properties)
    properties = {
        name: _any([branch.properties[name] for branch in branches if name in branch.properties]) for name in names
    }
    shared = [name for name in branches[0].required if all(name in branch.required for branch in branches)]
    sets = list(dict.fromkeys(filter(None, (_shown(branch) for branch in branches))))
    words: tuple[str, ...] = tuple(word for branch in branches for word in branch.words)
    if len(sets) > 1:
        more = " or …" if len(sets) > _MAX_SHOWN else ""
        which = "exactly one of" if is_exclusive else "one of"
        words = (f"give {which}: {' or '.join(sets[:_MAX_SHOWN])}{more}", *words)
    return _Object(properties, tuple(shared), all(branch.is_closed for branch in branches), words)


def _any(schemas: list[Any]) -> Any:
    """One schema that fits what any of these fits."""
    different = [schema for place, schema in enumerate(schemas) if schema not in schemas[:place]]
    if len(different) == 1:
        return different[0]
    choices = [_choices(schema) for schema in different]
    if all(choice is not None for choice in choices):
        kinds = {schema.get("type") for schema in different}
        listed = [value for choice in choices for value in choice or ()]
        kind = {"type": kinds.pop()} if len(kinds) == 1 and None not in kinds else {}
        return {**kind, "enum": [value for place, value in enumerate(listed) if value not in listed[:place]]}
    return {"anyOf": different}


def _choices(schema: Any) -> list[Any] | None:
    """The values of a schema that is a choice and nothing else."""
    if not isinstance(schema, Mapping) or not schema.keys() <= {"const", "enum", "type"}:
        return None
    return [schema["const"]] if "const" in schema else schema.get("enum")


def _shown(branch: _Object) -> str:
    """The properties that an alternative requires, or else has, with the values that tell it from others."""
    told = []
    for name in branch.required or branch.properties:
        choices = _choices(branch.properties.get(name))
        value = f"={orjson.dumps(choices[0]).decode()[:_LONGEST]}" if choices and len(choices) == 1 else ""
        told.append(f"'{name}'{value}")
    return " with ".join(told[:_MAX_SHOWN]) + (" …" if len(told) > _MAX_SHOWN else "")


def _with_items(node: Any) -> Any:
    if not isinstance(node, Mapping):
        return node
    changed: dict[str, Any] = {}
    for word, value in node.items():
        made: Any = value
        if word in _HOLDERS and isinstance(value, Mapping):
            made = {name: _with_items(child) for name, child in value.items()}
            made = value if all(made[name] is value[name] for name in value) else made
        elif word in LISTS and isinstance(value, list):
            made = [_with_items(child) for child in value]
            made = value if all(new is old for new, old in zip(made, value, strict=True)) else made
        elif word in ONE:
            made = _with_items(value)
        if made is not value:
            changed[word] = made
    kind, items = node.get("type"), changed.get("items", node.get("items"))
    if isinstance(items, list):
        # A tuple: each place has a schema of its own, which these providers have no word for.
        changed["items"] = _any(items) if items else {}
    elif (kind == "array" or (isinstance(kind, list) and "array" in kind)) and not isinstance(items, Mapping):
        changed["items"] = {}
    return {**node, **changed} if changed else node
