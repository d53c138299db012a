"""Examples and defaults out of an API document: what of them helps, and does not contradict the schema."""

from __future__ import annotations

from typing import Any

import orjson

from pegboard.registry.schemas import compile_validator
from pegboard.registry.storable import unstorable
from pegboard.registry.subschemas import DRAFT_2020

MOST = 3
LARGEST = 400

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int, float),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_SIMPLE = frozenset({"type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}) | {
    "minLength", "maxLength", "pattern", "format", "multipleOf", "default", "description", "title", "examples",
    "deprecated", "contentEncoding", "contentMediaType",
}  # fmt: skip


def modest(raw: dict[str, Any]) -> list[Any]:
    """A few of the examples that a schema, a parameter or a body gives, none of them large."""
    given: list[Any] = [raw["example"]] if "example" in raw else []
    several = raw.get("examples")
    if isinstance(several, dict):
        given += [each["value"] for each in several.values() if isinstance(each, dict) and "value" in each]
    elif isinstance(several, list):
        given += several
    kept: list[Any] = []
    room = LARGEST
    for value in given:
        if len(kept) == MOST:
            break
        size = _size(value)
        if size <= room and value not in kept:
            kept.append(value)
            room -= size
    return kept


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a default fits its schema, as far as the schema says so by itself."""
    kinds = schema.get("type")
    named = [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)]
    if named and not any(_is(value, kind) for kind in named):
        return False
    if isinstance(schema.get("enum"), list) and value not in schema["enum"]:
        return False
    if not schema.keys() - {"type", "enum", "default", "description", "title", "examples", "format"} or (
        schema.keys() - _SIMPLE
    ):
        return "format" not in schema or _validates(value, {"format": schema["format"]})
    return _validates(value, schema)


def _validates(value: Any, schema: dict[str, Any]) -> bool:
    try:
        return compile_validator({"$schema": DRAFT_2020, **schema}).is_valid(value)
    except ValueError:
        return True  # whatever is wrong with the schema is said where the whole of it is checked


def _is(value: Any, kind: str) -> bool:
    if kind not in _KINDS:
        return True
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _KINDS[kind])


def _size(value: Any) -> int:
    if isinstance(value, str) and len(value) > LARGEST:
        return LARGEST + 1
    try:
        return len(orjson.dumps(value)) if not unstorable({"": value}) else LARGEST + 1
    except (TypeError, ValueError):
        return LARGEST + 1
