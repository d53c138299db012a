"""The method `initialize` of the older revision: creates a session."""

from __future__ import annotations

from typing import Any

import orjson

from pegboard.model.call import Caller
from pegboard.model.json_text import json_text
from pegboard.surfaces.mcp.mcp_server import McpServer
from pegboard.surfaces.mcp.mcp_sessions import SessionRecord
from pegboard.surfaces.mcp.protocol import (
    INVALID_PARAMS,
    SERVER_CAPABILITIES,
    SERVER_INFO,
    SESSION_VERSIONS,
    ProtocolError,
)

_KNOWN_CAPABILITIES = ("elicitation", "sampling", "roots")
# A session keeps what its client declared; the rest of a longer capability is ignored.
_MAX_CAPABILITY_CHARS = 1000
_CAPABILITIES_AND_INFO = orjson.dumps({"capabilities": SERVER_CAPABILITIES, "serverInfo": SERVER_INFO})[1:]


def open_session(server: McpServer, caller: Caller, params: dict[str, Any]) -> tuple[SessionRecord, bytes]:
    """Return a new session and the result of `initialize`; raise ProtocolError if the params are not valid."""
    requested = params.get("protocolVersion")
    if not isinstance(requested, str):
        raise ProtocolError(INVALID_PARAMS, "'protocolVersion' in the params must be a string")
    capabilities = params.get("capabilities", {})
    if type(capabilities) is not dict:
        raise ProtocolError(INVALID_PARAMS, "'capabilities' in the params must be an object")
    version = requested if requested in SESSION_VERSIONS else SESSION_VERSIONS[0]
    declared = {
        name: _shorten(capabilities[name]) for name in _KNOWN_CAPABILITIES if type(capabilities.get(name)) is dict
    }
    session = server.sessions.create(caller, version, declared)
    return session, b'{"protocolVersion":"' + version.encode() + b'",' + _CAPABILITIES_AND_INFO


def _shorten(capability: dict[str, Any]) -> dict[str, Any]:
    return capability if len(json_text(capability)) <= _MAX_CAPABILITY_CHARS else {}
