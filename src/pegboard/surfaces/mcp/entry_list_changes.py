"""Reports that the prompts or resources of a caller have changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from pegboard.model.call import Caller
from pegboard.model.mcp_peer import EntryKind, McpPeer
from pegboard.surfaces.mcp.peer_lists import PeerLists

PROMPTS_CHANGED = "notifications/prompts/list_changed"
RESOURCES_CHANGED = "notifications/resources/list_changed"
_METHOD_OF: Mapping[EntryKind, str] = {
    "prompts": PROMPTS_CHANGED,
    "resources": RESOURCES_CHANGED,
    "resourceTemplates": RESOURCES_CHANGED,
}

# Gets the method of the notification.
ReportChange = Callable[[str], None]


class EntryListChanges:
    """The callers with open streams, and the lists that their clients know."""

    def __init__(self, peers: PeerLists) -> None:
        self._peers = peers
        self._watches: dict[Hashable, _CallerWatch] = {}

    def watch(self, caller: Caller, report: ReportChange) -> Callable[[], None]:
        """Call `report` after each change of the caller's prompts or resources; return a function that ends it."""
        key = (caller.user_id, caller.role, caller.agent_id)
        found = self._watches.get(key)
        if found is None:
            found = self._watches[key] = _CallerWatch(caller, self._peers)
        token = object()
        found.reports[token] = report

        def end() -> None:
            found.reports.pop(token, None)
            if not found.reports and self._watches.get(key) is found:
                del self._watches[key]
                found.close()

        return end

    def compare(self) -> None:
        """Look for changes after a change of the registry, which has what the servers list."""
        for watch in tuple(self._watches.values()):
            watch.compare()


class _CallerWatch:
    """The lists of one caller, and the servers that they come from."""

    def __init__(self, caller: Caller, peers: PeerLists) -> None:
        self.reports: dict[object, ReportChange] = {}
        self._caller = caller
        self._peers = peers
        # Each server, with the function that ends watching it.
        self._watched: dict[McpPeer, Callable[[], None]] = {}
        self._digests = self._compute_digests()
        self._watch_servers()

    def compare(self) -> None:
        """Report the lists that have changed, and watch the servers that the caller has now."""
        before, self._digests = self._digests, self._compute_digests()
        changed = {_METHOD_OF[kind] for kind, digest in self._digests.items() if digest != before[kind]}
        for method in sorted(changed):
            for report in tuple(self.reports.values()):
                report(method)
        self._watch_servers()

    def close(self) -> None:
        """End all watches."""
        for end in self._watched.values():
            end()

    def _compute_digests(self) -> Mapping[EntryKind, str]:
        return {kind: self._peers.list_entries(self._caller, kind).digest for kind in _METHOD_OF}

    def _watch_servers(self) -> None:
        current = {named.peer for named in self._peers.find_peers(self._caller)}
        for peer in self._watched.keys() - current:
            self._watched.pop(peer)()
        for peer in current - self._watched.keys():
            self._watched[peer] = peer.watch()
