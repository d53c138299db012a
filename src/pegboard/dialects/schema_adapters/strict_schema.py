"""Convert schemas for OpenAI's strict mode, and describe the constraints it does not support in words.

In strict mode all properties are required, all objects are closed, and only a few keywords are supported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import orjson

from pegboard.dialects.schema_adapters.inline_refs import (
    ANNOTATION_KEYWORDS,
    InexpressibleSchema,
    inline_references,
    intersect_schemas,
    merge_all_of,
)
from pegboard.dialects.schema_adapters.optional_nulls import is_null_valid

_MAX_JSON_CHARS = 200


def _format_json(value: Any) -> str:
    text = orjson.dumps(value).decode()
    return text if len(text) <= _MAX_JSON_CHARS else text[: _MAX_JSON_CHARS - 1] + "…"


_KEYWORD_TEXTS: dict[str, Callable[[Any], str]] = {
    "default": lambda value: f"default {_format_json(value)}",
    "minLength": lambda value: f"at least {value} characters",
    "maxLength": lambda value: f"at most {value} characters",
    "pattern": lambda value: f"matches {_format_json(value)}",
    "format": lambda value: f"format {value}",
    "minimum": lambda value: f"at least {value}",
    "maximum": lambda value: f"at most {value}",
    "exclusiveMinimum": lambda value: f"more than {value}",
    "exclusiveMaximum": lambda value: f"less than {value}",
    "multipleOf": lambda value: f"a multiple of {value}",
    "minItems": lambda value: f"at least {value} items",
    "maxItems": lambda value: f"at most {value} items",
    "uniqueItems": lambda value: "no item twice" if value else "",
    "minProperties": lambda value: f"at least {value} properties",
    "maxProperties": lambda value: f"at most {value} properties",
    "contentEncoding": lambda value: f"encoded as {value}",
    "contentMediaType": lambda value: f"content of type {value}",
    "enum": lambda value: f"one of {_format_json(value)}",
}
DESCRIBABLE_KEYWORDS = frozenset(_KEYWORD_TEXTS)


def describe_keyword(word: str, value: Any) -> str:
    """Return the meaning of a keyword in words, or "" if there is no text for it."""
    return _KEYWORD_TEXTS[word](value) if word in _KEYWORD_TEXTS else ""


def append_to_description(node: dict[str, Any], unsaid: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return the schema with the meaning of these keywords appended to its description."""
    words = "; ".join(filter(None, (describe_keyword(word, value) for word, value in unsaid)))
    if not words:
        return node
    description = node.get("description")
    return {**node, "description": f"{description} ({words})" if description else words[0].upper() + words[1:]}


# Limits from OpenAI's guide to structured outputs.
MAX_PROPERTIES = 5_000
MAX_NESTING_LEVELS = 10
MAX_TEXT_CHARS = 120_000
MAX_ENUM_VALUES = 1_000
LARGE_ENUM_VALUES = 250
MAX_LARGE_ENUM_CHARS = 15_000

_STRICT_KEYWORDS = frozenset(
    {"type", "description", "enum", "properties", "items", "anyOf", "pattern", "format", "multipleOf", "minimum",
     "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"}
)  # fmt: skip
_STRICT_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
_LOOKAROUND = ("(?=", "(?!", "(?<=", "(?<!")
# Keywords whose meaning cannot be described in a few words.
_UNSUPPORTED_KEYWORDS = frozenset(
    {"not", "if", "then", "else", "dependencies", "dependentRequired", "dependentSchemas", "patternProperties",
     "propertyNames", "contains", "prefixItems", "additionalItems", "unevaluatedItems"}
)  # fmt: skip
_ANY_VALUE = "a schema that allows any value"


def to_strict_schema(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the schema for strict mode, or None; `remove_optional_nulls` reverts it in arguments."""
    try:
        return _build_strict_schema(schema)
    except InexpressibleSchema:
        return None


def explain_not_strict(schema: Mapping[str, Any]) -> str | None:
    """Return why strict mode cannot express the schema, or None if it can."""
    try:
        _build_strict_schema(schema)
    except InexpressibleSchema as error:
        return f"'{'.'.join(error.path)}': {error.why}" if error.path else error.why
    return None


def _build_strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    whole = inline_references(schema)
    if whole is None:
        raise InexpressibleSchema("its $refs are circular, or too large when resolved")
    whole["type"] = "object"
    if not whole.keys() & {"properties", "allOf"} and whole.get("additionalProperties") is not False:
        raise InexpressibleSchema(_ANY_VALUE)
    strict = _convert_to_strict(whole, is_root=True)
    if "anyOf" in strict:
        raise InexpressibleSchema("the arguments are one of several objects")
    if not _is_within_limits(strict):
        raise InexpressibleSchema("it is nested too deeply, or has too many properties or enum values")
    return strict


def _convert_to_strict(given: Any, *, is_root: bool = False) -> dict[str, Any]:
    node = _normalize_for_strict(given)
    if "anyOf" in node:
        return _convert_any_of(node)
    kinds = _get_types(node)
    if "array" in kinds and not isinstance(node.get("items"), Mapping):
        raise InexpressibleSchema("the items of an array have no schema")
    unsaid = [
        (word, value) for word, value in node.items() if word not in _STRICT_KEYWORDS and word in DESCRIBABLE_KEYWORDS
    ]
    strict = {word: value for word, value in node.items() if word in _STRICT_KEYWORDS}
    strict["type"] = kinds[0] if len(kinds) == 1 else kinds
    if "format" in strict and strict["format"] not in _STRICT_FORMATS:
        unsaid.append(("format", strict.pop("format")))
    if any(token in str(strict.get("pattern", "")) for token in _LOOKAROUND):
        unsaid.append(("pattern", strict.pop("pattern")))
    if "object" in kinds:
        _close_object(strict, node, is_root=is_root)
    else:
        strict.pop("properties", None)
    if "array" in kinds:
        strict["items"] = _convert_to_strict(node.get("items"))
    else:
        strict.pop("items", None)
    return append_to_description(strict, unsaid)


def _normalize_for_strict(given: Any) -> dict[str, Any]:
    """Return the schema with equivalent keywords of strict mode; raise InexpressibleSchema if there are none."""
    if not isinstance(given, Mapping):
        raise InexpressibleSchema(_ANY_VALUE)
    node = merge_all_of(given)
    for word in node:
        if word in _UNSUPPORTED_KEYWORDS or (word == "oneOf" and "anyOf" in node):
            raise InexpressibleSchema(f"strict mode has no '{word}'")
    if "oneOf" in node:
        node["anyOf"] = node.pop("oneOf")
    if "const" in node:
        node = intersect_schemas(
            {word: value for word, value in node.items() if word != "const"}, {"enum": [node["const"]]}
        )
    return node


def _convert_any_of(node: dict[str, Any]) -> dict[str, Any]:
    if node.keys() - ANNOTATION_KEYWORDS - {"anyOf", "type"}:
        raise InexpressibleSchema("anyOf beside keywords other than a description")
    kind = {"type": node["type"]} if "type" in node else {}
    branches = [
        _convert_to_strict({**kind, **branch} if isinstance(branch, Mapping) else branch) for branch in node["anyOf"]
    ]
    about = {"description": node["description"]} if "description" in node else {}
    return append_to_description(
        {"anyOf": branches, **about}, [("default", node["default"])] if "default" in node else []
    )


def _get_types(node: Mapping[str, Any]) -> list[str]:
    kind = node.get("type")
    if kind is None and "enum" in node:
        kind = list(dict.fromkeys(_get_value_type(choice) for choice in node["enum"]))
    if kind is None and ("properties" in node or "items" in node):
        kind = "object" if "properties" in node else "array"
    if not kind:
        raise InexpressibleSchema(_ANY_VALUE)
    return list(kind) if isinstance(kind, list) else [kind]


def _get_value_type(value: Any) -> str:
    if isinstance(value, dict | list):
        raise InexpressibleSchema("an enum with objects or arrays")
    names = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
    return names[type(value)]


def _close_object(strict: dict[str, Any], node: Mapping[str, Any], *, is_root: bool) -> None:
    properties = node.get("properties", {})
    required = node.get("required", ())
    rest = node.get("additionalProperties", node.get("unevaluatedProperties"))
    if rest not in (None, False) or (not properties and rest is None and not is_root):
        raise InexpressibleSchema("an object with undeclared properties")
    if not set(required) <= properties.keys():
        raise InexpressibleSchema("it requires properties that it does not declare")
    strict["properties"] = {}
    for name, child in properties.items():
        try:
            made = _convert_to_strict(child)
        except InexpressibleSchema as error:
            raise InexpressibleSchema(error.why, name, *error.path) from None
        strict["properties"][name] = made if name in required else _make_nullable(made)
    strict["required"] = list(properties)
    strict["additionalProperties"] = False


def _make_nullable(strict: dict[str, Any]) -> dict[str, Any]:
    if is_null_valid(strict):
        return strict
    if "anyOf" in strict:
        return {**strict, "anyOf": [*strict["anyOf"], {"type": "null"}]}
    kind = strict["type"]
    if isinstance(kind, str) and kind in ("object", "array"):
        return {"anyOf": [strict, {"type": "null"}]}
    kinds = [kind] if isinstance(kind, str) else kind
    wider = {**strict, "type": [*kinds, *(() if "null" in kinds else ("null",))]}
    return {**wider, "enum": [*strict["enum"], None]} if "enum" in strict else wider


def _is_within_limits(strict: dict[str, Any]) -> bool:
    properties = text = choices = 0
    for node, level in _iter_nodes(strict):
        names = node.get("properties", {})
        listed = node.get("enum", ())
        words = sum(len(choice) for choice in listed if isinstance(choice, str))
        properties += len(names)
        choices += len(listed)
        text += words + sum(map(len, names))
        if level > MAX_NESTING_LEVELS or (len(listed) > LARGE_ENUM_VALUES and words > MAX_LARGE_ENUM_CHARS):
            return False
    return properties <= MAX_PROPERTIES and text <= MAX_TEXT_CHARS and choices <= MAX_ENUM_VALUES


def _iter_nodes(strict: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
    todo = [(strict, 1)]
    while todo:
        node, level = todo.pop()
        yield node, level if "properties" in node else 0
        below = level + ("properties" in node)
        inside = [*node.get("properties", {}).values(), *([node["items"]] if "items" in node else ())]
        todo += [(child, below) for child in inside] + [(child, level) for child in node.get("anyOf", ())]
