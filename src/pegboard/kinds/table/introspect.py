"""Generates entries of a tables file from the schemas of a database."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, NamedTuple

from pegboard.kinds.table.check_constraints import ColumnBounds, read_bounds
from pegboard.kinds.table.column_values import DatabaseKind, list_types
from pegboard.kinds.table.config import (
    MAX_DIGITS,
    MAX_FIELDS,
    MAX_IDENTIFIER_CHARACTERS,
    MAX_OPTIONS,
    DataType,
    to_json_number,
)
from pegboard.kinds.table.table_schema import Column, ColumnFamily, TableSchema

# The most precise field type for each column family; others may be compatible too.
_DATA_TYPES: dict[ColumnFamily, DataType] = {
    "text": "text",
    "integer": "integer",
    "numeric": "numeric",
    "float": "numeric",
    "boolean": "boolean",
    "instant": "datetime",
    "local": "datetime",
    "json": "json",
    "enum": "enum",
    "array": "json",
}
_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**63 - 1


class GeneratedEntry(NamedTuple):
    """A generated entry with notes for its reviewer; if `entry` is None, the notes give the reason."""

    entry: dict[str, Any] | None
    notes: list[str]


def generate_entry(facts: TableSchema, kind: DatabaseKind) -> GeneratedEntry:
    """Return an entry for the table with a field for each column that a caller can fill."""
    if facts.unfit is not None:
        return GeneratedEntry(None, [f"left out: {facts.unfit}"])
    if not _is_valid_identifier(facts.table):
        return GeneratedEntry(None, [f"left out: its name has not 1 to {MAX_IDENTIFIER_CHARACTERS} characters"])
    notes: list[str] = []
    fields: list[dict[str, Any]] = []
    bounds = read_bounds(facts.checks.values(), facts.columns, kind)
    for column in facts.columns.values():
        if _is_filled_automatically(column, facts):
            continue
        fitting = list_types(column, kind)
        if not fitting:
            why = f"no field fits its type {column.type}"
        elif not _is_valid_identifier(column.name):
            why = f"its name has not 1 to {MAX_IDENTIFIER_CHARACTERS} characters"
        elif len(fields) == MAX_FIELDS:
            why = f"a table has at most {MAX_FIELDS:,} fields"
        else:
            best = _DATA_TYPES.get(column.family, "text")
            fields.append(
                _build_field(column, best if best in fitting else fitting[0], bounds.get(column.name, ColumnBounds()))
            )
            continue
        shown = column.name[:MAX_IDENTIFIER_CHARACTERS]
        if not column.nullable and not column.has_default:
            return GeneratedEntry(None, [f"left out: its column {shown} must be filled in, and {why}"])
        notes.append(f"column {shown} is left out: {why}")
    if not fields:
        return GeneratedEntry(None, ["left out: there is no column that a caller could fill in"])
    words = _split_words(facts.table)
    entry = {
        "toolId": f"add-{'-'.join(words) or 'row'}"[:200],
        "displayName": " ".join(["Add", *words])[:255],
        "description": _shorten_description(f"Insert a row into {facts.table}. {facts.comment or ''}".strip()),
        "public": False,
        "tableName": facts.table,
        **({"schema": facts.schema} if facts.schema is not None else {}),
        "fields": fields,
    }
    return GeneratedEntry(entry, notes)


def _is_filled_automatically(column: Column, facts: TableSchema) -> bool:
    """True if the database or the board fills the column: generated and counted columns, and optional keys."""
    if column.is_generated or column.counts:
        return True
    if column.name not in facts.key:
        return False
    refers = any(column.name in foreign.columns for foreign in facts.foreign_keys.values())
    return column.has_default or (column.family == "uuid" and facts.key == (column.name,) and not refers)


def _build_field(column: Column, data_type: DataType, bounds: ColumnBounds) -> dict[str, Any]:
    among = list(bounds.among or ()) if column.family == "text" else list(column.labels)
    if column.max_length is not None:
        among = [option for option in among if len(option) <= column.max_length]
    if len(among) > MAX_OPTIONS:
        data_type = "text"
    elif among:
        data_type = "enum"
    field: dict[str, Any] = {
        "name": column.name,
        "label": " ".join(word.capitalize() for word in _split_words(column.name)) or column.name,
        **({"description": _shorten_description(column.comment)} if column.comment else {}),
        "dataType": data_type,
        "required": not column.nullable and not column.has_default,
    }
    if data_type == "enum":
        field["enumValues"] = among
    elif column.family == "text":
        lengths = [length for length in (column.max_length, bounds.longest) if length is not None]
        shortest, longest = max(bounds.shortest or 0, 0), min(lengths, default=None)
        if longest is None or shortest <= longest:
            field |= _drop_none(minLength=shortest or None, maxLength=longest)
    elif data_type == "integer":
        field |= _build_integer_limits(column, bounds)
    elif data_type == "numeric":
        field |= _build_number_limits(column, bounds)
    return field


def _build_integer_limits(column: Column, bounds: ColumnBounds) -> dict[str, Any]:
    lows = [_round_to_integer(bounds.low, ROUND_CEILING), _round_to_integer(bounds.above, ROUND_FLOOR, 1), column.low]
    highs = [
        _round_to_integer(bounds.high, ROUND_FLOOR),
        _round_to_integer(bounds.below, ROUND_CEILING, -1),
        column.high,
    ]
    low = max((low for low in lows if low is not None), default=_MIN_INTEGER)
    high = min((high for high in highs if high is not None), default=_MAX_INTEGER)
    # Bounds that no value satisfies would not help a caller.
    if max(low, _MIN_INTEGER) > min(high, _MAX_INTEGER):
        return {}
    return _drop_none(min=low if low > _MIN_INTEGER else None, max=high if high < _MAX_INTEGER else None)


def _round_to_integer(number: Decimal | None, rounding: str, more: int = 0) -> int | None:
    return None if number is None else int(number.to_integral_value(rounding)) + more


def _build_number_limits(column: Column, bounds: ColumnBounds) -> dict[str, Any]:
    scale = column.scale or 0
    exact = column.family == "numeric" and column.precision is not None and 0 <= scale <= column.precision <= MAX_DIGITS
    # A field has no exclusive bounds, but with a scale the next number can be computed.
    lows = [bounds.low, _step_past_bound(bounds.above, scale, ROUND_FLOOR, 1) if exact else bounds.above]
    highs = [bounds.high, _step_past_bound(bounds.below, scale, ROUND_CEILING, -1) if exact else bounds.below]
    low = max((low for low in lows if low is not None), default=None)
    high = min((high for high in highs if high is not None), default=None)
    if low is not None and high is not None and low > high:
        low = high = None
    return _drop_none(
        min=_to_document_number(low),
        max=_to_document_number(high),
        precision=column.precision if exact else None,
        scale=scale if exact else None,
    )


def _step_past_bound(bound: Decimal | None, scale: int, rounding: str, step: int) -> Decimal | None:
    """Return the nearest number with this many decimals above or below the bound."""
    return None if bound is None else (bound.scaleb(scale).to_integral_value(rounding) + step).scaleb(-scale)


def _to_document_number(number: Decimal | None) -> int | float | None:
    """Return the number as int or float, or None if that would change it."""
    found = None if number is None else to_json_number(number)
    return None if isinstance(found, Decimal) else found


def _drop_none(**constraints: Any) -> dict[str, Any]:
    return {name: value for name, value in constraints.items() if value is not None}


def _split_words(name: str) -> list[str]:
    """Return the lower-case words of a name: mood_entries, MoodEntries and moodEntries give the same words."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [word.lower() for word in re.split(r"[^A-Za-z0-9]+", apart) if word]


def _is_valid_identifier(text: str) -> bool:
    return 0 < len(text) <= MAX_IDENTIFIER_CHARACTERS


def _shorten_description(text: str) -> str:
    return text if len(text) <= 2000 else text[:1999] + "…"
