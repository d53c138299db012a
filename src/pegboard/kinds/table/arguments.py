"""Validates the arguments of a table tool, one row or with `batch` many, including rules beyond JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

import orjson

from pegboard.json_schema.argument_problems import MAX_PROBLEMS, LocatedProblem, SchemaWalk, build_invalid_arguments
from pegboard.json_schema.compile import compile_validator
from pegboard.json_schema.defaults import copy_if_mutable
from pegboard.json_schema.problem_text import ProblemWording, build_problem, get_wording
from pegboard.json_schema.schema_document import Path, SchemaDocument
from pegboard.json_schema.validation_cost import MAX_CHECKS, TooCostly, compute_cost
from pegboard.kinds.table.config import TableConfig, TableField
from pegboard.kinds.table.generate_tools import list_number_limits
from pegboard.model.call_errors import Ignored, MalformedArguments
from pegboard.model.timestamps import read_instant, write_instant
from pegboard.model.tool import Tool

_match_uuid = re.compile("-".join(f"[0-9a-fA-F]{{{length}}}" for length in (8, 4, 4, 4, 12)), re.ASCII).fullmatch
_NUL_WORDING = ProblemWording(
    "invalid_string", "must not hold the character NUL (U+0000)", "text without NUL", shows=False
)


class ValueProblem(NamedTuple):
    """An invalid value, the path to it within the field, and the wording of the problem."""

    steps: Path
    value: Any
    words: ProblemWording


# Returns the problem of a value that matches its schema, or None.
ValueTest = Callable[[Any], ValueProblem | None]


def build_value_test(field: TableField, node: Mapping[str, Any]) -> ValueTest | None:
    """Return the test for values of the field that match this schema; None if the schema is sufficient."""
    if field.dataType == "text":
        return _check_uuid if node.get("format") == "uuid" else _check_text
    if field.dataType == "datetime":
        return _make_moment_test(field.minDate, field.maxDate)
    if field.dataType == "numeric":
        if field.scale is not None:
            return _make_decimal_places_test(field.scale)
        return _make_digits_test(field.precision) if field.precision is not None else None
    if field.dataType == "json":
        form = node.get("items", {}).get("format")
        inner = {"date-time": _make_moment_test(None, None), "uuid": _check_uuid}.get(form)
        return _check_json if inner is None else _make_each_test(inner)
    return None


def _check_text(value: str) -> ValueProblem | None:
    return ValueProblem((), value, _NUL_WORDING) if "\0" in value else None


def _check_uuid(value: str) -> ValueProblem | None:
    return None if _match_uuid(value) else ValueProblem((), value, get_wording("format", "uuid", {}, value))


def _check_json(value: Any) -> ValueProblem | None:
    if b"\\u0000" in orjson.dumps(value, default=str) and _has_nul(value):
        return ValueProblem((), value, _NUL_WORDING)
    return None


def _has_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(_has_nul(key) or _has_nul(item) for key, item in value.items())
    return isinstance(value, list | tuple) and any(map(_has_nul, value))


def _make_each_test(test: ValueTest) -> ValueTest:
    def look(values: list[Any]) -> ValueProblem | None:
        for place, value in enumerate(values):
            if (found := test(value)) is not None:
                return found._replace(steps=(place, *found.steps))
        return None

    return look


def _make_decimal_places_test(most: int) -> ValueTest:
    words = get_wording("multipleOf", float(f"1e-{most}"), {}, None)

    def look(value: float | Decimal) -> ValueProblem | None:
        if isinstance(value, Decimal):
            kept, exponent = _split_digits(value) if int(value.as_tuple().exponent) < -most else ("", 0)
            return ValueProblem((), value, words) if kept and exponent < -most else None
        # A float with more decimal places differs from its rounded value.
        return None if round(value, most) == value else ValueProblem((), value, words)

    return look


def _make_digits_test(most: int) -> ValueTest:
    noun = f"{most} digit{'' if most == 1 else 's'}"
    words = ProblemWording("too_big", f"must be a number with max {noun}", f"number with at most {noun}")

    def look(value: float | Decimal) -> ValueProblem | None:
        text = repr(value)
        if not isinstance(value, Decimal) and len(text) <= most and "e" not in text:
            return None
        kept, exponent = _split_digits(Decimal(value if isinstance(value, Decimal) else text))
        return ValueProblem((), value, words) if kept and len(kept) + max(exponent, 0) > most else None

    return look


def _split_digits(number: Decimal) -> tuple[str, int]:
    """Return the digits without trailing zeros and the exponent of the last one."""
    _, digits, exponent = number.as_tuple()
    kept = "".join(map(str, digits)).rstrip("0")
    return kept, len(digits) - len(kept) + int(exponent)


def _make_moment_test(least: str | None, most: str | None) -> ValueTest:
    low, high = (read_instant(text) if text is not None else None for text in (least, most))
    reason, expected = _describe_moment_bounds(low, high)

    def look(value: str) -> ValueProblem | None:
        try:
            moment = read_instant(value)
        except ValueError as error:
            words = get_wording("format", "date-time", {}, value)
            return ValueProblem((), value, words._replace(hint=f": {error}{words.hint}"))
        if low is not None and moment < low:
            return ValueProblem((), value, ProblemWording("too_small", reason, expected))
        if high is not None and moment > high:
            return ValueProblem((), value, ProblemWording("too_big", reason, expected))
        return None

    return look


def _describe_moment_bounds(low: datetime | None, high: datetime | None) -> tuple[str, str]:
    """Return the message and the expected value for a moment out of bounds."""
    least, most = (write_instant(limit) if limit is not None else None for limit in (low, high))
    if least is not None and most is not None:
        return f"must be between {least} and {most}", f"ISO 8601 date-time between {least} and {most}"
    limit = f"before {least}" if least is not None else f"after {most}"
    return f"must not be {limit}", f"ISO 8601 date-time not {limit}"


_ANY_ROWS_SCHEMA = {"type": "array", "minItems": 1}


class TableArgumentChecker:
    """Validates the arguments of the calls of a table tool."""

    __slots__ = ("_around", "_cost", "_row")

    def __init__(self, tool: Tool) -> None:
        config = TableConfig.model_validate(tool.config)
        schema = tool.input_schema
        self._cost = compute_cost(SchemaDocument(schema), schema)
        self._around: dict[str, Any] | None = None
        if config.batch:
            self._around = {**schema, "properties": {"rows": _ANY_ROWS_SCHEMA}}
            schema = schema["properties"]["rows"]["items"]
        self._row = RowChecker(config, schema)

    def check(self, arguments: dict[str, Any], size: int | None = None) -> dict[str, Any]:
        """Return the arguments with defaults, or the same object if nothing changes; `size` is their length as JSON.

        Raise InvalidArguments, or MalformedArguments if validation would take too long.
        """
        if size is None or size * self._cost.per_byte > MAX_CHECKS:
            try:
                self._cost.check(arguments)
            except TooCostly as error:
                raise MalformedArguments(f"Arguments are too large for the schema of this tool: {error}") from None
        if self._around is None:
            return self._row.check(arguments)
        row = self._row
        rows = arguments.get("rows")
        if len(arguments) != 1 or not isinstance(rows, list | tuple) or not rows or not all(map(row.is_valid, rows)):
            raise build_invalid_arguments([fault.problem for fault in self._faults(self._around, arguments)])
        filled = [row.fill_defaults(each) for each in rows]
        return arguments if all(new is old for new, old in zip(filled, rows, strict=True)) else {"rows": filled}

    def list_ignored(self, arguments: dict[str, Any]) -> tuple[Ignored, ...]:
        """Always empty: unknown fields are rejected."""
        return ()

    def _faults(self, around: dict[str, Any], arguments: dict[str, Any]) -> list[LocatedProblem]:
        faults = SchemaWalk(SchemaDocument(around), "Arguments").faults(around, arguments)
        rows = arguments.get("rows")
        for place, row in enumerate(rows if isinstance(rows, list | tuple) else ()):
            if len(faults) >= MAX_PROBLEMS:
                break
            if not self._row.is_valid(row):
                faults += self._row.faults(row, ("rows", place))
        return faults[:MAX_PROBLEMS]


class RowChecker:
    """Validates one row."""

    __slots__ = ("_defaults", "_is_valid", "_moments", "_nullable", "_schema", "_tests")

    def __init__(self, config: TableConfig, schema: Mapping[str, Any]) -> None:
        shown = schema["properties"]
        exact = {
            field.name: {
                **shown[field.name],
                **{word: _to_exact_number(limit) for word, limit in list_number_limits(field).items()},
            }
            for field in config.fields
        }
        # Date-times and decimal places are checked by our own tests, which are faster than the validator.
        plain = {name: _remove_slow_keywords(node) for name, node in exact.items()}
        # Error messages describe the expected value; that null is allowed too would not help.
        self._nullable = frozenset(name for name, node in exact.items() if isinstance(node["type"], list))
        self._schema = {**schema, "properties": {name: _remove_null(node) for name, node in exact.items()}}
        self._is_valid = compile_validator({**schema, "properties": plain}).is_valid
        self._moments = frozenset(
            name for name, node in exact.items() if _is_moment_schema(node) or _is_moment_schema(node.get("items"))
        )
        tests = {field.name: build_value_test(field, exact[field.name]) for field in config.fields}
        self._tests = tuple((name, test) for name, test in tests.items() if test is not None)
        self._defaults = {field.name: field.default for field in config.fields if field.has_default}

    def check(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the row with defaults; raise InvalidArguments if it is not valid."""
        if not self.is_valid(row):
            raise build_invalid_arguments([fault.problem for fault in self.faults(row)])
        return self.fill_defaults(row)

    def is_valid(self, row: Any) -> bool:
        """True if the row is valid."""
        try:
            if not self._is_valid(row):
                return False
        except ValueError as error:  # a Python value that is not JSON, from a caller that did not measure it
            raise MalformedArguments(f"Arguments must be JSON: {error}") from None
        get = row.get
        for name, test in self._tests:
            value = get(name)
            if value is not None and test(value) is not None:
                return False
        return True

    def fill_defaults(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the row with defaults for missing fields, or the same object if none is missing."""
        if self._defaults.keys() <= row.keys():
            return row
        return {**row, **{name: copy_if_mutable(value) for name, value in self._defaults.items() if name not in row}}

    def faults(self, row: Any, path: Path = ()) -> list[LocatedProblem]:
        """Return the problems of an invalid row in order."""
        if isinstance(row, dict):
            row = {name: value for name, value in row.items() if value is not None or name not in self._nullable}
        try:
            walked = SchemaWalk(SchemaDocument(self._schema), "Arguments").faults(self._schema, row, path)
        except ValueError:  # when it collects errors, the validator supports only 255 levels of nesting
            walked = []
        here = len(path)
        faults = [
            fault for fault in walked if fault.problem.code != "invalid_string" or fault.path[here] not in self._moments
        ]
        reported = {fault.path[here] for fault in faults if len(fault.path) > here}
        for name, test in self._tests if isinstance(row, dict) else ():
            if row.get(name) is None or name in reported:
                continue
            if (found := test(row[name])) is not None:
                whole = (*path, name, *found.steps)
                faults.append(
                    LocatedProblem(
                        whole, build_problem(found.words, whole, found.value, self._schema["properties"][name])
                    )
                )
        if not faults:
            words = ProblemWording(
                "custom", "must fit the fields of this table", "what the tool's schema says", shows=False
            )
            faults = [LocatedProblem(path, build_problem(words, path, row))]
        return sorted(faults, key=lambda fault: fault.order)[:MAX_PROBLEMS]


def _to_exact_number(number: Decimal) -> int | Decimal:
    return int(number) if number == number.to_integral_value() else number


def _is_moment_schema(node: Any) -> bool:
    return isinstance(node, Mapping) and node.get("format") == "date-time"


def _remove_null(node: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(node)
    if isinstance(found["type"], list):
        found["type"] = found["type"][0]
        if "enum" in found:
            found["enum"] = [value for value in found["enum"] if value is not None]
    return found


def _remove_slow_keywords(node: Mapping[str, Any]) -> dict[str, Any]:
    slow = ("multipleOf", "format") if _is_moment_schema(node) else ("multipleOf",)
    found = {word: value for word, value in node.items() if word not in slow}
    if isinstance(found.get("items"), Mapping):
        found["items"] = _remove_slow_keywords(found["items"])
    return found
