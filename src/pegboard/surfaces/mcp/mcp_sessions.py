"""The sessions of the older revision: their owners, their lifetime, and their maximum number."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from pegboard.model.call import Caller
from pegboard.model.mcp_client import McpClient
from pegboard.surfaces.mcp.client_requests import ClientRequests
from pegboard.surfaces.mcp.json_rpc import RequestId
from pegboard.surfaces.mcp.protocol import INTERNAL_ERROR, INVALID_REQUEST, ProtocolError
from pegboard.surfaces.mcp.resource_updates import ResourceUpdates

IDLE_SECONDS = 30 * 60.0
_ID_BYTES = 24
# How often sessions that are no longer used are removed.
_SWEEP_SECONDS = 60.0

Owner = tuple[str, str | None, str | None]
# A function that cancels each running request of a client, by request id.
RunningRequests = dict[RequestId, Callable[[], object]]


def get_owner(caller: Caller) -> Owner:
    """Return the key of a caller, and the agent that it is used for: the owner of a session."""
    return caller.user_id, caller.key_id, caller.agent_id


def cancel_request(running: RunningRequests, params: Mapping[str, Any]) -> None:
    """Cancel the request that `notifications/cancelled` names, if it runs."""
    identity = params.get("requestId")
    if isinstance(identity, str | int) and not isinstance(identity, bool):
        cancel = running.pop(identity, None)
        if cancel is not None:
            cancel()


class SessionRecord:
    """One client of the older revision."""

    __slots__ = (
        "caller", "client", "close_stream", "id", "log_level", "notify", "requests", "running", "updates",
        "used_at", "version",
    )  # fmt: skip

    def __init__(self, caller: Caller, version: str, capabilities: Mapping[str, Any], now: float) -> None:
        self.id = secrets.token_urlsafe(_ID_BYTES)
        # The caller of the last request.
        self.caller = caller
        self.version = version
        # Of a client that can be asked for input, or that gets log messages.
        self.client = McpClient(self.id, capabilities, user_id=caller.user_id) if capabilities else None
        self.requests: ClientRequests | None = ClientRequests() if capabilities else None
        self.log_level: str | None = None
        self.used_at = now
        self.running: RunningRequests = {}
        # Ends the open event stream of this session, if there is one.
        self.close_stream: Callable[[], None] | None = None
        # Sends a notification that belongs to no request; None if no event stream is open.
        self.notify: Callable[[bytes], None] | None = None
        # The resources that it is subscribed to; None before the first.
        self.updates: ResourceUpdates | None = None

    def set_log_level(self, level: str) -> None:
        """Send the log messages of this level and above to the client."""
        self.log_level = level
        if self.client is None:
            self.client = McpClient(self.id, user_id=self.caller.user_id)

    def handle_notification(self, method: str | None, params: Mapping[str, Any]) -> None:
        """Cancel a request, or pass on that the roots have changed; other notifications need nothing."""
        if method == "notifications/cancelled":
            cancel_request(self.running, params)
        elif method == "notifications/roots/list_changed" and self.client is not None:
            self.client.report_roots_change()

    def end(self) -> None:
        """End the event stream, the sessions with servers of tools, and the requests to the client."""
        if self.close_stream is not None:
            self.close_stream()
        if self.updates is not None:
            self.updates.close()
        if self.requests is not None:
            self.requests.close()
        if self.client is not None:
            self.client.end()

    @property
    def is_busy(self) -> bool:
        """True if a call runs or the event stream is open."""
        return bool(self.running) or self.close_stream is not None


class McpSessions:
    """The sessions of one server process, by id, in the order of their last use."""

    def __init__(self, most: int, idle_seconds: float = IDLE_SECONDS) -> None:
        self._most = most
        self._idle_seconds = idle_seconds
        self._sessions: OrderedDict[str, SessionRecord] = OrderedDict()
        self._sweeper: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._sessions)

    def create(self, caller: Caller, version: str, capabilities: Mapping[str, Any]) -> SessionRecord:
        """Return a new session of this caller; raise ProtocolError if there are too many."""
        now = asyncio.get_running_loop().time()
        self._remove_expired(now)
        if len(self._sessions) >= self._most:
            raise build_too_many_error(f"sessions (PEGBOARD_MCP_SESSIONS is {self._most:,})")
        session = SessionRecord(caller, version, capabilities, now)
        self._sessions[session.id] = session
        if self._sweeper is None:
            self._schedule()
        return session

    def find(self, session_id: bytes | None, caller: Caller) -> SessionRecord:
        """Return the caller's session of this id, and count it as used; raise ProtocolError if there is none."""
        if session_id is None:
            raise ProtocolError(
                INVALID_REQUEST, "The header Mcp-Session-Id is missing: send initialize first", status=400
            )
        session = self._sessions.get(session_id.decode("latin-1"))
        now = asyncio.get_running_loop().time()
        if session is not None and now - session.used_at > self._idle_seconds and not session.is_busy:
            self.end(session)
            session = None
        if session is None or get_owner(session.caller) != get_owner(caller):
            raise ProtocolError(INVALID_REQUEST, "The session is not known or has ended: initialize again", status=404)
        session.caller = caller
        session.used_at = now
        self._sessions.move_to_end(session.id)
        return session

    def end(self, session: SessionRecord) -> None:
        """Remove a session and end its event stream; its calls continue."""
        self._sessions.pop(session.id, None)
        session.end()

    def _remove_expired(self, now: float) -> None:
        while self._sessions:
            session = next(iter(self._sessions.values()))
            if now - session.used_at <= self._idle_seconds:
                return
            if session.is_busy:
                session.used_at = now
                self._sessions.move_to_end(session.id)
            else:
                self.end(session)

    def _schedule(self) -> None:
        loop = asyncio.get_running_loop()
        self._sweeper = loop.call_later(min(_SWEEP_SECONDS, self._idle_seconds), self._sweep)

    def _sweep(self) -> None:
        self._sweeper = None
        self._remove_expired(asyncio.get_running_loop().time())
        if self._sessions:
            self._schedule()


def build_too_many_error(what: str) -> ProtocolError:
    """Return the error for a session or stream above the limit."""
    return ProtocolError(INTERNAL_ERROR, f"This server has too many open {what}; try again later", status=503)
