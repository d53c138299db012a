"""A single value as text that can be sent, and why one cannot."""

from __future__ import annotations

import json
import math
import re
from typing import Any
from urllib.parse import quote

import orjson

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
_PLAIN = re.compile(r"[A-Za-z0-9_.~-]*", re.ASCII).fullmatch


class Unwritable(ValueError):
    """A value that cannot be sent where it belongs; the message goes on from the field's name."""

    def __init__(self, says: str, *, expected: str, field: str | None = None, code: str = "invalid_string") -> None:
        super().__init__(says)
        self.says = says
        self.expected = expected
        self.field = field
        self.code = code


def quoted(text: str) -> str:
    """The text percent-encoded, all but letters, digits and `-._~`."""
    return text if _PLAIN(text) else encoded(text)


def encoded(text: str, safe: str = "") -> str:
    """The text percent-encoded, all but letters, digits, `-._~` and what is safe; raises Unwritable."""
    try:
        return quote(text, safe=safe)
    except UnicodeEncodeError:
        raise half_a_pair() from None


def text_of(value: Any) -> str:
    """A single value as text: a string as it is, the rest as JSON writes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        raise Unwritable("must be a finite number", expected="finite number", code="invalid_type")
    return json_bytes(value).decode()


def json_bytes(value: Any) -> bytes:
    """The value as JSON, integers of any length whole; raises Unwritable."""
    try:
        return orjson.dumps(value)
    except TypeError:  # an integer beyond 64 bits, half of a surrogate pair, or no JSON at all
        pass
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise half_a_pair() from None
    except (TypeError, ValueError, RecursionError):
        raise Unwritable("cannot be written as JSON", expected="a JSON value", code="custom") from None


def half_a_pair(field: str | None = None) -> Unwritable:
    """What is said of text that has no UTF-8 form."""
    return Unwritable("holds half of a surrogate pair, which cannot be sent", expected="Unicode text", field=field)


def check_text(text: str, place: str, *, field: str | None = None) -> None:
    """Raise Unwritable where the text would end the line it is sent in, or cannot be sent."""
    if _CONTROL.search(text):
        raise Unwritable(
            f"must not hold a line break or another control character, as it is sent in a {place}",
            expected="text without control characters",
            field=field,
        )
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise half_a_pair(field) from None
