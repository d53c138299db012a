"""Builds the tools of a table from its config: input schemas, names and descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid5

from pegboard.json_schema.schema_document import DRAFT_7
from pegboard.kinds.table.config import BATCH_SUFFIX, TableConfig, TableEntry, TableField, to_json_number
from pegboard.kinds.table.table_schema import Column, TableSchema
from pegboard.model.tool import Kind, Tool

MIN_INTEGER, MAX_INTEGER = Decimal(-(2**63)), Decimal(2**63 - 1)

_NAMESPACE = UUID("0d3f8c1e-52b7-5a0e-8f43-6b1f5f0c9e27")
_JSON_TYPES = {
    "text": "string", "integer": "integer", "numeric": "number", "boolean": "boolean", "enum": "string",
    "datetime": "string", "json": "object",
}  # fmt: skip
_FORMATS = {"uuid": "uuid", "instant": "date-time", "local": "date-time", "date": "date"}
# Examples for types that JSON Schema has no format for.
_EXAMPLES = {
    "time without time zone": "14:30:00",
    "interval": "1 day 02:00:00",
    "inet": "192.0.2.1",
    "cidr": "192.0.2.0/24",
    "macaddr": "08:00:2b:01:02:03",
}
_ELEMENT_TYPES = {"integer": "integer", "numeric": "number", "float": "number", "boolean": "boolean"}


def build_input_schema(config: TableConfig, facts: TableSchema | None = None) -> dict[str, Any]:
    """Return the input schema of the table's tool: one row or, with `batch`, its `rows`."""
    columns: Mapping[str, Column] = facts.columns if facts is not None else {}
    row: dict[str, Any] = {
        "type": "object",
        "properties": {
            field.name: _build_property(field, columns.get(config.column_of(field.name))) for field in config.fields
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


def list_number_limits(field: TableField) -> dict[str, Decimal]:
    """Return the exact bounds and steps of a field's numbers by their JSON Schema keywords."""
    if field.dataType not in ("integer", "numeric"):
        return {}
    low, high = field.min, field.max
    if field.dataType == "integer":
        return {"minimum": MIN_INTEGER if low is None else low, "maximum": MAX_INTEGER if high is None else high}
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


def build_table_tools(entry: TableEntry, facts: TableSchema | None, *, owner_id: str, now: datetime) -> list[Tool]:
    """Return the tool that inserts one row and, with `batch`, a second one that inserts many."""
    written = entry.model_dump(mode="json", by_alias=True, exclude_unset=True)
    config = TableConfig.model_validate(
        {key: value for key, value in written.items() if key in _CONFIG_KEYS} | {"batch": False}
    )
    one = Tool(
        id=str(uuid5(_NAMESPACE, entry.toolId)),
        owner_id=owner_id,
        name=entry.toolId,
        tool_type=Kind.TABLE,
        config=_dump_config(config),
        input_schema=build_input_schema(config, facts),
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
            config=_dump_config(many),
            input_schema=build_input_schema(many, facts),
            description=f"{entry.description} (many rows in one call, all of them or none)",
            display_name=f"{entry.displayName} (batch)",
        ),
    ]


_CONFIG_KEYS = {field.alias or name for name, field in TableConfig.model_fields.items()}


def _dump_config(config: TableConfig) -> dict[str, Any]:
    return config.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _build_property(field: TableField, column: Column | None) -> dict[str, Any]:
    node: dict[str, Any] = {"type": _JSON_TYPES[field.dataType]}
    node |= {word: _to_json_limit(limit) for word, limit in list_number_limits(field).items()}
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
        node = {"type": "array", "items": _build_element_schema(column.element)}
    if not field.required:
        node["type"] = [node["type"], "null"]
        if "enum" in node:
            node["enum"].append(None)
    if described := _build_description(field, column):
        node["description"] = described
    if field.has_default:
        node["default"] = field.default
    return node


def _build_element_schema(column: Column | None) -> dict[str, Any]:
    family = column.family if column is not None else "other"
    if column is None or family == "json":
        return {}
    # Array elements may always be null.
    if family == "enum":
        return {"type": ["string", "null"], "enum": [*column.labels, None]}
    node: dict[str, Any] = {"type": [_ELEMENT_TYPES.get(family, "string"), "null"]}
    if family == "integer":
        low, high = column.low, column.high
        node |= {
            "minimum": int(MIN_INTEGER) if low is None else low,
            "maximum": int(MAX_INTEGER) if high is None else high,
        }
    elif family == "text" and column.max_length is not None:
        node["maxLength"] = column.max_length
    elif family in _FORMATS:
        node["format"] = _FORMATS[family]
    return node


def _to_json_limit(number: Decimal) -> int | float:
    found = to_json_number(number)
    return float(found) if isinstance(found, Decimal) else found


def _build_description(field: TableField, column: Column | None) -> str:
    """Return the label and description with the limits and types that JSON Schema has no keyword for."""
    limits = {"not before": field.minDate, "not after": field.maxDate}
    more = [f"{word} {limit}" for word, limit in limits.items() if limit is not None]
    if field.precision is not None and field.scale is None:
        more.append(f"at most {field.precision} digits")
    if column is not None and field.dataType == "text" and column.family in ("time", "other") and column.type:
        more.append(
            f"of type {column.type}" + (f", such as {_EXAMPLES[column.type]}" if column.type in _EXAMPLES else "")
        )
    text_text = ": ".join(text for text in (field.label, field.description) if text)
    return f"{text_text} ({', '.join(more)})".lstrip() if more else text_text
