"""The description of an imported MCP server in the API: its address, its entries, and whether it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pegboard.http_client.circuit_breaker import CircuitBreakers
from pegboard.model.mcp_peer import EntryKind
from pegboard.model.registered_upstream import RegisteredUpstream, UpstreamConnection
from pegboard.model.tool import Tool
from pegboard.registry.secret_fields import mask_auth, mask_config
from pegboard.registry.snapshot import Snapshot

UpstreamState = Literal["ok", "drifted", "unavailable"]


@dataclass(frozen=True, slots=True)
class UpstreamCounts:
    """How much a server offers; `drifted` are the tools and entries that are refused until accepted."""

    tools: int
    prompts: int
    resources: int
    resource_templates: int
    drifted: int


@dataclass(frozen=True, slots=True)
class UpstreamEntry:
    """A prompt, resource or template: its name or URI at the server, and the name that MCP clients see."""

    name: str
    listed_as: str
    title: str | None
    description: str | None
    state: Literal["active", "drifted", "gone"]


@dataclass(frozen=True, slots=True)
class UpstreamDescription:
    """An imported server, credentials masked."""

    id: str
    owner_id: str
    name: str
    prefix: str
    config: Mapping[str, Any]
    auth_config: Mapping[str, Any] | None
    include: tuple[str, ...]
    is_public: bool | None
    follow: bool
    state: UpstreamState
    counts: UpstreamCounts
    connection: UpstreamConnection
    created_at: datetime
    updated_at: datetime
    tools: tuple[Tool, ...]
    upstream: RegisteredUpstream

    @property
    def server_url(self) -> str | None:
        """The address of a server that is reached over HTTP."""
        return self.config.get("server_url")

    @property
    def command(self) -> list[str] | None:
        """The command of a server that the board starts."""
        return self.config.get("command")

    @property
    def prompts(self) -> list[UpstreamEntry]:
        """Its prompts."""
        return self._list_entries("prompts", self.prefix)

    @property
    def resources(self) -> list[UpstreamEntry]:
        """Its resources."""
        return self._list_entries("resources")

    @property
    def resource_templates(self) -> list[UpstreamEntry]:
        """Its resource templates."""
        return self._list_entries("resourceTemplates")

    def _list_entries(self, kind: EntryKind, prefix: str = "") -> list[UpstreamEntry]:
        return [
            UpstreamEntry(
                each.name,
                prefix + each.name,
                _get_text(each.entry, "title") or (_get_text(each.entry, "name") if kind != "prompts" else None),
                _get_text(each.entry, "description"),
                each.state,
            )
            for each in self.upstream.get_entries(kind)
        ]


def describe_upstream(
    upstream: RegisteredUpstream, snapshot: Snapshot, breakers: CircuitBreakers
) -> UpstreamDescription:
    """Return the description of a server for the API, with the state of its connection in this process."""
    tools = tuple(item.tool for item in snapshot.upstreams.list_tools(upstream.id))
    connection = snapshot.upstreams.get_peer(upstream.id).describe_connection(breakers)
    drifted = sum(tool.drifted for tool in tools) + sum(
        entry.state == "drifted" for entries in upstream.entries.values() for entry in entries
    )
    state: UpstreamState = "drifted" if drifted else "ok"
    return UpstreamDescription(
        **{name: getattr(upstream, name) for name in ("id", "owner_id", "name", "prefix", "include", "is_public")},
        **{name: getattr(upstream, name) for name in ("follow", "created_at", "updated_at")},
        config=mask_config(upstream.config),
        auth_config=mask_auth(upstream.sealed_auth),
        state="unavailable" if connection.last_error is not None else state,
        counts=UpstreamCounts(
            len(tools),
            _count_offered(upstream, "prompts"),
            _count_offered(upstream, "resources"),
            _count_offered(upstream, "resourceTemplates"),
            drifted,
        ),
        connection=connection,
        tools=tools,
        upstream=upstream,
    )


def _count_offered(upstream: RegisteredUpstream, kind: EntryKind) -> int:
    return sum(entry.state != "gone" for entry in upstream.get_entries(kind))


def _get_text(entry: Mapping[str, Any], name: str) -> str | None:
    value = entry.get(name)
    return value if isinstance(value, str) else None
