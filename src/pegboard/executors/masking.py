"""Hide a tool's credentials wherever its upstream repeats them."""

from __future__ import annotations

import html
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

import orjson

from pegboard.core.errors import ToolError
from pegboard.core.tool import MASK

# Shorter texts stand in answers by chance.
_LEAST = 6


class Mask:
    """Replaces each of some texts by a mask, in whatever form JSON, HTML and URLs write it."""

    __slots__ = ("_signs", "_texts")

    def __init__(self, secrets: Iterable[str]) -> None:
        spelled = {text for secret in secrets for text in _spellings(secret) if len(text) >= _LEAST}
        # Longest first: what is left of a long one must not be shown because a short one is a part of it.
        self._texts = tuple(sorted(spelled, key=lambda text: (-len(text), text)))
        self._signs = tuple(text.encode("utf-8", "surrogatepass") for text in self._texts)

    def text(self, text: str) -> str:
        """The text without credentials."""
        for secret in self._texts:
            if secret in text:
                text = text.replace(secret, MASK)
        return text

    def data(self, data: bytes) -> bytes:
        """The bytes without credentials."""
        for sign in self._signs:
            data = data.replace(sign, MASK.encode())  # the same object, where there is none in it
        return data

    def parsed(self, value: Any, source: bytes) -> Any:
        """The JSON value that was read from `source`, without credentials; looked through only if one is in there."""
        if not self._texts:
            return value
        if self._is_in(source) or (b"\\" in source and self._is_in(orjson.dumps(value))):
            return self.looked_through(value)
        return value

    def to_look_through(self, value: Any) -> int:
        """How many bytes of JSON have to be looked through for credentials: 0 where none is in there."""
        if not self._texts:
            return 0
        try:
            source = orjson.dumps(value)
        except orjson.JSONEncodeError:
            return sys.maxsize  # an integer too large for it; what cannot be sent is told of later
        return len(source) if self._is_in(source) else 0

    def error(self, error: ToolError) -> ToolError:
        """The same error, its message without credentials."""
        error.message = self.text(error.message)
        error.args = (error.message,)
        return error

    def _is_in(self, data: bytes) -> bool:
        for sign in self._signs:  # noqa: SIM110 -- once for every answer, and a generator takes four times as long
            if sign in data:
                return True
        return False

    def looked_through(self, value: Any) -> Any:
        """The JSON value without credentials, every text of it looked at."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.looked_through(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self.looked_through(item) for key, item in value.items()}
        if isinstance(value, int | float) and self.text(str(value)) != str(value):
            return MASK
        return value


def _spellings(secret: str) -> Iterator[str]:
    yield secret
    sendable = secret.encode("utf-8", "replace").decode()
    in_json = orjson.dumps(sendable)[1:-1].decode()
    yield in_json
    yield in_json.replace("/", "\\/")
    yield html.escape(secret)
    yield quote(sendable, safe="")
    # As Python's own JSON and its shells write it.
    for written in (json.dumps(secret), repr(secret), ascii(secret)):
        yield written[1:-1]
