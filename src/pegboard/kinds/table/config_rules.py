"""The rules for the config of a table, beyond the types of its values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from difflib import get_close_matches

from pegboard.kinds.table.arguments import RowChecker
from pegboard.kinds.table.config import (
    BATCH_SUFFIX,
    CONSTRAINTS,
    MESSAGE_PLACEHOLDER,
    STANDARD_PLACEHOLDERS,
    TableConfig,
    TableEntry,
    TableField,
)
from pegboard.kinds.table.generate_tools import MAX_INTEGER, MIN_INTEGER, build_input_schema
from pegboard.model.api_errors import Fault
from pegboard.model.call_errors import InvalidArguments
from pegboard.model.timestamps import read_instant
from pegboard.model.tool import check_name

_ALL_CONSTRAINTS = tuple(dict.fromkeys(word for words in CONSTRAINTS.values() for word in words))


def find_config_faults(config: TableConfig, under: str) -> list[Fault]:
    """Return all violations of the rules; `under` is the path of the config."""
    faults: list[Fault] = []
    seen: dict[str, int] = {}
    columns: dict[str, str] = {}
    for place, field in enumerate(config.fields):
        where = f"{under}.fields.{place}"
        if field.name in seen:
            faults.append(Fault(f"{where}.name", f"'{field.name}' is the name of fields.{seen[field.name]} as well"))
        elif (other := columns.setdefault(config.column_of(field.name), field.name)) != field.name:
            column = config.column_of(field.name)
            mapped = field.name if field.name in config.columnMappings else other
            message = f"the fields '{other}' and '{field.name}' both go to the column '{column}'"
            faults.append(Fault(f"{under}.columnMappings.{mapped}", message))
        seen.setdefault(field.name, place)
        faults += find_field_faults(field, where)
    faults += [
        Fault(f"{under}.columnMappings.{name}", f"there is no field '{name}'; {_suggest_nearest(name, seen)}")
        for name in config.columnMappings
        if name not in seen
    ]
    known = (*seen, *STANDARD_PLACEHOLDERS)
    faults += [
        Fault(f"{under}.successMessage", f"{{{name}}} is nothing that is known; {_suggest_nearest(name, known)}")
        for name in dict.fromkeys(MESSAGE_PLACEHOLDER.findall(config.successMessage or ""))
        if name not in known
    ]
    return faults


def find_file_faults(entries: Mapping[int, TableEntry], sources: Sequence[str]) -> list[Fault]:
    """Return the conflicts between the tables of a file, by their positions, and references to unknown sources."""
    faults = []
    names: dict[str, int] = {}
    for place, entry in entries.items():
        under = f"tables.{place}"
        if entry.source is not None and entry.source not in sources:
            there = _suggest_nearest(entry.source, sources) if sources else "the file names none"
            faults.append(Fault(f"{under}.source", f"'{entry.source}' is not among sources; {there}"))
        for name in (entry.toolId, entry.toolId + BATCH_SUFFIX) if entry.batch else (entry.toolId,):
            try:
                check_name(name)
            except ValueError as error:
                faults.append(Fault(f"{under}.toolId", str(error)))
            if (other := names.setdefault(name.lower(), place)) != place:
                message = f"the tool '{name}' is of tables.{other} already; names are the same whatever their case"
                faults.append(Fault(f"{under}.toolId", message))
    return faults


def find_field_faults(field: TableField, under: str) -> list[Fault]:
    """Return all rules that one field violates."""
    broken = [*_find_misplaced_constraints(field), *_find_contradictions(field)]
    if not broken and field.has_default:
        broken += _check_default(field)
    return [Fault(f"{under}.{word}", message) for word, message in broken]


def _find_misplaced_constraints(field: TableField) -> Iterator[tuple[str, str]]:
    allowed = CONSTRAINTS[field.dataType]
    for word in _ALL_CONSTRAINTS:
        if getattr(field, word) is not None and word not in allowed:
            owners = " and ".join(kind for kind, words in CONSTRAINTS.items() if word in words)
            own = f"{field.dataType} takes {', '.join(allowed)}" if allowed else f"{field.dataType} takes none"
            yield word, f"belongs to {owners}, not to {field.dataType}; {own}"


def _find_contradictions(field: TableField) -> Iterator[tuple[str, str]]:
    yield from _check_order("minLength", field.minLength, "maxLength", field.maxLength)
    yield from _check_order("min", field.min, "max", field.max)
    yield from _check_order("scale", field.scale, "precision", field.precision)
    if field.dataType == "integer":
        for word, limit in (("min", field.min), ("max", field.max)):
            if limit is not None and (limit != limit.to_integral_value() or not MIN_INTEGER <= limit <= MAX_INTEGER):
                yield word, f"{limit} is no integer of 64 bits, which the field's values are"
    if field.dataType == "enum" and field.enumValues is None:
        yield "enumValues", "required for an enum: the values it may have"
    seen: set[str] = set()
    for value in field.enumValues or ():
        if value in seen:
            yield "enumValues", f"'{value}' is given twice"
        seen.add(value)
    moments: dict[str, datetime] = {}
    for word, text in (("minDate", field.minDate), ("maxDate", field.maxDate)):
        if text is not None:
            try:
                moments[word] = read_instant(text)
            except ValueError as error:
                yield word, f"'{text[:100]}' is no datetime: {error}; write it as 2025-10-05T14:30:00Z"
    if len(moments) == 2 and moments["minDate"] > moments["maxDate"]:
        yield "minDate", f"is {field.minDate}, which is after maxDate, {field.maxDate}"


def _check_order(
    low_word: str, low: int | Decimal | None, high_word: str, high: int | Decimal | None
) -> Iterator[tuple[str, str]]:
    if low is not None and high is not None and low > high:
        yield low_word, f"is {low}, which is more than {high_word}, {high}"


def _check_default(field: TableField) -> Iterator[tuple[str, str]]:
    if _has_decimal(field.default):
        yield "default", "holds a number of more digits than JSON's readers keep; let the column have the default"
        return
    if field.dataType == "json" and isinstance(field.default, list):
        return  # valid if the column is an array, which is not supported
    alone = TableConfig(tableName="-", fields=[field])
    try:
        RowChecker(alone, build_input_schema(alone)).check({field.name: field.default})
    except InvalidArguments as error:
        yield "default", f"does not fit the field itself: {error.problems[0].message}"


def _has_decimal(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_decimal, value.values()))
    return any(map(_has_decimal, value)) if isinstance(value, list) else isinstance(value, Decimal)


def _suggest_nearest(word: str, known: Iterable[str]) -> str:
    names = list(known)
    near = get_close_matches(word, names, 1)
    return f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(names[:30])}"
