"""From the config of a table to its tools: what they take, as a JSON Schema, and what they are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid5

from pegboard.core.table_config import BATCH_SUFFIX, TableConfig, TableEntry, TableField, as_number
from pegboard.core.tool import Kind, Tool
from pegboard.executors.table.facts import Column, Facts
from pegboard.registry.subschemas import DRAFT_7

SMALLEST, LARGEST = Decimal(-(2**63)), Decimal(2**63 - 1)

_NAMESPACE = UUID("0d3f8c1e-52b7-5a0e-8f43-6b1f5f0c9e27")
_TYPES = {
    "text": "string", "integer": "integer", "numeric": "number", "boolean": "boolean", "enum": "string",
    "datetime": "string", "json": "object",
}  # fmt: skip
_FORMATS = {"uuid": "uuid", "instant": "date-time", "local": "date-time", "date": "date"}
# Values of types that JSON Schema has no format for.
_EXAMPLES = {
    "time without time zone": "14:30:00",
    "interval": "1 day 02:00:00",
    "inet": "192.0.2.1",
    "cidr": "192.0.2.0/24",
    "macaddr": "08:00:2b:01:02:03",
}
_ELEMENTS = {"integer": "integer", "numeric": "number", "float": "number", "boolean": "boolean"}


def input_schema(config: TableConfig, facts: Facts | None = None) -> dict[str, Any]:
    """What the tool of such a table takes: one row, or with `batch` its `rows`."""
    columns: Mapping[str, Column] = facts.columns if facts is not None else {}
    row: dict[str, Any] = {
        "type": "object",
        "properties": {
            field.name: _property(field, columns.get(config.column_of(field.name))) for field in config.fields
        },
        "required": [field.name for field in config.fields if field.required and not field.has_default],
        "additionalProperties": False,
    }
    if not config.batch:
        return {"$schema": DRAFT_7, **row}
    rows = {"type": "array", "items": row, "minItems": 1, "description": "The rows, inserted all or none"}
    return {
        "$schema": DRAFT_7,
        "type": "object",
        "properties": {"rows": rows},
        "required": ["rows"],
        "additionalProperties": False,
    }


def limits(field: TableField) -> dict[str, Decimal]:
    """The bounds and steps of a field's numbers, to the last digit, by the keywords of JSON Schema."""
    if field.dataType not in ("integer", "numeric"):
        return {}
    low, high = field.min, field.max
    if field.dataType == "integer":
        return {"minimum": SMALLEST if low is None else low, "maximum": LARGEST if high is None else high}
    found: dict[str, Decimal] = {}
    if field.precision is not None and field.scale is not None:
        beyond = Decimal(1).scaleb(field.precision - field.scale)
        if low is None or low <= -beyond:
            low, found["exclusiveMinimum"] = None, -beyond
        if high is None or high >= beyond:
            high, found["exclusiveMaximum"] = None, beyond
    if low is not None:
        found["minimum"] = low
    if high is not None:
        found["maximum"] = high
    if field.scale is not None:
        found["multipleOf"] = Decimal(1).scaleb(-field.scale)
    return found


def table_tools(entry: TableEntry, facts: Facts | None, *, owner_id: str, now: datetime) -> list[Tool]:
    """The tool that inserts one row, and with `batch` the one beside it that inserts many."""
    written = entry.model_dump(mode="json", by_alias=True, exclude_unset=True)
    config = TableConfig.model_validate(
        {key: value for key, value in written.items() if key in _CONFIG_KEYS} | {"batch": False}
    )
    one = Tool(
        id=str(uuid5(_NAMESPACE, entry.toolId)),
        owner_id=owner_id,
        name=entry.toolId,
        tool_type=Kind.TABLE,
        config=_dumped(config),
        input_schema=input_schema(config, facts),
        created_at=now,
        updated_at=now,
        description=entry.description,
        display_name=entry.displayName,
        is_public=entry.public,
        unknown_parameters="reject",
        result_style="detailed",
        keep_arguments=entry.audit,
    )
    if not entry.batch:
        return [one]
    many = config.model_copy(update={"batch": True})
    name = entry.toolId + BATCH_SUFFIX
    return [
        one,
        replace(
            one,
            id=str(uuid5(_NAMESPACE, name)),
            name=name,
            config=_dumped(many),
            input_schema=input_schema(many, facts),
            description=f"{entry.description} (many rows in one call, all of them or none)",
            display_name=f"{entry.displayName} (batch)",
        ),
    ]


_CONFIG_KEYS = {field.alias or name for name, field in TableConfig.model_fields.items()}


def _dumped(config: TableConfig) -> dict[str, Any]:
    return config.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _property(field: TableField, column: Column | None) -> dict[str, Any]:
    node: dict[str, Any] = {"type": _TYPES[field.dataType]}
    node |= {word: _shown(limit) for word, limit in limits(field).items()}
    if field.dataType == "text":
        lengths = {"minLength": field.minLength, "maxLength": field.maxLength}
        node |= {word: length for word, length in lengths.items() if length is not None}
        if column is not None and column.family in ("uuid", "date"):
            node["format"] = _FORMATS[column.family]
    elif field.dataType == "enum":
        node["enum"] = [*(field.enumValues or ())]
    elif field.dataType == "datetime":
        node["format"] = "date-time"
    elif field.dataType == "json" and column is not None and column.family == "array":
        node = {"type": "array", "items": _element(column.element)}
    if not field.required:
        node["type"] = [node["type"], "null"]
        if "enum" in node:
            node["enum"].append(None)
    if described := _description(field, column):
        node["description"] = described
    if field.has_default:
        node["default"] = field.default
    return node


def _element(column: Column | None) -> dict[str, Any]:
    family = column.family if column is not None else "other"
    if column is None or family == "json":
        return {}
    # An array of any database may hold null.
    if family == "enum":
        return {"type": ["string", "null"], "enum": [*column.labels, None]}
    node: dict[str, Any] = {"type": [_ELEMENTS.get(family, "string"), "null"]}
    if family == "integer":
        low, high = column.low, column.high
        node |= {
            "minimum": int(SMALLEST) if low is None else low,
            "maximum": int(LARGEST) if high is None else high,
        }
    elif family == "text" and column.max_length is not None:
        node["maxLength"] = column.max_length
    elif family in _FORMATS:
        node["format"] = _FORMATS[family]
    return node


def _shown(number: Decimal) -> int | float:
    found = as_number(number)
    return float(found) if isinstance(found, Decimal) else found


def _description(field: TableField, column: Column | None) -> str:
    """The label and the description, with the limits and types that JSON Schema has no keyword for."""
    limits = {"not before": field.minDate, "not after": field.maxDate}
    more = [f"{word} {limit}" for word, limit in limits.items() if limit is not None]
    if field.precision is not None and field.scale is None:
        more.append(f"at most {field.precision} digits")
    if column is not None and field.dataType == "text" and column.family in ("time", "other") and column.type:
        more.append(
            f"of type {column.type}" + (f", such as {_EXAMPLES[column.type]}" if column.type in _EXAMPLES else "")
        )
    said = ": ".join(text for text in (field.label, field.description) if text)
    return f"{said} ({', '.join(more)})".lstrip() if more else said
