"""What went wrong in a session, in words that say what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp import MCPError
from pydantic import ValidationError

from pegboard.core.errors import ToolError, UpstreamFailed, UpstreamUnreachable
from pegboard.core.model_errors import message_of


def failure_of(error: MCPError, shown: str) -> ToolError:
    """An error that the server answered with, in words that say what to do about it."""
    said = " ".join(error.message.split())[:1000]
    match error.code:
        case types.INVALID_PARAMS:
            return UpstreamFailed(f"{shown} refused the arguments: {said}")
        case types.METHOD_NOT_FOUND:
            return UpstreamFailed(f"{shown} offers no tools: {said}")
        case types.URL_ELICITATION_REQUIRED | types.MISSING_REQUIRED_CLIENT_CAPABILITY:
            return UpstreamFailed(f"{shown} asked for input that this board cannot give: {said}")
        case types.CONNECTION_CLOSED if said.startswith("SSE stream ended"):
            return UpstreamUnreachable(f"{shown} ended its answer before it was complete")
        case types.CONNECTION_CLOSED if said.startswith("SSE stream failed: "):
            return UpstreamFailed(f"{shown} sent an answer that cannot be read: {said.partition(': ')[2]}")
    return UpstreamFailed(f"{shown} answered with error {error.code}: {said}")


def asked_for(answer: Mapping[str, Any]) -> str:
    """What the server wanted to know, where it says so."""
    for request in (answer.get("inputRequests") or {}).values():
        said = (request.get("params") or {}).get("message")
        if isinstance(said, str) and said:
            return f": {' '.join(said.split())[:300]}"
    return ""


def first_fault(error: ValidationError) -> str:
    """Where the first thing is that is wrong, without the value that is there."""
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {message_of(first)}"
