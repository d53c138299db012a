"""The schemas of the two baseline tools, which the contract itself defines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

_HASH_SCHEMA = {"type": "string", "pattern": "^[0-9a-fA-F]{64}$"}
_FINDING_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "finding_id": {"type": "string"},
        "composite_hash": {"type": "string"},
        "first_seen_ts": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]},
        "seen_count": {"type": "integer", "minimum": 0},
        "baseline_status": {"enum": ["new", "recurring", "resolved"]},
        "confidence_score": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": [
        "finding_id",
        "composite_hash",
        "first_seen_ts",
        "seen_count",
        "baseline_status",
        "confidence_score",
    ],
}


class ToolSchemas(NamedTuple):
    """The input and output schema of a tool."""

    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]


BASELINE_SCHEMAS: Mapping[str, ToolSchemas] = {
    "query_baseline": ToolSchemas(
        {
            "type": "object",
            "properties": {
                "finding_id": {"type": "string"},
                "composite_hash": _HASH_SCHEMA,
                "query_type": {"enum": ["baseline_check", "first_seen", "frequency_count"]},
                "additional_params": {"type": "object"},
            },
            "required": ["finding_id", "composite_hash", "query_type"],
        },
        _FINDING_SCHEMA,
    ),
    "batch_baseline_query": ToolSchemas(
        {
            "type": "object",
            "properties": {
                "finding_ids": {"type": "array", "items": {"type": "string"}},
                "composite_hashes": {"type": "array", "items": _HASH_SCHEMA},
                "query_type": {"enum": ["batch_baseline_check"]},
                "batch_size": {"type": "integer", "minimum": 1},
                "additional_params": {"type": "object"},
            },
            "required": ["finding_ids", "composite_hashes", "query_type"],
        },
        {
            "type": "object",
            "properties": {"results": {"type": "array", "items": _FINDING_SCHEMA}},
            "required": ["results"],
        },
    ),
}
