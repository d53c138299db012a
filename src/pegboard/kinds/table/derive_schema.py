"""Completes the definition of a stored table tool from its config."""

from __future__ import annotations

from typing import Any

from pegboard.kinds.table.config import TableConfig
from pegboard.kinds.table.config_rules import find_config_faults
from pegboard.kinds.table.generate_tools import build_input_schema
from pegboard.model.api_errors import Fault
from pegboard.model.tool import Kind, Tool
from pegboard.model.tool_definition import ToolCreate

_EMPTY_SCHEMAS: tuple[dict[str, Any], ...] = ({}, {"type": "object"})


def complete_table_definition(spec: ToolCreate, config: TableConfig, before: Tool) -> tuple[ToolCreate, list[Fault]]:
    """Return the definition with missing fields derived from the config, and its faults."""
    if faults := find_config_faults(config, "config"):
        return spec, faults
    made = build_input_schema(config)
    # A request that changes only the config contains the previous schema.
    former = before.input_schema if before.tool_type is Kind.TABLE else {}
    if spec.input_schema not in (*_EMPTY_SCHEMAS, former, made):
        faults.append(Fault("input_schema", "is made from config.fields; leave it out"))
    if spec.read_only:
        faults.append(Fault("read_only", "a table tool inserts rows; leave it out"))
    filled: dict[str, Any] = {
        "unknown_parameters": "reject",
        "result_style": "detailed",
        "keep_arguments": config.audit,
    }
    left_out = {name: value for name, value in filled.items() if name not in spec.model_fields_set}
    return spec.model_copy(update={**left_out, "input_schema": made}), faults
