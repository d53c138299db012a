"""Continued requests: a client that was asked for input sends its request again, with the input and a state.

The state of the other server is encrypted for the client, and valid for the same request of the same caller only.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pegboard.model.call_errors import SecretUnreadable
from pegboard.model.json_text import json_text
from pegboard.surfaces.mcp.mcp_request import McpRequest
from pegboard.surfaces.mcp.protocol import CAPABILITIES_KEY, INVALID_PARAMS, MethodResult, ProtocolError

STATE_SECONDS = 600.0
# The purpose that the encrypted text is bound to, so that no other encrypted text of the board is accepted.
_PURPOSE = "mcp-request-state"
_INVALID = "'requestState' is not valid: it was changed, is older than 10 minutes, or belongs to another request"


class GivenInput(NamedTuple):
    """The input with which a client continues a request, and its declared capabilities."""

    capabilities: Mapping[str, Any] | None = None
    responses: Mapping[str, Any] | None = None
    state: str | None = None


class RequestStates:
    """Encrypts and checks the states of continued requests."""

    def __init__(self, seal: Callable[[str, str], str], unseal: Callable[[str, str], str]) -> None:
        self._seal = seal
        self._unseal = unseal

    def read(self, request: McpRequest, target: str, arguments: Any) -> GivenInput:
        """Return the input that continues the request; raise ProtocolError if its state is not valid.

        `target` identifies the tool, prompt or resource.
        """
        if not request.revision.is_stateless:
            return GivenInput()
        given = request.params
        responses = request.read_object("inputResponses") if given.get("inputResponses") is not None else None
        state = None
        if "requestState" in given:
            state = self._open(given["requestState"], _bind(request, target, arguments))
        return GivenInput(get_capabilities(request), responses, state)

    def encode(self, asked: Mapping[str, Any], request: McpRequest, target: str, arguments: Any) -> MethodResult:
        """Return the result that asks the client for input."""
        members: dict[str, Any] = {"inputRequests": asked.get("inputRequests") or {}}
        state = asked.get("requestState")
        if isinstance(state, str):
            expires = int(time.time() + STATE_SECONDS)
            packed = json.dumps([expires, _bind(request, target, arguments), state])
            members["requestState"] = self._seal(packed, _PURPOSE)
        return MethodResult(json_text(members).encode()[1:-1], result_type=b"input_required")

    def _open(self, sealed: Any, binding: str) -> str:
        if not isinstance(sealed, str):
            raise ProtocolError(INVALID_PARAMS, "'requestState' in the params must be a string")
        try:
            expires, bound, state = json.loads(self._unseal(sealed, _PURPOSE))
        except SecretUnreadable:
            raise ProtocolError(INVALID_PARAMS, _INVALID) from None
        if bound != binding or time.time() > expires:
            raise ProtocolError(INVALID_PARAMS, _INVALID)
        return str(state)


def get_capabilities(request: McpRequest) -> Mapping[str, Any]:
    """Return the capabilities that the client declared in `_meta`."""
    declared = request.meta.get(CAPABILITIES_KEY)
    return declared if isinstance(declared, dict) else {}


def _bind(request: McpRequest, target: str, arguments: Any) -> str:
    """Return a digest of the caller, the method, its target and its arguments."""
    caller = request.caller
    whole = [caller.user_id, caller.key_id, caller.agent_id, request.method, target, arguments]
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()
