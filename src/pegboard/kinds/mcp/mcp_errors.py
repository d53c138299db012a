"""Converts protocol errors and HTTP statuses of MCP servers to tool errors with a hint what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

import mcp_types as types
import orjson
from mcp import MCPError
from pydantic import ValidationError

from pegboard.model.call_errors import RateLimited, ToolError, UpstreamFailed, UpstreamUnreachable
from pegboard.model.validation_messages import format_model_error


def explain_mcp_error(error: MCPError, shown: str) -> ToolError:
    """Convert an error response of the server to a tool error."""
    message = " ".join(error.message.split())[:1000]
    match error.code:
        case types.INVALID_PARAMS:
            return UpstreamFailed(f"{shown} refused the arguments: {message}")
        case types.METHOD_NOT_FOUND:
            return UpstreamFailed(f"{shown} offers no tools: {message}")
        case types.URL_ELICITATION_REQUIRED | types.MISSING_REQUIRED_CLIENT_CAPABILITY:
            return UpstreamFailed(f"{shown} asked for input that this board cannot give: {message}")
        case types.CONNECTION_CLOSED if message.startswith("SSE stream ended"):
            return UpstreamUnreachable(f"{shown} ended its answer before it was complete")
        case types.CONNECTION_CLOSED if message.startswith("SSE stream failed: "):
            return UpstreamFailed(f"{shown} sent an answer that cannot be read: {message.partition(': ')[2]}")
    return UpstreamFailed(f"{shown} answered with error {error.code}: {message}")


def describe_input_request(answer: Mapping[str, Any]) -> str:
    """Return the message of the server's request for input, or an empty string."""
    for request in (answer.get("inputRequests") or {}).values():
        message = (request.get("params") or {}).get("message")
        if isinstance(message, str) and message:
            return f": {' '.join(message.split())[:300]}"
    return ""


def describe_first_error(error: ValidationError) -> str:
    """Return the location and message of the first validation error, without the value."""
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {format_model_error(first)}"


_MAX_EXCERPT_CHARS = 300
_MAX_READ_BYTES = 4096
_HTML_TAGS = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_MESSAGE_KEYS = ("message", "detail", "error_description", "error", "title")


def make_http_refusal(shown: str, status: int, headers: Mapping[str, str], body: bytes) -> ToolError:
    """Return the error for an HTTP response outside the protocol."""
    try:
        phrase = f" {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = ""
    message_text = shorten_error_body(body)
    message = f"{shown} answered {status}{phrase}" + (f": {message_text}" if message_text else "")
    if status in (401, 403):
        message += " (are the tool's credentials right?)"
    kind: type[ToolError] = UpstreamFailed
    if status == 429:
        kind = RateLimited
    elif status in (502, 503, 504):
        kind = UpstreamUnreachable
    return kind(message, retry_after_ms=read_retry_after(headers.get("retry-after")))


def shorten_error_body(body: bytes) -> str:
    """Return one short line from the body."""
    body = body[:_MAX_READ_BYTES]
    text = body.decode("utf-8", "replace")
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        value = None
    while isinstance(value, dict):
        value = next((value[word] for word in _MESSAGE_KEYS if value.get(word)), None)
        if isinstance(value, str):
            text = value
    line = " ".join(_HTML_TAGS.sub(" ", text).split())
    return line if len(line) <= _MAX_EXCERPT_CHARS else line[: _MAX_EXCERPT_CHARS - 1] + "…"


def read_retry_after(value: str | None) -> int | None:
    """Return the milliseconds of a Retry-After header, or None if it is missing or cannot be parsed."""
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
