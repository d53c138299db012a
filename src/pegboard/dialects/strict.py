"""OpenAI's strict mode: every property required, every object closed, and the few keywords it knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pegboard.dialects.inlining import Inexpressible, both, inlined, merged
from pegboard.dialects.nulls import fits_null
from pegboard.dialects.wording import SAYABLE, with_words

# As its guide to structured outputs states them.
MAX_PROPERTIES = 5_000
MAX_LEVELS = 10
MAX_TEXT = 120_000
MAX_CHOICES = 1_000
MANY_CHOICES = 250
MAX_TEXT_OF_MANY = 15_000

_KEPT = frozenset(
    {"type", "description", "enum", "properties", "items", "anyOf", "pattern", "format", "multipleOf", "minimum",
     "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"}
)  # fmt: skip
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
_LOOKAROUND = ("(?=", "(?!", "(?<=", "(?<!")
# What these mean cannot be said in few words.
_NEVER = frozenset(
    {"not", "if", "then", "else", "dependencies", "dependentRequired", "dependentSchemas", "patternProperties",
     "propertyNames", "contains", "prefixItems", "additionalItems", "unevaluatedItems"}
)  # fmt: skip
_ABOUT = frozenset({"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"})


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema for strict mode, or None where it cannot be expressed; `without_nulls` undoes it on arguments."""
    whole = inlined(schema)
    if whole is None or not isinstance(whole.get("properties", {}), Mapping):
        return None
    if "properties" not in whole and whole.get("additionalProperties") is not False and "allOf" not in whole:
        return None
    try:
        strict = _strict({**whole, "type": "object"}, is_root=True)
    except Inexpressible:
        return None
    return strict if "anyOf" not in strict and _is_within_limits(strict) else None


def _strict(given: Any, *, is_root: bool = False) -> dict[str, Any]:
    node = _plain(given)
    if "anyOf" in node:
        return _any_of(node)
    kinds = _kinds(node)
    unsaid = [(word, value) for word, value in node.items() if word not in _KEPT and word in SAYABLE]
    strict = {word: value for word, value in node.items() if word in _KEPT}
    strict["type"] = kinds[0] if len(kinds) == 1 else kinds
    if "format" in strict and strict["format"] not in _FORMATS:
        unsaid.append(("format", strict.pop("format")))
    if any(token in str(strict.get("pattern", "")) for token in _LOOKAROUND):
        unsaid.append(("pattern", strict.pop("pattern")))
    if "object" in kinds:
        _close(strict, node, is_root=is_root)
    else:
        strict.pop("properties", None)
    if "array" in kinds:
        strict["items"] = _strict(node.get("items"))
    else:
        strict.pop("items", None)
    return with_words(strict, unsaid)


def _plain(given: Any) -> dict[str, Any]:
    """The schema in words that strict mode has, as far as it has them."""
    if not isinstance(given, Mapping):
        raise Inexpressible
    node = merged(given)
    if _NEVER & node.keys() or node.keys() >= {"anyOf", "oneOf"}:
        raise Inexpressible
    if "oneOf" in node:
        node["anyOf"] = node.pop("oneOf")
    if "const" in node:
        node = both({word: value for word, value in node.items() if word != "const"}, {"enum": [node["const"]]})
    return node


def _any_of(node: dict[str, Any]) -> dict[str, Any]:
    if node.keys() - _ABOUT - {"anyOf", "type"}:
        raise Inexpressible
    kind = {"type": node["type"]} if "type" in node else {}
    branches = [_strict({**kind, **branch} if isinstance(branch, Mapping) else branch) for branch in node["anyOf"]]
    about = {"description": node["description"]} if "description" in node else {}
    return with_words({"anyOf": branches, **about}, [("default", node["default"])] if "default" in node else [])


def _kinds(node: Mapping[str, Any]) -> list[str]:
    kind = node.get("type")
    if kind is None and "enum" in node:
        kind = list(dict.fromkeys(_kind_of(choice) for choice in node["enum"]))
    if kind is None and ("properties" in node or "items" in node):
        kind = "object" if "properties" in node else "array"
    if not kind:
        raise Inexpressible
    return list(kind) if isinstance(kind, list) else [kind]


def _kind_of(value: Any) -> str:
    if isinstance(value, dict | list):
        raise Inexpressible
    names = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
    return names[type(value)]


def _close(strict: dict[str, Any], node: Mapping[str, Any], *, is_root: bool) -> None:
    properties = node.get("properties", {})
    required = node.get("required", ())
    rest = node.get("additionalProperties", node.get("unevaluatedProperties"))
    if rest not in (None, False) or not set(required) <= properties.keys():
        raise Inexpressible
    if not properties and rest is None and not is_root:
        raise Inexpressible
    strict["properties"] = {
        name: _strict(child) if name in required else _nullable(_strict(child)) for name, child in properties.items()
    }
    strict["required"] = list(properties)
    strict["additionalProperties"] = False


def _nullable(strict: dict[str, Any]) -> dict[str, Any]:
    if fits_null(strict):
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
    for node, level in _all(strict):
        names = node.get("properties", {})
        listed = node.get("enum", ())
        words = sum(len(choice) for choice in listed if isinstance(choice, str))
        properties += len(names)
        choices += len(listed)
        text += words + sum(map(len, names))
        if level > MAX_LEVELS or (len(listed) > MANY_CHOICES and words > MAX_TEXT_OF_MANY):
            return False
    return properties <= MAX_PROPERTIES and text <= MAX_TEXT and choices <= MAX_CHOICES


def _all(strict: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
    todo = [(strict, 1)]
    while todo:
        node, level = todo.pop()
        yield node, level if "properties" in node else 0
        below = level + ("properties" in node)
        inside = [*node.get("properties", {}).values(), *([node["items"]] if "items" in node else ())]
        todo += [(child, below) for child in inside] + [(child, level) for child in node.get("anyOf", ())]
