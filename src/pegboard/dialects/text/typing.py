"""Values that a model writes as bare text, by what the tool's schema says they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from pegboard.core.errors import MalformedArguments
from pegboard.dialects.reading import json_of
from pegboard.registry.subschemas import Document

# The types a value may have; None where the schema does not say.
_Kinds = frozenset[str] | None

_STRING: _Kinds = frozenset({"string"})
_TYPES: dict[str, frozenset[str]] = {
    "number": frozenset({"number", "integer"}),
    **{kind: frozenset({kind}) for kind in ("string", "integer", "boolean", "object", "array", "null")},
}
_KINDS: dict[type, str] = {
    str: "string", bool: "boolean", int: "integer", float: "number", Decimal: "number", dict: "object", list: "array",
    type(None): "null",
}  # fmt: skip
# How templates in Python write what is no string.
_WORDS = {"True": True, "False": False, "None": None}


def property_of(schema: Mapping[str, Any] | None, name: str) -> Any:
    """What a tool's input schema says of this parameter; True where it says nothing."""
    if schema is None:
        return True
    for part in _parts(schema, Document(schema)):
        properties = part.get("properties")
        if isinstance(properties, Mapping) and name in properties:
            return properties[name]
    return schema.get("additionalProperties", True)


def typed(text: str, schema: Any, root: Mapping[str, Any] | None = None) -> Any:
    """The value that a text stands for where this is its schema, whose references lead into the root.

    A string is the text as it is. Anything else is read as JSON, and stays text where it cannot be read, for validation
    to refuse. Where it may be both, or the schema says nothing, it is JSON if that gives one of the other types.
    """
    document = Document({} if root is None else root)
    kinds = _kinds(schema, document, {})
    if kinds == _STRING or any(text in _choices(part) for part in _parts(schema, document)):
        return text
    try:
        value = json_of(text)
    except MalformedArguments:
        value = _WORDS.get(text.strip(), text)
        return value if kinds and "string" not in kinds and _kind(value) in kinds else text
    if isinstance(value, str):
        return text
    return value if kinds is None or "string" not in kinds or _kind(value) in kinds else text


def _kinds(schema: Any, document: Document, known: dict[str, _Kinds]) -> _Kinds:
    if not isinstance(schema, Mapping):
        return None
    given = schema.get("type")
    found = _either(_TYPES.get(str(name)) for name in (given if isinstance(given, list) else [given]))
    if "enum" in schema or "const" in schema:
        found = _both(found, frozenset(_kind(value) for value in _choices(schema)))
    reference = schema.get("$ref")
    if isinstance(reference, str):
        if reference not in known:
            known[reference] = frozenset()
            known[reference] = _kinds(document.resolve(reference), document, known)
        found = _both(found, known[reference])
    for word in ("anyOf", "oneOf"):
        found = _both(found, _either(_kinds(option, document, known) for option in _list(schema, word)))
    for part in _list(schema, "allOf"):
        found = _both(found, _kinds(part, document, known))
    return found | {"null"} if found is not None and schema.get("nullable") is True else found


def _either(options: Iterable[_Kinds]) -> _Kinds:
    found: frozenset[str] = frozenset()
    for option in options:
        if option is None:
            return None
        found |= option
    return found or None


def _both(one: _Kinds, other: _Kinds) -> _Kinds:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _kind(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return "integer"
    return _KINDS.get(type(value), "")


def _choices(schema: Mapping[str, Any]) -> list[Any]:
    return [*_list(schema, "enum"), schema["const"]] if "const" in schema else _list(schema, "enum")


def _list(schema: Mapping[str, Any], word: str) -> list[Any]:
    held = schema.get(word)
    return held if isinstance(held, list) else []


def _parts(schema: Any, document: Document) -> Iterator[Mapping[str, Any]]:
    """The schema and those that stand for it, behind references and among options."""
    seen: set[int] = set()
    todo = [schema]
    while todo:
        part = todo.pop()
        if not isinstance(part, Mapping) or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part.get("$ref"), str):
            todo.append(document.resolve(part["$ref"]))
        for word in ("allOf", "anyOf", "oneOf"):
            todo += _list(part, word)
