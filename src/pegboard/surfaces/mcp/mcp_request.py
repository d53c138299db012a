"""One request as the handlers of its methods receive it, over any transport."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from pegboard.model.call import Caller
from pegboard.model.mcp_exchange import AskClient
from pegboard.runs.handle import DisconnectWatch
from pegboard.surfaces.mcp.json_rpc import RequestId
from pegboard.surfaces.mcp.mcp_sessions import RunningRequests, SessionRecord
from pegboard.surfaces.mcp.protocol import INVALID_PARAMS, ProtocolError, Revision

# Sends a notification, as JSON, on the stream that answers a request.
Notify = Callable[[bytes], None]


class McpRequest(NamedTuple):
    """A request: the message, its caller, and how its client can be reached while it runs."""

    id: RequestId
    method: str
    params: dict[str, Any]
    revision: Revision
    caller: Caller
    notify: Notify
    session: SessionRecord | None = None
    # Cancels each running request that a notification of the same client can cancel.
    running: RunningRequests | None = None
    # Cancels the call if the client disconnects; None if only a notification cancels it.
    watch: DisconnectWatch | None = None
    idempotency_key: str | None = None
    http_request_id: str | None = None
    # False if the key of the caller is no longer valid.
    is_allowed: Callable[[], bool] = lambda: True
    # Asks the client for input while its request runs, in the revisions with sessions.
    ask: AskClient | None = None

    @property
    def meta(self) -> dict[str, Any]:
        """The `_meta` of the params, empty if there is none."""
        meta = self.params.get("_meta")
        return meta if type(meta) is dict else {}

    def read_text(self, name: str) -> str:
        """Return a required parameter that is a string; raise ProtocolError otherwise."""
        value = self.params.get(name)
        if not isinstance(value, str):
            raise ProtocolError(INVALID_PARAMS, f"'{name}' in the params must be a string")
        return value

    def read_object(self, name: str) -> dict[str, Any]:
        """Return a parameter that is an object, empty if it is missing; raise ProtocolError otherwise."""
        value = self.params.get(name)
        if value is None:
            return {}
        if type(value) is not dict:
            raise ProtocolError(INVALID_PARAMS, f"'{name}' in the params must be an object")
        return value

    def read_cursor(self) -> str | None:
        """Return the cursor of a list, or None; raise ProtocolError if it is not a string."""
        cursor = self.params.get("cursor")
        if cursor is not None and not isinstance(cursor, str):
            raise ProtocolError(INVALID_PARAMS, "'cursor' in the params must be a string")
        return cursor


class NoResponse(Exception):
    """The request gets no response: it was cancelled, or its client has disconnected."""
