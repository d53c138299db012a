"""The two tools whose arguments and payloads the contract itself defines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

_HASH = {"type": "string", "pattern": "^[0-9a-fA-F]{64}$"}
_FINDING: dict[str, Any] = {
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


class Schemas(NamedTuple):
    """What a tool takes and gives."""

    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]


BASELINE: Mapping[str, Schemas] = {
    "query_baseline": Schemas(
        {
            "type": "object",
            "properties": {
                "finding_id": {"type": "string"},
                "composite_hash": _HASH,
                "query_type": {"enum": ["baseline_check", "first_seen", "frequency_count"]},
                "additional_params": {"type": "object"},
            },
            "required": ["finding_id", "composite_hash", "query_type"],
        },
        _FINDING,
    ),
    "batch_baseline_query": Schemas(
        {
            "type": "object",
            "properties": {
                "finding_ids": {"type": "array", "items": {"type": "string"}},
                "composite_hashes": {"type": "array", "items": _HASH},
                "query_type": {"enum": ["batch_baseline_check"]},
                "batch_size": {"type": "integer", "minimum": 1},
                "additional_params": {"type": "object"},
            },
            "required": ["finding_ids", "composite_hashes", "query_type"],
        },
        {
            "type": "object",
            "properties": {"results": {"type": "array", "items": _FINDING}},
            "required": ["results"],
        },
    ),
}
