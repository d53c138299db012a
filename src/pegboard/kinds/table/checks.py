"""Checks of a table tool at registration, and the fields of its definition that follow from its config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.kinds.base import Registration
from pegboard.kinds.table.config import TableConfig
from pegboard.kinds.table.config_rules import find_config_faults
from pegboard.kinds.table.generate_tools import build_input_schema
from pegboard.model.api_errors import Fault
from pegboard.model.tool import Kind

_EMPTY_SCHEMAS: tuple[dict[str, Any], ...] = ({}, {"type": "object"})


def complete_definition(registration: Registration) -> Mapping[str, Any]:
    """Return the fields that follow from the config; none if the config has faults."""
    config: TableConfig = registration.config
    if find_config_faults(config, "config"):
        return {}
    filled: dict[str, Any] = {
        "unknown_parameters": "reject",
        "result_style": "detailed",
        "keep_arguments": config.audit,
    }
    given = registration.definition.model_fields_set
    left_out = {name: value for name, value in filled.items() if name not in given}
    return {**left_out, "input_schema": build_input_schema(config)}


def find_definition_faults(registration: Registration) -> list[Fault]:
    """Return the faults of the config, and fields of the definition that contradict it."""
    config, definition, before = registration.config, registration.definition, registration.before
    if faults := find_config_faults(config, "config"):
        return faults
    # A request that changes only the config contains the previous schema.
    former = before.input_schema if before.tool_type == Kind.TABLE else {}
    if definition.input_schema not in (*_EMPTY_SCHEMAS, former, build_input_schema(config)):
        faults.append(Fault("input_schema", "is made from config.fields; leave it out"))
    if definition.read_only:
        faults.append(Fault("read_only", "a table tool inserts rows; leave it out"))
    return faults
