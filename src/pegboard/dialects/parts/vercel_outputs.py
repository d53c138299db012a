"""How calls ended, as Vercel's AI SDK tells a model: outputs that say of what type they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from pegboard.core.call import ToolResult
from pegboard.dialects.asked import ABSENT
from pegboard.dialects.assembly import checked_text
from pegboard.dialects.parts.content import blocks_of, described, text_of

UNTOLD = "The tool failed and did not say why"
DENIED = "The call was denied"
_TYPES = frozenset({"text", "json", "content", "error-text", "error-json", "execution-denied"})

File = Callable[[Mapping[str, Any]], dict[str, Any]]


def output_for(result: ToolResult, file: File, error_prefix: str = "") -> dict[str, Any]:
    """The output of a call; `file` says how an image or a sound in it is written."""
    if result.problem is not None:
        return {"type": "error-text", "value": error_prefix + text_of(result)}
    blocks = blocks_of(result)
    if blocks is not None:
        return {"type": "content", "value": [_block(block, file) for block in blocks]}
    output = result.output
    return {"type": "text" if isinstance(output, str) else "json", "value": output}


def unwrapped(output: Any) -> tuple[Any, str | None]:
    """The result and the error in an output that says of what type it is; any other output is the result itself."""
    kind = output.get("type") if isinstance(output, dict) else None
    if not isinstance(kind, str) or kind not in _TYPES or not ("value" in output or kind == "execution-denied"):
        return output, None
    if kind == "execution-denied":
        return ABSENT, checked_text(output.get("reason")) or DENIED
    if kind.startswith("error-"):
        # Version 7 puts the kind of an error before what it says.
        return ABSENT, message_of(output["value"]).removeprefix("Error: ")
    return output["value"], None


def message_of(error: Any) -> str:
    """What an error says, be it a text or an object with a message in it."""
    if isinstance(error, dict):
        said = error.get("message")
        error = said if isinstance(said, str) and said else error
    if isinstance(error, str):
        return error or UNTOLD
    return UNTOLD if error is None or error == {} else json_text(error)


def json_text(value: Any) -> str:
    """A value as JSON text, also where half of a surrogate pair is in it."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return ""


def _block(block: Mapping[str, Any], file: File) -> dict[str, Any]:
    has_data = isinstance(block.get("data"), str) and isinstance(block.get("mimeType"), str)
    return file(block) if has_data else {"type": "text", "text": described(block)}
