"""JSON values: as text that every database can store, compared, converted; and UUIDs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import orjson

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
# Integers with more bits are written as decimals.
_BITS = 63


def json_text(value: Any) -> str:
    """Return the value as JSON that every database can store; values that are not JSON are converted to strings."""
    try:
        return orjson.dumps(value, default=_encode_decimal).decode()
    except TypeError:  # integers above 64 bits, lone surrogates: rare
        pass
    try:
        return orjson.dumps(map_leaves(value, _convert_large_integer), default=_encode_decimal).decode()
    except (TypeError, RecursionError):
        pass
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(repr(value))


def _encode_decimal(value: Any) -> Any:
    if isinstance(value, Decimal):
        return orjson.Fragment(str(value))
    raise TypeError


def _convert_large_integer(value: Any) -> Any:
    """Return a large integer as a decimal, which is written digit by digit."""
    return Decimal(value) if isinstance(value, int) and value.bit_length() > _BITS else value


def map_leaves(value: Any, convert: Callable[[Any], Any]) -> Any:
    """Return the JSON value with each text, number, boolean and null in it, except keys, converted."""
    if isinstance(value, Mapping):
        return {key: map_leaves(item, convert) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [map_leaves(item, convert) for item in value]
    return convert(value)


def is_json_equal(one: Any, other: Any, *, exact_numbers: bool = False) -> bool:
    """True if two JSON values are equal: true is not 1, but 1 is 1.0, except with `exact_numbers`."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(
            is_json_equal(value, other[key], exact_numbers=exact_numbers) for key, value in one.items()
        )
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(
            is_json_equal(*pair, exact_numbers=exact_numbers) for pair in zip(one, other, strict=True)
        )
    # In Python True equals 1.
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    return bool(one == other) and not (exact_numbers and isinstance(one, float) != isinstance(other, float))


def replace_unstorable(text: str) -> str:
    """Return the text without characters that no database can store: NUL becomes U+FFFD, a lone surrogate `?`."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def is_unicode(text: str) -> bool:
    """True if the text is valid Unicode: it has no lone surrogate, and can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_uuid(text: str) -> bool:
    """True if the text is a UUID in canonical form; the databases treat other spellings differently."""
    return _UUID.fullmatch(text) is not None
