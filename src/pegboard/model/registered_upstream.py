"""An imported MCP server, and the prompts, resources and templates that its owner accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from pegboard.model.mcp_peer import EntryKind

EntryState = Literal["active", "drifted", "gone"]


@dataclass(frozen=True, slots=True)
class PinnedEntry:
    """A prompt, resource or template as its owner accepted it; `digest` covers what a model or a person reads."""

    # Its name or URI at the server.
    name: str
    digest: str
    entry: Mapping[str, Any]
    # What its server lists now: the same, another definition, or no such entry.
    state: EntryState = "active"


Entries = Mapping[EntryKind, tuple[PinnedEntry, ...]]


class ServerAddress(NamedTuple):
    """Where a server is, and the prefix that an import put before its names."""

    server_url: str | None
    command: tuple[str, ...] | None
    prefix: str


@dataclass(frozen=True, slots=True)
class UpstreamConnection:
    """Whether a server answers, as one process of the board sees it."""

    is_open: bool = False
    calls: int = 0
    circuit: Literal["closed", "open"] = "closed"
    checked_at: datetime | None = None
    last_error: str | None = None


@dataclass(frozen=True, slots=True)
class RegisteredUpstream:
    """An imported MCP server; secret values are encrypted in `config` and `sealed_auth`."""

    id: str
    owner_id: str
    name: str
    prefix: str
    config: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime
    sealed_auth: Mapping[str, Any] | None = None
    # The patterns of the last import.
    include: tuple[str, ...] = ()
    is_public: bool | None = None
    follow: bool = False
    # The names of the tools that it offered at the import, and of those that were added since: any other is new.
    tools: tuple[str, ...] = ()
    entries: Entries = field(default_factory=dict)
    is_deleted: bool = False
    deleted_at: datetime | None = None

    @property
    def address(self) -> ServerAddress:
        """Where it is; an owner has one upstream per address."""
        command = self.config.get("command")
        return ServerAddress(self.config.get("server_url"), tuple(command) if command else None, self.prefix)

    def get_entries(self, kind: EntryKind) -> Sequence[PinnedEntry]:
        """Return its entries of one kind, those included that its server no longer lists."""
        return self.entries.get(kind, ())
