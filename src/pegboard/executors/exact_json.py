"""JSON from elsewhere, read without losing a digit."""

from __future__ import annotations

import json
from typing import Any

import orjson

_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER = b"0" * 19
_MOST_DIGITS = 20


def read_json(text: bytes) -> Any:
    """The value, an integer beyond 64 bits as its digits; raises orjson.JSONDecodeError, or RecursionError if deep."""
    value = orjson.loads(text)
    # Numbers that orjson would round.
    return json.loads(text, parse_int=_exact) if _LONG_NUMBER in text.translate(_DIGITS) else value


def _exact(digits: str) -> int | str:
    number = int(digits) if len(digits) <= _MOST_DIGITS else None
    return digits if number is None or not -(2**63) <= number < 2**64 else number
