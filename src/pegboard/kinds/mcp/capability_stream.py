"""Sends the capabilities of a client of the board with the requests that belong to it. Importing this loads the SDK."""

from __future__ import annotations

from anyio.abc import ObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import CLIENT_CAPABILITIES_META_KEY, JSONRPCRequest

# Where a request has these capabilities until the SDK has added those of the session.
PASSED_CAPABILITIES_KEY = "pegboard/clientCapabilities"


class CapabilityStream(ObjectSendStream[SessionMessage]):
    """A stream that replaces the capabilities of the shared session by those that a request was given."""

    def __init__(self, inner: ObjectSendStream[SessionMessage]) -> None:
        self._inner = inner

    async def send(self, item: SessionMessage) -> None:
        """Send a message."""
        message = item.message
        if isinstance(message, JSONRPCRequest) and message.params is not None:
            meta = message.params.get("_meta")
            if isinstance(meta, dict) and PASSED_CAPABILITIES_KEY in meta:
                meta[CLIENT_CAPABILITIES_META_KEY] = meta.pop(PASSED_CAPABILITIES_KEY)
        await self._inner.send(item)

    async def aclose(self) -> None:
        """Close the inner stream."""
        await self._inner.aclose()
