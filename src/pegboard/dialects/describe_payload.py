"""Describe a payload for an error message."""

from __future__ import annotations

from typing import Any

_MAX_LISTED_KEYS = 8
_MAX_ECHOED_CHARS = 60


def describe_payload(payload: Any) -> str:
    """Return a short description of the payload: its type, and its keys or its beginning."""
    if isinstance(payload, dict):
        names = [f"'{str(key)[:_MAX_ECHOED_CHARS]}'" for key in list(payload)[:_MAX_LISTED_KEYS]]
        more = f" and {len(payload) - _MAX_LISTED_KEYS} more" if len(payload) > _MAX_LISTED_KEYS else ""
        return f"an object with the keys {', '.join(names)}{more}" if names else "an empty object"
    if isinstance(payload, list):
        if not payload:
            return "an empty list"
        # Not recursive for lists: they may be nested hundreds of levels deep.
        first = "another list" if isinstance(payload[0], list) else describe_payload(payload[0])
        return f"a list of {len(payload):,}, the first of them {first}"
    if isinstance(payload, str):
        begin = payload[:_MAX_ECHOED_CHARS].encode("utf-8", "replace").decode()
        return f"a text of {len(payload):,} characters that begins {begin!r}" if payload else "an empty text"
    if payload is None:
        return "null"
    return "true or false" if isinstance(payload, bool) else "a number"
