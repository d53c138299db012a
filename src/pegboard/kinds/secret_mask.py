"""Masks a tool's credentials if its upstream repeats them."""

from __future__ import annotations

import html
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

import orjson

from pegboard.model.call_errors import ToolError
from pegboard.model.secrets import MASK

# Shorter texts occur in outputs by chance.
_MIN_SECRET_CHARS = 6


class SecretMask:
    """Replaces secret texts by a mask, in all spellings of JSON, HTML and URLs."""

    __slots__ = ("_secret_bytes", "_secret_texts")

    def __init__(self, secrets: Iterable[str]) -> None:
        spelled = {text for secret in secrets for text in _list_spellings(secret) if len(text) >= _MIN_SECRET_CHARS}
        # Longest first: if a short secret is part of a long one, replacing it first would leave the rest of the long
        # one visible.
        self._secret_texts = tuple(sorted(spelled, key=lambda text: (-len(text), text)))
        self._secret_bytes = tuple(text.encode("utf-8", "surrogatepass") for text in self._secret_texts)

    def text(self, text: str) -> str:
        """Return the text without credentials."""
        for secret in self._secret_texts:
            if secret in text:
                text = text.replace(secret, MASK)
        return text

    def data(self, data: bytes) -> bytes:
        """Return the bytes without credentials."""
        for sign in self._secret_bytes:
            data = data.replace(sign, MASK.encode())  # replace() returns the same object if there is no match
        return data

    def parse_json(self, value: Any, source: bytes) -> Any:
        """Return the JSON value, parsed from `source`, without credentials; walk it only if it contains a secret."""
        if not self._secret_texts:
            return value
        if self._contains_secret(source) or (b"\\" in source and self._contains_secret(orjson.dumps(value))):
            return self.mask_value(value)
        return value

    def count_bytes_to_mask(self, value: Any) -> int:
        """Return the number of JSON bytes to search for credentials, or 0 if the value contains none."""
        if not self._secret_texts:
            return 0
        try:
            source = orjson.dumps(value)
        except orjson.JSONEncodeError:
            return sys.maxsize  # an integer too large for orjson; a later stage reports values that cannot be sent
        return len(source) if self._contains_secret(source) else 0

    def error(self, error: ToolError) -> ToolError:
        """Return the same error with credentials masked in its message."""
        return error.reword(self.text(error.message))

    def _contains_secret(self, data: bytes) -> bool:
        for sign in self._secret_bytes:  # noqa: SIM110 -- once for every answer, and a generator takes four times as long
            if sign in data:
                return True
        return False

    def mask_value(self, value: Any) -> Any:
        """Return the JSON value without credentials; every text in it is checked."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.mask_value(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self.mask_value(item) for key, item in value.items()}
        if isinstance(value, int | float) and self.text(str(value)) != str(value):
            return MASK
        return value


def _list_spellings(secret: str) -> Iterator[str]:
    yield secret
    sendable = secret.encode("utf-8", "replace").decode()
    in_json = orjson.dumps(sendable)[1:-1].decode()
    yield in_json
    yield in_json.replace("/", "\\/")
    yield html.escape(secret)
    yield quote(sendable, safe="")
    # The spellings of Python's json module and of reprs.
    for written in (json.dumps(secret), repr(secret), ascii(secret)):
        yield written[1:-1]
