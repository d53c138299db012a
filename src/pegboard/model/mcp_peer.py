"""An MCP server that the board has imported, as the MCP server of the board uses it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from pegboard.model.mcp_exchange import McpFailure

EntryKind = Literal["prompts", "resources", "resourceTemplates"]

# The field by which entries of each kind are found.
IDENTITY_FIELDS: Mapping[EntryKind, str] = {"prompts": "name", "resources": "uri", "resourceTemplates": "uriTemplate"}


class PeerFailed(Exception):
    """The server did not answer a request, or with an error; the message has no credentials."""

    def __init__(self, failure: McpFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class McpPeer(Protocol):
    """One server, with the credentials of the owner who imported it."""

    def refresh_soon(self) -> None:
        """Ask the server for its lists if that was not done for a while, without waiting."""
        ...

    async def find_problem(self) -> str | None:
        """Return why the server is unavailable, or None; ask it if that was not done for a while, for a short time."""
        ...

    async def check_entry(self, kind: EntryKind, name: str) -> None:
        """Raise PeerFailed if the server's entry of this name or URI is not the one that its owner accepted."""
        ...

    async def check_unlisted(self, uri: str) -> None:
        """Raise PeerFailed if the server lists a resource of this URI, which its owner has not accepted."""
        ...

    async def request(
        self, method: str, params: Mapping[str, Any], capabilities: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the result of a request; raise PeerFailed.

        If the client has `capabilities`, the result may be a request for input.
        """
        ...
