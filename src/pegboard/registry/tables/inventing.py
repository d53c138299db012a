"""Tables as the file has them, made up from what their database says of them."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Literal, NamedTuple

from pegboard.core.table_config import LONGEST_NAME, MOST_DIGITS, MOST_FIELDS, MOST_OPTIONS, DataType, as_number
from pegboard.executors.table.binding import types_for
from pegboard.executors.table.facts import Column, Facts, Family
from pegboard.registry.tables.checks import Bounds, bounds_of

# The type of field that says most of what a column holds; others may fit as well.
_TYPES: dict[Family, DataType] = {
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
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


class Invented(NamedTuple):
    """A table for the file, and what somebody who looks through it should know; without an entry, why there is none."""

    entry: dict[str, Any] | None
    notes: list[str]


def table_entry(facts: Facts, kind: Literal["sqlite", "postgresql"]) -> Invented:
    """The table with a field for each column that a caller may fill in."""
    if facts.unfit is not None:
        return Invented(None, [f"left out: {facts.unfit}"])
    if not _is_name(facts.table):
        return Invented(None, [f"left out: its name has not 1 to {LONGEST_NAME} characters"])
    notes: list[str] = []
    fields: list[dict[str, Any]] = []
    bounds = bounds_of(facts.checks.values(), facts.columns)
    for column in facts.columns.values():
        if _fills_itself(column, facts):
            continue
        fitting = types_for(column, kind)
        if not fitting:
            why = f"no field fits its type {column.type}"
        elif not _is_name(column.name):
            why = f"its name has not 1 to {LONGEST_NAME} characters"
        elif len(fields) == MOST_FIELDS:
            why = f"a table has at most {MOST_FIELDS:,} fields"
        else:
            best = _TYPES.get(column.family, "text")
            fields.append(_field(column, best if best in fitting else fitting[0], bounds.get(column.name, Bounds())))
            continue
        shown = column.name[:LONGEST_NAME]
        if not column.nullable and not column.has_default:
            return Invented(None, [f"left out: its column {shown} must be filled in, and {why}"])
        notes.append(f"column {shown} is left out: {why}")
    if not fields:
        return Invented(None, ["left out: there is no column that a caller could fill in"])
    words = _words(facts.table)
    entry = {
        "toolId": f"add-{'-'.join(words) or 'row'}"[:200],
        "displayName": " ".join(["Add", *words])[:255],
        "description": _cut(f"Insert a row into {facts.table}. {facts.comment or ''}".strip()),
        "public": False,
        "tableName": facts.table,
        **({"schema": facts.schema} if facts.schema is not None else {}),
        "fields": fields,
    }
    return Invented(entry, notes)


def _fills_itself(column: Column, facts: Facts) -> bool:
    """Whether the database or the board gives it a value: what is generated or counted, and keys nobody has to give."""
    if column.is_generated or column.counts:
        return True
    if column.name not in facts.key:
        return False
    refers = any(column.name in foreign.columns for foreign in facts.foreign_keys.values())
    return column.has_default or (column.family == "uuid" and facts.key == (column.name,) and not refers)


def _field(column: Column, data_type: DataType, bounds: Bounds) -> dict[str, Any]:
    among = list(bounds.among or ()) if column.family == "text" else list(column.labels)
    if column.max_length is not None:
        among = [option for option in among if len(option) <= column.max_length]
    if len(among) > MOST_OPTIONS:
        data_type = "text"
    elif among:
        data_type = "enum"
    field: dict[str, Any] = {
        "name": column.name,
        "label": " ".join(word.capitalize() for word in _words(column.name)) or column.name,
        **({"description": _cut(column.comment)} if column.comment else {}),
        "dataType": data_type,
        "required": not column.nullable and not column.has_default,
    }
    if data_type == "enum":
        field["enumValues"] = among
    elif column.family == "text":
        lengths = [length for length in (column.max_length, bounds.longest) if length is not None]
        shortest, longest = max(bounds.shortest or 0, 0), min(lengths, default=None)
        if longest is None or shortest <= longest:
            field |= _given(minLength=shortest or None, maxLength=longest)
    elif data_type == "integer":
        field |= _integers(column, bounds)
    elif data_type == "numeric":
        field |= _numbers(column, bounds)
    return field


def _integers(column: Column, bounds: Bounds) -> dict[str, Any]:
    lows = [_integer(bounds.low, ROUND_CEILING), _integer(bounds.above, ROUND_FLOOR, 1), column.low]
    highs = [_integer(bounds.high, ROUND_FLOOR), _integer(bounds.below, ROUND_CEILING, -1), column.high]
    low = max((low for low in lows if low is not None), default=_SMALLEST)
    high = min((high for high in highs if high is not None), default=_LARGEST)
    # A check that no value passes is no help to whoever looks for one.
    if max(low, _SMALLEST) > min(high, _LARGEST):
        return {}
    return _given(min=low if low > _SMALLEST else None, max=high if high < _LARGEST else None)


def _integer(number: Decimal | None, rounding: str, more: int = 0) -> int | None:
    return None if number is None else int(number.to_integral_value(rounding)) + more


def _numbers(column: Column, bounds: Bounds) -> dict[str, Any]:
    scale = column.scale or 0
    exact = (
        column.family == "numeric" and column.precision is not None and 0 <= scale <= column.precision <= MOST_DIGITS
    )
    # A field has no bound that its values may not reach, but with a scale there is a next number.
    lows = [bounds.low, _beside(bounds.above, scale, ROUND_FLOOR, 1) if exact else bounds.above]
    highs = [bounds.high, _beside(bounds.below, scale, ROUND_CEILING, -1) if exact else bounds.below]
    low = max((low for low in lows if low is not None), default=None)
    high = min((high for high in highs if high is not None), default=None)
    if low is not None and high is not None and low > high:
        low = high = None
    return _given(
        min=_plain(low),
        max=_plain(high),
        precision=column.precision if exact else None,
        scale=scale if exact else None,
    )


def _beside(bound: Decimal | None, scale: int, rounding: str, step: int) -> Decimal | None:
    """The nearest number of so many decimals above the bound, or below it."""
    return None if bound is None else (bound.scaleb(scale).to_integral_value(rounding) + step).scaleb(-scale)


def _plain(number: Decimal | None) -> int | float | None:
    """The number as documents are written with it, unless that would not be the same number."""
    found = None if number is None else as_number(number)
    return None if isinstance(found, Decimal) else found


def _given(**constraints: Any) -> dict[str, Any]:
    return {name: value for name, value in constraints.items() if value is not None}


def _words(name: str) -> list[str]:
    """The words of a name, in lower case: mood_entries, MoodEntries and moodEntries have the same."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [word.lower() for word in re.split(r"[^A-Za-z0-9]+", apart) if word]


def _is_name(text: str) -> bool:
    return 0 < len(text) <= LONGEST_NAME


def _cut(text: str) -> str:
    return text if len(text) <= 2000 else text[:1999] + "…"
