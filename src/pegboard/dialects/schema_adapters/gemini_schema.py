"""The subset of JSON Schema that Gemini accepts in `parametersJsonSchema`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.dialects.schema_adapters.inline_refs import InexpressibleSchema, inline_references, merge_all_of
from pegboard.dialects.schema_adapters.strict_schema import DESCRIBABLE_KEYWORDS, append_to_description

# The keywords of Google's schema type; `$defs` and `$ref` are used in addition for recursive schemas.
GEMINI_KEYWORDS = frozenset(
    {"type", "format", "title", "description", "default", "enum", "items", "prefixItems", "minItems", "maxItems",
     "uniqueItems", "minimum", "maximum", "minLength", "maxLength", "pattern", "minProperties", "maxProperties",
     "anyOf", "oneOf", "properties", "additionalProperties", "required", "propertyOrdering"}
)  # fmt: skip


def to_gemini_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema in the subset of `parametersJsonSchema`; a simple schema stays equal."""
    whole = inline_references(schema)
    if whole is not None:
        return _convert_node(whole)
    moved = {
        name: _convert_node(part) for word in ("definitions", "$defs") for name, part in schema.get(word, {}).items()
    }
    return {**_convert_node(schema), **({"$defs": moved} if moved else {})}


def _convert_node(given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        return {}
    if isinstance(given.get("$ref"), str):
        return {"$ref": given["$ref"].replace("#/definitions/", "#/$defs/", 1)}
    node = _rewrite_keywords(given)
    kept = {word: value for word, value in node.items() if word in GEMINI_KEYWORDS}
    unsaid = [
        (word, value) for word, value in node.items() if word not in GEMINI_KEYWORDS and word in DESCRIBABLE_KEYWORDS
    ]
    if any(isinstance(choice, bool | dict | list) for choice in kept.get("enum", ())):
        unsaid.append(("enum", kept.pop("enum")))
    if isinstance(kept.get("properties"), Mapping):
        kept["properties"] = {name: _convert_node(child) for name, child in kept["properties"].items()}
    for word in ("anyOf", "oneOf", "prefixItems"):
        if isinstance(kept.get(word), list):
            kept[word] = [_convert_node(child) for child in kept[word]]
    for word in ("items", "additionalProperties"):
        if isinstance(kept.get(word), Mapping) or (kept.get(word) is True and word == "items"):
            kept[word] = _convert_node(kept[word])
    return append_to_description(kept, unsaid)


def _rewrite_keywords(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with keywords replaced that the subset expresses differently."""
    try:
        node = merge_all_of(given)
    except InexpressibleSchema:
        node = {word: value for word, value in given.items() if word != "allOf"}
    if "const" in node:
        node["enum"] = [node.pop("const")]
    if isinstance(node.get("items"), list):
        node["prefixItems"] = node.pop("items")
    if node.get("type") == "integer":
        for exclusive, inclusive, step in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
            if isinstance(node.get(exclusive), int) and inclusive not in node:
                node[inclusive] = node.pop(exclusive) + step
    return node
