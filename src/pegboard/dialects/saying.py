"""What a payload says beside its calls."""

from __future__ import annotations

from typing import Any


def said(raw: Any) -> str | None:
    """The text that the model says."""
    return None
