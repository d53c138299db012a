"""Subscriptions to resources of MCP servers: one per resource and session, for all clients that want it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from pegboard.kinds.mcp.server_change import ServerChange
from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.kinds.mcp.upstream import PeerRefused, Upstream
from pegboard.model.call_errors import ToolError, Unavailable, UpstreamUnreachable
from pegboard.model.mcp_exchange import McpFailure
from pegboard.telemetry.logs import get_logger

if TYPE_CHECKING:
    from pegboard.kinds.mcp.client_session import McpSession

log = get_logger(__name__)

# Resources of one server.
MAX_RESOURCES = 1000
# How long to wait before a lost session is opened again.
REOPEN_SECONDS = 1.0
# How long a server may take to answer.
ANSWER_SECONDS = 10.0
MAX_REOPEN_SECONDS = 60.0
_METHOD_NOT_FOUND = -32601

# Gets the URI of the resource that has changed.
OnUpdate = Callable[[str], None]
EndSubscription = Callable[[], None]


class ResourceWatch:
    """The subscriptions of all clients, by server and resource."""

    def __init__(self, upstreams: McpSessionPool) -> None:
        self._upstreams = upstreams
        self._watched: dict[Upstream, _UpstreamWatch] = {}
        upstreams.on_change.add(self._report)

    async def subscribe(self, upstream: Upstream, uri: str, on_update: OnUpdate) -> EndSubscription:
        """Subscribe to a resource and return a function that ends this; raise PeerRefused or ToolError."""
        watch = self._watched.get(upstream)
        if watch is None:
            watch = self._watched[upstream] = _UpstreamWatch(self._upstreams, upstream)
            watch.task.add_done_callback(lambda _task: self._forget(upstream, watch))
        return await watch.add(uri, on_update)

    async def close(self) -> None:
        """End all subscriptions."""
        self._upstreams.on_change.discard(self._report)
        tasks = [watch.task for watch in self._watched.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _forget(self, upstream: Upstream, watch: _UpstreamWatch) -> None:
        if self._watched.get(upstream) is watch:
            del self._watched[upstream]

    def _report(self, upstream: Upstream, change: ServerChange) -> None:
        watch = self._watched.get(upstream)
        if watch is not None and change.what == "resource":
            watch.report(change.uri)


class _Resource:
    """A resource: its subscribers, and whether the server has accepted the subscription."""

    def __init__(self) -> None:
        self.listeners: dict[object, OnUpdate] = {}
        self.accepted: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def refuse(self, error: Exception) -> None:
        """Report the error to all callers that wait for the subscription."""
        if not self.accepted.done():
            self.accepted.set_exception(error)
            self.accepted.exception()  # retrieve it: perhaps no client waits any more


class _UpstreamWatch:
    """Keeps one session with a server in use as long as there are subscriptions, and opens it again if it is lost."""

    def __init__(self, upstreams: McpSessionPool, upstream: Upstream) -> None:
        self._upstreams = upstreams
        self._upstream = upstream
        self._resources: dict[str, _Resource] = {}
        self._is_changed = asyncio.Event()
        self._was_lost = False
        self.task = asyncio.create_task(self._run(), name="pegboard-mcp-resources")

    async def add(self, uri: str, on_update: OnUpdate) -> EndSubscription:
        resource = self._resources.get(uri)
        if resource is None:
            if len(self._resources) >= MAX_RESOURCES:
                raise Unavailable(
                    f"Clients are subscribed to {MAX_RESOURCES:,} resources of {self._upstream.label} already"
                )
            resource = self._resources[uri] = _Resource()
            self._is_changed.set()
        token = object()
        resource.listeners[token] = on_update

        def end() -> None:
            resource.listeners.pop(token, None)
            if not resource.listeners and self._resources.get(uri) is resource:
                del self._resources[uri]
                self._is_changed.set()

        try:
            await asyncio.shield(resource.accepted)
        except BaseException:
            end()
            raise
        return end

    def report(self, uri: str) -> None:
        """Report the change of a resource, or of a part of one, to its subscribers."""
        for subscribed, resource in tuple(self._resources.items()):
            if uri == subscribed or uri.startswith(f"{subscribed.rstrip('/')}/"):
                for on_update in tuple(resource.listeners.values()):
                    on_update(uri)

    async def _run(self) -> None:
        pause = REOPEN_SECONDS
        try:
            await self._is_changed.wait()
            while self._resources:
                try:
                    await self._upstreams.use(self._upstream, self._hold)
                    pause = REOPEN_SECONDS
                except (ToolError, PeerRefused) as error:
                    self._refuse_new(error)
                    log.info("mcp_subscriptions_lost", upstream=self._upstream.label, resources=len(self._resources))
                if self._resources:
                    self._was_lost = True
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, MAX_REOPEN_SECONDS)
        finally:
            self._refuse_new(Unavailable(f"The subscriptions to resources of {self._upstream.label} have ended"))

    def _refuse_new(self, error: Exception) -> None:
        for uri, resource in tuple(self._resources.items()):
            if not resource.accepted.done():
                del self._resources[uri]
                resource.refuse(error)

    async def _hold(self, session: McpSession) -> None:
        """Keep the subscriptions of a session as clients want them, until there are none or the session is over."""
        if session.is_stateless:
            await self._hold_stream(session)
            return
        if not session.has_resource_subscriptions:
            raise PeerRefused(
                McpFailure(_METHOD_NOT_FOUND, f"{self._upstream.label} does not report changes of its resources")
            )
        active: set[str] = set()
        while self._resources and not session.is_over:
            self._is_changed.clear()
            for uri in active - self._resources.keys():
                active.discard(uri)
                await self._send(session, "resources/unsubscribe", uri)
            for uri, resource in tuple(self._resources.items()):
                if uri not in active:
                    refusal = await self._send(session, "resources/subscribe", uri)
                    if refusal is not None:
                        self._drop(uri, resource, refusal)
                    else:
                        active.add(uri)
                        self._accept(uri, resource)
            self._was_lost = False
            await self._wait_for_change(session.task)
        if not session.is_over:
            for uri in active:
                await self._send(session, "resources/unsubscribe", uri)

    async def _hold_stream(self, session: McpSession) -> None:
        """Do the same with the stream of the newer revision, which is opened again for another set of resources."""
        while self._resources and not session.is_over:
            self._is_changed.clear()
            wanted = dict(self._resources)
            async with session.listen_to_resources(list(wanted)) as (accepted, stream):
                for uri, resource in wanted.items():
                    if uri in accepted:
                        self._accept(uri, resource)
                    else:
                        reason = f"{self._upstream.label} does not report changes of this resource"
                        self._drop(uri, resource, PeerRefused(McpFailure(_METHOD_NOT_FOUND, reason)))
                self._was_lost = False
                await self._wait_for_change(session.task, stream)
                if stream.done():
                    return

    async def _send(self, session: McpSession, method: str, uri: str) -> PeerRefused | None:
        """Send a request about a resource; return the error with which the server answered."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await session.request(method, {"uri": uri})
        except PeerRefused as error:
            return error
        except TimeoutError:
            late = f"{self._upstream.label} did not answer {method} within {ANSWER_SECONDS:g} s"
            raise UpstreamUnreachable(late) from None
        return None

    async def _wait_for_change(self, *others: asyncio.Task[None]) -> None:
        """Wait until clients want other resources, or one of these tasks is done."""
        changed = asyncio.create_task(self._is_changed.wait(), name="pegboard-mcp-resources-wait")
        try:
            await asyncio.wait({changed, *others}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            changed.cancel()

    def _accept(self, uri: str, resource: _Resource) -> None:
        if not resource.accepted.done():
            resource.accepted.set_result(None)
        elif self._was_lost:
            self.report(uri)  # it may have changed while there was no session

    def _drop(self, uri: str, resource: _Resource, error: PeerRefused) -> None:
        if self._resources.get(uri) is resource:
            del self._resources[uri]
        resource.refuse(error)
