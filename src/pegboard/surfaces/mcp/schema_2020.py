"""Converts a JSON Schema of Draft 7 to 2020-12, the draft of MCP; no constraint is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from pegboard.json_schema.schema_document import SchemaDocument, split_pointer

# Keywords that Draft 7 does not ignore beside a `$ref`, because they are no constraints.
_BESIDE_REF = frozenset({"$ref", "$comment", "title", "description", "default", "examples", "definitions", "$defs"})
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_MAPS = frozenset({"properties", "patternProperties", "definitions", "$defs", "dependentSchemas"})
_ONES = frozenset({
    "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else",
})  # fmt: skip


def convert_to_2020(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema in 2020-12; unchanged if it already declares that."""
    document = SchemaDocument(schema)
    if document.is_2020:
        return schema
    converted: dict[str, Any] = _convert(schema, document)
    return converted


def _convert(node: Any, document: SchemaDocument) -> Any:
    if not isinstance(node, Mapping):
        return node
    if isinstance(node.get("$ref"), str):
        # Draft 7 ignores the constraints beside a reference, and 2020-12 applies them.
        node = {word: value for word, value in node.items() if word in _BESIDE_REF}
    converted: dict[str, Any] = {}
    for word, value in node.items():
        converted |= _convert_keyword(word, value, node, document)
    return converted


def _convert_keyword(word: str, value: Any, node: Mapping[str, Any], document: SchemaDocument) -> dict[str, Any]:
    """Return the keywords that replace one keyword of a schema."""
    if word in _CHANGED:
        return _CHANGED[word](value, node, document)
    if word in _MAPS and isinstance(value, Mapping):
        return {_name_container(word, node): {key: _convert(inner, document) for key, inner in value.items()}}
    if word in _LISTS and isinstance(value, list):
        return {word: [_convert(inner, document) for inner in value]}
    return {word: _convert(value, document) if word in _ONES else value}


def _convert_items(value: Any, node: Mapping[str, Any], document: SchemaDocument) -> dict[str, Any]:
    if not isinstance(value, list):
        return {"items": _convert(value, document)}
    rest = {"items": _convert(node["additionalItems"], document)} if "additionalItems" in node else {}
    return {"prefixItems": [_convert(item, document) for item in value], **rest}


def _convert_dependencies(value: Any, _node: Mapping[str, Any], document: SchemaDocument) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        return {}
    required = {key: names for key, names in value.items() if isinstance(names, list)}
    schemas = {key: _convert(inner, document) for key, inner in value.items() if not isinstance(inner, list)}
    converted = {"dependentRequired": required, "dependentSchemas": schemas}
    return {word: inner for word, inner in converted.items() if inner}


def _convert_id(value: Any, _node: Mapping[str, Any], _document: SchemaDocument) -> dict[str, Any]:
    return {"$anchor": value[1:]} if isinstance(value, str) and value.startswith("#") else {"$id": value}


def _convert_ref(value: Any, _node: Mapping[str, Any], document: SchemaDocument) -> dict[str, Any]:
    return {"$ref": _convert_reference(value, document) if isinstance(value, str) else value}


def _drop(_value: Any, _node: Mapping[str, Any], _document: SchemaDocument) -> dict[str, Any]:
    return {}


_CHANGED: Mapping[str, Callable[[Any, Mapping[str, Any], SchemaDocument], dict[str, Any]]] = {
    "$schema": _drop,  # 2020-12 is the default
    "$ref": _convert_ref,
    "$id": _convert_id,
    "items": _convert_items,
    "additionalItems": _drop,  # a part of the array form of `items`, without which it has no effect
    "dependencies": _convert_dependencies,
}


def _name_container(word: str, node: Mapping[str, Any]) -> str:
    return "$defs" if word == "definitions" and "$defs" not in node else word


def _convert_reference(reference: str, document: SchemaDocument) -> str:
    """Return the reference with the new names of the keywords on its way."""
    if not reference.startswith("#/"):
        return reference
    node: Any = document.root
    # True if `node` is a schema, and not a map or list of schemas.
    is_schema = True
    keys: list[str] = []
    for key, raw in zip(split_pointer(unquote(reference[1:])), reference[2:].split("/"), strict=True):
        name = raw
        inner = node.get(key) if isinstance(node, Mapping) else None
        if is_schema and isinstance(node, Mapping):
            if key == "definitions":
                name = _name_container(key, node)
            elif key == "items" and isinstance(inner, list):
                name = "prefixItems"
            elif key == "additionalItems" and isinstance(node.get("items"), list):
                name = "items"
            elif key == "dependencies":
                name = "dependentSchemas"
            is_schema = not (key in _MAPS or key == "dependencies" or isinstance(inner, list))
        else:
            if isinstance(node, list) and key.isdigit() and int(key[:9]) < len(node):
                inner = node[int(key[:9])]
            is_schema = True
        keys.append(name)
        node = inner
    return "#/" + "/".join(keys)
