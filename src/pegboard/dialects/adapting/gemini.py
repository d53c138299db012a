"""What Gemini takes of JSON Schema in `parametersJsonSchema`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.dialects.adapting.inlining import Inexpressible, inlined, merged
from pegboard.dialects.adapting.wording import SAYABLE, with_words

# The keywords that Google's own type of such a schema has, and `$defs` and `$ref` for schemas inside themselves.
GEMINI_KEPT = frozenset(
    {"type", "format", "title", "description", "default", "enum", "items", "prefixItems", "minItems", "maxItems",
     "uniqueItems", "minimum", "maximum", "minLength", "maxLength", "pattern", "minProperties", "maxProperties",
     "anyOf", "oneOf", "properties", "additionalProperties", "required", "propertyOrdering"}
)  # fmt: skip


def gemini_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema in what `parametersJsonSchema` takes; equal to the one given where that is simple."""
    whole = inlined(schema)
    if whole is not None:
        return _gemini(whole)
    moved = {name: _gemini(part) for word in ("definitions", "$defs") for name, part in schema.get(word, {}).items()}
    return {**_gemini(schema), **({"$defs": moved} if moved else {})}


def _gemini(given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        return {}
    if isinstance(given.get("$ref"), str):
        return {"$ref": given["$ref"].replace("#/definitions/", "#/$defs/", 1)}
    node = _plain(given)
    kept = {word: value for word, value in node.items() if word in GEMINI_KEPT}
    unsaid = [(word, value) for word, value in node.items() if word not in GEMINI_KEPT and word in SAYABLE]
    if any(isinstance(choice, bool | dict | list) for choice in kept.get("enum", ())):
        unsaid.append(("enum", kept.pop("enum")))
    if isinstance(kept.get("properties"), Mapping):
        kept["properties"] = {name: _gemini(child) for name, child in kept["properties"].items()}
    for word in ("anyOf", "oneOf", "prefixItems"):
        if isinstance(kept.get(word), list):
            kept[word] = [_gemini(child) for child in kept[word]]
    for word in ("items", "additionalProperties"):
        if isinstance(kept.get(word), Mapping) or (kept.get(word) is True and word == "items"):
            kept[word] = _gemini(kept[word])
    return with_words(kept, unsaid)


def _plain(given: Mapping[str, Any]) -> dict[str, Any]:
    """The schema without what the subset has another word for."""
    try:
        node = merged(given)
    except Inexpressible:
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
