"""What a payload looks like, for an error message."""

from __future__ import annotations

from typing import Any

_MOST_NAMES = 8
_LONGEST = 60


def seen(payload: Any) -> str:
    """The payload in a few words: its type, and its keys or how it begins."""
    if isinstance(payload, dict):
        names = [f"'{str(key)[:_LONGEST]}'" for key in list(payload)[:_MOST_NAMES]]
        more = f" and {len(payload) - _MOST_NAMES} more" if len(payload) > _MOST_NAMES else ""
        return f"an object with the keys {', '.join(names)}{more}" if names else "an empty object"
    if isinstance(payload, list):
        if not payload:
            return "an empty list"
        # Lists may stand in one another hundreds deep.
        first = "another list" if isinstance(payload[0], list) else seen(payload[0])
        return f"a list of {len(payload):,}, the first of them {first}"
    if isinstance(payload, str):
        begin = payload[:_LONGEST].encode("utf-8", "replace").decode()
        return f"a text of {len(payload):,} characters that begins {begin!r}" if payload else "an empty text"
    if payload is None:
        return "null"
    return "true or false" if isinstance(payload, bool) else "a number"
