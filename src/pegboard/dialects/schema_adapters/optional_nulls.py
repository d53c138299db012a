"""Remove nulls that mean "absent", which a model sends if a provider requires every property."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.json_schema.schema_document import SchemaDocument

_MAX_STEPS = 20_000
_MAX_DEPTH = 100
_PYTHON_TYPES: dict[str, Any] = {
    "object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,), "null": (type(None),),
    "integer": (int, float), "number": (int, float),
}  # fmt: skip


def remove_optional_nulls(arguments: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments without nulls of optional properties that forbid null; the same object if unchanged."""
    if not _has_null(arguments):
        return arguments
    try:
        meant, _ = _NullRemover(SchemaDocument(schema)).value(arguments, schema, 0)
    except _StepLimitExceeded:
        return arguments
    return meant if isinstance(meant, dict) else arguments


def is_null_valid(node: Any, document: SchemaDocument | None = None, depth: int = 0) -> bool:
    """Return True if null is valid under this schema."""
    if not isinstance(node, Mapping) or depth > _MAX_DEPTH:
        return node is not False
    kinds = node.get("type", "null")
    ahead = depth + 1
    if document is not None:
        for _, reference in document.references(node):
            target = document.resolve(reference)
            if target is not None and not is_null_valid(target, document, ahead):
                return False
        if document.has_overriding_reference(node):
            return True
    return (
        (kinds == "null" or "null" in kinds)
        and ("enum" not in node or None in node["enum"])
        and node.get("const") is None
        and all(is_null_valid(part, document, ahead) for part in node.get("allOf", ()))
        and ("anyOf" not in node or any(is_null_valid(part, document, ahead) for part in node["anyOf"]))
        and ("oneOf" not in node or sum(is_null_valid(part, document, ahead) for part in node["oneOf"]) == 1)
        and ("not" not in node or not is_null_valid(node["not"], document, ahead))
    )


class _StepLimitExceeded(Exception):
    """Raised if finding the matching alternative takes too many steps."""


class _NullRemover:
    def __init__(self, document: SchemaDocument) -> None:
        self._document = document
        self._left = _MAX_STEPS

    def value(self, value: Any, node: Any, depth: int) -> tuple[Any, bool]:
        """Return the value without such nulls, and whether it then appears valid under this schema."""
        if not isinstance(node, Mapping):
            return value, node is not False
        self._left -= 1
        if self._left < 0 or depth > _MAX_DEPTH:
            raise _StepLimitExceeded
        fits = True
        for _, reference in self._document.references(node):
            target = self._document.resolve(reference)
            if target is not None:
                value, good = self.value(value, target, depth + 1)
                fits &= good
        if self._document.has_overriding_reference(node):
            return value, fits
        if not _may_match(value, node):
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
                value, good = self._remove_in_first_match(value, node[word], depth)
                fits &= good
        return value, fits

    def _remove_in_first_match(self, value: Any, parts: list[Any], depth: int) -> tuple[Any, bool]:
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
            if item is None and is_optional and not is_null_valid(child, self._document):
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


def _may_match(value: Any, node: Mapping[str, Any]) -> bool:
    kinds = node.get("type")
    if kinds is not None and not any(
        _is_of_type(value, kind) for kind in (kinds if isinstance(kinds, list) else (kinds,))
    ):
        return False
    if ("enum" in node and value not in node["enum"]) or ("const" in node and value != node["const"]):
        return False
    return not isinstance(value, dict) or all(name in value for name in node.get("required", ()))


def _is_of_type(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _PYTHON_TYPES.get(kind, ())) and (kind != "integer" or value % 1 == 0)


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
