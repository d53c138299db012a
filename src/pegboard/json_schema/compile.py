"""Check JSON Schemas when they are registered, and compile them into validators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import jsonschema_rs
import orjson
from jsonschema_rs import Draft7Validator, Draft202012Validator, Registry, ValidationError, ValidationErrorKind

from pegboard.json_schema.patterns import REGEX_ENGINE, PatternProblem, bound_pattern_texts, check_patterns
from pegboard.json_schema.problem_text import get_wording
from pegboard.json_schema.schema_document import (
    DRAFT_7,
    DRAFT_2020,
    Child,
    Path,
    SchemaDocument,
    find_nested_ids,
    make_pointer,
)
from pegboard.json_schema.validation_cost import MAX_CHECKS, TooCostly, compute_cost
from pegboard.json_schema.value_text import format_value, shorten

_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
# Type names of other languages that are not similar to one of JSON Schema.
_TYPE_SYNONYMS = {
    "float": "number", "double": "number", "decimal": "number", "long": "integer", "dict": "object", "map": "object",
    "list": "array", "tuple": "array", "set": "array", "none": "null", "text": "string", "date": "string",
}  # fmt: skip
# The types of a schema itself.
_SCHEMA_TYPES = ["boolean", "object"]


def explain_draft_error(error: ValidationError) -> tuple[str, Path]:
    """Return the message for an error of the draft's meta-schema, and the path to it."""
    while isinstance(error.kind, ValidationErrorKind.AnyOf):
        # Take the deepest error, and among these prefer a branch that accepts the type of the value.
        inner = [item for branch in error.kind.context for item in branch]
        error = max(inner, key=lambda item: (len(item.instance_path), item.kind.name not in ("type", "enum")))
    value, path = error.instance, tuple(error.instance_path)
    limit: Any = next(iter(error.kind.as_dict().values()), None)
    if error.kind.name == "type" and sorted(limit) == _SCHEMA_TYPES:
        return f"must be a schema, which is an object, true or false, but received {format_received(value)}", path
    if error.kind.name == "format":
        return explain_format_error(limit, value), path
    words = get_wording(error.kind.name, limit, {error.kind.name: limit}, value)
    message = f"{words.text}, but received {format_received(value)}" if words.shows else words.text
    return message + (_suggest_type(value) if error.kind.name == "enum" else ""), path


def explain_format_error(name: str, value: Any) -> str:
    """Return the message for a text of the schema that does not have this format."""
    if name == "regex":
        return f"the pattern {format_received(value)} is not a regular expression that compiles"
    return f"must be a {name.replace('uri', 'URI').replace('-', ' ')}, but received {format_received(value)}"


def format_received(value: Any) -> str:
    """Return the value as a message contains it: strings in quotes, others as JSON."""
    return f"'{shorten(value)}'" if isinstance(value, str) else format_value(value)


def _suggest_type(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    name = value[:40].lower()
    near = [_TYPE_SYNONYMS[name]] if name in _TYPE_SYNONYMS else get_close_matches(name, _TYPES, 1)
    return f"; did you mean '{near[0]}'?" if near else ""


MAX_SCHEMA_BYTES = 256 * 1024
MAX_DEPTH = 64
MAX_REFERENCE_CHAIN = 256
MAX_SUBSCHEMAS = 20_000

_DIALECTS = frozenset(
    {
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft/2020-12/schema",
    }
)
# A URI with a hierarchical scheme, so that a relative $id can be resolved against it.
_SCHEMA_URI = "pegboard:///schema"

Validator = Draft7Validator | Draft202012Validator


class SchemaProblem(ValueError):
    """A schema that cannot be registered; the message has the path and the reason."""


def check_schema(schema: Any, *, where: str) -> None:
    """Raise SchemaProblem unless the schema can be used; `input_schema` must also allow an object."""
    try:
        _check_document(schema, describes_arguments=where == "input_schema")
    except _SchemaFault as fault:
        place = f" at {_format_path(fault.path)}" if fault.path else ""
        raise SchemaProblem(f"{where}{place}: {fault.text}") from None


def compile_validator(schema: Mapping[str, Any]) -> Validator:
    """Return a validator that asserts formats, limits the text length for patterns, and fetches no remote schema."""
    document = SchemaDocument(schema)
    return _build_validator(bound_pattern_texts(document), document.is_2020)


class BoundedValidator:
    """A validator that raises TooCostly if validating a value takes too many checks."""

    __slots__ = ("_check_cost", "_is_valid", "_per_byte", "schema")

    def __init__(self, schema: Mapping[str, Any]) -> None:
        cost = compute_cost(SchemaDocument(schema), schema)
        self.schema = schema
        self._is_valid = compile_validator(schema).is_valid
        self._check_cost = cost.check
        self._per_byte = cost.per_byte

    def is_valid(self, value: Any, size: int | None = None) -> bool:
        """Return True if the value is valid, or raise TooCostly; `size` is its length as JSON, if known."""
        if size is None or size * self._per_byte > MAX_CHECKS:
            self._check_cost(value)
        return self._is_valid(value)


class CompiledParts:
    """Validators for the parts of a document, each compiled on first use."""

    def __init__(self, document: SchemaDocument) -> None:
        draft = jsonschema_rs.Draft202012 if document.is_2020 else jsonschema_rs.Draft7
        self._is_2020 = document.is_2020
        self._registry = Registry([(_SCHEMA_URI, bound_pattern_texts(document))], draft=draft, retriever=_refuse_fetch)
        self._compiled: dict[str, Validator] = {}

    def is_valid(self, reference: str, value: Any) -> bool:
        """Return True if the value fits the subschema at a local reference such as `#/properties/a`."""
        if reference not in self._compiled:
            self._compiled[reference] = _build_validator(
                {"$ref": _SCHEMA_URI + reference}, self._is_2020, self._registry
            )
        return self._compiled[reference].is_valid(value)


class _SchemaFault(Exception):
    def __init__(self, text: str, path: Iterable[str | int] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.path = tuple(path)


def _check_document(schema: Any, *, describes_arguments: bool) -> None:
    if not isinstance(schema, Mapping):
        raise _SchemaFault(f"a schema must be a JSON object, but received {format_received(schema)}")
    has_many = _check_extent(schema) > MAX_SUBSCHEMAS
    dialect = schema.get("$schema", DRAFT_7)
    if not isinstance(dialect, str) or dialect.removesuffix("#") not in _DIALECTS:
        raise _SchemaFault(f"'{str(dialect)[:100]}' is not supported; use {DRAFT_7} or {DRAFT_2020}", ("$schema",))
    document = SchemaDocument(schema)
    if has_many and _has_more_schemas(document, MAX_SUBSCHEMAS):
        # Stop early: the checks below would take seconds and reject the schema as well.
        raise _SchemaFault(f"holds more than {MAX_SUBSCHEMAS:,} schemas; leave some out")
    _check_against_its_draft(document)
    _check_references(document)
    _check_extent_of_references(document)
    try:
        check_patterns(document)
        compile_validator(schema)
    except PatternProblem as problem:
        raise _SchemaFault(str(problem.args[0]), problem.args[1] if len(problem.args) > 1 else ()) from None
    except ValueError as error:
        raise _SchemaFault(_format_schema_error(error)) from None
    if describes_arguments:
        kinds = schema.get("type", "object")
        if "object" not in (kinds if isinstance(kinds, list) else [kinds]):
            raise _SchemaFault(f"arguments are always an object, so the type must allow object, not {kinds}", ("type",))
    _check_defaults(document)


def _check_extent(schema: Mapping[str, Any]) -> int:
    """Return the number of objects in the schema; raise _SchemaFault if it is too large or not JSON."""
    todo: list[tuple[Path, Any]] = [((), schema)]
    count = objects = 0
    while todo:
        path, value = todo.pop()
        count += 1
        if len(path) >= MAX_DEPTH and isinstance(value, Mapping | list):
            raise _SchemaFault(f"is nested more than {MAX_DEPTH} levels deep", path[:4])
        if count > MAX_SCHEMA_BYTES:
            raise _SchemaFault(f"is larger than {MAX_SCHEMA_BYTES // 1024} KiB")
        if isinstance(value, Mapping):
            objects += 1
            if not all(isinstance(key, str) for key in value):
                raise _SchemaFault("has a key that is not a string", path)
            todo += [((*path, key), item) for key, item in value.items()]
        elif isinstance(value, list):
            todo += [((*path, index), item) for index, item in enumerate(value)]
        elif isinstance(value, float) and value - value != 0:
            raise _SchemaFault("NaN and infinities are not JSON", path)
        elif isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise _SchemaFault("an integer beyond 64 bits", path)
        elif value is not None and not isinstance(value, str | int | float):
            raise _SchemaFault(f"a value of type {type(value).__name__} is not JSON", path)
    try:
        size = len(orjson.dumps(schema if isinstance(schema, dict) else dict(schema)))
    except (TypeError, ValueError) as error:
        raise _SchemaFault(f"cannot be written as JSON: {error}") from None
    if size > MAX_SCHEMA_BYTES:
        raise _SchemaFault(f"is {size:,} bytes as JSON, at most {MAX_SCHEMA_BYTES:,} are accepted")
    return objects


def _has_more_schemas(document: SchemaDocument, most: int) -> bool:
    seen: set[int] = set()
    for _, node, _ in document.iterate_schemas():
        seen.add(id(node))
        if len(seen) > most:
            return True
    return False


def _check_against_its_draft(document: SchemaDocument) -> None:
    try:
        jsonschema_rs.meta.validate({**document.root, "$schema": DRAFT_2020 if document.is_2020 else DRAFT_7})
    except jsonschema_rs.ValidationError as error:
        raise _SchemaFault(*explain_draft_error(error)) from None
    except ValueError as error:
        raise _SchemaFault(_format_schema_error(error)) from None
    if document.is_2020:  # this draft does not check formats, but the validator resolves these URIs
        for path, node, _ in document.iterate_schemas():
            for word in ("$id", "$schema"):
                if isinstance(node.get(word), str) and not _is_uri_reference(node[word]):
                    raise _SchemaFault(explain_format_error("uri-reference", node[word]), (*path, word))


def _check_references(document: SchemaDocument) -> None:
    refers = False
    for path, node, _ in document.iterate_schemas():
        for word, reference in document.references(node):
            refers = True
            if not reference.startswith("#"):
                raise _SchemaFault(
                    f"'{reference[:100]}' is not local; a $ref may only name a part of this schema, as #/definitions/x",
                    (*path, word),
                )
            if document.resolve(reference) is None:
                raise _SchemaFault(f"'{reference[:100]}' names nothing in this schema", (*path, word))
    if refers:
        for path in find_nested_ids(document.root):
            raise _SchemaFault(
                "an $id inside the schema would change what its $refs refer to; remove it", (*path, "$id")
            )


def _check_extent_of_references(document: SchemaDocument) -> None:
    def in_place(node: Any) -> list[Child]:
        return list(document.iterate_in_place(node))

    def below(node: Any) -> list[Child]:
        return [*document.iterate_in_place(node), *document.inside(node)]

    chains: dict[int, int] = {}
    for path, node, _ in document.iterate_schemas():
        for item, is_circle in _iterate_leaves_first(node, in_place, chains):
            if is_circle:
                raise _SchemaFault("refers back to itself for the same value, without end", path)
            chains[id(item)] = 1 + max((chains[id(child)] for _, child in in_place(item)), default=0)
        if chains[id(node)] > MAX_REFERENCE_CHAIN:
            raise _SchemaFault(f"leads through more than {MAX_REFERENCE_CHAIN} schemas for one value", path)
    sizes: dict[int, int] = {}
    for item, is_circle in _iterate_leaves_first(document.root, below, sizes):
        if not is_circle:
            sizes[id(item)] = 1 + sum(sizes.get(id(child), 1) for _, child in below(item))
    if sizes[id(document.root)] > MAX_SUBSCHEMAS:
        raise _SchemaFault(f"its $refs expand to more than {MAX_SUBSCHEMAS:,} schemas; use fewer references")


def _iterate_leaves_first(root: Any, children: Any, done: Mapping[int, int]) -> Iterable[tuple[Any, bool]]:
    """Yield each schema below the root in post-order with False, and each schema met again inside itself with True."""
    open_now: set[int] = set()
    todo: list[tuple[Any, bool]] = [(root, False)]
    while todo:
        node, is_leaving = todo.pop()
        if is_leaving:
            open_now.discard(id(node))
            yield node, False
        elif id(node) in open_now:
            yield node, True
        elif id(node) not in done:
            open_now.add(id(node))
            todo.append((node, True))
            todo += [(child, False) for _, child in children(node)]


def _check_defaults(document: SchemaDocument) -> None:
    parts = CompiledParts(document)
    for name, node in document.root.get("properties", {}).items():
        if isinstance(node, Mapping) and "default" in node:
            path = ("properties", name)
            try:
                compute_cost(document, node).check(node["default"])
            except TooCostly as error:
                raise _SchemaFault(str(error), (*path, "default")) from None
            if not parts.is_valid(make_pointer(path), node["default"]):
                raise _SchemaFault("the default does not fit its own schema", (*path, "default"))


def _build_validator(schema: dict[str, Any], is_2020: bool, registry: Registry | None = None) -> Validator:
    return (Draft202012Validator if is_2020 else Draft7Validator)(
        schema,
        formats={"date-time": _is_instant},
        validate_formats=True,
        retriever=_refuse_fetch,
        registry=registry,
        pattern_options=REGEX_ENGINE,
    )


_is_uri_reference = Draft7Validator({"format": "uri-reference"}, validate_formats=True).is_valid
_is_rfc_3339 = Draft7Validator({"format": "date-time"}, validate_formats=True).is_valid


def _is_instant(text: str) -> bool:
    """Return True if the text is an ISO 8601 date and time with a time zone; seconds are optional."""
    return _is_rfc_3339(text) or (text[16:17] in ("Z", "z", "+", "-") and _is_rfc_3339(f"{text[:16]}:00{text[16:]}"))


def _refuse_fetch(address: str) -> Any:
    raise ValueError(f"'{address[:100]}' is not part of this schema and nothing is fetched")


def _format_schema_error(error: ValueError) -> str:
    text = str(getattr(error, "message", error)).partition("\n")[0]
    return f"is not a schema that can be used: {shorten(text, 300)}"


def _format_path(path: Path) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
