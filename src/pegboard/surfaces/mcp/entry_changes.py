"""Reports that the prompts or resources of a caller have changed, by comparing what each server lists."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Hashable, Mapping

from pegboard.model.call import Caller
from pegboard.model.json_text import json_text
from pegboard.model.mcp_peer import EntryKind, PeerFailed
from pegboard.surfaces.mcp.peer_lists import NamedPeer, PeerLists

PROMPTS_CHANGED = "notifications/prompts/list_changed"
RESOURCES_CHANGED = "notifications/resources/list_changed"
_METHOD_OF: Mapping[EntryKind, str] = {
    "prompts": PROMPTS_CHANGED,
    "resources": RESOURCES_CHANGED,
    "resourceTemplates": RESOURCES_CHANGED,
}
# Changes within this time are reported together, and a server that reports many is asked this often.
_PAUSE_SECONDS = 0.1
_MIN_INTERVAL_SECONDS = 1.0

# Gets the method of the notification.
ReportChange = Callable[[str], None]


class EntryChanges:
    """The callers with open streams, and what their servers listed last."""

    def __init__(self, peers: PeerLists) -> None:
        self._peers = peers
        self._watches: dict[Hashable, _CallerWatch] = {}

    def watch(self, caller: Caller, report: ReportChange) -> Callable[[], None]:
        """Call `report` after each change of the caller's prompts or resources; return what ends that."""
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
        """Look for changes after a change of the registry."""
        for watch in tuple(self._watches.values()):
            watch.compare()


class _CallerWatch:
    """The servers of one caller."""

    def __init__(self, caller: Caller, peers: PeerLists) -> None:
        self.reports: dict[object, ReportChange] = {}
        self._caller = caller
        self._peers = peers
        self._watched: dict[Hashable, _PeerWatch] = {}
        for named in peers.find_peers(caller):
            self._begin(named, is_known=True)

    def compare(self) -> None:
        """Watch the servers that the caller has now."""
        current = {named.peer.key: named for named in self._peers.find_peers(self._caller)}
        for key in self._watched.keys() - current.keys():
            gone = self._watched.pop(key)
            gone.close()
            self._report({_METHOD_OF[kind] for kind, digest in gone.digests.items() if digest})
        for key, named in current.items():
            watch = self._watched.get(key)
            if watch is None:
                self._begin(named, is_known=False)
            else:
                watch.named = named
                watch.check()

    def close(self) -> None:
        """Watch nothing any more."""
        for watch in self._watched.values():
            watch.close()

    def _begin(self, named: NamedPeer, *, is_known: bool) -> None:
        self._watched[named.peer.key] = _PeerWatch(named, self._report, is_known=is_known)

    def _report(self, methods: set[str]) -> None:
        for method in sorted(methods):
            for report in tuple(self.reports.values()):
                report(method)


class _PeerWatch:
    """What one server listed last; its task runs only while the lists are read again."""

    def __init__(self, named: NamedPeer, report: Callable[[set[str]], None], *, is_known: bool) -> None:
        self.named = named
        # Empty for a list without entries.
        self.digests: dict[EntryKind, bytes] = {}
        self._report = report
        # True if the caller had this server before, so that what it lists first is no change.
        self._is_known = is_known
        self._is_dirty = False
        self._end = named.peer.watch(self.check)
        self._task = asyncio.create_task(self._read(0.0), name="pegboard-mcp-entry-changes")

    def check(self) -> None:
        """Read the lists soon, and report what has changed."""
        self._is_dirty = True
        if self._task.done():
            self._task = asyncio.create_task(self._read(_PAUSE_SECONDS), name="pegboard-mcp-entry-changes")

    def close(self) -> None:
        """Do not read any more."""
        self._end()
        self._task.cancel()

    async def _read(self, pause: float) -> None:
        while True:
            if pause:
                await asyncio.sleep(pause)
            self._is_dirty = False
            await self._compare()
            if not self._is_dirty:
                return
            pause = _MIN_INTERVAL_SECONDS

    async def _compare(self) -> None:
        changed = set()
        named = self.named
        for kind, method in _METHOD_OF.items():
            try:
                entries = await named.peer.list_entries(kind)
            except PeerFailed:
                continue  # the list names the server; what it listed before counts as unchanged
            digest = b""
            if entries:
                text = json_text([named.prefix, named.label, list(entries)])
                digest = hashlib.blake2b(text.encode(), digest_size=12).digest()
            before = self.digests.get(kind, None if self._is_known else b"")
            self.digests[kind] = digest
            if before is not None and before != digest:
                changed.add(method)
        self._is_known = False
        self._report(changed)
