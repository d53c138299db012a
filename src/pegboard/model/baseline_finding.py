"""Findings: results of a scan, identified by the hash of their content."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

KnownStatus = Literal["recurring", "resolved"]
Scope = Literal["own", "shared"]

# Keys that differ between two scans although the finding is the same.
VOLATILE_KEYS = frozenset(
    {
        "composite_hash",
        "created_at",
        "detected_at",
        "finding_id",
        "first_seen",
        "first_seen_at",
        "first_seen_ts",
        "id",
        "last_seen",
        "last_seen_at",
        "request_id",
        "run_id",
        "scan_id",
        "seen_at",
        "seen_count",
        "timestamp",
        "ts",
        "updated_at",
        "uuid",
    }
)

HASH_LENGTH = 64
match_composite_hash = re.compile(r"[0-9a-fA-F]{64}", re.ASCII).fullmatch


# What the baseline stores for a hash: first seen (as text), number of sightings, whether it is resolved.
SeenRecord = tuple[str, int, bool]


def build_query_payload(finding_id: str, composite_hash: str, seen: SeenRecord | None) -> dict[str, Any]:
    """Return the result of a baseline query for one finding.

    `confidence_score` is n / (n + 1) for a recurring finding with n sightings, and 1.0 for a new or resolved one.
    """
    if seen is None:
        first_seen_ts, count, is_resolved = None, 0, False
    else:
        first_seen_ts, count, is_resolved = seen
    return {
        "finding_id": finding_id,
        "composite_hash": composite_hash,
        "first_seen_ts": first_seen_ts,
        "seen_count": count,
        "baseline_status": ("resolved" if is_resolved else "recurring") if count else "new",
        "confidence_score": 1.0 if is_resolved or not count else count / (count + 1),
    }


class BaselineFinding(NamedTuple):
    """A finding in the baseline, with the id under which it was last recorded."""

    composite_hash: str
    finding_id: str
    first_seen_at: datetime
    last_seen_at: datetime
    seen_count: int
    resolved_at: datetime | None

    @property
    def baseline_status(self) -> KnownStatus:
        """`resolved` if it was resolved and not seen since, else `recurring`."""
        return "recurring" if self.resolved_at is None else "resolved"


def composite_hash(finding: Mapping[str, Any], *, ignore: Collection[str] = VOLATILE_KEYS) -> str:
    """Return the hash that identifies a finding: SHA-256 of its canonical JSON without the keys in `ignore`.

    Canonical JSON has sorted keys and no spaces, and is UTF-8. `ignore` applies to the finding's own keys, not to those
    of nested objects. Raises ValueError if the finding is not JSON, or all of its keys are ignored.
    """
    content = {key: value for key, value in finding.items() if key not in ignore}
    if not content:
        raise ValueError("nothing of the finding is left to hash: all of its keys are ignored")
    try:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the finding is not JSON: {error}") from None


def read_hash(value: object) -> str:
    """Return the hash in lower case; raise ValueError if it is not valid."""
    if not isinstance(value, str):
        raise ValueError("must be a string of 64 hexadecimal characters")
    if match_composite_hash(value) is None:
        why = "has others" if len(value) == HASH_LENGTH else f"has {len(value):,} characters"
        raise ValueError(f"must be 64 hexadecimal characters (a SHA-256), but {why}")
    return value.lower()
