"""Configs and tools of tables, made for a test."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pegboard.kinds.table.arguments import TableArgumentChecker
from pegboard.kinds.table.config import TableConfig, TableEntry
from pegboard.kinds.table.generate_tools import build_table_tools
from pegboard.kinds.table.table_schema import TableSchema
from pegboard.model.call_errors import FieldProblem, InvalidArguments
from pegboard.model.tool import Tool

NOW = datetime(2026, 1, 2, tzinfo=UTC)
# One of each type, as in the examples of the contract.
FIELDS: list[dict[str, Any]] = [
    {"name": "user_id", "dataType": "text", "required": True, "maxLength": 50},
    {"name": "mood", "dataType": "enum", "required": True, "enumValues": ["happy", "sad", "neutral", "anxious"]},
    {"name": "energy_level", "dataType": "integer", "required": True, "min": 1, "max": 10},
    {"name": "temperature", "dataType": "numeric", "required": True, "scale": 2},
    {"name": "is_active", "dataType": "boolean", "required": True},
    {"name": "timestamp", "dataType": "datetime", "required": True},
    {"name": "metadata", "dataType": "json", "required": True},
    {"name": "notes", "dataType": "text", "maxLength": 500},
]
ROW: dict[str, Any] = {
    "user_id": "user_123",
    "mood": "happy",
    "energy_level": 8,
    "temperature": 36.65,
    "is_active": True,
    "timestamp": "2025-10-05T14:30:00Z",
    "metadata": {"source": {"app": "telegram"}},
}


def entry(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a table with these fields, or those of moods, as a file lists it."""
    return {
        "toolId": "log-mood",
        "displayName": "Log a mood",
        "description": "Logs how somebody feels",
        "tableName": "mood_entries",
        "fields": list(fields) or FIELDS,
        **more,
    }


def config(*fields: dict[str, Any], **more: Any) -> TableConfig:
    """Return the config of such a table."""
    return TableConfig.model_validate({"tableName": "mood_entries", "fields": list(fields) or FIELDS, **more})


def tools(*fields: dict[str, Any], facts: TableSchema | None = None, **more: Any) -> list[Tool]:
    """Return the tools of such a table."""
    return build_table_tools(TableEntry.model_validate(entry(*fields, **more)), facts, owner_id="owner", now=NOW)


def problems(arguments: TableArgumentChecker, given: dict[str, Any]) -> list[FieldProblem]:
    """Return the errors of these arguments; empty if they are valid."""
    try:
        arguments.check(given)
    except InvalidArguments as error:
        return list(error.problem.problems)
    return []
