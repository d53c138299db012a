"""A table tool's config held against the facts of its table: what does not fit, or how arguments become rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import uuid4

from pegboard.core.errors import FieldProblem
from pegboard.core.table_config import TableConfig, TableField
from pegboard.executors.table.binding import Binder, Kind, binder_of, types_for
from pegboard.executors.table.facts import Column, Facts
from pegboard.executors.table.refusing import MOST_PROBLEMS, Refused, invalid
from pegboard.executors.table.source import Row

ROWS = "rows"

_HYPHENATED, _BARE = 36, 32
_MOST_SHAPES = 256


class Finding(NamedTuple):
    """Why a table tool cannot be used; `field` is the one that is at fault, if one is."""

    code: str
    message: str
    field: str | None = None


class _Binding(NamedTuple):
    field: str
    column: str
    bind: Binder


class _Shape(NamedTuple):
    """How a call that gives just these fields becomes a row; the columns are shared by all its rows."""

    bindings: tuple[_Binding, ...]
    columns: tuple[str, ...]
    makers: tuple[Callable[[], Any], ...]


class Plan:
    """How the arguments of a call become rows for its table."""

    __slots__ = ("_bindings", "_makers", "_shapes", "_whole", "facts", "is_batch")

    def __init__(self, config: TableConfig, facts: Facts, kind: Kind) -> None:
        self.facts = facts
        self.is_batch = config.batch
        self._bindings = tuple(_binding(config, field, facts, kind) for field in config.fields)
        self._makers = {name: make for name in facts.key if (make := _maker(facts, name, kind)) is not None}
        self._shapes: dict[frozenset[str], _Shape] = {}
        self._whole = self._shape(frozenset(field.name for field in config.fields))

    def rows(self, arguments: Mapping[str, Any]) -> tuple[Row, ...]:
        """The rows to insert; raises InvalidArguments with everything that the columns do not take."""
        problems: list[FieldProblem] = []
        if self.is_batch:
            rows = tuple(self._row(row, problems, f"{ROWS}[{index}].") for index, row in enumerate(arguments[ROWS]))
        else:
            rows = (self._row(arguments, problems, ""),)
        if problems:
            raise invalid(problems)
        return rows

    def _row(self, given: Mapping[str, Any], problems: list[FieldProblem], path: str) -> Row:
        shape = self._whole
        if len(given) != len(shape.bindings):
            shape = self._shape(frozenset(given))
        try:
            values = [None if (value := given[field]) is None else bind(value) for field, _, bind in shape.bindings]
        except Refused:
            problems += _problems(shape.bindings, given, path)[: MOST_PROBLEMS - len(problems)]
            values = []
        values += [make() for make in shape.makers]
        return Row(shape.columns, tuple(values))

    def _shape(self, given: frozenset[str]) -> _Shape:
        shape = self._shapes.get(given)
        if shape is None:
            bindings = tuple(binding for binding in self._bindings if binding.field in given)
            columns = tuple(binding.column for binding in bindings)
            made = {name: make for name, make in self._makers.items() if name not in columns}
            shape = _Shape(bindings, (*columns, *made), tuple(made.values()))
            if len(self._shapes) < _MOST_SHAPES:
                self._shapes[given] = shape
        return shape


def _problems(bindings: tuple[_Binding, ...], given: Mapping[str, Any], path: str) -> list[FieldProblem]:
    found = []
    for field, _, bind in bindings:
        value = given[field]
        try:
            if value is not None:
                bind(value)
        except Refused as refused:
            found.append(refused.problem(path + field, field, value))
    return found


def plan(config: TableConfig, facts: Facts | None, kind: Kind) -> Plan | list[Finding]:
    """How rows get into the table, or everything that keeps them out."""
    found = findings(config, facts, kind)
    if found or facts is None:
        return found
    return Plan(config, facts, kind)


def findings(config: TableConfig, facts: Facts | None, kind: Kind) -> list[Finding]:
    """Everything that keeps this config from working with this table; empty if nothing does."""
    if facts is None:
        name = config.tableName if config.schema_ is None else f"{config.schema_}.{config.tableName}"
        return [Finding("table_not_found", f"Table '{name}' does not exist in database schema")]
    if facts.unfit is not None:
        return [Finding("table_unfit", f"Table '{facts.table}' takes no rows: {facts.unfit}")]
    found = [finding for field in config.fields for finding in _of_field(config, field, facts, kind)]
    return found + _left_out(config, facts, kind)


def wider_than_columns(config: TableConfig, facts: Facts | None) -> list[Finding]:
    """The fields that allow more than their columns take: the tool works, but some valid values are refused."""
    columns = facts.columns if facts is not None else {}
    return [
        Finding(
            "wider_than_column", f"Field '{field.name}' has {word} {limit}, but its column takes {bound}", field.name
        )
        for field in config.fields
        if (column := columns.get(config.column_of(field.name))) is not None
        for word, limit, bound, is_wider in (
            ("maxLength", field.maxLength, column.max_length, _exceeds(field.maxLength, column.max_length)),
            ("max", field.max, column.high, _exceeds(field.max, column.high)),
            ("min", field.min, column.low, _exceeds(column.low, field.min)),
        )
        if is_wider
    ]


def _exceeds(limit: int | Decimal | None, bound: int | Decimal | None) -> bool:
    return limit is not None and bound is not None and limit > bound


def _of_field(config: TableConfig, field: TableField, facts: Facts, kind: Kind) -> list[Finding]:
    name = config.column_of(field.name)
    column = facts.columns.get(name)
    if column is None:
        known = ", ".join(list(facts.columns)[:30])
        message = f"Field '{field.name}' goes to column '{name}', which table '{facts.table}' does not have ({known})"
        return [Finding("column_not_found", message, field.name)]
    about = f"column '{name}' of table '{facts.table}' ({column.type})"
    if column.is_generated:
        message = f"Field '{field.name}' goes to {about}, which the database alone fills in"
        return [Finding("type_mismatch", message, field.name)]
    if _binder(field, column, kind) is None:
        fitting = ", ".join(types_for(column, kind)) or "none"
        message = f"Field '{field.name}' is of dataType {field.dataType}, and {about} takes: {fitting}"
        return [Finding("type_mismatch", message, field.name)]
    return _of_options(field, column, about)


def _of_options(field: TableField, column: Column, about: str) -> list[Finding]:
    options = field.enumValues or []
    if column.family == "enum":
        wrong = [option for option in options if option not in column.labels]
        says = f"whose values are: {', '.join(column.labels[:30])}"
    else:
        wrong = [option for option in options if column.max_length is not None and len(option) > column.max_length]
        says = "where it is too long"
    if not wrong:
        return []
    message = f"Field '{field.name}' offers '{wrong[0]}', which does not fit {about}, {says}"
    return [Finding("type_mismatch", message, field.name)]


def _left_out(config: TableConfig, facts: Facts, kind: Kind) -> list[Finding]:
    """The columns that have to be filled in and are not."""
    filled = {config.column_of(field.name) for field in config.fields}
    return [
        Finding(
            "column_required",
            f"Column '{column.name}' of table '{facts.table}' must be filled in, and no field does; "
            "add a field for it, or give it a default in the database",
        )
        for column in facts.columns.values()
        if not (column.nullable or column.has_default or column.is_generated or column.name in filled)
        and not (column.name in facts.key and _maker(facts, column.name, kind) is not None)
    ]


def _binding(config: TableConfig, field: TableField, facts: Facts, kind: Kind) -> _Binding:
    name = config.column_of(field.name)
    bind = _binder(field, facts.columns[name], kind)
    assert bind is not None, "findings() has looked"
    return _Binding(field.name, name, bind)


def _binder(field: TableField, column: Column, kind: Kind) -> Binder | None:
    is_whole = field.dataType == "numeric" and field.scale == 0 and column.family == "integer"
    return binder_of("integer" if is_whole else field.dataType, column, kind)


def _maker(facts: Facts, name: str, kind: Kind) -> Callable[[], Any] | None:
    """What makes values for a column of the key that nobody fills in; None if the database does, or its type cannot."""
    column = facts.columns[name]
    if column.is_generated or (column.has_default and not column.is_random_uuid):
        return None
    if any(name in key.columns for key in facts.foreign_keys.values()):
        return None  # the row it refers to cannot be guessed
    if column.family == "uuid":
        return uuid4 if kind == "postgresql" else lambda: str(uuid4())
    if column.family != "text":
        return None
    length = column.max_length
    if length is None or length >= _HYPHENATED:
        return lambda: str(uuid4())
    return (lambda: uuid4().hex) if length >= _BARE else None
