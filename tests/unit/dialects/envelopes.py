"""Sample envelopes: a valid request, and a clock."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pegboard.dialects.call_assembler import SchemaLookup
from pegboard.dialects.detect import Dialects
from pegboard.dialects.envelope import Envelope
from pegboard.dialects.parsed_calls import AskedCall, ParsedCalls

NOW = datetime(2026, 1, 1, 0, 0, 10, tzinfo=UTC)
STAMPS = {"version": "1.0", "timestamp": "2026-01-01T00:00:00Z"}
ID = "0190AAAA-0000-7000-8000-00000000000f"
REQUEST: dict[str, Any] = {"tool_name": "query_baseline", "args": {"finding_id": "f1"}, "request_id": ID, **STAMPS}
ASKED = AskedCall("query_baseline", {"finding_id": "f1"}, ID, extra=STAMPS, key=ID.lower())
DIALECT = Envelope()


def read(payload: Any, schema_of: SchemaLookup = lambda _name: None) -> ParsedCalls:
    """Return the calls of an envelope, ten seconds after its timestamp."""
    return Dialects([DIALECT], now=lambda: NOW).read(payload, "envelope", schema_of)


def list_violations(payload: Any, schema_of: SchemaLookup = lambda _name: None) -> str:
    """Return the violations in a request; an empty list if it is valid."""
    (call,) = read(payload, schema_of).calls
    return call.arguments.why.removeprefix("the envelope breaks the contract: ") if call.is_malformed else ""


def request(**fields: Any) -> dict[str, Any]:
    """Return the valid request with these fields replaced."""
    return {**REQUEST, **fields}


def without(*fields: str) -> dict[str, Any]:
    """The good request without these fields."""
    return {key: value for key, value in REQUEST.items() if key not in fields}
