"""Hide the credentials of an upstream wherever it repeats them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import orjson

from pegboard.core.errors import ToolError
from pegboard.core.tool import MASK
from pegboard.executors.mcp.credentials import SHORTEST


class Mask:
    """Replaces each of some texts by a mask."""

    __slots__ = ("_encoded", "_texts")

    def __init__(self, secrets: Iterable[str]) -> None:
        # Longest first: what is left of a long one must not be shown because a short one is a part of it.
        self._texts = sorted({text for text in secrets if len(text) >= SHORTEST}, key=lambda text: (-len(text), text))
        self._encoded = [json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "replace") for text in self._texts]

    def text(self, text: str) -> str:
        """The text without credentials."""
        for secret in self._texts:
            text = text.replace(secret, MASK)
        return text

    def error(self, error: ToolError) -> ToolError:
        """The same error, its message without credentials."""
        error.message = self.text(error.message)
        error.args = (error.message,)
        return error

    def value(self, value: Any) -> Any:
        """The JSON value without credentials; looked through only if one is in there."""
        if not self._texts:
            return value
        try:
            written = orjson.dumps(value)
        except orjson.JSONEncodeError:
            return self._looked_through(value)  # an integer too large for it; what cannot be sent is told of later
        return self._looked_through(value) if any(secret in written for secret in self._encoded) else value

    def _looked_through(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._looked_through(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self._looked_through(item) for key, item in value.items()}
        if isinstance(value, int | float) and self.text(str(value)) != str(value):
            return MASK
        return value
