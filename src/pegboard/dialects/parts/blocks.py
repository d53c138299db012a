"""What providers have in common that write calls and answers as blocks of content, with arguments as objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from pegboard.core.call import Malformed
from pegboard.core.errors import MalformedArguments
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.reading import json_of

# The pictures that every one of these providers takes, and the short names of their formats.
IMAGES: Mapping[str, str] = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
# Arguments that could not be read stand under this key where a provider takes an object only.
INVALID = "INVALID_JSON"


def input_of(call: AskedCall) -> dict[str, Any]:
    """The arguments as an object, also where they could not be read: `given_input` gives those back as they came."""
    if isinstance(call.arguments, Malformed):
        return {INVALID: call.arguments.text}
    return call.arguments or {}


def given_input(given: Any) -> Any:
    """The arguments in an object that may be one of `input_of`."""
    if type(given) is dict and len(given) == 1 and isinstance(given.get(INVALID), str):
        # An empty text would be no arguments, and these were some that never came.
        return given[INVALID] or "{"
    return given


def cut_off(arguments: Any) -> str:
    """The text of an object of which nobody knows what is missing: it lacks its end, so that it cannot be read."""
    return shown(arguments)[:-1] if isinstance(arguments, dict) and arguments else "{"


def shown(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value, default=str).decode()
    except (TypeError, ValueError, RecursionError):
        return "[cannot be shown]"


def value_of(text: str) -> Any:
    """The object or array that a JSON text holds, or the text itself: a bare word or number may be just that."""
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return json_of(text)
    except MalformedArguments:
        return text


def image_of(block: Mapping[str, Any]) -> tuple[str, str] | None:
    """The media type and the base64 text of a picture these providers take."""
    kind, data = block.get("mimeType"), block.get("data")
    if block.get("type") == "image" and isinstance(kind, str) and kind in IMAGES and isinstance(data, str):
        return kind, data
    return None


def told_in(content: Any) -> Any:
    """What a result's content says: data where it is JSON text, blocks where there is more in it than text."""
    if isinstance(content, list) and content:
        texts = [block.get("text") if isinstance(block, dict) else None for block in content]
        if all(isinstance(text, str) for text in texts):
            content = "\n".join(map(str, texts))
    return value_of(content) if isinstance(content, str) else content
