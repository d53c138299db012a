"""The Model Context Protocol: its revisions, error codes and `_meta` keys, and the error that a request gets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from pegboard.version import __version__

STATELESS_VERSION = "2026-07-28"
# Newest first; `initialize` answers an unknown version with the first one.
SESSION_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022
# Errors of another server that pass to the client.
MISSING_CAPABILITY = -32021
URL_ELICITATION_REQUIRED = -32042

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"
SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"
EXECUTION_KEY = "pegboard/executionId"

SERVER_INFO = {"name": "pegboard", "title": "Pegboard", "version": __version__}
SERVER_CAPABILITIES = {
    "completions": {},
    "logging": {},
    "prompts": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "tools": {"listChanged": True},
}
_SERVER_INFO_META = b'"' + SERVER_INFO_KEY.encode() + b'":' + orjson.dumps(SERVER_INFO)


class ProtocolError(Exception):
    """The request gets a JSON-RPC error; `status` is its HTTP status if the code does not determine it."""

    def __init__(self, code: int, message: str, data: Any = None, *, status: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.status = status


class MethodResult(NamedTuple):
    """The members of a result as JSON, without the braces, and those of its `_meta`."""

    members: bytes
    meta: bytes = b""
    # Only in the stateless revision.
    result_type: bytes = b"complete"


class Revision(NamedTuple):
    """The rules of a protocol revision that depend on neither method nor transport."""

    is_stateless: bool
    # HTTP status by error code; 200 for other codes.
    error_status: Mapping[int, int]
    resource_not_found: int

    def encode_result(self, result: MethodResult, cache: bytes = b"") -> bytes:
        """Return the result object as JSON; `cache` has the members of a list or read result, for caches."""
        parts = [result.members] if result.members else []
        if self.is_stateless:
            if cache and result.result_type == b"complete":
                parts.append(cache)
            meta = result.meta + b"," + _SERVER_INFO_META if result.meta else _SERVER_INFO_META
            parts.append(b'"resultType":"' + result.result_type + b'","_meta":{' + meta + b"}")
        elif result.meta:
            parts.append(b'"_meta":{' + result.meta + b"}")
        return b"{" + b",".join(parts) + b"}"

    def get_status(self, error: ProtocolError) -> int:
        """Return the HTTP status of an error."""
        return error.status or self.error_status.get(error.code, 200)


SESSION_REVISION = Revision(
    is_stateless=False,
    error_status={PARSE_ERROR: 400, INVALID_REQUEST: 400},
    resource_not_found=RESOURCE_NOT_FOUND,
)
STATELESS_REVISION = Revision(
    is_stateless=True,
    error_status={
        PARSE_ERROR: 400,
        INVALID_REQUEST: 400,
        INVALID_PARAMS: 400,
        HEADER_MISMATCH: 400,
        MISSING_CAPABILITY: 400,
        URL_ELICITATION_REQUIRED: 400,
        UNSUPPORTED_VERSION: 400,
        METHOD_NOT_FOUND: 404,
    },
    resource_not_found=INVALID_PARAMS,
)
