"""Findings: what a scan reported, known again by the hash of its content."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

KnownStatus = Literal["recurring", "resolved"]
Scope = Literal["own", "shared"]

# What differs from one scan to the next although the finding is the same.
VOLATILE = frozenset(
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
matches_hash = re.compile(r"[0-9a-fA-F]{64}", re.ASCII).fullmatch


# What the baseline knows of a hash: when it was first seen, as text, how often it was, whether it is resolved.
Seen = tuple[str, int, bool]


def payload_of(finding_id: str, composite_hash: str, seen: Seen | None) -> dict[str, Any]:
    """What a query of the baseline answers about one finding.

    `confidence_score` is how settled the status is: what recurs is surer with every sighting, n of n + 1; what is new
    or resolved is certain.
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


class Finding(NamedTuple):
    """A finding in the baseline, under the id it was last recorded by."""

    composite_hash: str
    finding_id: str
    first_seen_at: datetime
    last_seen_at: datetime
    seen_count: int
    resolved_at: datetime | None

    @property
    def baseline_status(self) -> KnownStatus:
        """`resolved` if it was resolved and not seen since."""
        return "recurring" if self.resolved_at is None else "resolved"


def composite_hash(finding: Mapping[str, Any], *, ignore: Collection[str] = VOLATILE) -> str:
    """The hash a finding is known by: SHA-256 of its canonical JSON without the keys in `ignore`.

    Canonical JSON has sorted keys and no spaces, and is UTF-8. `ignore` is about the finding's own keys, not about
    those of objects within it. Raises ValueError where the finding is not JSON, or nothing is left of it.
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
    """The hash in lower case; ValueError says what is wrong with it."""
    if not isinstance(value, str):
        raise ValueError("must be a string of 64 hexadecimal characters")
    if matches_hash(value) is None:
        why = "has others" if len(value) == HASH_LENGTH else f"has {len(value):,} characters"
        raise ValueError(f"must be 64 hexadecimal characters (a SHA-256), but {why}")
    return value.lower()
