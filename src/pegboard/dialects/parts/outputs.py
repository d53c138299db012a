"""Answers as one text, for providers that have no flag for errors, and such texts read back."""

from __future__ import annotations

from typing import Any

import orjson

from pegboard.core.call import ToolResult
from pegboard.core.errors import MalformedArguments
from pegboard.dialects.asked import ABSENT
from pegboard.dialects.parts.content import blocks_of, described, text_of
from pegboard.dialects.reading import json_of

# How much of a result may be copied when it answers several calls together, in characters.
_MOST_COPIED = 64 * 1024
SHARED = "(answered together with the calls after it: see the last one)"


def output_text(result: ToolResult) -> str:
    """The output as text, blocks of content in words; of a failure `{"error": message}`."""
    if result.problem is not None:
        return orjson.dumps({"error": text_of(result)}).decode()
    blocks = blocks_of(result)
    return text_of(result) if blocks is None else "\n".join(map(described, blocks))


def output_of(content: Any) -> tuple[Any, str | None]:
    """The result and the error that such a text, or a list of parts with text, stands for; one of them is absent."""
    if isinstance(content, list) and content and all(map(_has_text, content)):
        content = "\n".join(part["text"] for part in content)
    if not isinstance(content, str) or content[:1] not in ("{", "["):
        return content, None
    try:
        value = json_of(content)
    except MalformedArguments:
        return content, None
    if isinstance(value, dict) and value.keys() == {"error"} and isinstance(value["error"], str):
        return ABSENT, value["error"]
    return value, None


def shared_results(text: str, count: int) -> list[str]:
    """The result of each of `count` calls that this text answers together.

    Large copies are left out, or a payload could become its square: then the last call alone has the text.
    """
    if len(text) * (count - 1) <= _MOST_COPIED:
        return [text] * count
    return [*[SHARED] * (count - 1), text]


def _has_text(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("text"), str)
