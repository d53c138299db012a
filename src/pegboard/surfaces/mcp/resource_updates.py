"""The resources that one client is subscribed to: in its session, or on one stream."""

from __future__ import annotations

from collections.abc import Callable

from pegboard.model.call import Caller
from pegboard.model.mcp_exchange import McpExchange
from pegboard.model.mcp_peer import McpPeer
from pegboard.surfaces.mcp.peer_lists import PeerLists
from pegboard.surfaces.mcp.protocol import INVALID_PARAMS, ProtocolError

RESOURCE_UPDATED = "notifications/resources/updated"
MAX_SUBSCRIPTIONS = 100


class ResourceUpdates:
    """Subscriptions that end together."""

    __slots__ = ("_caller", "_ends", "_is_closed", "_peers", "_send")

    def __init__(self, peers: PeerLists, caller: Caller, send: Callable[[str], None]) -> None:
        self._peers = peers
        self._caller = caller
        # Sends the notification for this URI.
        self._send = send
        self._ends: dict[str, Callable[[], None]] = {}
        self._is_closed = False

    async def add(self, peer: McpPeer, uri: str, original: str, exchange: McpExchange | None = None) -> None:
        """Subscribe to a resource; raise PeerFailed, or ProtocolError if there are too many."""
        if uri in self._ends:
            return
        if len(self._ends) >= MAX_SUBSCRIPTIONS:
            raise build_too_many_subscriptions()

        def report(changed: str) -> None:
            # A part of the resource has a longer URI.
            if any(named.peer.id == peer.id for named in self._peers.find_peers(self._caller)):
                self._send(uri + changed.removeprefix(original) if changed.startswith(original) else changed)

        self._ends[uri] = _do_nothing
        try:
            end = await peer.subscribe(original, report, exchange)
        except BaseException:
            self._ends.pop(uri, None)
            raise
        if self._is_closed or uri not in self._ends:
            end()  # it was ended during the request
        else:
            self._ends[uri] = end

    def remove(self, uri: str) -> None:
        """End a subscription, if there is one."""
        end = self._ends.pop(uri, None)
        if end is not None:
            end()

    def close(self) -> None:
        """End all subscriptions."""
        self._is_closed = True
        for uri in tuple(self._ends):
            self.remove(uri)


def build_too_many_subscriptions() -> ProtocolError:
    """Return the error for a subscription above the limit."""
    message = f"A session or stream may subscribe to at most {MAX_SUBSCRIPTIONS} resources"
    return ProtocolError(INVALID_PARAMS, message)


def _do_nothing() -> None:
    """End nothing: the server has not answered yet."""
