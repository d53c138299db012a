"""The signature of a function, read from its source, as a JSON Schema of its arguments."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Iterable
from typing import Any

from jsonschema_rs import Draft7Validator

Schema = dict[str, Any]

# Annotations nested more deeply than this say nothing that a model would heed.
_DEEPEST = 16
# Neither do unions of more options, and annotations in quotes that are longer.
_MOST_OPTIONS = 100
_LONGEST_QUOTED = 1000
_KINDS = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "None": "null"}
_ARRAYS = frozenset(
    {"list", "tuple", "set", "frozenset", "sequence", "mutablesequence", "iterable", "collection", "abstractset"}
)
_OBJECTS = frozenset({"dict", "mapping", "mutablemapping", "ordereddict", "defaultdict"})


def schema_of(arguments: ast.arguments) -> Schema:
    """The schema of what a function takes by name; what an annotation does not say, may be anything."""
    properties: dict[str, Schema] = {}
    required: list[str] = []
    # Those without a default come first.
    by_place = [*arguments.posonlyargs, *arguments.args]
    defaults = [*([None] * (len(by_place) - len(arguments.defaults))), *arguments.defaults]
    named = [
        *zip(by_place, defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    for argument, default in named:
        properties[argument.arg] = _with_default(_schema(argument.annotation), default)
        if default is None:
            required.append(argument.arg)
    schema: Schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    if arguments.kwarg is not None:
        schema["additionalProperties"] = _schema(arguments.kwarg.annotation) or True
    return schema


def _with_default(schema: Schema, default: ast.expr | None) -> Schema:
    """The schema, and the default in it where JSON can say it; any other is the function's own affair."""
    if default is None:
        return schema
    try:
        value = ast.literal_eval(default)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return schema
    if value is None and not _fits(None, schema):
        schema = _union([schema, {"type": "null"}])  # `unit: str = None` means that None is allowed
    return {**schema, "default": value} if _is_json(value) and _fits(value, schema) else schema


def _schema(annotation: ast.expr | None, depth: int = 0) -> Schema:
    if annotation is None or depth > _DEEPEST:
        return {}
    if isinstance(annotation, ast.Constant):
        return _constant(annotation.value, depth)
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        return _union([_schema(side, depth + 1) for side in (annotation.left, annotation.right)])
    if isinstance(annotation, ast.Subscript):
        within = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        return _subscripted(_last_word(annotation.value), within, depth + 1)
    return _named(_last_word(annotation))


def _constant(value: object, depth: int) -> Schema:
    if value is None:
        return {"type": "null"}
    if not isinstance(value, str) or len(value) > _LONGEST_QUOTED:
        return {}
    try:
        return _schema(ast.parse(value.strip(), mode="eval").body, depth + 1)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return {}


def _named(word: str) -> Schema:
    if word in _KINDS:
        return {"type": _KINDS[word]}
    # typing's List and Dict are list and dict.
    return {"type": "array"} if word.lower() in _ARRAYS else {"type": "object"} if word.lower() in _OBJECTS else {}


def _subscripted(word: str, within: list[ast.expr], depth: int) -> Schema:
    if word in ("Optional", "Union"):
        nothing: list[Schema] = [{"type": "null"}] if word == "Optional" else []
        return _union([*(_schema(each, depth) for each in within), *nothing])
    if word in ("Literal", "Annotated"):
        return _literal(within) if word == "Literal" else _annotated(within, depth)
    schema = _named(word)
    if word in ("tuple", "Tuple") and not (len(within) == 2 and _is_ellipsis(within[1])):
        return {**schema, "minItems": len(within), "maxItems": len(within)}
    if schema == {"type": "array"} and (items := _schema(within[0], depth)):
        return {**schema, "items": items}
    if schema == {"type": "object"} and len(within) == 2 and (values := _schema(within[1], depth)):
        return {**schema, "additionalProperties": values}
    return schema


def _literal(options: list[ast.expr]) -> Schema:
    try:
        values = [ast.literal_eval(option) for option in options]
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return {}
    if not all(value is None or isinstance(value, str | int) for value in values) or not _is_json(values):
        return {}
    # True and 1 are equal, and two options all the same.
    return {"enum": list({(type(value), value): value for value in values}.values())}


def _annotated(within: list[ast.expr], depth: int) -> Schema:
    schema = _schema(within[0], depth)
    for note in within[1:]:
        if isinstance(note, ast.Constant) and isinstance(note.value, str):
            return {**schema, "description": note.value}
    return schema


def _union(schemas: Iterable[Schema]) -> Schema:
    options: dict[str, Schema] = {}
    for schema in schemas:
        for option in schema["anyOf"] if set(schema) == {"anyOf"} else [schema]:
            options.setdefault(json.dumps(option, sort_keys=True), option)
    if "{}" in options or len(options) > _MOST_OPTIONS:
        return {}
    found = list(options.values())
    return found[0] if len(found) == 1 else {"anyOf": found}


def _fits(value: Any, schema: Schema) -> bool:
    return Draft7Validator(schema).is_valid(value)


def _is_json(value: Any, depth: int = 0) -> bool:
    if depth > _DEEPEST:
        return False
    if isinstance(value, list):
        return all(_is_json(item, depth + 1) for item in value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(item, depth + 1) for key, item in value.items())
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return -(2**63) <= value < 2**64
    return value is None or (isinstance(value, str) and _is_text(value))


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in value


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _last_word(node: ast.expr) -> str:
    """The last word of a dotted name; nothing for anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
