"""The imported MCP servers of a board, as importers read and write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pegboard.kinds.base import InjectedConfig
from pegboard.kinds.mcp.pinned_entries import EntryComparison
from pegboard.model.call import Caller
from pegboard.model.registered_upstream import Entries, RegisteredUpstream, ServerAddress


@dataclass(frozen=True, slots=True)
class UpstreamImport:
    """The fields of an import of a server; None and absent credentials leave the stored ones unchanged."""

    name: str
    address: ServerAddress
    # As its owner wrote them, with references to secrets.
    config: Mapping[str, Any]
    auth: Mapping[str, Any] | None
    include: Sequence[str]
    is_public: bool | None
    follow: bool | None
    # The names of the tools that it offers.
    tools: Sequence[str]
    compare: Callable[[Entries], EntryComparison]


class UpstreamStore(Protocol):
    """The imported servers of the board (`registry/upstream_registry.py`)."""

    def find(self, address: ServerAddress, owner_id: str) -> RegisteredUpstream | None:
        """Return the owner's server at this address."""
        ...

    def get_owned(self, upstream_id: str, caller: Caller) -> RegisteredUpstream:
        """Return the server of this id; raise NotFound if there is none or this caller may not change it."""
        ...

    async def save(self, given: UpstreamImport, caller: Caller) -> tuple[RegisteredUpstream, EntryComparison]:
        """Create or update the caller's server at this address, and return it with the changes of its entries."""
        ...

    async def change(
        self, upstream_id: str, change: Callable[[RegisteredUpstream], RegisteredUpstream]
    ) -> RegisteredUpstream | None:
        """Replace a server by what `change` returns for it; return None if it was removed before."""
        ...

    def open(self, upstream: RegisteredUpstream) -> InjectedConfig:
        """Return its config and credentials, decrypted, with secrets filled in; raise SecretUnreadable."""
        ...

    def unseal(self, upstream: RegisteredUpstream) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Return its config and credentials as its owner wrote them; raise SecretUnreadable."""
        ...
