"""Idempotency keys, as callers send them."""

from __future__ import annotations

from pegboard.core.refusals import Invalid

MAX_KEY = 255


def check_key(key: str | None) -> str | None:
    """The key, if it may be one; Invalid says what a key is."""
    if key is None:
        return None
    if not 0 < len(key) <= MAX_KEY or not key.isascii() or not key.isprintable():
        raise Invalid(f"An idempotency key is 1 to {MAX_KEY} printable ASCII characters, such as a UUID of your own")
    return key


def keys_of(key: str | None, calls: int) -> list[str | None]:
    """A key for each call of a request: the request's own for one, and one by place for many."""
    if key is None or calls == 1:
        return [key] * calls
    return [f"{key}#{place}" for place in range(calls)]
