"""Prompts, resources and completions of an MCP server whose tools the board has imported."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pegboard.kinds.mcp.call_client import CallClient
from pegboard.kinds.mcp.input_requests import check_declared
from pegboard.kinds.mcp.resource_watch import ResourceWatch
from pegboard.kinds.mcp.server_change import ServerChange
from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.kinds.mcp.upstream import PeerRefused, Upstream
from pegboard.kinds.secret_mask import SecretMask
from pegboard.model.call_errors import ToolError, UpstreamFailed, UpstreamUnreachable
from pegboard.model.mcp_exchange import McpExchange, McpFailure
from pegboard.model.mcp_peer import EntryKind, PeerFailed
from pegboard.telemetry.logs import get_logger

if TYPE_CHECKING:
    from pegboard.kinds.mcp.client_session import McpSession

log = get_logger(__name__)

# An older list is read again; one that could not be read, after a shorter time.
LIST_MAX_AGE_SECONDS = 30.0
FAILURE_MAX_AGE_SECONDS = 5.0
# How long a list of the board waits for one server.
LIST_WAIT_SECONDS = 3.0
REQUEST_SECONDS = 30.0
# Lists kept in memory, of all servers.
_MAX_LISTS = 300
_INTERNAL_ERROR = -32603
_LIST_METHODS: Mapping[EntryKind, str] = {
    "prompts": "prompts/list",
    "resources": "resources/list",
    "resourceTemplates": "resources/templates/list",
}


# The lists that each change concerns.
_KINDS_OF: Mapping[str, Sequence[EntryKind]] = {
    "prompts": ("prompts",),
    "resources": ("resources", "resourceTemplates"),
    "session": ("prompts", "resources", "resourceTemplates"),
}


class _EntryList:
    """What a server lists, when that was read, and the task that reads it again."""

    def __init__(self) -> None:
        # The number of changes that the server has reported.
        self.changes = 0
        self.entries: Sequence[Mapping[str, Any]] | None = None
        self.error: McpFailure | None = None
        self.expires = 0.0
        self.task: asyncio.Task[None] | None = None


class EntryLists:
    """The lists of the servers that were read last, and who wants to know of their changes."""

    def __init__(self, upstreams: McpSessionPool) -> None:
        self._upstreams = upstreams
        self._lists: OrderedDict[tuple[Upstream, EntryKind], _EntryList] = OrderedDict()
        self._watchers: dict[Upstream, dict[object, Callable[[], None]]] = {}
        upstreams.on_change.add(self._expire)

    def find(self, upstream: Upstream, kind: EntryKind) -> _EntryList:
        """Return the list of a server, perhaps not yet read."""
        key = upstream, kind
        found = self._lists.setdefault(key, _EntryList())
        self._lists.move_to_end(key)
        if len(self._lists) > _MAX_LISTS:
            self._cancel(self._lists.popitem(last=False)[1])
        return found

    def watch(self, upstream: Upstream, on_change: Callable[[], None]) -> Callable[[], None]:
        """Call `on_change` after each change that the server reports; return what ends that."""
        token = object()
        watchers = self._watchers.setdefault(upstream, {})
        watchers[token] = on_change
        release = self._upstreams.keep(upstream)

        def end() -> None:
            watchers.pop(token, None)
            if not watchers and self._watchers.get(upstream) is watchers:
                del self._watchers[upstream]
            release()

        return end

    def _expire(self, upstream: Upstream, change: ServerChange) -> None:
        if upstream.client is not None:
            upstream = replace(upstream, client=None)
        kinds = _KINDS_OF.get(change.what, ())
        for kind in kinds:
            known = self._lists.get((upstream, kind))
            if known is not None:
                known.changes += 1
                known.expires = 0.0
        if kinds:
            for on_change in tuple(self._watchers.get(upstream, {}).values()):
                on_change()

    def close(self) -> None:
        """End all reading."""
        self._upstreams.on_change.discard(self._expire)
        for found in self._lists.values():
            self._cancel(found)

    def _cancel(self, found: _EntryList) -> None:
        if found.task is not None:
            found.task.cancel()


class UpstreamPeer:
    """One server, reached over the sessions that calls of its tools share; credentials are masked."""

    def __init__(
        self,
        upstreams: McpSessionPool,
        upstream: Upstream,
        mask: SecretMask,
        lists: EntryLists,
        resources: ResourceWatch,
        *,
        prefix: str,
    ) -> None:
        self.upstream = upstream
        self.prefix = prefix
        self.label = upstream.label
        self._upstreams = upstreams
        self._mask = mask
        self._lists = lists
        self._resources = resources

    @property
    def key(self) -> Hashable:
        """The same for all tools of one server."""
        return self.upstream

    async def list_entries(self, kind: EntryKind) -> Sequence[Mapping[str, Any]]:
        """Return what the server lists; raise PeerFailed if that cannot be read.

        If the server is slow, the list that was read before is returned.
        """
        known = self._lists.find(self.upstream, kind)
        if time.monotonic() >= known.expires:
            if known.task is None or known.task.done():
                known.task = asyncio.create_task(self._read(known, kind), name="pegboard-mcp-entries")
            await asyncio.wait({known.task}, timeout=LIST_WAIT_SECONDS)
        if known.entries is None or known.error is not None:
            raise PeerFailed(known.error or self._convert(UpstreamUnreachable(f"{self.label} did not answer in time")))
        return known.entries

    async def request(
        self, method: str, params: Mapping[str, Any], exchange: McpExchange | None = None
    ) -> dict[str, Any]:
        """Return the result of a request; raise PeerFailed."""
        exchange = exchange or McpExchange()
        client = CallClient(exchange, self._mask, self.label)

        async def send(session: McpSession) -> dict[str, Any]:
            return await session.request(method, params, client)

        try:
            async with asyncio.timeout(REQUEST_SECONDS) as exchange.timer:
                result = await self._upstreams.use(client.select(self.upstream), send)
        except TimeoutError:
            late = UpstreamUnreachable(f"{self.label} did not answer within {REQUEST_SECONDS:g} s")
            raise PeerFailed(self._convert(late)) from None
        except (ToolError, PeerRefused) as error:
            raise PeerFailed(self._convert(error)) from None
        masked: dict[str, Any] = await self._apply_mask(result)
        if result.get("resultType") == "input_required":
            try:
                check_declared(masked, exchange.capabilities or {}, self.label)
            except UpstreamFailed as error:
                raise PeerFailed(self._convert(error)) from None
            # The state is encrypted for the client, and its server needs it unchanged.
            return {**masked, "requestState": result.get("requestState")}
        return masked

    def watch(self, on_change: Callable[[], None]) -> Callable[[], None]:
        """Call `on_change` after each change of its lists that the server reports; return what ends that."""
        return self._lists.watch(self.upstream, on_change)

    async def subscribe(
        self, uri: str, on_update: Callable[[str], None], exchange: McpExchange | None = None
    ) -> Callable[[], None]:
        """Call `on_update` with the URI after each change of a resource; return what ends that, or raise PeerFailed."""
        upstream = self.upstream
        if exchange is not None:
            upstream = CallClient(exchange, self._mask, self.label).select(upstream)
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                return await self._resources.subscribe(upstream, uri, on_update)
        except TimeoutError:
            late = UpstreamUnreachable(f"{self.label} did not answer within {REQUEST_SECONDS:g} s")
            raise PeerFailed(self._convert(late)) from None
        except (ToolError, PeerRefused) as error:
            raise PeerFailed(self._convert(error)) from None

    async def _read(self, known: _EntryList, kind: EntryKind) -> None:
        async def read(session: McpSession) -> list[dict[str, Any]]:
            return await session.list_entries(_LIST_METHODS[kind], kind)

        try:
            changes = known.changes
            entries = await self._upstreams.use(self.upstream, read)
            known.entries = await self._apply_mask(entries)
            known.error = None
            known.expires = time.monotonic() + LIST_MAX_AGE_SECONDS if changes == known.changes else 0.0
        except (ToolError, PeerRefused) as error:
            known.error = self._convert(error)
            known.expires = time.monotonic() + FAILURE_MAX_AGE_SECONDS
            log.warning("mcp_entries_not_listed", upstream=self.label, list=kind, error=known.error.message)

    async def _apply_mask(self, value: Any) -> Any:
        if not self._mask.count_bytes_to_mask(value):
            return value
        return await asyncio.to_thread(partial(self._mask.mask_value, value))

    def _convert(self, error: ToolError | PeerRefused) -> McpFailure:
        if isinstance(error, PeerRefused):
            return McpFailure(*map(self._mask.mask_value, error.failure))
        return McpFailure(_INTERNAL_ERROR, self._mask.text(error.message))
