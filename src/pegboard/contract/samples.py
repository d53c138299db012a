"""Arguments made up from a tool's input_schema: good ones, and ones that it must refuse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from pegboard.registry.cost import TooCostly
from pegboard.registry.schemas import BoundedValidator

DEEPEST = 8
# How many values are made up before it is given up.
MOST_VALUES = 2000
# Enough of them to see whether their order is kept.
ITEMS = 3
# How many required or declared arguments are left out or mistyped.
MOST_WRONG = 5
_HASH = "{:064x}"
_DATE = "2026-01-{:02}"
_TEXTS = (
    "text {}",
    "text_{}",
    "{}",
    "A{}",
    _HASH,
    "00000000-0000-4000-8000-{:012}",
    _DATE + "T12:00:00Z",
    _DATE,
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
_WRONG: tuple[Any, ...] = ({"wrong": "type"}, ["wrong", "type"], "wrong type", 1.5, True, None)


class NoSample(ValueError):
    """No arguments can be made up from the schema."""


def good_arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that fit: examples and defaults where there are any, else the least there can be."""
    validator = BoundedValidator(schema)
    made = _Maker(schema).made(schema, 1, DEEPEST)
    whole = made if isinstance(made, dict) else {}
    # Made up by itself, each part fits; whether they fit together is another question.
    if not _fits(validator, whole):
        raise NoSample("no arguments could be made up that fit the input_schema; give good ones")
    return whole


def bad_arguments(
    schema: Mapping[str, Any], good: Mapping[str, Any], *, refuses_unknown: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Arguments that the tool must refuse, and what is wrong with each."""
    validator = BoundedValidator(schema)
    maker = _Maker(schema)
    properties = schema.get("properties")
    parts = properties if isinstance(properties, dict) else {}
    # What has a default may be filled in where it is missing.
    required = [name for name in _listed(schema, "required") if name in good and not maker.has_default(parts.get(name))]
    for name in required[:MOST_WRONG]:
        yield f"the required argument '{name}' is missing", {key: good[key] for key in good if key != name}
    for name in [name for name in parts if name in good][:MOST_WRONG]:
        wrong = _mistyped(validator, good, name)
        if wrong is not None:
            yield f"the argument '{name}' has a wrong type", wrong
    unknown = {**good, "no_such_argument": 1}
    if refuses_unknown or not _fits(validator, unknown):
        yield "there is an unknown argument", unknown


def _fits(validator: BoundedValidator, value: Any) -> bool:
    try:
        return validator.is_valid(value)
    except TooCostly:
        return False


def _mistyped(validator: BoundedValidator, good: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    changed = ({**good, name: value} for value in _WRONG)
    return next((arguments for arguments in changed if not _fits(validator, arguments)), None)


class _Maker:
    """Makes up values for the parts of one schema; `number` tells several values of the same part apart."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._draft = {key: root[key] for key in ("$schema", "$defs", "definitions") if key in root}
        self._left = MOST_VALUES

    def made(self, part: Any, number: int, depth: int) -> Any:
        """A value that fits, as far as can be seen from this part alone."""
        self._left -= 1
        if depth < 0 or self._left < 0:
            return None
        schema = self._resolved(part)
        given = [*_listed(schema, "examples"), *(schema[key] for key in ("default", "const") if key in schema)]
        given += _listed(schema, "enum")
        turned = given[(number - 1) % len(given) :] + given[: (number - 1) % len(given)] if given else []
        validator = self._compiled(schema)
        for value in turned:
            if validator is None or _fits(validator, value):
                return deepcopy(value)
        for value in self._candidates(schema, number, depth):
            if validator is None or _fits(validator, value):
                return value
        return None

    def has_default(self, part: Any) -> bool:
        """Whether the part says what stands for a value that is missing."""
        return "default" in self._resolved(part)

    def _candidates(self, schema: Mapping[str, Any], number: int, depth: int) -> Iterator[Any]:
        for word in ("anyOf", "oneOf"):
            for branch in _listed(schema, word):
                rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
                if isinstance(branch, dict):
                    yield self.made({**rest, **branch}, number, depth - 1)
        kinds = schema.get("type", "object" if "properties" in schema else "string")
        for kind in kinds if isinstance(kinds, list) else [kinds]:
            if kind == "object":
                yield self._object(schema, number, depth)
            elif kind == "array":
                yield self._array(schema, number, depth)
            elif kind == "string":
                yield from _texts(schema, number)
            elif kind in ("integer", "number"):
                yield from _numbers(schema, number)
            elif kind == "boolean":
                yield number % 2 == 1
            else:
                yield None

    def _object(self, schema: Mapping[str, Any], number: int, depth: int) -> dict[str, Any]:
        properties = schema.get("properties")
        parts = properties if isinstance(properties, dict) else {}
        required = _listed(schema, "required")
        return {name: self.made(parts.get(name, {}), number, depth - 1) for name in required if isinstance(name, str)}

    def _array(self, schema: Mapping[str, Any], number: int, depth: int) -> list[Any]:
        least, most = schema.get("minItems", 0), schema.get("maxItems", ITEMS)
        wanted = max(least, min(ITEMS, most)) if isinstance(least, int) and isinstance(most, int) else ITEMS
        part = schema.get("items", {})
        return [self.made(part, number + place, depth - 1) for place in range(min(wanted, MOST_VALUES))]

    def _resolved(self, part: Any) -> dict[str, Any]:
        """The part with local references and allOf put in."""
        schema = dict(part) if isinstance(part, Mapping) else {}
        for _ in range(DEEPEST):
            reference = schema.pop("$ref", None)
            merged = schema.pop("allOf", None)
            if reference is None and merged is None:
                return schema
            for each in [self._at(reference), *(merged if isinstance(merged, list) else [])]:
                schema = _merged(schema, each if isinstance(each, Mapping) else {})
        return schema

    def _at(self, reference: Any) -> Any:
        found: Any = self._root if isinstance(reference, str) and reference.startswith("#") else {}
        for step in str(reference or "#").removeprefix("#").split("/")[1:]:
            found = found.get(step.replace("~1", "/").replace("~0", "~"), {}) if isinstance(found, Mapping) else {}
        return {} if reference is None else found

    def _compiled(self, schema: Mapping[str, Any]) -> BoundedValidator | None:
        try:
            return BoundedValidator({**schema, **self._draft})
        except ValueError:
            return None


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    both = {**other, **one}
    for word in ("properties", "required"):
        if word in one and word in other:
            both[word] = {**other[word], **one[word]} if isinstance(one[word], dict) else [*one[word], *other[word]]
    return both


def _texts(schema: Mapping[str, Any], number: int) -> Iterator[str]:
    shortest = schema.get("minLength")
    for form in _TEXTS:
        text = form.format(number)
        yield text
        if isinstance(shortest, int) and len(text) < shortest <= 10_000:
            yield text.ljust(shortest, "x")
    yield ""


def _numbers(schema: Mapping[str, Any], number: int) -> Iterator[float]:
    step = schema.get("multipleOf", 1)
    by = step if isinstance(step, int | float) else 1
    for key, sign in (("minimum", 1), ("exclusiveMinimum", 1), ("maximum", -1), ("exclusiveMaximum", -1)):
        bound = schema.get(key)
        if isinstance(bound, int | float):
            yield bound + sign * (number - 1) * by
            yield (bound // by + sign * number) * by
            yield bound
    yield number * by


def _listed(schema: Mapping[str, Any], key: str) -> list[Any]:
    found = schema.get(key)
    return list(found) if isinstance(found, list) else []
