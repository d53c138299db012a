"""Table tools that are stored: what their definition leaves to the config."""

from __future__ import annotations

from typing import Any

from pegboard.core.definitions import ToolCreate
from pegboard.core.refusals import Fault
from pegboard.core.table_config import TableConfig
from pegboard.core.tool import Kind, Tool
from pegboard.registry.tables.generation import input_schema
from pegboard.registry.tables.rules import config_faults

_NOTHING_SAID: tuple[dict[str, Any], ...] = ({}, {"type": "object"})


def table_definition(spec: ToolCreate, config: TableConfig, before: Tool) -> tuple[ToolCreate, list[Fault]]:
    """The definition with what its config says in place of what it leaves out, and what is wrong with it."""
    if faults := config_faults(config, "config"):
        return spec, faults
    made = input_schema(config)
    # A change to the config alone brings the former schema along.
    former = before.input_schema if before.tool_type is Kind.TABLE else {}
    if spec.input_schema not in (*_NOTHING_SAID, former, made):
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
