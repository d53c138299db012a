"""JSON from elsewhere, read without losing a digit."""

from __future__ import annotations

import json
import math
from typing import Any

import orjson

_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER = b"0" * 19
_MOST_DIGITS = 20


def read_json(text: bytes) -> Any:
    """The value, an integer beyond 64 bits as its digits; raises orjson.JSONDecodeError, or RecursionError if deep."""
    if _LONG_NUMBER not in text.translate(_DIGITS):
        return orjson.loads(text)
    # Numbers that orjson would round, or refuse as too large.
    try:
        return json.loads(text, parse_int=_exact, parse_float=_finite, parse_constant=_finite)
    except ValueError as error:
        orjson.loads(text)  # says better what is wrong
        raise orjson.JSONDecodeError(str(error), "", 0) from None


def _exact(digits: str) -> int | str:
    number = int(digits) if len(digits) <= _MOST_DIGITS else None
    return digits if number is None or not -(2**63) <= number < 2**64 else number


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is no number of JSON")
    return number
