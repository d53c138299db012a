"""Reads the current lists of imported servers: again when they are old or a server reports a change."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pegboard.kinds.mcp.live_lists import ListTools, LiveLists, read_live_lists
from pegboard.kinds.mcp.resource_watch import ResourceWatch
from pegboard.kinds.mcp.server_change import ServerChange
from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.kinds.mcp.upstream import Upstream
from pegboard.model.mcp_exchange import McpFailure
from pegboard.model.mcp_peer import EntryKind
from pegboard.telemetry.logs import get_logger

if TYPE_CHECKING:
    from pegboard.kinds.mcp.client_session import McpSession
    from pegboard.kinds.mcp.peer import UpstreamPeer

log = get_logger(__name__)

# Older lists are read again; lists that could not be read, after a shorter time.
LIST_MAX_AGE_SECONDS = 30.0
FAILURE_MAX_AGE_SECONDS = 5.0
# Minimum interval of reading the lists of one server, however often it reports changes.
MIN_READ_SECONDS = 1.0
# This many consecutive reads have this interval; if the server reports changes without end, later reads wait longer.
MAX_READS_IN_A_ROW = 8
# Servers whose status is kept in memory.
_MAX_STATUSES = 2000


@dataclass(eq=False, slots=True)
class UpstreamStatus:
    """The entries that a server listed when it was asked last, and whether it answered."""

    upstream: Upstream
    # By kind, and name or URI; a list that could not be read is missing.
    digests: Mapping[EntryKind, Mapping[str, str]] = field(default_factory=dict)
    failures: Mapping[EntryKind, McpFailure] = field(default_factory=dict)
    failure: McpFailure | None = None
    checked_at: datetime | None = None
    read_at: float = float("-inf")
    expires: float = float("-inf")
    # The session that the lists were read in.
    session: McpSession | None = None
    task: asyncio.Task[None] | None = None
    timer: asyncio.TimerHandle | None = None
    # Consecutive reads because of reported changes.
    reported: int = 0

    @property
    def is_reading(self) -> bool:
        """True while the lists are being read."""
        return self.task is not None and not self.task.done()


class UpstreamMonitor:
    """Reads the lists of imported servers, one task per server at most, and reports them to `observe`."""

    def __init__(
        self,
        pool: McpSessionPool,
        list_peers: Callable[[], Iterable[UpstreamPeer]],
        observe: Callable[[str, LiveLists], Awaitable[None]],
    ) -> None:
        self.pool = pool
        self.resources = ResourceWatch(pool)
        self._list_peers = list_peers
        # Called with the id of the upstream and what it lists.
        self._observe = observe
        self._is_closed = False
        self._statuses: OrderedDict[str, UpstreamStatus] = OrderedDict()
        # The number of open streams whose clients want to know of changes, by server.
        self._watched: Counter[str] = Counter()
        pool.on_change.add(self._handle_change)

    def find_status(self, peer: UpstreamPeer) -> UpstreamStatus:
        """Return the status of a server, perhaps not yet asked; raise ToolError if its config cannot be used."""
        upstream = peer.upstream
        status = self._statuses.get(peer.id)
        if status is None or status.upstream != upstream:
            if status is not None:
                _cancel(status)
            status = self._statuses[peer.id] = UpstreamStatus(upstream)
            if len(self._statuses) > _MAX_STATUSES:
                _cancel(self._statuses.popitem(last=False)[1])
        self._statuses.move_to_end(peer.id)
        return status

    async def refresh(self, peer: UpstreamPeer, seconds: float) -> UpstreamStatus | None:
        """Return the status of a server; if it is old, ask the server. Return None if it does not answer in time."""
        status = self.find_status(peer)
        if self._is_fresh(status):
            return status
        joined = status.task if status.is_reading else None
        task = self._start(peer, status)
        await asyncio.wait({task}, timeout=seconds)
        if task is joined and task.done() and not self._is_fresh(status):
            # The server reported a change after it was asked.
            task = self._start(peer, status)
            await asyncio.wait({task}, timeout=seconds)
        # The lists may be read again now; results of earlier reads count as an answer.
        return status if task.done() else None

    def refresh_soon(self, peer: UpstreamPeer) -> None:
        """Ask the server if its status is old, without waiting; raise ToolError if its config cannot be used."""
        status = self.find_status(peer)
        if not self._is_fresh(status):
            self._start(peer, status)

    async def expire(self, peer: UpstreamPeer) -> None:
        """Let the next use read the lists again, after the minimum interval."""
        status = self.find_status(peer)
        await asyncio.sleep(max(0.0, status.read_at + MIN_READ_SECONDS - time.monotonic()))
        status.expires = float("-inf")

    def watch(self, peer: UpstreamPeer) -> Callable[[], None]:
        """Read the lists of a server as soon as it reports a change, until the returned function is called.

        Raise ToolError if its config cannot be used.
        """
        self.refresh_soon(peer)  # a server reports changes in an open session only
        release = self.pool.keep(peer.upstream)
        self._watched[peer.id] += 1

        def end() -> None:
            release()
            self._watched[peer.id] -= 1
            if not self._watched[peer.id]:
                del self._watched[peer.id]

        return end

    def _handle_change(self, upstream: Upstream, change: ServerChange) -> None:
        """Read the lists of this server again before they are used, or soon if a client waits for their changes."""
        if self._is_closed or change.what == "resource":
            return
        if upstream.client is not None:
            upstream = replace(upstream, client=None)
        for peer in self._list_peers():
            is_wanted = peer.is_followed or peer.id in self._watched
            if (peer.id in self._statuses or is_wanted) and peer.has_upstream(upstream):
                status = self.find_status(peer)
                status.expires = float("-inf")
                if is_wanted and status.timer is None:
                    delay = _compute_delay(status)
                    status.timer = asyncio.get_running_loop().call_later(delay, self._read_soon, peer, status)

    async def close(self) -> None:
        """End all reading."""
        self._is_closed = True
        self.pool.on_change.discard(self._handle_change)
        await self.resources.close()
        for status in self._statuses.values():
            _cancel(status)
        tasks = [status.task for status in self._statuses.values() if status.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)

    def _is_fresh(self, status: UpstreamStatus) -> bool:
        """True if the lists need not be read again: not after a while, a report of a change, or in a new session."""
        if status.is_reading or time.monotonic() >= status.expires:
            return False
        session = self.pool.find_session(status.upstream)
        return session is None or (session is status.session and not session.in_doubt)

    def _read_soon(self, peer: UpstreamPeer, status: UpstreamStatus) -> None:
        status.timer = None
        if self._statuses.get(peer.id) is not status:
            return
        if status.is_reading:
            # The lists may have been read before the change.
            status.timer = asyncio.get_running_loop().call_later(MIN_READ_SECONDS, self._read_soon, peer, status)
        else:
            self._start(peer, status)

    def _start(self, peer: UpstreamPeer, status: UpstreamStatus) -> asyncio.Task[None]:
        if status.task is None or status.task.done():
            status.task = asyncio.create_task(self._read(peer, status), name="pegboard-mcp-lists")
        return status.task

    async def _read(self, peer: UpstreamPeer, status: UpstreamStatus) -> None:
        status.read_at = time.monotonic()
        status.expires = status.read_at + LIST_MAX_AGE_SECONDS
        session = self.pool.find_session(status.upstream)
        list_tools: ListTools | None = None
        if peer.is_followed:
            list_tools = self.pool.list_all_tools
        elif session is not None and session.in_doubt:
            list_tools = self.pool.tools  # this ends the doubt
        live = await read_live_lists(self.pool, status.upstream, peer.mask, list_tools)
        status.session = self.pool.find_session(status.upstream)
        status.digests = {kind: {each.name: each.digest for each in found} for kind, found in live.entries.items()}
        status.failures = live.failures
        status.checked_at = datetime.now(UTC)
        if (failure := live.failure) is not None:
            status.expires = min(status.expires, time.monotonic() + FAILURE_MAX_AGE_SECONDS)
            log.warning("mcp_entries_not_listed", upstream=peer.label, error=failure.message)
        status.failure = failure
        try:
            await self._observe(peer.id, live)
        except Exception:
            # Changed entries are still refused, and found again by the next read.
            log.exception("mcp_changes_not_stored", upstream=peer.label)


def _compute_delay(status: UpstreamStatus) -> float:
    """Return after how many seconds a report of a change is followed by reading the lists."""
    passed = time.monotonic() - status.read_at
    status.reported = 0 if passed > LIST_MAX_AGE_SECONDS else status.reported + 1
    doublings = min(max(0, status.reported - MAX_READS_IN_A_ROW), 10)
    return max(0.0, min(MIN_READ_SECONDS * 2.0**doublings, LIST_MAX_AGE_SECONDS) - passed)


def _cancel(status: UpstreamStatus) -> None:
    if status.task is not None:
        status.task.cancel()
    if status.timer is not None:
        status.timer.cancel()
