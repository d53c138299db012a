"""Schemas without references: what each `$ref` names stands where the `$ref` stood, and `allOf` is one schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.registry.subschemas import Document

MAX_NODES = 5_000
MAX_DEPTH = 64

ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
)
# Where a keyword holds schemas: one, a list of them, or a map of them.
ONE = frozenset(
    {"items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "propertyNames",
     "contains", "not", "if", "then", "else"}
)  # fmt: skip
LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
MAPS = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies"})
_DROPPED = frozenset({"$schema", "$id", "$anchor", "$dynamicAnchor", "$defs", "definitions", "$ref", "$dynamicRef"})


class Inexpressible(Exception):
    """A schema that cannot be put the way it is wanted: why, and which properties lead there."""

    def __init__(self, why: str, *path: str) -> None:
        super().__init__(why)
        self.why = why
        self.path = path


def inlined(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema with what its references name in their place, or None where that would have no end or be huge."""
    try:
        whole = _Inlining(schema).schema(schema, (), 0)
    except Inexpressible:
        return None
    return whole if isinstance(whole, dict) else None


def merged(node: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with its `allOf` folded in; raises Inexpressible where two of them say different things."""
    parts = node.get("allOf")
    whole = {word: value for word, value in node.items() if word != "allOf"}
    if not isinstance(parts, list):
        return whole
    for part in parts:
        if part is True:
            continue
        if not isinstance(part, Mapping):
            raise Inexpressible("allOf holds a schema that nothing fits")
        whole = both(whole, merged(part))
    return whole


def both(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """One schema that asks for what both ask for; raises Inexpressible where that is not simple."""
    whole = dict(one)
    for word, value in other.items():
        if word not in whole or whole[word] == value:
            whole[word] = value
        elif word == "properties":
            shared = {
                name: both(whole[word][name], schema) if name in whole[word] else schema
                for name, schema in value.items()
                if isinstance(whole[word].get(name, {}), Mapping) and isinstance(schema, Mapping)
            }
            if len(shared) < len(value):
                raise Inexpressible("allOf holds properties that cannot be put together")
            whole[word] = {**whole[word], **shared}
        elif word == "required":
            whole[word] = [*whole[word], *(name for name in value if name not in whole[word])]
        elif word in ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"):
            whole[word] = max(whole[word], value)
        elif word in ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"):
            whole[word] = min(whole[word], value)
        elif word == "enum":
            whole[word] = [choice for choice in whole[word] if choice in value]
        elif word not in ANNOTATIONS:
            raise Inexpressible(f"allOf has '{word}' twice, in different ways")
    return whole


class _Inlining:
    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._document = Document(schema)
        self._left = MAX_NODES

    def schema(self, node: Any, within: tuple[int, ...], depth: int) -> Any:
        """The schema with its references resolved; `within` are those it stands inside of."""
        if not isinstance(node, Mapping):
            return node
        self._left -= 1
        circular = id(node) in within
        if circular or self._left < 0 or depth > MAX_DEPTH:
            raise Inexpressible("it is inside itself" if circular else "it is too large with its $refs followed")
        within = (*within, id(node))
        references = self._document.references(node)
        if not references:
            return self._below(node, within, depth)
        alone = self._document.overrides(node)
        beside = {word: value for word, value in node.items() if word in ANNOTATIONS or not alone}
        whole = self._below(beside, within, depth)
        for _, reference in references:
            target = self._document.resolve(reference)
            if target is False:
                whole = {"not": {}}
            elif isinstance(target, Mapping):
                named = self.schema(target, within, depth + 1)
                try:
                    whole = {**named, **both(whole, named)}
                except Inexpressible:
                    whole = {**whole, "allOf": [*whole.get("allOf", ()), named]}
        return whole

    def _below(self, node: Mapping[str, Any], within: tuple[int, ...], depth: int) -> dict[str, Any]:
        whole: dict[str, Any] = {}
        for word, value in node.items():
            if word in _DROPPED:
                continue
            if word in MAPS and isinstance(value, Mapping):
                whole[word] = {name: self.schema(child, within, depth + 1) for name, child in value.items()}
            elif word in LISTS and isinstance(value, list):
                whole[word] = [self.schema(child, within, depth + 1) for child in value]
            elif word in ONE:
                whole[word] = self.schema(value, within, depth + 1)
            else:
                whole[word] = value
        return whole
