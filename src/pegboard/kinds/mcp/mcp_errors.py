"""Converts protocol errors and HTTP statuses of MCP servers to tool errors with a hint what to do."""

from __future__ import annotations

from collections.abc import Mapping

import mcp_types as types
from mcp import MCPError
from pydantic import ValidationError

from pegboard.kinds.mcp.upstream import ProtocolFailed
from pegboard.kinds.secret_mask import SecretMask
from pegboard.kinds.status_error import build_status_error, extract_excerpt, read_retry_after
from pegboard.model.call_errors import ToolError, UpstreamFailed, UpstreamUnreachable
from pegboard.model.mcp_exchange import McpFailure
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
            failure = McpFailure(error.code, message, error.data)
            return ProtocolFailed(f"{shown} asked for input that this board cannot give: {message}", failure)
        case types.CONNECTION_CLOSED if message.startswith("SSE stream ended"):
            return UpstreamUnreachable(f"{shown} ended its answer before it was complete")
        case types.CONNECTION_CLOSED if message.startswith("SSE stream failed: "):
            return UpstreamFailed(f"{shown} sent an answer that cannot be read: {message.partition(': ')[2]}")
    return UpstreamFailed(f"{shown} answered with error {error.code}: {message}")


def describe_first_error(error: ValidationError) -> str:
    """Return the location and message of the first validation error, without the value."""
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {format_model_error(first)}"


_MAX_READ_BYTES = 4096
_NO_MASK = SecretMask(())


def make_http_refusal(shown: str, status: int, headers: Mapping[str, str], body: bytes) -> ToolError:
    """Return the error for an HTTP response outside the protocol."""
    media_type = headers.get("content-type", "")
    excerpt = extract_excerpt(body[:_MAX_READ_BYTES], "utf-8", media_type or "data", _NO_MASK)
    retry_after = headers.get("retry-after")
    error = build_status_error(shown, status, excerpt, retry_after)
    error.retry_after_ms = read_retry_after(retry_after)
    return error.reword(f"{error.message} (are the tool's credentials right?)") if status in (401, 403) else error
