"""Refusing a call that has not run."""

from __future__ import annotations

from pegboard.core.errors import Unavailable

_SOON_MS = 1000


def unavailable(message: str) -> Unavailable:
    """The refusal of a call that did not run and may be tried again."""
    refusal = Unavailable(message, retry_after_ms=_SOON_MS)
    refusal.did_run = False
    return refusal
