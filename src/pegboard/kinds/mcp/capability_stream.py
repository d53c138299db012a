"""Sends the capabilities of a client of the board with the requests that belong to it. Importing this loads the SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anyio.abc import ObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import CLIENT_CAPABILITIES_META_KEY, JSONRPCRequest

# Where a request has these capabilities until the SDK has added those of the session.
PASSED_CAPABILITIES_KEY = "pegboard/clientCapabilities"


class CapabilityStream(ObjectSendStream[SessionMessage]):
    """A stream that replaces the capabilities that the SDK declares.

    The session declares `declared`; a request may have others, which belong to the client that it is sent for.
    """

    def __init__(self, inner: ObjectSendStream[SessionMessage], declared: Mapping[str, Any]) -> None:
        self._inner = inner
        self._declared = dict(declared)

    async def send(self, item: SessionMessage) -> None:
        """Send a message."""
        message = item.message
        if isinstance(message, JSONRPCRequest) and message.params is not None:
            meta = message.params.get("_meta")
            if message.method == "initialize":
                message.params["capabilities"] = self._declared
            elif isinstance(meta, dict) and CLIENT_CAPABILITIES_META_KEY in meta:
                meta[CLIENT_CAPABILITIES_META_KEY] = meta.pop(PASSED_CAPABILITIES_KEY, self._declared)
        await self._inner.send(item)

    async def aclose(self) -> None:
        """Close the inner stream."""
        await self._inner.aclose()
