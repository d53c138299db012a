"""Replace each `$ref` in a schema by its target, and merge `allOf` into one schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.json_schema.schema_document import SchemaDocument

MAX_NODES = 5_000
MAX_DEPTH = 64

ANNOTATION_KEYWORDS = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
)
# Keywords whose value is a schema, a list of schemas, or a map of schemas.
SCHEMA_KEYWORDS = frozenset(
    {"items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "propertyNames",
     "contains", "not", "if", "then", "else"}
)  # fmt: skip
SCHEMA_LIST_KEYWORDS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
SCHEMA_MAP_KEYWORDS = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies"})
_REMOVED_KEYWORDS = frozenset(
    {"$schema", "$id", "$anchor", "$dynamicAnchor", "$defs", "definitions", "$ref", "$dynamicRef"}
)


class InexpressibleSchema(Exception):
    """Raised for a schema that cannot be converted; has the reason and the path of properties."""

    def __init__(self, why: str, *path: str) -> None:
        super().__init__(why)
        self.why = why
        self.path = path


def inline_references(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the schema with references replaced by their targets, or None if it is recursive or too large."""
    try:
        whole = _ReferenceInliner(schema).schema(schema, (), 0)
    except InexpressibleSchema:
        return None
    return whole if isinstance(whole, dict) else None


def merge_all_of(node: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with `allOf` merged; raise InexpressibleSchema if its parts conflict."""
    parts = node.get("allOf")
    whole = {word: value for word, value in node.items() if word != "allOf"}
    if not isinstance(parts, list):
        return whole
    for part in parts:
        if part is True:
            continue
        if not isinstance(part, Mapping):
            raise InexpressibleSchema("allOf has a schema that no value satisfies")
        whole = intersect_schemas(whole, merge_all_of(part))
    return whole


def intersect_schemas(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema that requires both; raise InexpressibleSchema if there is no simple one."""
    whole = dict(one)
    for word, value in other.items():
        if word not in whole or whole[word] == value:
            whole[word] = value
        elif word == "properties":
            shared = {
                name: intersect_schemas(whole[word][name], schema) if name in whole[word] else schema
                for name, schema in value.items()
                if isinstance(whole[word].get(name, {}), Mapping) and isinstance(schema, Mapping)
            }
            if len(shared) < len(value):
                raise InexpressibleSchema("allOf has properties that cannot be merged")
            whole[word] = {**whole[word], **shared}
        elif word == "required":
            whole[word] = [*whole[word], *(name for name in value if name not in whole[word])]
        elif word in ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"):
            whole[word] = max(whole[word], value)
        elif word in ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"):
            whole[word] = min(whole[word], value)
        elif word == "enum":
            whole[word] = [choice for choice in whole[word] if choice in value]
        elif word not in ANNOTATION_KEYWORDS:
            raise InexpressibleSchema(f"allOf has '{word}' twice, with different values")
    return whole


class _ReferenceInliner:
    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._document = SchemaDocument(schema)
        self._left = MAX_NODES

    def schema(self, node: Any, within: tuple[int, ...], depth: int) -> Any:
        """Return the schema with references resolved; `within` are the ids of the enclosing schemas."""
        if not isinstance(node, Mapping):
            return node
        self._left -= 1
        circular = id(node) in within
        if circular or self._left < 0 or depth > MAX_DEPTH:
            raise InexpressibleSchema("it is recursive" if circular else "it is too large with its $refs resolved")
        within = (*within, id(node))
        references = self._document.references(node)
        if not references:
            return self._inline_children(node, within, depth)
        alone = self._document.has_overriding_reference(node)
        beside = {word: value for word, value in node.items() if word in ANNOTATION_KEYWORDS or not alone}
        whole = self._inline_children(beside, within, depth)
        for _, reference in references:
            target = self._document.resolve(reference)
            if target is False:
                whole = {"not": {}}
            elif isinstance(target, Mapping):
                named = self.schema(target, within, depth + 1)
                try:
                    whole = {**named, **intersect_schemas(whole, named)}
                except InexpressibleSchema:
                    whole = {**whole, "allOf": [*whole.get("allOf", ()), named]}
        return whole

    def _inline_children(self, node: Mapping[str, Any], within: tuple[int, ...], depth: int) -> dict[str, Any]:
        whole: dict[str, Any] = {}
        for word, value in node.items():
            if word in _REMOVED_KEYWORDS:
                continue
            if word in SCHEMA_MAP_KEYWORDS and isinstance(value, Mapping):
                whole[word] = {name: self.schema(child, within, depth + 1) for name, child in value.items()}
            elif word in SCHEMA_LIST_KEYWORDS and isinstance(value, list):
                whole[word] = [self.schema(child, within, depth + 1) for child in value]
            elif word in SCHEMA_KEYWORDS:
                whole[word] = self.schema(value, within, depth + 1)
            else:
                whole[word] = value
        return whole
