"""The arguments of a table tool held against its fields: one row, or with `batch` many."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pegboard.core.errors import MalformedArguments
from pegboard.core.ignored import Ignored
from pegboard.core.table_config import TableConfig
from pegboard.core.tool import Tool
from pegboard.registry.cost import MAX_CHECKS, TooCostly, cost_of
from pegboard.registry.defaults import fresh
from pegboard.registry.problems import MAX_PROBLEMS, invalid
from pegboard.registry.schemas import compile_validator
from pegboard.registry.subschemas import Document, Path
from pegboard.registry.tables.generation import limits
from pegboard.registry.tables.values import test_of
from pegboard.registry.walk import Fault, Walk
from pegboard.registry.wording import Words, problem_of

_ANY_ROWS = {"type": "array", "minItems": 1}


class TableArguments:
    """What a table tool makes of the arguments of its calls."""

    __slots__ = ("_around", "_cost", "_row")

    def __init__(self, tool: Tool) -> None:
        config = TableConfig.model_validate(tool.config)
        schema = tool.input_schema
        self._cost = cost_of(Document(schema), schema)
        self._around: dict[str, Any] | None = None
        if config.batch:
            self._around = {**schema, "properties": {"rows": _ANY_ROWS}}
            schema = schema["properties"]["rows"]["items"]
        self._row = RowCheck(config, schema)

    def check(self, arguments: dict[str, Any], size: int | None = None) -> dict[str, Any]:
        """The arguments with their defaults, the very same object if nothing changes; `size` is their length as JSON.

        Raises InvalidArguments, and MalformedArguments where validation would take too long.
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
        if len(arguments) != 1 or not isinstance(rows, list | tuple) or not rows or not all(map(row.fits, rows)):
            raise invalid([fault.problem for fault in self._faults(self._around, arguments)])
        filled = [row.filled(each) for each in rows]
        return arguments if all(new is old for new, old in zip(filled, rows, strict=True)) else {"rows": filled}

    def ignored(self, arguments: dict[str, Any]) -> tuple[Ignored, ...]:
        """None: the fields of a table are all there is, and any other is refused."""
        return ()

    def _faults(self, around: dict[str, Any], arguments: dict[str, Any]) -> list[Fault]:
        faults = Walk(Document(around), "Arguments").faults(around, arguments)
        rows = arguments.get("rows")
        for place, row in enumerate(rows if isinstance(rows, list | tuple) else ()):
            if len(faults) >= MAX_PROBLEMS:
                break
            if not self._row.fits(row):
                faults += self._row.faults(row, ("rows", place))
        return faults[:MAX_PROBLEMS]


class RowCheck:
    """What is asked of one row."""

    __slots__ = ("_defaults", "_is_valid", "_moments", "_nullable", "_schema", "_tests")

    def __init__(self, config: TableConfig, schema: Mapping[str, Any]) -> None:
        shown = schema["properties"]
        exact = {
            field.name: {
                **shown[field.name],
                **{word: _exact(limit) for word, limit in limits(field).items()},
            }
            for field in config.fields
        }
        # Moments and decimal places are looked at by our own tests, which the validator would take longer for.
        plain = {name: _without_slow(node) for name, node in exact.items()}
        # What is said of a value that does not fit is said of values: that it may be null too is no help then.
        self._nullable = frozenset(name for name, node in exact.items() if isinstance(node["type"], list))
        self._schema = {**schema, "properties": {name: _without_null(node) for name, node in exact.items()}}
        self._is_valid = compile_validator({**schema, "properties": plain}).is_valid
        self._moments = frozenset(
            name for name, node in exact.items() if _is_moment(node) or _is_moment(node.get("items"))
        )
        tests = {field.name: test_of(field, exact[field.name]) for field in config.fields}
        self._tests = tuple((name, test) for name, test in tests.items() if test is not None)
        self._defaults = {field.name: field.default for field in config.fields if field.has_default}

    def check(self, row: dict[str, Any]) -> dict[str, Any]:
        """The row with its defaults; raises InvalidArguments."""
        if not self.fits(row):
            raise invalid([fault.problem for fault in self.faults(row)])
        return self.filled(row)

    def fits(self, row: Any) -> bool:
        """Whether nothing is wrong with the row."""
        try:
            if not self._is_valid(row):
                return False
        except ValueError as error:  # a Python value that is not JSON, from a caller that did not measure
            raise MalformedArguments(f"Arguments must be JSON: {error}") from None
        get = row.get
        for name, test in self._tests:
            value = get(name)
            if value is not None and test(value) is not None:
                return False
        return True

    def filled(self, row: dict[str, Any]) -> dict[str, Any]:
        """The row with a default for what it leaves out, the very same object if that is nothing."""
        if self._defaults.keys() <= row.keys():
            return row
        return {**row, **{name: fresh(value) for name, value in self._defaults.items() if name not in row}}

    def faults(self, row: Any, path: Path = ()) -> list[Fault]:
        """What is wrong with a row that does not fit, in order."""
        if isinstance(row, dict):
            row = {name: value for name, value in row.items() if value is not None or name not in self._nullable}
        try:
            walked = Walk(Document(self._schema), "Arguments").faults(self._schema, row, path)
        except ValueError:  # the validator looks into a value to 255 levels only when it is asked for faults
            walked = []
        here = len(path)
        faults = [
            fault for fault in walked if fault.problem.code != "invalid_string" or fault.path[here] not in self._moments
        ]
        told = {fault.path[here] for fault in faults if len(fault.path) > here}
        for name, test in self._tests if isinstance(row, dict) else ():
            if row.get(name) is None or name in told:
                continue
            if (found := test(row[name])) is not None:
                whole = (*path, name, *found.steps)
                faults.append(
                    Fault(whole, problem_of(found.words, whole, found.value, self._schema["properties"][name]))
                )
        if not faults:
            words = Words("custom", "must fit the fields of this table", "what the tool's schema says", shows=False)
            faults = [Fault(path, problem_of(words, path, row))]
        return sorted(faults, key=lambda fault: fault.order)[:MAX_PROBLEMS]


def _exact(number: Decimal) -> int | Decimal:
    return int(number) if number == number.to_integral_value() else number


def _is_moment(node: Any) -> bool:
    return isinstance(node, Mapping) and node.get("format") == "date-time"


def _without_null(node: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(node)
    if isinstance(found["type"], list):
        found["type"] = found["type"][0]
        if "enum" in found:
            found["enum"] = [value for value in found["enum"] if value is not None]
    return found


def _without_slow(node: Mapping[str, Any]) -> dict[str, Any]:
    slow = ("multipleOf", "format") if _is_moment(node) else ("multipleOf",)
    found = {word: value for word, value in node.items() if word not in slow}
    if isinstance(found.get("items"), Mapping):
        found["items"] = _without_slow(found["items"])
    return found
