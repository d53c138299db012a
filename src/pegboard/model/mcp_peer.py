"""An MCP server whose tools the board has imported, as the MCP server of the board uses it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Literal, Protocol

from pegboard.model.mcp_exchange import McpExchange, McpFailure

EntryKind = Literal["prompts", "resources", "resourceTemplates"]


class PeerFailed(Exception):
    """The server did not answer a request, or with an error; the message has no credentials."""

    def __init__(self, failure: McpFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class McpPeer(Protocol):
    """One server, with the credentials of one owner of tools."""

    @property
    def label(self) -> str:
        """A short name for people and URIs: its host or its program."""
        ...

    @property
    def prefix(self) -> str:
        """What an import put before the names of its tools."""
        ...

    @property
    def key(self) -> Hashable:
        """The same for all tools of one server."""
        ...

    async def list_entries(self, kind: EntryKind) -> Sequence[Mapping[str, Any]]:
        """Return what it lists, perhaps from a cache; raise PeerFailed if it does not answer in a short time."""
        ...

    async def request(
        self, method: str, params: Mapping[str, Any], exchange: McpExchange | None = None
    ) -> dict[str, Any]:
        """Return the result of a request; raise PeerFailed.

        If the client has capabilities in the `exchange`, the result may be a request for input.
        """
        ...

    def watch(self, on_change: Callable[[], None]) -> Callable[[], None]:
        """Call `on_change` after each change of its lists that it reports; return what ends that."""
        ...

    async def subscribe(
        self, uri: str, on_update: Callable[[str], None], exchange: McpExchange | None = None
    ) -> Callable[[], None]:
        """Call `on_update` with the URI after each change of a resource; return what ends that, or raise PeerFailed."""
        ...
