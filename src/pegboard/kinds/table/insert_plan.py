"""Compares a table tool's config with its table's schema, and plans how arguments become rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import uuid4

from pegboard.kinds.table.column_values import BindValue, DatabaseKind, find_binder, list_types
from pegboard.kinds.table.config import TableConfig, TableField
from pegboard.kinds.table.insert_refusals import MAX_PROBLEMS, ColumnValueRefused, make_invalid_arguments_error
from pegboard.kinds.table.source import InsertRow
from pegboard.kinds.table.table_schema import Column, TableSchema
from pegboard.model.call_errors import FieldProblem

ROWS_FIELD = "rows"

_UUID_CHARS, _UUID_HEX_CHARS = 36, 32
_MAX_SHAPES = 256


class TableConfigProblem(NamedTuple):
    """Why a table tool cannot be used; `field` is the field with the problem, if any."""

    code: str
    message: str
    field: str | None = None


class _FieldBinding(NamedTuple):
    field: str
    column: str
    bind: BindValue


class _RowShape(NamedTuple):
    """How a call with exactly these fields becomes a row; all its rows share the columns."""

    bindings: tuple[_FieldBinding, ...]
    columns: tuple[str, ...]
    makers: tuple[Callable[[], Any], ...]


class InsertPlan:
    """Converts the arguments of a call to rows of its table."""

    __slots__ = ("_bindings", "_makers", "_shapes", "_whole", "facts", "is_batch")

    def __init__(self, config: TableConfig, facts: TableSchema, kind: DatabaseKind) -> None:
        self.facts = facts
        self.is_batch = config.batch
        self._bindings = tuple(_make_binding(config, field, facts, kind) for field in config.fields)
        self._makers = {name: make for name in facts.key if (make := _find_key_maker(facts, name, kind)) is not None}
        self._shapes: dict[frozenset[str], _RowShape] = {}
        self._whole = self._get_shape(frozenset(field.name for field in config.fields))

    def rows(self, arguments: Mapping[str, Any]) -> tuple[InsertRow, ...]:
        """Return the rows to insert; raise InvalidArguments with all values that the columns do not accept."""
        problems: list[FieldProblem] = []
        if self.is_batch:
            rows = tuple(
                self._row(row, problems, f"{ROWS_FIELD}[{index}].") for index, row in enumerate(arguments[ROWS_FIELD])
            )
        else:
            rows = (self._row(arguments, problems, ""),)
        if problems:
            raise make_invalid_arguments_error(problems)
        return rows

    def _row(self, given: Mapping[str, Any], problems: list[FieldProblem], path: str) -> InsertRow:
        shape = self._whole
        if len(given) != len(shape.bindings):
            shape = self._get_shape(frozenset(given))
        try:
            values = [None if (value := given[field]) is None else bind(value) for field, _, bind in shape.bindings]
        except ColumnValueRefused:
            problems += _list_value_problems(shape.bindings, given, path)[: MAX_PROBLEMS - len(problems)]
            values = []
        values += [make() for make in shape.makers]
        return InsertRow(shape.columns, tuple(values))

    def _get_shape(self, given: frozenset[str]) -> _RowShape:
        shape = self._shapes.get(given)
        if shape is None:
            bindings = tuple(binding for binding in self._bindings if binding.field in given)
            columns = tuple(binding.column for binding in bindings)
            made = {name: make for name, make in self._makers.items() if name not in columns}
            shape = _RowShape(bindings, (*columns, *made), tuple(made.values()))
            if len(self._shapes) < _MAX_SHAPES:
                self._shapes[given] = shape
        return shape


def _list_value_problems(
    bindings: tuple[_FieldBinding, ...], given: Mapping[str, Any], path: str
) -> list[FieldProblem]:
    found = []
    for field, _, bind in bindings:
        value = given[field]
        try:
            if value is not None:
                bind(value)
        except ColumnValueRefused as refused:
            found.append(refused.problem(path + field, field, value))
    return found


def make_insert_plan(
    config: TableConfig, facts: TableSchema | None, kind: DatabaseKind
) -> InsertPlan | list[TableConfigProblem]:
    """Return the insert plan of the table, or all problems that prevent inserts."""
    found = check_table_config(config, facts, kind)
    if found or facts is None:
        return found
    return InsertPlan(config, facts, kind)


def check_table_config(config: TableConfig, facts: TableSchema | None, kind: DatabaseKind) -> list[TableConfigProblem]:
    """Return all problems that prevent this config from working with this table; empty if there are none."""
    if facts is None:
        name = config.tableName if config.schema_ is None else f"{config.schema_}.{config.tableName}"
        return [TableConfigProblem("table_not_found", f"Table '{name}' does not exist in database schema")]
    if facts.unfit is not None:
        return [TableConfigProblem("table_unfit", f"Table '{facts.table}' takes no rows: {facts.unfit}")]
    found = [finding for field in config.fields for finding in _check_field(config, field, facts, kind)]
    return found + _find_unfilled_columns(config, facts, kind)


def find_wider_fields(config: TableConfig, facts: TableSchema | None) -> list[TableConfigProblem]:
    """Return the fields that allow more than their columns: the tool works, but some valid values are rejected."""
    columns = facts.columns if facts is not None else {}
    return [
        TableConfigProblem(
            "wider_than_column", f"Field '{field.name}' has {word} {limit}, but its column takes {bound}", field.name
        )
        for field in config.fields
        if (column := columns.get(config.column_of(field.name))) is not None
        for word, limit, bound, is_wider in (
            ("maxLength", field.maxLength, column.max_length, _is_above(field.maxLength, column.max_length)),
            ("max", field.max, column.high, _is_above(field.max, column.high)),
            ("min", field.min, column.low, _is_above(column.low, field.min)),
        )
        if is_wider
    ]


def _is_above(limit: int | Decimal | None, bound: int | Decimal | None) -> bool:
    return limit is not None and bound is not None and limit > bound


def _check_field(
    config: TableConfig, field: TableField, facts: TableSchema, kind: DatabaseKind
) -> list[TableConfigProblem]:
    name = config.column_of(field.name)
    column = facts.columns.get(name)
    if column is None:
        known = ", ".join(list(facts.columns)[:30])
        message = f"Field '{field.name}' goes to column '{name}', which table '{facts.table}' does not have ({known})"
        return [TableConfigProblem("column_not_found", message, field.name)]
    about = f"column '{name}' of table '{facts.table}' ({column.type})"
    if column.is_generated:
        message = f"Field '{field.name}' goes to {about}, which the database alone fills in"
        return [TableConfigProblem("type_mismatch", message, field.name)]
    if _choose_binder(field, column, kind) is None:
        fitting = ", ".join(list_types(column, kind)) or "none"
        message = f"Field '{field.name}' is of dataType {field.dataType}, and {about} takes: {fitting}"
        return [TableConfigProblem("type_mismatch", message, field.name)]
    return _check_options(field, column, about)


def _check_options(field: TableField, column: Column, about: str) -> list[TableConfigProblem]:
    options = field.enumValues or []
    if column.family == "enum":
        wrong = [option for option in options if option not in column.labels]
        reason = f"whose values are: {', '.join(column.labels[:30])}"
    else:
        wrong = [option for option in options if column.max_length is not None and len(option) > column.max_length]
        reason = "where it is too long"
    if not wrong:
        return []
    message = f"Field '{field.name}' offers '{wrong[0]}', which does not fit {about}, {reason}"
    return [TableConfigProblem("type_mismatch", message, field.name)]


def _find_unfilled_columns(config: TableConfig, facts: TableSchema, kind: DatabaseKind) -> list[TableConfigProblem]:
    """Return the columns that require a value and get none."""
    filled = {config.column_of(field.name) for field in config.fields}
    return [
        TableConfigProblem(
            "column_required",
            f"Column '{column.name}' of table '{facts.table}' must be filled in, and no field does; "
            "add a field for it, or give it a default in the database",
        )
        for column in facts.columns.values()
        if not (column.nullable or column.has_default or column.is_generated or column.name in filled)
        and not (column.name in facts.key and _find_key_maker(facts, column.name, kind) is not None)
    ]


def _make_binding(config: TableConfig, field: TableField, facts: TableSchema, kind: DatabaseKind) -> _FieldBinding:
    name = config.column_of(field.name)
    bind = _choose_binder(field, facts.columns[name], kind)
    assert bind is not None, "findings() has looked"
    return _FieldBinding(field.name, name, bind)


def _choose_binder(field: TableField, column: Column, kind: DatabaseKind) -> BindValue | None:
    is_whole = field.dataType == "numeric" and field.scale == 0 and column.family == "integer"
    return find_binder("integer" if is_whole else field.dataType, column, kind)


def _find_key_maker(facts: TableSchema, name: str, kind: DatabaseKind) -> Callable[[], Any] | None:
    """Return a maker of UUIDs for a key column without a field; None if the database fills it or no UUID fits."""
    column = facts.columns[name]
    if column.is_generated or (column.has_default and not column.is_random_uuid):
        return None
    if any(name in key.columns for key in facts.foreign_keys.values()):
        return None  # the row that it refers to is unknown
    if column.family == "uuid":
        return uuid4 if kind == "postgresql" else lambda: str(uuid4())
    if column.family != "text":
        return None
    length = column.max_length
    if length is None or length >= _UUID_CHARS:
        return lambda: str(uuid4())
    return (lambda: uuid4().hex) if length >= _UUID_HEX_CHARS else None
