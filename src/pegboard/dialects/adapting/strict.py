"""OpenAI's strict mode: every property required, every object closed, and the few keywords it knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pegboard.dialects.adapting.inlining import ANNOTATIONS, Inexpressible, both, inlined, merged
from pegboard.dialects.adapting.nulls import fits_null
from pegboard.dialects.adapting.wording import SAYABLE, with_words

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
_FREE = "any value at all"


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema for strict mode, or None where it cannot be expressed; `without_nulls` undoes it on arguments."""
    try:
        return _made_strict(schema)
    except Inexpressible:
        return None


def why_not_strict(schema: Mapping[str, Any]) -> str | None:
    """Why strict mode cannot express the schema, or None where it can."""
    try:
        _made_strict(schema)
    except Inexpressible as error:
        return f"'{'.'.join(error.path)}': {error.why}" if error.path else error.why
    return None


def _made_strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    whole = inlined(schema)
    if whole is None:
        raise Inexpressible("its $refs lead back to themselves, or to too much")
    whole["type"] = "object"
    if not whole.keys() & {"properties", "allOf"} and whole.get("additionalProperties") is not False:
        raise Inexpressible(_FREE)
    strict = _strict(whole, is_root=True)
    if "anyOf" in strict:
        raise Inexpressible("the arguments are a choice of several objects")
    if not _is_within_limits(strict):
        raise Inexpressible("it is too deep, or has too many properties or choices")
    return strict


def _strict(given: Any, *, is_root: bool = False) -> dict[str, Any]:
    node = _plain(given)
    if "anyOf" in node:
        return _any_of(node)
    kinds = _kinds(node)
    if "array" in kinds and not isinstance(node.get("items"), Mapping):
        raise Inexpressible("a list without a schema for what is in it")
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
        raise Inexpressible(_FREE)
    node = merged(given)
    for word in node:
        if word in _NEVER or (word == "oneOf" and "anyOf" in node):
            raise Inexpressible(f"it has no '{word}'")
    if "oneOf" in node:
        node["anyOf"] = node.pop("oneOf")
    if "const" in node:
        node = both({word: value for word, value in node.items() if word != "const"}, {"enum": [node["const"]]})
    return node


def _any_of(node: dict[str, Any]) -> dict[str, Any]:
    if node.keys() - ANNOTATIONS - {"anyOf", "type"}:
        raise Inexpressible("a choice with more beside it than a description")
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
        raise Inexpressible(_FREE)
    return list(kind) if isinstance(kind, list) else [kind]


def _kind_of(value: Any) -> str:
    if isinstance(value, dict | list):
        raise Inexpressible("a choice of whole objects or lists")
    names = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
    return names[type(value)]


def _close(strict: dict[str, Any], node: Mapping[str, Any], *, is_root: bool) -> None:
    properties = node.get("properties", {})
    required = node.get("required", ())
    rest = node.get("additionalProperties", node.get("unevaluatedProperties"))
    if rest not in (None, False) or (not properties and rest is None and not is_root):
        raise Inexpressible("an object of any properties")
    if not set(required) <= properties.keys():
        raise Inexpressible("it requires properties that it does not describe")
    strict["properties"] = {}
    for name, child in properties.items():
        try:
            made = _strict(child)
        except Inexpressible as error:
            raise Inexpressible(error.why, name, *error.path) from None
        strict["properties"][name] = made if name in required else _nullable(made)
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
