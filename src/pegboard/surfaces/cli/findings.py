"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: how it is, and what to do about it."""

    check: str
    level: Literal["ok", "warning", "bad"]
    message: str
    advice: str | None = None

    @classmethod
    def ok(cls, check: str, message: str) -> Finding:
        """All is well."""
        return cls(check, "ok", message)

    @classmethod
    def warning(cls, check: str, message: str, advice: str) -> Finding:
        """It works, and could be better."""
        return cls(check, "warning", message, advice)

    @classmethod
    def bad(cls, check: str, message: str, advice: str) -> Finding:
        """It does not work."""
        return cls(check, "bad", message, advice)
