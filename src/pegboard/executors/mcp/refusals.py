"""HTTP statuses that stand in the way of an MCP session, as errors of a tool."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import orjson

from pegboard.core.errors import RateLimited, ToolError, UpstreamFailed, UpstreamUnreachable

_MOST_SAID = 300
_MOST_READ = 4096
_TAGS = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_WORDS = ("message", "detail", "error_description", "error", "title")


def refusal_of(shown: str, status: int, headers: Mapping[str, str], body: bytes) -> ToolError:
    """The error for an answer that is none of the protocol's."""
    try:
        phrase = f" {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = ""
    said = excerpt(body)
    message = f"{shown} answered {status}{phrase}" + (f": {said}" if said else "")
    if status in (401, 403):
        message += " (are the tool's credentials right?)"
    kind: type[ToolError] = UpstreamFailed
    if status == 429:
        kind = RateLimited
    elif status in (502, 503, 504):
        kind = UpstreamUnreachable
    return kind(message, retry_after_ms=retry_after(headers.get("retry-after")))


def excerpt(body: bytes) -> str:
    """One short line of what the body says."""
    body = body[:_MOST_READ]
    text = body.decode("utf-8", "replace")
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        value = None
    while isinstance(value, dict):
        value = next((value[word] for word in _WORDS if value.get(word)), None)
        if isinstance(value, str):
            text = value
    line = " ".join(_TAGS.sub(" ", text).split())
    return line if len(line) <= _MOST_SAID else line[: _MOST_SAID - 1] + "…"


def retry_after(value: str | None) -> int | None:
    """Milliseconds until another try makes sense, where the header says so in a form that can be read."""
    if not value:
        return None
    value = value.strip()
    if value.isdecimal() and len(value) < 10:
        return int(value) * 1000
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    left = (at if at.tzinfo else at.replace(tzinfo=UTC)) - datetime.now(UTC)
    return max(0, int(left.total_seconds() * 1000))
