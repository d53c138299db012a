"""The exchange between a tool's server and the client of a request: requests for input and log messages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from pegboard.model.json_text import json_text
from pegboard.model.mcp_client import McpClient
from pegboard.model.mcp_exchange import LOG_LEVELS, McpExchange
from pegboard.surfaces.mcp.mcp_request import McpRequest, Notify
from pegboard.surfaces.mcp.mcp_sessions import get_owner
from pegboard.surfaces.mcp.protocol import INVALID_PARAMS, LOG_LEVEL_KEY, ProtocolError
from pegboard.surfaces.mcp.request_state import GivenInput

_NOTHING_GIVEN = GivenInput()


def build_exchange(request: McpRequest, given: GivenInput = _NOTHING_GIVEN) -> McpExchange:
    """Return the exchange of a request; raise ProtocolError if its log level is not valid.

    A client that can be asked for input during a call, or that gets log messages, does not share sessions with
    servers of tools: a session does not say to which call a message belongs.
    """
    session = request.session
    if session is not None:
        level, client = session.log_level, session.client
    else:
        level = _read_log_level(request)
        owner = json_text(get_owner(request.caller)) if level is not None else ""
        user_id = request.caller.user_id
        client = McpClient(owner, has_session=False, user_id=user_id) if level is not None else None
    if client is None:
        return McpExchange(*given)
    on_log = None if level is None else partial(_send_log_message, request.notify)
    return McpExchange(*given, client=client, ask=request.ask, on_log=on_log, log_level=level)


def _read_log_level(request: McpRequest) -> str | None:
    level = request.meta.get(LOG_LEVEL_KEY)
    if level is not None and level not in LOG_LEVELS:
        raise ProtocolError(INVALID_PARAMS, f"{LOG_LEVEL_KEY} in _meta must be one of {', '.join(LOG_LEVELS)}")
    return level


def _send_log_message(notify: Notify, params: Mapping[str, Any]) -> None:
    message = {"jsonrpc": "2.0", "method": "notifications/message", "params": params}
    notify(json_text(message).encode())
