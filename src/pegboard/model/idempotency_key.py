"""Idempotency keys: their check, and the key of each call of a request."""

from __future__ import annotations

from pegboard.model.api_errors import Invalid

MAX_IDEMPOTENCY_KEY_LENGTH = 255


def check_idempotency_key(key: str | None) -> str | None:
    """Return the key, or None if there is none; raise Invalid if it is not valid."""
    if key is None:
        return None
    if not 0 < len(key) <= MAX_IDEMPOTENCY_KEY_LENGTH or not key.isascii() or not key.isprintable():
        raise Invalid(
            f"An idempotency key is 1 to {MAX_IDEMPOTENCY_KEY_LENGTH} printable ASCII characters, "
            "such as a UUID of your own"
        )
    return key


def derive_call_keys(key: str | None, calls: int) -> list[str | None]:
    """Return a key for each call of a request: the request's key for a single call, else one with the call's index."""
    if key is None or calls == 1:
        return [key] * calls
    return [f"{key}#{place}" for place in range(calls)]
