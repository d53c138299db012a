"""Gemini's two subsets: JSON Schema in `parametersJsonSchema`, and the older one of OpenAPI in `parameters`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.dialects.adapting.inlining import Inexpressible, cut_inlined, inlined, merged
from pegboard.dialects.adapting.wording import SAYABLE, with_words

# The keywords that Google's own type of such a schema has, and `$defs` and `$ref` for schemas inside themselves.
GEMINI_KEPT = frozenset(
    {"type", "format", "title", "description", "default", "enum", "items", "prefixItems", "minItems", "maxItems",
     "uniqueItems", "minimum", "maximum", "minLength", "maxLength", "pattern", "minProperties", "maxProperties",
     "anyOf", "oneOf", "properties", "additionalProperties", "required", "propertyOrdering"}
)  # fmt: skip
_OPENAPI_KEPT = GEMINI_KEPT - {"default", "uniqueItems", "prefixItems", "oneOf", "additionalProperties"}
_OPENAPI_FORMATS = frozenset({"date-time", "float", "double", "int32", "int64"})


def gemini_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema in what `parametersJsonSchema` takes; equal to the one given where that is simple."""
    whole = inlined(schema)
    if whole is not None:
        return _gemini(whole)
    moved = {name: _gemini(part) for word in ("definitions", "$defs") for name, part in schema.get(word, {}).items()}
    return {**_gemini(schema), **({"$defs": moved} if moved else {})}


def openapi_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema in what Gemini's older `parameters` takes: OpenAPI's words, types in upper case, `nullable`."""
    return _openapi(cut_inlined(schema))


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
    """The schema without what either subset has another word for."""
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


def _openapi(given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        return {}
    node = _plain(given)
    if "oneOf" in node:
        node.setdefault("anyOf", node.pop("oneOf"))
    kept = {word: value for word, value in node.items() if word in _OPENAPI_KEPT}
    unsaid = [(word, value) for word, value in node.items() if word not in _OPENAPI_KEPT and word in SAYABLE]
    if kept.get("format") not in (None, *_OPENAPI_FORMATS):
        unsaid.append(("format", kept.pop("format")))
    kinds, nullable = _kinds(node)
    if isinstance(kept.get("enum"), list):
        nullable |= None in kept["enum"]
        kept["enum"] = [choice for choice in kept["enum"] if choice is not None]
        if not all(isinstance(choice, str) and choice for choice in kept["enum"]):
            unsaid.append(("enum", kept.pop("enum")))
    if isinstance(kept.get("anyOf"), list):
        others = [part for part in kept["anyOf"] if not (isinstance(part, Mapping) and part.get("type") == "null")]
        nullable |= len(others) < len(kept["anyOf"])
        kept["anyOf"] = [_openapi(part) for part in others]
        if len(kept["anyOf"]) == 1:
            kept = {**kept.pop("anyOf")[0], **kept}
            kinds = kinds or [kept.get("type", "")]
    if isinstance(kept.get("properties"), Mapping):
        kept["properties"] = {name: _openapi(child) for name, child in kept["properties"].items()}
    if "items" in kept or "ARRAY" in kinds:
        kept["items"] = _openapi(kept.get("items"))
    kept.pop("type", None)
    if len(kinds) > 1 and "anyOf" not in kept:
        kept["anyOf"] = [{"type": kind, **({"items": kept["items"]} if kind == "ARRAY" else {})} for kind in kinds]
        kept.pop("items", None)
    elif kinds and kinds[0]:
        kept["type"] = kinds[0]
    return with_words({**kept, **({"nullable": True} if nullable else {})}, unsaid)


def _kinds(node: Mapping[str, Any]) -> tuple[list[str], bool]:
    kind = node.get("type")
    if kind is None:
        kind = "object" if "properties" in node else "array" if "items" in node or "prefixItems" in node else []
        kind = "string" if not kind and "enum" in node and all(isinstance(each, str) for each in node["enum"]) else kind
    kinds = kind if isinstance(kind, list) else [kind]
    others = [each.upper() for each in kinds if each != "null"]
    return (others or ["NULL"] if kinds else []), bool(others) and "null" in kinds
