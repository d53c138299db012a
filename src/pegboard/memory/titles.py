"""What a conversation is called."""

from __future__ import annotations

import unicodedata

from pegboard.core.refusals import Fault, Invalid

MAX_TITLE = 200
_CUT = 80


def checked_title(title: str | None) -> str | None:
    """The title on one line; Invalid where it is too long or blank."""
    if title is None:
        return None
    line = _line(title[: 4 * MAX_TITLE])
    if not line or len(line) > MAX_TITLE or len(title) > 4 * MAX_TITLE:
        raise Invalid.of(
            "The thread cannot be called that", [Fault("title", f"must have 1 to {MAX_TITLE} characters, or be null")]
        )
    return line


def title_from(text: str | None) -> str | None:
    """A title from what somebody says first, cut after a word."""
    line = _line((text or "")[: 4 * _CUT])
    if len(line) <= _CUT:
        return line or None
    words = line[:_CUT].rpartition(" ")[0]
    return (words if len(words) > _CUT // 2 else line[: _CUT - 1]).rstrip(" ,;:.-–") + "…"


def _line(text: str) -> str:
    return " ".join("".join(" " if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in text).split())
