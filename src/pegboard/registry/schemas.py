"""JSON Schemas as people register them: checked once, compiled into validators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import jsonschema_rs
import orjson
from jsonschema_rs import Draft7Validator, Draft202012Validator, Registry

from pegboard.registry.cost import MAX_CHECKS, TooCostly, cost_of
from pegboard.registry.patterns import ENGINE, PatternProblem, check_patterns, with_bounded_texts
from pegboard.registry.subschemas import DRAFT_7, DRAFT_2020, Child, Document, Path, nested_ids, pointer_to

MAX_BYTES = 256 * 1024
MAX_DEPTH = 64
MAX_CHAIN = 256
MAX_SUBSCHEMAS = 20_000

_DIALECTS = frozenset(
    {
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft/2020-12/schema",
    }
)
_ADDRESS = "urn:pegboard:schema"
_TYPES = "array, boolean, integer, null, number, object, string"

Validator = Draft7Validator | Draft202012Validator


class SchemaProblem(ValueError):
    """A schema that cannot be registered, with where and why."""


def check_schema(schema: Any, *, where: str) -> None:
    """Raise SchemaProblem unless the schema can be used; `input_schema` must also allow an object."""
    try:
        _check(schema, describes_arguments=where == "input_schema")
    except _Fault as fault:
        place = f" at {_pointed(fault.path)}" if fault.path else ""
        raise SchemaProblem(f"{where}{place}: {fault.text}") from None


def compile_validator(schema: Mapping[str, Any]) -> Validator:
    """A validator for the schema that asserts formats, bounds patterns and never fetches anything."""
    document = Document(schema)
    return _compiled(with_bounded_texts(document), document.is_2020)


class BoundedValidator:
    """A validator that refuses, with TooCostly, a value whose validation would take too many checks."""

    __slots__ = ("_check_cost", "_is_valid", "_per_byte", "schema")

    def __init__(self, schema: Mapping[str, Any]) -> None:
        cost = cost_of(Document(schema), schema)
        self.schema = schema
        self._is_valid = compile_validator(schema).is_valid
        self._check_cost = cost.check
        self._per_byte = cost.per_byte

    def is_valid(self, value: Any, size: int | None = None) -> bool:
        """Whether the value fits; `size` is its length as JSON, where that is known."""
        if size is None or size * self._per_byte > MAX_CHECKS:
            self._check_cost(value)
        return self._is_valid(value)


class Parts:
    """The parts of a document, each compiled when it is first asked for."""

    def __init__(self, document: Document) -> None:
        draft = jsonschema_rs.Draft202012 if document.is_2020 else jsonschema_rs.Draft7
        self._is_2020 = document.is_2020
        self._registry = Registry([(_ADDRESS, with_bounded_texts(document))], draft=draft, retriever=_never_fetch)
        self._compiled: dict[str, Validator] = {}

    def is_valid(self, reference: str, value: Any) -> bool:
        """Whether the value fits the part that a local reference such as `#/properties/a` names."""
        if reference not in self._compiled:
            self._compiled[reference] = _compiled({"$ref": _ADDRESS + reference}, self._is_2020, self._registry)
        return self._compiled[reference].is_valid(value)


class _Fault(Exception):
    def __init__(self, text: str, path: Iterable[str | int] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.path = tuple(path)


def _check(schema: Any, *, describes_arguments: bool) -> None:
    if not isinstance(schema, Mapping):
        raise _Fault(f"a schema is a JSON object, this is {type(schema).__name__}")
    has_many = _check_extent(schema) > MAX_SUBSCHEMAS
    dialect = schema.get("$schema", DRAFT_7)
    if not isinstance(dialect, str) or dialect.removesuffix("#") not in _DIALECTS:
        raise _Fault(f"'{str(dialect)[:100]}' is not supported; use {DRAFT_7} or {DRAFT_2020}", ("$schema",))
    document = Document(schema)
    if has_many and _has_more_schemas(document, MAX_SUBSCHEMAS):
        # The checks below would take seconds to come to the same end.
        raise _Fault(f"holds more than {MAX_SUBSCHEMAS:,} schemas; leave some out")
    _check_against_its_draft(document)
    _check_references(document)
    _check_extent_of_references(document)
    try:
        check_patterns(document)
        compile_validator(schema)
    except PatternProblem as problem:
        raise _Fault(str(problem.args[0]), problem.args[1] if len(problem.args) > 1 else ()) from None
    except ValueError as error:
        raise _Fault(_first_line(error)) from None
    if describes_arguments:
        kinds = schema.get("type", "object")
        if "object" not in (kinds if isinstance(kinds, list) else [kinds]):
            raise _Fault(f"arguments are always an object, so the type must allow object, not {kinds}", ("type",))
    _check_defaults(document)


def _check_extent(schema: Mapping[str, Any]) -> int:
    """How many objects the schema holds; raises _Fault where it is too large or no JSON."""
    todo: list[tuple[Path, Any]] = [((), schema)]
    count = objects = 0
    while todo:
        path, value = todo.pop()
        count += 1
        if len(path) >= MAX_DEPTH and isinstance(value, Mapping | list):
            raise _Fault(f"is nested more than {MAX_DEPTH} levels deep", path[:4])
        if count > MAX_BYTES:
            raise _Fault(f"is larger than {MAX_BYTES // 1024} KiB")
        if isinstance(value, Mapping):
            objects += 1
            if not all(isinstance(key, str) for key in value):
                raise _Fault("has a key that is not a string", path)
            todo += [((*path, key), item) for key, item in value.items()]
        elif isinstance(value, list):
            todo += [((*path, index), item) for index, item in enumerate(value)]
        elif isinstance(value, float) and value - value != 0:
            raise _Fault("NaN and infinities are not JSON", path)
        elif isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise _Fault("an integer beyond 64 bits", path)
        elif value is not None and not isinstance(value, str | int | float):
            raise _Fault(f"a value of type {type(value).__name__} is not JSON", path)
    try:
        size = len(orjson.dumps(schema if isinstance(schema, dict) else dict(schema)))
    except (TypeError, ValueError) as error:
        raise _Fault(f"cannot be written as JSON: {error}") from None
    if size > MAX_BYTES:
        raise _Fault(f"is {size:,} bytes as JSON, at most {MAX_BYTES:,} are accepted")
    return objects


def _has_more_schemas(document: Document, most: int) -> bool:
    seen: set[int] = set()
    for _, node, _ in document.everything():
        seen.add(id(node))
        if len(seen) > most:
            return True
    return False


def _check_against_its_draft(document: Document) -> None:
    try:
        jsonschema_rs.meta.validate({**document.root, "$schema": DRAFT_2020 if document.is_2020 else DRAFT_7})
    except jsonschema_rs.ValidationError as error:
        found = error
        while isinstance(found.kind, jsonschema_rs.ValidationErrorKind.AnyOf):
            inner = [item for branch in found.kind.context for item in branch]
            found = max(inner, key=lambda item: len(item.instance_path))
        path = found.instance_path
        if path and path[-1] == "type":
            raise _Fault(f"{str(found.instance)[:100]!r} is not a type; types are: {_TYPES}", path) from None
        if found.kind.value == "regex":
            raise _Fault(f"'{str(found.instance)[:100]}' is not a regular expression that compiles", path) from None
        raise _Fault(_first_line(found), path) from None
    except ValueError as error:
        raise _Fault(_first_line(error)) from None


def _check_references(document: Document) -> None:
    refers = False
    for path, node, _ in document.everything():
        for word, reference in document.references(node):
            refers = True
            if not reference.startswith("#"):
                raise _Fault(
                    f"'{reference[:100]}' is not local; a $ref may only name a part of this schema, as #/definitions/x",
                    (*path, word),
                )
            if document.resolve(reference) is None:
                raise _Fault(f"'{reference[:100]}' names nothing in this schema", (*path, word))
    if refers:
        for path in nested_ids(document.root):
            raise _Fault("an $id inside the schema would move what its $refs name; leave it out", (*path, "$id"))


def _check_extent_of_references(document: Document) -> None:
    def in_place(node: Any) -> list[Child]:
        return list(document.in_place(node))

    def below(node: Any) -> list[Child]:
        return [*document.in_place(node), *document.inside(node)]

    chains: dict[int, int] = {}
    for path, node, _ in document.everything():
        for item, is_circle in _leaves_first(node, in_place, chains):
            if is_circle:
                raise _Fault("refers back to itself for the same value, without end", path)
            chains[id(item)] = 1 + max((chains[id(child)] for _, child in in_place(item)), default=0)
        if chains[id(node)] > MAX_CHAIN:
            raise _Fault(f"leads through more than {MAX_CHAIN} schemas for one value", path)
    sizes: dict[int, int] = {}
    for item, is_circle in _leaves_first(document.root, below, sizes):
        if not is_circle:
            sizes[id(item)] = 1 + sum(sizes.get(id(child), 1) for _, child in below(item))
    if sizes[id(document.root)] > MAX_SUBSCHEMAS:
        raise _Fault(f"its $refs, followed, come to more than {MAX_SUBSCHEMAS:,} schemas; refer to each fewer times")


def _leaves_first(root: Any, children: Any, done: Mapping[int, int]) -> Iterable[tuple[Any, bool]]:
    """Each schema below the root after those below it, and, marked, each one met again inside itself."""
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


def _check_defaults(document: Document) -> None:
    parts = Parts(document)
    for name, node in document.root.get("properties", {}).items():
        if isinstance(node, Mapping) and "default" in node:
            path = ("properties", name)
            try:
                cost_of(document, node).check(node["default"])
            except TooCostly as error:
                raise _Fault(str(error), (*path, "default")) from None
            if not parts.is_valid(pointer_to(path), node["default"]):
                raise _Fault("the default does not fit its own schema", (*path, "default"))


def _compiled(schema: dict[str, Any], is_2020: bool, registry: Registry | None = None) -> Validator:
    return (Draft202012Validator if is_2020 else Draft7Validator)(
        schema,
        formats={"date-time": _is_instant},
        validate_formats=True,
        retriever=_never_fetch,
        registry=registry,
        pattern_options=ENGINE,
    )


_rfc_3339 = Draft7Validator({"format": "date-time"}, validate_formats=True).is_valid


def _is_instant(text: str) -> bool:
    """Whether the text is an ISO 8601 date and time with a zone; seconds may be left out."""
    return _rfc_3339(text) or (text[16:17] in ("Z", "z", "+", "-") and _rfc_3339(f"{text[:16]}:00{text[16:]}"))


def _never_fetch(address: str) -> Any:
    raise ValueError(f"'{address[:100]}' is not part of this schema and nothing is fetched")


def _first_line(error: ValueError) -> str:
    text = str(getattr(error, "message", error)).partition("\n")[0]
    return text if len(text) <= 300 else text[:299] + "…"


def _pointed(path: Path) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
