"""Nulls that stand for "not given", as a model sends them where a provider requires every property."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.registry.subschemas import Document

_MAX_STEPS = 20_000
_MAX_DEPTH = 100
_KINDS: dict[str, Any] = {
    "object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,), "null": (type(None),),
    "integer": (int, float), "number": (int, float),
}  # fmt: skip


def without_nulls(arguments: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without the nulls of optional properties that take none; the same object if there are none."""
    if not _has_null(arguments):
        return arguments
    try:
        meant, _ = _Walk(Document(schema)).value(arguments, schema, 0)
    except _TooMuch:
        return arguments
    return meant if isinstance(meant, dict) else arguments


def fits_null(node: Any, document: Document | None = None, depth: int = 0) -> bool:
    """Whether null is valid under this schema."""
    if not isinstance(node, Mapping) or depth > _MAX_DEPTH:
        return node is not False
    kinds = node.get("type", "null")
    ahead = depth + 1
    if document is not None:
        for _, reference in document.references(node):
            target = document.resolve(reference)
            if target is not None and not fits_null(target, document, ahead):
                return False
        if document.overrides(node):
            return True
    return (
        (kinds == "null" or "null" in kinds)
        and ("enum" not in node or None in node["enum"])
        and node.get("const") is None
        and all(fits_null(part, document, ahead) for part in node.get("allOf", ()))
        and ("anyOf" not in node or any(fits_null(part, document, ahead) for part in node["anyOf"]))
        and ("oneOf" not in node or sum(fits_null(part, document, ahead) for part in node["oneOf"]) == 1)
        and ("not" not in node or not fits_null(node["not"], document, ahead))
    )


class _TooMuch(Exception):
    """Working out which alternative was meant takes too long."""


class _Walk:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._left = _MAX_STEPS

    def value(self, value: Any, node: Any, depth: int) -> tuple[Any, bool]:
        """The value as meant under this schema, and whether it then looks valid under it."""
        if not isinstance(node, Mapping):
            return value, node is not False
        self._left -= 1
        if self._left < 0 or depth > _MAX_DEPTH:
            raise _TooMuch
        fits = True
        for _, reference in self._document.references(node):
            target = self._document.resolve(reference)
            if target is not None:
                value, good = self.value(value, target, depth + 1)
                fits &= good
        if self._document.overrides(node):
            return value, fits
        if not _could_be(value, node):
            return value, False
        if isinstance(value, dict):
            value, good = self._object(value, node, depth)
            fits &= good
        elif isinstance(value, list) and isinstance(node.get("items"), Mapping):
            value, good = self._array(value, node["items"], depth)
            fits &= good
        for part in node.get("allOf", ()):
            value, good = self.value(value, part, depth + 1)
            fits &= good
        for word in ("anyOf", "oneOf"):
            if word in node:
                value, good = self._one_of(value, node[word], depth)
                fits &= good
        return value, fits

    def _one_of(self, value: Any, parts: list[Any], depth: int) -> tuple[Any, bool]:
        for part in parts:
            meant, fits = self.value(value, part, depth + 1)
            if fits:
                return meant, True
        return value, False

    def _object(self, value: dict[str, Any], node: Mapping[str, Any], depth: int) -> tuple[dict[str, Any], bool]:
        properties = node.get("properties", {})
        required = node.get("required", ())
        rest = node.get("additionalProperties", True)
        fits, changed = True, False
        meant: dict[str, Any] = {}
        for name, item in value.items():
            child = properties.get(name, True if name in properties or "patternProperties" in node else rest)
            is_optional = name in properties and name not in required
            if item is None and is_optional and not fits_null(child, self._document):
                changed = True
                continue
            meant[name], good = self.value(item, child, depth + 1)
            changed |= meant[name] is not item
            fits &= good
        return (meant if changed else value), fits

    def _array(self, value: list[Any], items: Mapping[str, Any], depth: int) -> tuple[list[Any], bool]:
        each = [self.value(item, items, depth + 1) for item in value]
        changed = any(meant is not item for (meant, _), item in zip(each, value, strict=True))
        return ([meant for meant, _ in each] if changed else value), all(fits for _, fits in each)


def _could_be(value: Any, node: Mapping[str, Any]) -> bool:
    kinds = node.get("type")
    if kinds is not None and not any(_is(value, kind) for kind in (kinds if isinstance(kinds, list) else (kinds,))):
        return False
    if ("enum" in node and value not in node["enum"]) or ("const" in node and value != node["const"]):
        return False
    return not isinstance(value, dict) or all(name in value for name in node.get("required", ()))


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _KINDS.get(kind, ())) and (kind != "integer" or value % 1 == 0)


def _has_null(arguments: dict[str, Any]) -> bool:
    todo: list[Any] = [arguments]
    while todo:
        held = todo.pop()
        for item in held.values() if isinstance(held, dict) else held:
            if item is None:
                return True
            if isinstance(item, dict | list):
                todo.append(item)
    return False
