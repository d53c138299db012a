"""Parse JSON from other systems without losing digits."""

from __future__ import annotations

import json
import math
from typing import Any

import orjson

_DIGIT_TRANSLATION = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER = b"0" * 19
_MAX_INTEGER_DIGITS = 20


def read_exact_json(text: bytes) -> Any:
    """Parse JSON; integers beyond 64 bits become strings. Raise orjson.JSONDecodeError, or RecursionError if deep."""
    if _LONG_NUMBER not in text.translate(_DIGIT_TRANSLATION):
        return orjson.loads(text)
    # The text contains numbers that orjson would round or reject as too large.
    try:
        return json.loads(text, parse_int=_parse_integer, parse_float=_parse_finite, parse_constant=_parse_finite)
    except ValueError as error:
        orjson.loads(text)  # raises a more precise error message
        raise orjson.JSONDecodeError(str(error), "", 0) from None


def _parse_integer(digits: str) -> int | str:
    number = int(digits) if len(digits) <= _MAX_INTEGER_DIGITS else None
    return digits if number is None or not -(2**63) <= number < 2**64 else number


def _parse_finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is not a number in JSON")
    return number
