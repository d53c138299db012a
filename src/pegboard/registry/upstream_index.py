"""The imported MCP servers in memory, with the peers that send requests to them, and the tools of each server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from pegboard.kinds.mcp.peer import UpstreamPeer
from pegboard.model.registered_upstream import RegisteredUpstream, ServerAddress
from pegboard.registry.compiled_tool import CompiledTool

_Place = tuple[str, str | None, tuple[str, ...] | None]


def _get_place(owner_id: str, address: ServerAddress) -> _Place:
    return owner_id, address.server_url, address.command


class UpstreamIndex:
    """The servers by id and by the address of their tools; a part of the snapshot."""

    def __init__(
        self,
        make_peer: Callable[[RegisteredUpstream], UpstreamPeer],
        iterate_tools: Callable[[], Iterator[CompiledTool]],
    ) -> None:
        self._make_peer = make_peer
        self._iterate_tools = iterate_tools
        self._upstreams: dict[str, RegisteredUpstream] = {}
        self._peers: dict[str, UpstreamPeer] = {}
        self._places: dict[_Place, list[RegisteredUpstream]] = {}
        self._tools: dict[str, list[CompiledTool]] | None = None

    def find(self, upstream_id: str) -> RegisteredUpstream | None:
        """Return the server of this id, or None."""
        return self._upstreams.get(upstream_id)

    def list_owned(self, owner_id: str | None) -> list[RegisteredUpstream]:
        """Return the servers of a user, or all servers, oldest first."""
        found = (upstream for upstream in self._upstreams.values() if owner_id in (None, upstream.owner_id))
        return sorted(found, key=lambda upstream: upstream.id)

    def get_peer(self, upstream_id: str) -> UpstreamPeer:
        """Return the peer that sends requests to a server."""
        return self._peers[upstream_id]

    def list_peers(self) -> Iterable[UpstreamPeer]:
        """Return the peers that send requests to the servers."""
        return tuple(self._peers.values())

    def find_by_tool(self, compiled: CompiledTool) -> RegisteredUpstream | None:
        """Return the server that a tool was imported from.

        It is the server of the tool's owner at this address. If there are several, with different prefixes, it is the
        one with the prefix of the tool's name.
        """
        address = compiled.kind.find_tool_server(compiled.tool)
        if address is None:
            return None
        found = self._places.get(_get_place(compiled.tool.owner_id, address), ())
        if len(found) == 1:
            return found[0]
        return next((upstream for upstream in found if upstream.prefix == address.prefix), None)

    def list_tools(self, upstream_id: str) -> Sequence[CompiledTool]:
        """Return the tools that were imported from a server, by name."""
        if self._tools is None:
            self._tools = {}
            for compiled in self._iterate_tools():
                if (upstream := self.find_by_tool(compiled)) is not None:
                    self._tools.setdefault(upstream.id, []).append(compiled)
        return self._tools.get(upstream_id, ())

    def update(self, changed: Iterable[RegisteredUpstream]) -> None:
        """Replace the servers that have changed."""
        is_changed = False
        for upstream in changed:
            is_changed = True
            if upstream.is_deleted:
                self._upstreams.pop(upstream.id, None)
                self._peers.pop(upstream.id, None)
            else:
                self._upstreams[upstream.id] = upstream
                self._peers[upstream.id] = self._make_peer(upstream)
        if is_changed:
            self._places = {}
            for upstream in self.list_owned(None):
                self._places.setdefault(_get_place(upstream.owner_id, upstream.address), []).append(upstream)

    def forget_secrets(self, owner_ids: set[str]) -> None:
        """Reach the servers of these users with the values that their secrets have now."""
        for upstream in self._upstreams.values():
            if upstream.owner_id in owner_ids:
                self._peers[upstream.id] = self._make_peer(upstream)

    def forget_tools(self) -> None:
        """Find the tools of each server again when they are needed."""
        self._tools = None
