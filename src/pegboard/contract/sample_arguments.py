"""Generates arguments from a tool's input_schema: valid ones, and invalid ones that the tool must refuse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from pegboard.json_schema.compile import BoundedValidator
from pegboard.json_schema.schema_document import split_pointer
from pegboard.json_schema.validation_cost import TooCostly

MAX_DEPTH = 8
# Maximum number of values to generate.
MAX_VALUES = 2000
# Enough items to detect whether their order is kept.
ARRAY_ITEMS = 3
# How many required or declared arguments are removed or get a wrong type.
MAX_WRONG_CASES = 5
_HASH_FORMAT = "{:064x}"
_DATE_FORMAT = "2026-01-{:02}"
_TEXT_FORMATS = (
    "text {}",
    "text_{}",
    "{}",
    "A{}",
    _HASH_FORMAT,
    "00000000-0000-4000-8000-{:012}",
    _DATE_FORMAT + "T12:00:00Z",
    _DATE_FORMAT,
    "12:00:{:02}Z",
    "P{}D",
    "user{}@example.com",
    "https://example.com/{}",
    "host{}.example.com",
    "192.0.2.{}",
    "2001:db8::{}",
    "/{}",
    "#{:06x}",
)
_WRONG_TYPE_VALUES: tuple[Any, ...] = ({"wrong": "type"}, ["wrong", "type"], "wrong type", 1.5, True, None)


class NoSample(ValueError):
    """Raised if no arguments can be generated from the schema."""


def make_valid_arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return valid arguments: examples and defaults if there are any, otherwise minimal values; raise NoSample."""
    validator = BoundedValidator(schema)
    made = _SampleMaker(schema).make_value(schema, 1, MAX_DEPTH)
    whole = made if isinstance(made, dict) else {}
    # Each part is valid on its own; check whether they are valid together.
    if not _is_valid_value(validator, whole):
        raise NoSample("no arguments could be made up that fit the input_schema; give good ones")
    return whole


def make_invalid_arguments(
    schema: Mapping[str, Any], good: Mapping[str, Any], *, refuses_unknown: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield arguments that the tool must refuse, each with a description of the error."""
    validator = BoundedValidator(schema)
    maker = _SampleMaker(schema)
    properties = schema.get("properties")
    parts = properties if isinstance(properties, dict) else {}
    # A missing argument with a default may be filled in.
    required = [
        name for name in _get_list(schema, "required") if name in good and not maker.has_default(parts.get(name))
    ]
    for name in required[:MAX_WRONG_CASES]:
        yield f"the required argument '{name}' is missing", {key: good[key] for key in good if key != name}
    for name in [name for name in parts if name in good][:MAX_WRONG_CASES]:
        wrong = _make_wrong_type(validator, good, name)
        if wrong is not None:
            yield f"the argument '{name}' has a wrong type", wrong
    unknown = {**good, "no_such_argument": 1}
    if refuses_unknown or not _is_valid_value(validator, unknown):
        yield "there is an unknown argument", unknown


def _is_valid_value(validator: BoundedValidator, value: Any) -> bool:
    try:
        return validator.is_valid(value)
    except TooCostly:
        return False


def _make_wrong_type(validator: BoundedValidator, good: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    changed = ({**good, name: value} for value in _WRONG_TYPE_VALUES)
    return next((arguments for arguments in changed if not _is_valid_value(validator, arguments)), None)


class _SampleMaker:
    """Generates values for the parts of one schema; `number` makes several values of the same part distinct."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._draft = {key: root[key] for key in ("$schema", "$defs", "definitions") if key in root}
        self._left = MAX_VALUES

    def make_value(self, part: Any, number: int, depth: int) -> Any:
        """Return a value that is valid for this part alone."""
        self._left -= 1
        if depth < 0 or self._left < 0:
            return None
        schema = self._resolve_schema(part)
        given = [*_get_list(schema, "examples"), *(schema[key] for key in ("default", "const") if key in schema)]
        given += _get_list(schema, "enum")
        turned = given[(number - 1) % len(given) :] + given[: (number - 1) % len(given)] if given else []
        validator = self._compile_schema(schema)
        for value in turned:
            if validator is None or _is_valid_value(validator, value):
                return deepcopy(value)
        for value in self._generate_candidates(schema, number, depth):
            if validator is None or _is_valid_value(validator, value):
                return value
        return None

    def has_default(self, part: Any) -> bool:
        """True if the part has a default."""
        return "default" in self._resolve_schema(part)

    def _generate_candidates(self, schema: Mapping[str, Any], number: int, depth: int) -> Iterator[Any]:
        for word in ("anyOf", "oneOf"):
            for branch in _get_list(schema, word):
                rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
                if isinstance(branch, dict):
                    yield self.make_value({**rest, **branch}, number, depth - 1)
        kinds = schema.get("type", "object" if "properties" in schema else "string")
        for kind in kinds if isinstance(kinds, list) else [kinds]:
            if kind == "object":
                yield self._object(schema, number, depth)
            elif kind == "array":
                yield self._array(schema, number, depth)
            elif kind == "string":
                yield from _generate_texts(schema, number)
            elif kind in ("integer", "number"):
                yield from _generate_numbers(schema, number)
            elif kind == "boolean":
                yield number % 2 == 1
            else:
                yield None

    def _object(self, schema: Mapping[str, Any], number: int, depth: int) -> dict[str, Any]:
        properties = schema.get("properties")
        parts = properties if isinstance(properties, dict) else {}
        required = _get_list(schema, "required")
        return {
            name: self.make_value(parts.get(name, {}), number, depth - 1) for name in required if isinstance(name, str)
        }

    def _array(self, schema: Mapping[str, Any], number: int, depth: int) -> list[Any]:
        least, most = schema.get("minItems", 0), schema.get("maxItems", ARRAY_ITEMS)
        wanted = max(least, min(ARRAY_ITEMS, most)) if isinstance(least, int) and isinstance(most, int) else ARRAY_ITEMS
        part = schema.get("items", {})
        return [self.make_value(part, number + place, depth - 1) for place in range(min(wanted, MAX_VALUES))]

    def _resolve_schema(self, part: Any) -> dict[str, Any]:
        """Return the part with local references and allOf resolved."""
        schema = dict(part) if isinstance(part, Mapping) else {}
        for _ in range(MAX_DEPTH):
            reference = schema.pop("$ref", None)
            merged = schema.pop("allOf", None)
            if reference is None and merged is None:
                return schema
            for each in [self._at(reference), *(merged if isinstance(merged, list) else [])]:
                schema = _merge_schemas(schema, each if isinstance(each, Mapping) else {})
        return schema

    def _at(self, reference: Any) -> Any:
        found: Any = self._root if isinstance(reference, str) and reference.startswith("#") else {}
        for step in split_pointer(str(reference or "#")):
            found = found.get(step, {}) if isinstance(found, Mapping) else {}
        return {} if reference is None else found

    def _compile_schema(self, schema: Mapping[str, Any]) -> BoundedValidator | None:
        try:
            return BoundedValidator({**schema, **self._draft})
        except ValueError:
            return None


def _merge_schemas(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    both = {**other, **one}
    for word in ("properties", "required"):
        if word in one and word in other:
            both[word] = {**other[word], **one[word]} if isinstance(one[word], dict) else [*one[word], *other[word]]
    return both


def _generate_texts(schema: Mapping[str, Any], number: int) -> Iterator[str]:
    shortest = schema.get("minLength")
    for form in _TEXT_FORMATS:
        text = form.format(number)
        yield text
        if isinstance(shortest, int) and len(text) < shortest <= 10_000:
            yield text.ljust(shortest, "x")
    yield ""


def _generate_numbers(schema: Mapping[str, Any], number: int) -> Iterator[float]:
    step = schema.get("multipleOf", 1)
    by = step if isinstance(step, int | float) else 1
    for key, sign in (("minimum", 1), ("exclusiveMinimum", 1), ("maximum", -1), ("exclusiveMaximum", -1)):
        bound = schema.get(key)
        if isinstance(bound, int | float):
            yield bound + sign * (number - 1) * by
            yield (bound // by + sign * number) * by
            yield bound
    yield number * by


def _get_list(schema: Mapping[str, Any], key: str) -> list[Any]:
    found = schema.get(key)
    return list(found) if isinstance(found, list) else []
