"""The baseline tools that every board has: their definitions and handlers."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from orjson import Fragment, dumps

from pegboard.baseline.baseline import BATCH_SIZE, Baseline
from pegboard.baseline.read_findings import MAX_ID_LENGTH, MAX_QUERIED_FINDINGS
from pegboard.model.api_errors import Invalid, Refusal
from pegboard.model.call import CallContext
from pegboard.model.call_errors import ExecutionFailed, FieldProblem, InvalidArguments

# The largest possible result of a batch query.
_MAX_RESULT_BYTES = 32 * 2**20


@dataclass(frozen=True, slots=True)
class BaselineTool:
    """The definition of an internal baseline tool; its handler has the same name."""

    name: str
    display_name: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    read_only: bool = False
    idempotent: bool = False
    max_result_bytes: int | None = None


def _build_object_schema(properties: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}


def _build_list_schema(items: Mapping[str, Any], what: str) -> dict[str, Any]:
    return {"type": "array", "items": dict(items), "maxItems": MAX_QUERIED_FINDINGS, "description": what}


_ID_SCHEMA = {"type": "string", "minLength": 1, "maxLength": MAX_ID_LENGTH, "description": "What you call the finding"}
_HASH_SCHEMA = {
    "type": "string",
    "pattern": "^[0-9A-Fa-f]{64}$",
    "description": "SHA-256 of the finding's content, 64 hexadecimal characters",
}
_SCOPE_SCHEMA = {
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
_CHECK_NAMES = ["baseline_check", "first_seen", "frequency_count"]
_TYPE_SCHEMA = {"type": "string", "enum": _CHECK_NAMES, "description": "What you want to know; the answer is the same"}
_BATCH_TYPE_SCHEMA = {
    "type": "string",
    "enum": ["batch_baseline_check", *_CHECK_NAMES],
    "description": "What you want to know; the same answer",
}
_MOMENT_SCHEMA = {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}
_COUNT_SCHEMA = {"type": "integer", "minimum": 0}

PAYLOAD_SCHEMA = {
    "type": "object",
    "properties": {
        "finding_id": {"type": "string"},
        "composite_hash": {"type": "string"},
        "first_seen_ts": {"type": ["string", "null"], "format": "date-time"},
        "seen_count": _COUNT_SCHEMA,
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
    "Return whether a finding is new, recurring or resolved, since when, and how often it was seen. Read-only.",
    _build_object_schema(
        {
            "finding_id": _ID_SCHEMA,
            "composite_hash": _HASH_SCHEMA,
            "query_type": _TYPE_SCHEMA,
            "additional_params": _SCOPE_SCHEMA,
        },
        "additional_params",
    ),
    PAYLOAD_SCHEMA,
    read_only=True,
    idempotent=True,
)
BATCH_BASELINE_QUERY = BaselineTool(
    "batch_baseline_query",
    "Query baseline for many",
    f"Return whether each of up to {MAX_QUERIED_FINDINGS:,} findings is known, in the order of the request. Read-only.",
    _build_object_schema(
        {
            "finding_ids": _build_list_schema(_ID_SCHEMA, "What you call the findings"),
            "composite_hashes": _build_list_schema(
                _HASH_SCHEMA, "Their hashes, one for each of finding_ids in the same order"
            ),
            "query_type": _BATCH_TYPE_SCHEMA,
            "batch_size": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_QUERIED_FINDINGS,
                "description": "How many are looked up in one statement; the answer is the same",
            },
            "additional_params": _SCOPE_SCHEMA,
        },
        "batch_size",
        "additional_params",
    ),
    _build_object_schema({"results": {"type": "array", "items": PAYLOAD_SCHEMA}}),
    read_only=True,
    idempotent=True,
    max_result_bytes=_MAX_RESULT_BYTES,
)
RECORD_FINDINGS = BaselineTool(
    "record_findings",
    "Record findings",
    "Record that findings were seen. Each call counts as one sighting; a resolved finding that is seen again recurs.",
    _build_object_schema(
        {
            "findings": _build_list_schema(
                _build_object_schema(
                    {"finding_id": _ID_SCHEMA, "composite_hash": _HASH_SCHEMA, "seen_at": _MOMENT_SCHEMA}, "seen_at"
                ),
                "What was seen",
            ),
            "additional_params": _SCOPE_SCHEMA,
        },
        "additional_params",
    ),
    _build_object_schema(
        {"recorded": _COUNT_SCHEMA, "new": _COUNT_SCHEMA, "recurring": _COUNT_SCHEMA, "reopened": _COUNT_SCHEMA}
    ),
)
RESOLVE_FINDINGS = BaselineTool(
    "resolve_findings",
    "Resolve findings",
    "Mark findings as resolved until they are seen again. Pass either composite_hashes or findings.",
    _build_object_schema(
        {
            "composite_hashes": _build_list_schema(_HASH_SCHEMA, "The hashes of the findings"),
            "findings": _build_list_schema(
                _build_object_schema(
                    {"finding_id": _ID_SCHEMA, "composite_hash": _HASH_SCHEMA, "seen_at": _MOMENT_SCHEMA},
                    "finding_id",
                    "seen_at",
                ),
                "The findings",
            ),
            "additional_params": _SCOPE_SCHEMA,
        },
        "composite_hashes",
        "findings",
        "additional_params",
    ),
    _build_object_schema({"resolved": _COUNT_SCHEMA, "already_resolved": _COUNT_SCHEMA, "unknown": _COUNT_SCHEMA}),
    idempotent=True,
)

BASELINE_TOOLS = (QUERY_BASELINE, BATCH_BASELINE_QUERY, RECORD_FINDINGS, RESOLVE_FINDINGS)


# Faults have list indexes as `.0`; messages to a model have them as `[0]`.
_INDEX_SUFFIX = re.compile(r"\.(\d+)")


def build_baseline_handlers(baseline: Baseline) -> Mapping[str, Callable[..., Awaitable[Any]]]:
    """Return the handlers of the baseline tools, by tool name."""

    async def query_baseline(
        context: CallContext,
        finding_id: str,
        composite_hash: str,
        query_type: str,
        additional_params: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return what the baseline knows of one finding."""
        more = _read_scope_parameter(additional_params)
        with _convert_refusals():
            (payload,) = await baseline.query([finding_id], [composite_hash], context.caller, **more)
            return payload

    async def batch_baseline_query(
        *,
        context: CallContext,
        finding_ids: list[str],
        composite_hashes: list[str],
        query_type: str,
        batch_size: int = BATCH_SIZE,
        additional_params: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return what the baseline knows of each finding."""
        more = _read_scope_parameter(additional_params)
        with _convert_refusals():
            # In JSON Schema 2.0 is an integer too, so batch_size may be a float.
            asked = baseline.query(finding_ids, composite_hashes, context.caller, batch_size=int(batch_size), **more)
            # An orjson Fragment: the output is not traversed again.
            return {"results": Fragment(dumps(await asked))}

    async def record_findings(
        context: CallContext, findings: list[dict[str, Any]], additional_params: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return how many of the findings were new, known, and open again."""
        more = _read_scope_parameter(additional_params)
        with _convert_refusals():
            return (await baseline.record(findings, context.caller, **more))._asdict()

    async def resolve_findings(
        context: CallContext,
        composite_hashes: list[str] | None = None,
        findings: list[dict[str, Any]] | None = None,
        additional_params: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return how many of the findings are resolved now, were already, and are not known."""
        more = _read_scope_parameter(additional_params)
        with _convert_refusals():
            counts = await baseline.resolve(
                context.caller, composite_hashes=composite_hashes, findings=findings, **more
            )
            return counts._asdict()

    return {
        QUERY_BASELINE.name: query_baseline,
        BATCH_BASELINE_QUERY.name: batch_baseline_query,
        RECORD_FINDINGS.name: record_findings,
        RESOLVE_FINDINGS.name: resolve_findings,
    }


def _read_scope_parameter(additional_params: dict[str, Any] | None) -> dict[str, Any]:
    """Return the `scope` of `additional_params`; its other keys are ignored."""
    return {"scope": additional_params["scope"]} if additional_params and "scope" in additional_params else {}


@contextmanager
def _convert_refusals() -> Iterator[None]:
    """Convert a refusal of the baseline into a ToolError with `did_run = False`."""
    try:
        yield
    except Invalid as error:
        named = [(_INDEX_SUFFIX.sub(r"[\1]", it.field), it.message) for it in error.faults]
        problems = [FieldProblem("custom", f"Field '{field}' {message}", field) for field, message in named]
        listed = "; ".join(problem.message for problem in problems[:5])
        invalid = InvalidArguments(f"Invalid parameters: {listed}", problems=problems)
        invalid.did_run = False
        raise invalid from None
    except Refusal as error:
        refused = ExecutionFailed(error.message)
        refused.did_run = False
        raise refused from None
