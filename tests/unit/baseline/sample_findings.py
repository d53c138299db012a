"""Sample findings, identified by numbers."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

from pegboard.model.timestamps import write_instant


def hashed(number: int) -> str:
    """The hash of a finding."""
    return hashlib.sha256(str(number).encode()).hexdigest()


def make_finding(number: int, **more: Any) -> dict[str, Any]:
    """Return a finding as it is recorded."""
    return {"finding_id": f"f-{number}", "composite_hash": hashed(number), **more}


def ago(**span: float) -> str:
    """A moment before now."""
    return write_instant(datetime.now(UTC) - timedelta(**span))
