"""Every MCP server that tools of this board call: one connection each, within bounds, let go of when idle."""

from __future__ import annotations

import asyncio
import importlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from pegboard.core.errors import Misconfigured, Unavailable
from pegboard.egress.outbound import Outbound
from pegboard.executors.mcp.connection import Connection
from pegboard.executors.mcp.upstream import OnProgress, Upstream, UpstreamTool
from pegboard.telemetry.logs import get_logger

if TYPE_CHECKING:
    from pegboard.executors.mcp.session import Session

log = get_logger(__name__)

CONNECT_SECONDS = 30.0
IDLE_SECONDS = 600.0
MOST_CONNECTIONS = 1000
CLOSING_SECONDS = 8.0
_SOON_MS = 1000
_OPENING = "pegboard.executors.mcp.opening"


class Upstreams:
    """Calls tools of MCP servers, over sessions that are made when needed, shared, and made anew when they broke."""

    def __init__(
        self,
        outbound: Outbound,
        *,
        children: int,
        child_memory: int,
        max_bytes: int,
        connect_seconds: float = CONNECT_SECONDS,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._outbound = outbound
        self._most_children = children
        self._idle_seconds = idle_seconds
        self._parts = {
            "outbound": outbound,
            "memory": child_memory,
            "max_bytes": max_bytes,
            "seconds": connect_seconds,
        }
        self._begin: Callable[[Upstream, str], Session] | None = None
        self._connections: dict[Upstream, Connection] = {}
        # Sessions of which something is left, and the upstream of each.
        self._sessions: dict[Session, Upstream] = {}
        self._room = asyncio.Lock()
        self._sweeping: asyncio.TimerHandle | None = None
        self._closed = False

    def check(self, upstream: Upstream) -> None:
        """Raise ToolError where it can be told beforehand that the upstream cannot be reached from this board."""
        if upstream.server_url is not None:
            self._outbound.check(upstream.server_url)
        elif self._most_children == 0:
            raise Misconfigured("This board starts no MCP servers: PEGBOARD_MCP_CHILDREN is 0")

    async def tools(self, upstream: Upstream) -> list[UpstreamTool]:
        """What the upstream offers now; raises ToolError where it cannot be asked."""
        with self._used(upstream) as connection:
            return list((await connection.tools()).values())

    async def call(
        self,
        upstream: Upstream,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        pinned: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> dict[str, Any]:
        """The answer of an upstream's tool, as MCP writes it.

        Raises Changed where the tool's definition has another digest than `pinned`, Gone where the upstream has no
        such tool, UpstreamUnreachable where it did not answer, and UpstreamFailed where it answered with an error.
        """
        with self._used(upstream) as connection:
            return await connection.call(tool, arguments, pinned=pinned, on_progress=on_progress)

    async def close(self) -> None:
        """End every session and child process; it takes a few seconds at most."""
        self._closed = True
        if self._sweeping is not None:
            self._sweeping.cancel()
        for connection in self._connections.values():
            connection.end()
        self._connections.clear()
        for session in self._sessions:
            session.end()
        tasks = {session.task for session in self._sessions}
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=CLOSING_SECONDS)
            for task in late:
                task.cancel()
            if late:
                log.error("mcp_sessions_left", sessions=len(late))
                await asyncio.wait(late, timeout=1.0)

    @contextmanager
    def _used(self, upstream: Upstream) -> Iterator[Connection]:
        connection = self._connections.get(upstream)
        if connection is None:
            connection = self._connect(upstream)
        connection.calls += 1
        try:
            yield connection
        finally:
            connection.calls -= 1
            connection.used_at = time.monotonic()

    def _connect(self, upstream: Upstream) -> Connection:
        if self._closed:
            raise Unavailable("No MCP server is called any more: the board is shutting down")
        owner_id = upstream.owner_id
        of_owner = sum(other.owner_id == owner_id for other in self._connections) if owner_id else 0
        if of_owner >= MOST_CONNECTIONS // 2 and not self._drop_idlest(lambda other: other.owner_id == owner_id):
            raise Unavailable(
                f"Tools of this owner are connected to {of_owner} MCP servers, all of them in use, and the rest of the "
                f"{MOST_CONNECTIONS} is for tools of others; try again later",
                retry_after_ms=_SOON_MS,
            )
        if len(self._connections) >= MOST_CONNECTIONS and not self._drop_idlest(lambda _upstream: True):
            raise Unavailable(
                f"This board is connected to {MOST_CONNECTIONS} MCP servers, all of them in use; try again later",
                retry_after_ms=_SOON_MS,
            )
        connection = self._connections[upstream] = Connection(upstream, self._start)
        if self._sweeping is None:
            self._sweep()
        return connection

    async def _start(self, upstream: Upstream, mode: str) -> Session:
        if self._begin is None:
            # In a thread: loading the SDK takes half a second, in which other calls can go on.
            begin = getattr(sys.modules.get(_OPENING), "begin", None)
            if begin is None:
                begin = (await asyncio.to_thread(importlib.import_module, _OPENING)).begin
            self._begin = partial(begin, **self._parts)
        if upstream.command is not None:
            async with self._room:
                await self._make_room()
                return self._started(self._begin, upstream, mode)
        return self._started(self._begin, upstream, mode)

    def _started(self, begin: Callable[[Upstream, str], Session], upstream: Upstream, mode: str) -> Session:
        if self._closed:
            raise Unavailable("No MCP server is started any more: the board is shutting down")
        session = begin(upstream, mode)
        self._sessions[session] = upstream
        session.task.add_done_callback(lambda _task: self._sessions.pop(session, None))
        return session

    async def _make_room(self) -> None:
        """Wait until there is a place for a child process, where one is about to be free or can be made so."""
        while len(children := self._children()) >= self._most_children:
            leaving = [session.task for session in children if session.is_over]
            if not leaving:
                if not self._drop_idlest(lambda upstream: upstream.command is not None):
                    raise Unavailable(
                        f"All of the {self._most_children} MCP servers that this board starts at once are in use "
                        "(PEGBOARD_MCP_CHILDREN); try again later",
                        retry_after_ms=_SOON_MS,
                    )
                continue
            await asyncio.wait(leaving, return_when=asyncio.FIRST_COMPLETED)

    def _children(self) -> list[Session]:
        return [session for session, upstream in self._sessions.items() if upstream.command is not None]

    def _drop_idlest(self, wanted: Callable[[Upstream], bool]) -> bool:
        """Let go of the connection that has been unused for longest; False if all are in use."""
        idle = [(c.used_at, u) for u, c in self._connections.items() if c.is_idle and c.session and wanted(u)]
        if not idle:
            return False
        self._connections.pop(min(idle, key=lambda pair: pair[0])[1]).end()
        return True

    def _sweep(self) -> None:
        oldest = time.monotonic() - self._idle_seconds
        for upstream, connection in list(self._connections.items()):
            if connection.is_idle and connection.used_at <= oldest:
                del self._connections[upstream]
                connection.end()
        self._sweeping = None
        if self._connections and not self._closed:
            self._sweeping = asyncio.get_running_loop().call_later(self._idle_seconds / 4, self._sweep)
