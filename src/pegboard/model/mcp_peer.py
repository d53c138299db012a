"""An MCP server that the board has imported, as the MCP server of the board uses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from pegboard.model.mcp_exchange import McpExchange, McpFailure

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

    id: str

    def refresh_soon(self) -> None:
        """Read the server's lists if that was not done for a while, without waiting."""
        ...

    async def find_problem(self) -> str | None:
        """Return why the server is unavailable, or None; ask it if its status is old, for a short time."""
        ...

    async def check_entry(self, kind: EntryKind, name: str) -> None:
        """Raise PeerFailed if the server's entry of this name or URI is not the one that its owner accepted."""
        ...

    async def check_unlisted(self, uri: str) -> None:
        """Raise PeerFailed if the server lists a resource of this URI, which its owner has not accepted."""
        ...

    async def request(
        self, method: str, params: Mapping[str, Any], exchange: McpExchange | None = None
    ) -> dict[str, Any]:
        """Return the result of a request; raise PeerFailed.

        If the client has capabilities in the `exchange`, the result may be a request for input.
        """
        ...

    def watch(self) -> Callable[[], None]:
        """Read its lists as soon as the server reports changes, until the returned function is called."""
        ...

    async def subscribe(
        self, uri: str, on_update: Callable[[str], None], exchange: McpExchange | None = None
    ) -> Callable[[], None]:
        """Call `on_update` with the URI after each change of a resource, until the returned function is called.

        Raises PeerFailed.
        """
        ...
