"""The tools of the baseline, as they hang on every board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.builtins.baseline.reading import MAX_ID_LENGTH, MOST_ASKED

# As large as the answer to the largest question can be.
_MOST_RESULT_BYTES = 32 * 2**20


@dataclass(frozen=True, slots=True)
class BaselineTool:
    """An internal tool with an effect on the baseline, or none; its handler has its name."""

    name: str
    display_name: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    read_only: bool = False
    idempotent: bool = False
    max_result_bytes: int | None = None


def _object(properties: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}


def _list(items: Mapping[str, Any], what: str) -> dict[str, Any]:
    return {"type": "array", "items": dict(items), "maxItems": MOST_ASKED, "description": what}


_ID = {"type": "string", "minLength": 1, "maxLength": MAX_ID_LENGTH, "description": "What you call the finding"}
_HASH = {
    "type": "string",
    "pattern": "^[0-9A-Fa-f]{64}$",
    "description": "SHA-256 of the finding's content, 64 hexadecimal characters",
}
_SCOPE = {
    "type": "object",
    "properties": {
        "scope": {
            "type": "string",
            "enum": ["own", "shared"],
            "description": "Your own baseline, which is meant if absent, or all's",
        }
    },
    "additionalProperties": True,
    "description": "Which baseline is meant; anything else in it is ignored",
}
_CHECKS = ["baseline_check", "first_seen", "frequency_count"]
_TYPE = {"type": "string", "enum": _CHECKS, "description": "What you want to know; the answer is the same"}
_BATCH_TYPE = {
    "type": "string",
    "enum": ["batch_baseline_check", *_CHECKS],
    "description": "What you want to know; the same answer",
}
_MOMENT = {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}
_COUNT = {"type": "integer", "minimum": 0}

PAYLOAD = {
    "type": "object",
    "properties": {
        "finding_id": {"type": "string"},
        "composite_hash": {"type": "string"},
        "first_seen_ts": {"type": ["string", "null"], "format": "date-time"},
        "seen_count": _COUNT,
        "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]},
        "confidence_score": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": [
        *("finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score")
    ],
    "additionalProperties": False,
}

QUERY_BASELINE = BaselineTool(
    "query_baseline",
    "Query baseline",
    "Whether a finding is known: new, recurring or resolved, since when and how often it was seen. Changes nothing.",
    _object(
        {"finding_id": _ID, "composite_hash": _HASH, "query_type": _TYPE, "additional_params": _SCOPE},
        "additional_params",
    ),
    PAYLOAD,
    read_only=True,
    idempotent=True,
)
BATCH_BASELINE_QUERY = BaselineTool(
    "batch_baseline_query",
    "Query baseline for many",
    f"Whether each of up to {MOST_ASKED:,} findings is known, in the order asked. Changes nothing.",
    _object(
        {
            "finding_ids": _list(_ID, "What you call the findings"),
            "composite_hashes": _list(_HASH, "Their hashes, one for each of finding_ids in the same order"),
            "query_type": _BATCH_TYPE,
            "batch_size": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST_ASKED,
                "description": "How many are looked up in one statement; the answer is the same",
            },
            "additional_params": _SCOPE,
        },
        "batch_size",
        "additional_params",
    ),
    _object({"results": {"type": "array", "items": PAYLOAD}}),
    read_only=True,
    idempotent=True,
    max_result_bytes=_MOST_RESULT_BYTES,
)
RECORD_FINDINGS = BaselineTool(
    "record_findings",
    "Record findings",
    "Keep that findings were seen, each time it is called once more; a resolved one that is seen again recurs.",
    _object(
        {
            "findings": _list(
                _object({"finding_id": _ID, "composite_hash": _HASH, "seen_at": _MOMENT}, "seen_at"), "What was seen"
            ),
            "additional_params": _SCOPE,
        },
        "additional_params",
    ),
    _object({"recorded": _COUNT, "new": _COUNT, "recurring": _COUNT, "reopened": _COUNT}),
)
RESOLVE_FINDINGS = BaselineTool(
    "resolve_findings",
    "Resolve findings",
    "Mark findings resolved, until they are seen again; give composite_hashes or findings.",
    _object(
        {
            "composite_hashes": _list(_HASH, "The hashes of the findings"),
            "findings": _list(
                _object({"finding_id": _ID, "composite_hash": _HASH, "seen_at": _MOMENT}, "finding_id", "seen_at"),
                "The findings",
            ),
            "additional_params": _SCOPE,
        },
        "composite_hashes",
        "findings",
        "additional_params",
    ),
    _object({"resolved": _COUNT, "already_resolved": _COUNT, "unknown": _COUNT}),
    idempotent=True,
)

BASELINE_TOOLS = (QUERY_BASELINE, BATCH_BASELINE_QUERY, RECORD_FINDINGS, RESOLVE_FINDINGS)
