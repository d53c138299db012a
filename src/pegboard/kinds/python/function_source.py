"""Analyses a python tool's code without running it: entry point, imports, and the signature as a JSON Schema.

Not by pydantic, which derives a schema from a function only if its code has run.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Iterable, Iterator
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from jsonschema_rs import Draft7Validator

from pegboard.kinds.python.compile_check import CodeProblem, check_code_size, check_compiles, parse_code
from pegboard.model.json_text import is_unicode

Schema = dict[str, Any]

# Deeper annotations have no use for a model.
_MAX_DEPTH = 16
# The same applies to larger unions and longer quoted annotations.
_MAX_OPTIONS = 100
_MAX_QUOTED_CHARACTERS = 1000
_JSON_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "None": "null"}
_ARRAY_NAMES = frozenset(
    {"list", "tuple", "set", "frozenset", "sequence", "mutablesequence", "iterable", "collection", "abstractset"}
)
_OBJECT_NAMES = frozenset({"dict", "mapping", "mutablemapping", "ordereddict", "defaultdict"})


def build_arguments_schema(arguments: ast.arguments) -> Schema:
    """Return the schema of a function's named arguments; an argument without a usable annotation may be anything."""
    properties: dict[str, Schema] = {}
    required: list[str] = []
    # In Python, parameters without a default come first.
    by_place = [*arguments.posonlyargs, *arguments.args]
    defaults = [*([None] * (len(by_place) - len(arguments.defaults))), *arguments.defaults]
    named = [
        *zip(by_place, defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    for argument, default in named:
        properties[argument.arg] = _add_default(_convert_annotation(argument.annotation), default)
        if default is None:
            required.append(argument.arg)
    schema: Schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    if arguments.kwarg is not None:
        schema["additionalProperties"] = _convert_annotation(arguments.kwarg.annotation) or True
    return schema


def _add_default(schema: Schema, default: ast.expr | None) -> Schema:
    """Return the schema with the default if JSON can represent it; the function applies any other default itself."""
    if default is None:
        return schema
    try:
        value = ast.literal_eval(default)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return schema
    if value is None and not _matches_schema(None, schema):
        schema = _build_union([schema, {"type": "null"}])  # `unit: str = None` means that None is allowed
    return {**schema, "default": value} if _is_json(value) and _matches_schema(value, schema) else schema


def _convert_annotation(annotation: ast.expr | None, depth: int = 0) -> Schema:
    if annotation is None or depth > _MAX_DEPTH:
        return {}
    if isinstance(annotation, ast.Constant):
        return _convert_constant(annotation.value, depth)
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        return _build_union([_convert_annotation(side, depth + 1) for side in (annotation.left, annotation.right)])
    if isinstance(annotation, ast.Subscript):
        within = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        return _convert_subscript(_read_last_word(annotation.value), within, depth + 1)
    return _convert_name(_read_last_word(annotation))


def _convert_constant(value: object, depth: int) -> Schema:
    if value is None:
        return {"type": "null"}
    if not isinstance(value, str) or len(value) > _MAX_QUOTED_CHARACTERS:
        return {}
    try:
        return _convert_annotation(ast.parse(value.strip(), mode="eval").body, depth + 1)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return {}


def _convert_name(word: str) -> Schema:
    if word in _JSON_TYPES:
        return {"type": _JSON_TYPES[word]}
    # List and Dict of typing are list and dict.
    return (
        {"type": "array"}
        if word.lower() in _ARRAY_NAMES
        else {"type": "object"}
        if word.lower() in _OBJECT_NAMES
        else {}
    )


def _convert_subscript(word: str, within: list[ast.expr], depth: int) -> Schema:
    if word in ("Optional", "Union"):
        nothing: list[Schema] = [{"type": "null"}] if word == "Optional" else []
        return _build_union([*(_convert_annotation(each, depth) for each in within), *nothing])
    if word in ("Literal", "Annotated"):
        return _convert_literal(within) if word == "Literal" else _convert_annotated(within, depth)
    schema = _convert_name(word)
    if word in ("tuple", "Tuple") and not (len(within) == 2 and _is_ellipsis(within[1])):
        return {**schema, "minItems": len(within), "maxItems": len(within)}
    if schema == {"type": "array"} and (items := _convert_annotation(within[0], depth)):
        return {**schema, "items": items}
    if schema == {"type": "object"} and len(within) == 2 and (values := _convert_annotation(within[1], depth)):
        return {**schema, "additionalProperties": values}
    return schema


def _convert_literal(options: list[ast.expr]) -> Schema:
    try:
        values = [ast.literal_eval(option) for option in options]
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return {}
    if not all(value is None or isinstance(value, str | int) for value in values) or not _is_json(values):
        return {}
    # True equals 1 in Python, but they are two options.
    return {"enum": list({(type(value), value): value for value in values}.values())}


def _convert_annotated(within: list[ast.expr], depth: int) -> Schema:
    schema = _convert_annotation(within[0], depth)
    for note in within[1:]:
        if isinstance(note, ast.Constant) and isinstance(note.value, str):
            return {**schema, "description": note.value}
    return schema


def _build_union(schemas: Iterable[Schema]) -> Schema:
    options: dict[str, Schema] = {}
    for schema in schemas:
        for option in schema["anyOf"] if set(schema) == {"anyOf"} else [schema]:
            options.setdefault(json.dumps(option, sort_keys=True), option)
    if "{}" in options or len(options) > _MAX_OPTIONS:
        return {}
    found = list(options.values())
    return found[0] if len(found) == 1 else {"anyOf": found}


def _matches_schema(value: Any, schema: Schema) -> bool:
    return Draft7Validator(schema).is_valid(value)


def _is_json(value: Any, depth: int = 0) -> bool:
    if depth > _MAX_DEPTH:
        return False
    if isinstance(value, list):
        return all(_is_json(item, depth + 1) for item in value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(item, depth + 1) for key, item in value.items())
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return -(2**63) <= value < 2**64
    return value is None or (isinstance(value, str) and is_unicode(value) and "\0" not in value)


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _read_last_word(node: ast.expr) -> str:
    """Return the last part of a dotted name; empty for other expressions."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


__all__ = ["CodeProblem", "EntryPointProblem", "ImportedModule", "PythonCode", "read_code", "read_signature"]

MAX_PARAMETERS = 200

_Function = ast.FunctionDef | ast.AsyncFunctionDef
# Exceptions whose handlers make an import optional.
_IMPORT_ERROR_NAMES = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
# Registration reads the same code several times, and each time may take a tenth of a second.
_CACHE_SIZE = 64


class EntryPointProblem(CodeProblem):
    """The named entry point is not among the functions of the code."""


class ImportedModule(NamedTuple):
    """A required module, by its top-level name, and the first line that imports it."""

    module: str
    line: int


@dataclass(frozen=True, slots=True)
class PythonCode:
    """The result of analysing a tool's code."""

    entry: str
    imports: tuple[ImportedModule, ...]
    schema: dict[str, Any]


def read_code(code: str, entrypoint: str | None = None) -> PythonCode:
    """Analyse the code; raise CodeProblem if it cannot be a tool."""
    check_code_size(code)  # also limits the size of the cache
    found = _read_cached(code, entrypoint)
    if isinstance(found, CodeProblem):
        raise copy(found)  # a raised exception keeps its frames alive
    return found


def read_signature(code: str, entrypoint: str | None = None) -> dict[str, Any]:
    """Return the JSON Schema of the function's arguments; raise CodeProblem if the code cannot be a tool."""
    return deepcopy(read_code(code, entrypoint).schema)


@lru_cache(_CACHE_SIZE)
def _read_cached(code: str, entrypoint: str | None) -> PythonCode | CodeProblem:
    try:
        return _read_function(code, entrypoint)
    except CodeProblem as problem:
        return problem.with_traceback(None)


def _read_function(code: str, entrypoint: str | None) -> PythonCode:
    tree = parse_code(code)
    check_compiles(tree)
    function = _find_entry_point(tree, entrypoint)
    if positional := [one.arg for one in function.args.posonlyargs]:
        raise CodeProblem(
            f"{function.name}() takes '{positional[0]}' by position only, and arguments are given by name; "
            "take the '/' out of its signature",
            function.lineno,
        )
    if (count := len(function.args.args) + len(function.args.kwonlyargs)) > MAX_PARAMETERS:
        raise CodeProblem(
            f"{function.name}() takes {count:,} parameters, at most {MAX_PARAMETERS}; take an object or an array",
            function.lineno,
        )
    return PythonCode(function.name, _list_imports(tree), build_arguments_schema(function.args))


def _find_entry_point(tree: ast.Module, entrypoint: str | None) -> _Function:
    functions = [node for node in tree.body if isinstance(node, _Function)]
    if not functions:
        raise CodeProblem("no function at the top level; define one: def main(name): return …")
    named = {function.name: function for function in functions}
    if entrypoint is None:
        return named.get("main", functions[-1])
    if entrypoint not in named:
        raise EntryPointProblem(f"no function '{entrypoint[:100]}' in the code; there are: {', '.join(named)[:1000]}")
    return named[entrypoint]


def _list_imports(tree: ast.Module) -> tuple[ImportedModule, ...]:
    first: dict[str, int] = {}
    for module, line in _iterate_required_imports(tree):
        first[module] = min(line, first.get(module, line))
    return tuple(
        sorted((ImportedModule(*found) for found in first.items()), key=lambda found: (found.line, found.module))
    )


def _iterate_required_imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield all imports except those whose failure the code handles."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level or node.module is None:
                raise CodeProblem("a relative import, but the code of a tool is one file", node.lineno)
            yield node.module.partition(".")[0], node.lineno
        elif isinstance(node, ast.Try | ast.TryStar) and any(map(_is_import_guard, node.handlers)):
            todo += [*node.handlers, *node.orelse, *node.finalbody]
        elif isinstance(node, ast.If) and _read_last_word(node.test) == "TYPE_CHECKING":
            todo += node.orelse
        else:
            todo += ast.iter_child_nodes(node)


def _is_import_guard(handler: ast.ExceptHandler) -> bool:
    caught = handler.type
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught] if caught is not None else []
    return caught is None or any(_read_last_word(name) in _IMPORT_ERROR_NAMES for name in names)
