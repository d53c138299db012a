"""A bounded pool of connections to MCP servers, one per upstream: opened on demand, reopened after a failure, closed
when idle.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from pegboard.http_client.guarded_client import GuardedClient
from pegboard.kinds.mcp.call_client import CallClient
from pegboard.kinds.mcp.server_change import OnChange, ServerChange
from pegboard.kinds.mcp.upstream import CallNotRun, OnUpstreamProgress, ToolChanged, ToolGone, Upstream, UpstreamTool
from pegboard.model.call_errors import Misconfigured, ToolError, Unavailable, UpstreamFailed
from pegboard.model.mcp_client import McpClient
from pegboard.telemetry.logs import get_logger

if TYPE_CHECKING:
    from pegboard.kinds.mcp.client_session import McpSession

T = TypeVar("T")

_MAX_LISTED_NAMES = 10
# Minimum interval of listing the tools because one is missing or has changed.
_MIN_LIST_SECONDS = 1.0

BeginSession = Callable[[Upstream, str], Awaitable["McpSession"]]
"""Starts a session, in the given one of the SDK's modes, when there is room for it."""


class McpConnection:
    """At most one session with an upstream, shared by all calls to it."""

    def __init__(self, upstream: Upstream, begin: BeginSession, on_reopen: Callable[[Upstream], None]) -> None:
        self._upstream = upstream
        self._begin = begin
        self._on_reopen = on_reopen
        # The last session that was started, and the last one that was ready.
        self._begun: McpSession | None = None
        self._session: McpSession | None = None
        self._open_task: asyncio.Task[McpSession] | None = None
        # A client with a session can be asked for input only in the same revision.
        self._first_mode = "legacy" if upstream.client is not None and upstream.client.has_session else "auto"
        self._mode = self._first_mode
        # Number of running calls, and when the last one ended.
        self.calls = 0
        self.used_at = time.monotonic()

    @property
    def session(self) -> McpSession | None:
        """The session, or None if it cannot be used any more."""
        return None if self._session is None or self._session.is_over else self._session

    @property
    def is_idle(self) -> bool:
        """True if no call uses it."""
        return self.calls == 0 and self._open_task is None

    async def tools(self) -> Mapping[str, UpstreamTool]:
        """Return the current tools of the upstream."""
        return await self._try_twice(self._list_tools)

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        pinned: str | None,
        on_progress: OnUpstreamProgress | None,
        client: CallClient | None,
    ) -> dict[str, Any]:
        """Call the tool; retry once, on a new session if necessary, if the call certainly did not run."""
        return await self._try_twice(
            lambda: self._call_once(tool, arguments, pinned=pinned, on_progress=on_progress, client=client)
        )

    async def use(self, action: Callable[[McpSession], Awaitable[T]]) -> T:
        """Return what `action` does with the session; retry once if the server did not receive its request."""

        async def attempt() -> T:
            return await action(self.session or await self._get_session())

        return await self._try_twice(attempt)

    def report_roots_change(self) -> None:
        """Tell the server that the roots of the client have changed."""
        if self.session is not None:
            self.session.report_roots_change()

    def end(self) -> None:
        """End the session, if there is one; the next call opens another."""
        if self._open_task is not None:
            self._open_task.cancel()
        if self._begun is not None:
            self._begun.end()

    async def _try_twice(self, attempt: Callable[[], Awaitable[T]]) -> T:
        try:
            return await attempt()
        except CallNotRun:
            pass
        try:
            return await attempt()
        except CallNotRun as refused:
            raise refused.error from None

    async def _list_tools(self) -> Mapping[str, UpstreamTool]:
        asked_at = time.monotonic()
        session = self.session or await self._get_session()
        await session.refresh(asked_at)
        return session.tools

    async def _call_once(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        pinned: str | None,
        on_progress: OnUpstreamProgress | None,
        client: CallClient | None,
    ) -> dict[str, Any]:
        session = self.session or await self._get_session()
        if pinned is not None and session.in_doubt:
            await session.refresh(time.monotonic())
        live = session.tools.get(tool)
        if live is None or (pinned is not None and live.digest != pinned):
            live = await self._find_after_refresh(session, tool, pinned)
        return await session.call(live.name, arguments, on_progress, client)

    async def _find_after_refresh(self, session: McpSession, tool: str, pinned: str | None) -> UpstreamTool:
        """Refresh the tool list and return the tool; raise ToolGone, or ToolChanged if it differs from `pinned`."""
        await session.refresh(time.monotonic() - _MIN_LIST_SECONDS)
        live = session.tools.get(tool)
        if live is None:
            raise ToolGone(_explain_missing_tool(self._upstream.display_name, tool, session.tools))
        if pinned is not None and live.digest != pinned:
            raise ToolChanged(
                f"{self._upstream.display_name} has changed the tool '{tool}' since it was imported; "
                "its owner can review and accept the change",
                live,
            )
        return live

    async def _get_session(self) -> McpSession:
        if self._open_task is None:
            self._open_task = asyncio.create_task(self._open(), name="pegboard-mcp-open")
            self._open_task.add_done_callback(self._on_opened)
        opening = self._open_task
        try:
            # All waiting callers share the task; the cancellation of one must not cancel it.
            return await asyncio.shield(opening)
        except ToolError as error:
            error.did_run = False  # the session failed to open, so no tool was called
            raise
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if opening.cancelled() and task is not None and not task.cancelling():
                raise Unavailable(
                    f"The session with {self._upstream.display_name} was ended, the call did not run"
                ) from None
            raise

    async def _open(self) -> McpSession:
        session = self._begun = await self._begin(self._upstream, self._mode)
        try:
            await session.wait_until_open()
        except ToolError as error:
            if session.was_refused and self._mode == "auto":
                # Some servers exit if initialize has a newer protocol version than they know.
                other = "legacy"
            elif self._first_mode == "legacy" and self._mode == "legacy" and isinstance(error, UpstreamFailed):
                other = "auto"  # the server may have the newer revision only
            else:
                self._mode = self._first_mode
                raise
            session = self._begun = await self._begin(self._upstream, other)
            await session.wait_until_open()
            self._mode = other
        was_open = self._session is not None
        self._session = session
        if was_open:
            self._on_reopen(self._upstream)  # the server may have changed since
        return session

    def _on_opened(self, opening: asyncio.Task[McpSession]) -> None:
        self._open_task = None
        if not opening.cancelled():
            opening.exception()  # retrieve the exception: perhaps no caller waits any more


def _explain_missing_tool(shown: str, tool: str, tools: Mapping[str, UpstreamTool]) -> str:
    names = sorted(tools)
    some = ", ".join(names[:_MAX_LISTED_NAMES]) + (", …" if len(names) > _MAX_LISTED_NAMES else "")
    return f"{shown} has no tool '{tool[:100]}'; it offers: {some or 'none'}"


def _get_client_user(upstream: Upstream) -> str:
    """Return the user of the client that a session is for, or an empty string for a session that clients share."""
    return "" if upstream.client is None else upstream.client.user_id


log = get_logger(__name__)

# Up to this connect timeout, the time for listing tools is not extended.
MCP_CONNECT_SECONDS = 30.0
MCP_IDLE_SECONDS = 600.0
MAX_MCP_CONNECTIONS = 1000
POOL_CLOSE_SECONDS = 8.0
_RETRY_AFTER_MS = 1000
_SESSION_MODULE = "pegboard.kinds.mcp.start_session"


class McpSessionPool:
    """Calls tools of MCP servers over shared sessions, which are opened on demand and reopened after a failure."""

    def __init__(
        self,
        outbound: GuardedClient,
        *,
        children: int,
        child_memory: int,
        max_bytes: int,
        connect_seconds: float,
        idle_seconds: float = MCP_IDLE_SECONDS,
    ) -> None:
        self._outbound = outbound
        self._max_children = children
        self.connect_seconds = connect_seconds
        self._idle_seconds = idle_seconds
        self._parts = {
            "outbound": outbound,
            "memory": child_memory,
            "max_bytes": max_bytes,
            "seconds": connect_seconds,
        }
        # Some servers offer tools that ask for input only to clients that declare that they can answer.
        everything: dict[str, Any] = {"elicitation": {}, "sampling": {}, "roots": {}}
        self._able_client = McpClient("import", everything, has_session=False)
        self._begin: Callable[[Upstream, str, OnChange], McpSession] | None = None
        # Called after each change that a server reports.
        self.on_change: set[Callable[[Upstream, ServerChange], None]] = set()
        self._connections: dict[Upstream, McpConnection] = {}
        # Sessions whose task is not done, with their upstreams.
        self._sessions: dict[McpSession, Upstream] = {}
        # Upstreams whose changes are reported, with the number of watchers.
        self._kept: Counter[Upstream] = Counter()
        self._room = asyncio.Lock()
        self._sweep_timer: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def connections(self) -> Mapping[Upstream, McpConnection]:
        """The connections that are kept, by upstream."""
        return MappingProxyType(self._connections)

    def find_session(self, upstream: Upstream) -> McpSession | None:
        """Return the session with an upstream that calls share, or None if none is open."""
        connection = self._connections.get(upstream)
        return None if connection is None else connection.session

    def check(self, upstream: Upstream) -> None:
        """Raise ToolError if it is known without connecting that this board cannot reach the upstream."""
        if upstream.server_url is not None:
            self._outbound.check(upstream.server_url)
        elif self._max_children == 0:
            raise Misconfigured("This board starts no MCP servers: PEGBOARD_MCP_CHILDREN is 0")

    async def tools(self, upstream: Upstream) -> list[UpstreamTool]:
        """Return the current tools of the upstream; raise ToolError if it is unavailable."""
        with self._use_connection(upstream) as connection:
            return list((await connection.tools()).values())

    async def call(
        self,
        upstream: Upstream,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        pinned: str | None = None,
        on_progress: OnUpstreamProgress | None = None,
        client: CallClient | None = None,
    ) -> dict[str, Any]:
        """Call a tool of an upstream and return its result as in MCP.

        Raise ToolChanged if the digest of the tool's definition is not `pinned`, ToolGone if the upstream has no such
        tool, UpstreamUnreachable if it did not answer, and UpstreamFailed if it answered with an error.
        """
        with self._use_connection(upstream) as connection:
            return await connection.call(tool, arguments, pinned=pinned, on_progress=on_progress, client=client)

    async def list_all_tools(self, upstream: Upstream) -> list[UpstreamTool]:
        """Return the current tools, with those that only clients get which can be asked for any input."""
        shared = await self.tools(upstream)
        connection = self._connections.get(upstream)
        if connection is None or connection.session is None or connection.session.is_stateless:
            return shared
        able = replace(upstream, client=self._able_client)
        try:
            more = await self.tools(able)
        except ToolError as error:
            log.warning("mcp_tools_not_listed", upstream=upstream.display_name, error=error.code)
            return shared
        finally:
            if (connection := self._connections.get(able)) is not None and connection.is_idle:
                self._end_connection(able)
        names = {tool.name for tool in shared}
        return [*shared, *(tool for tool in more if tool.name not in names)]

    def keep(self, upstream: Upstream) -> Callable[[], None]:
        """Do not end an open session with an upstream because it is idle, until the returned function is called."""
        self._kept[upstream] += 1

        def release() -> None:
            self._kept[upstream] -= 1
            if self._kept[upstream] <= 0:
                del self._kept[upstream]

        return release

    async def use(self, upstream: Upstream, action: Callable[[McpSession], Awaitable[T]]) -> T:
        """Return what `action` does with the session of an upstream."""
        with self._use_connection(upstream) as connection:
            return await connection.use(action)

    async def close(self) -> None:
        """End all sessions and child processes, within a few seconds."""
        self._closed = True
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
        for upstream in tuple(self._connections):
            self._end_connection(upstream)
        for session in self._sessions:
            session.end()
        tasks = {session.task for session in self._sessions}
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=POOL_CLOSE_SECONDS)
            for task in late:
                task.cancel()
            if late:
                log.error("mcp_sessions_left", sessions=len(late))
                await asyncio.wait(late, timeout=1.0)

    @contextmanager
    def _use_connection(self, upstream: Upstream) -> Iterator[McpConnection]:
        connection = self._connections.get(upstream)
        if connection is None:
            connection = self._connect(upstream)
        connection.calls += 1
        try:
            yield connection
        finally:
            connection.calls -= 1
            connection.used_at = time.monotonic()

    def _connect(self, upstream: Upstream) -> McpConnection:
        if self._closed:
            raise Unavailable("No MCP server is called any more: the board is shutting down")
        owner_id = upstream.owner_id
        of_owner = sum(other.owner_id == owner_id for other in self._connections) if owner_id else 0
        if of_owner >= MAX_MCP_CONNECTIONS // 2 and not self._drop_longest_idle(
            lambda other: other.owner_id == owner_id
        ):
            raise Unavailable(
                f"Tools of this owner are connected to {of_owner} MCP servers, all of them in use, and the rest of the "
                f"{MAX_MCP_CONNECTIONS} is for tools of others; try again later",
                retry_after_ms=_RETRY_AFTER_MS,
            )
        self._make_room_for_client(upstream)
        if len(self._connections) >= MAX_MCP_CONNECTIONS and not self._drop_longest_idle(lambda _upstream: True):
            raise Unavailable(
                f"This board is connected to {MAX_MCP_CONNECTIONS} MCP servers, all of them in use; try again later",
                retry_after_ms=_RETRY_AFTER_MS,
            )
        connection = self._connections[upstream] = McpConnection(upstream, self._start, self._report_reopened)
        if upstream.client is not None:
            upstream.client.on_end[self, upstream] = partial(self._end_connection, upstream)
            upstream.client.on_roots_change[self, upstream] = connection.report_roots_change
        if self._sweep_timer is None:
            self._stop_idle()
        return connection

    def _end_connection(self, upstream: Upstream) -> None:
        connection = self._connections.pop(upstream, None)
        if connection is not None:
            connection.end()
        if upstream.client is not None:
            upstream.client.on_end.pop((self, upstream), None)
            upstream.client.on_roots_change.pop((self, upstream), None)

    def _report_reopened(self, upstream: Upstream) -> None:
        self._report_change(upstream, ServerChange("session"))

    def _report_change(self, upstream: Upstream, change: ServerChange) -> None:
        if upstream.client is self._able_client:
            return  # its session lasts for one list only
        for report in () if self._closed else tuple(self.on_change):
            report(upstream, change)

    async def _start(self, upstream: Upstream, mode: str) -> McpSession:
        if self._begin is None:
            # In a thread: importing the SDK takes half a second, in which other calls can continue.
            begin = getattr(sys.modules.get(_SESSION_MODULE), "begin", None)
            if begin is None:
                begin = (await asyncio.to_thread(importlib.import_module, _SESSION_MODULE)).begin
            self._begin = partial(begin, **self._parts)
        if upstream.command is not None:
            async with self._room:
                await self._make_room(upstream)
                return self._start_session(self._begin, upstream, mode)
        return self._start_session(self._begin, upstream, mode)

    def _start_session(
        self, begin: Callable[[Upstream, str, OnChange], McpSession], upstream: Upstream, mode: str
    ) -> McpSession:
        if self._closed:
            raise Unavailable("No MCP server is started any more: the board is shutting down")
        session = begin(upstream, mode, partial(self._report_change, upstream))
        self._sessions[session] = upstream
        session.task.add_done_callback(lambda _task: self._sessions.pop(session, None))
        return session

    def _make_room_for_client(self, upstream: Upstream) -> None:
        """Keep the connections of one user's clients to a share; raise Unavailable if all of them are in use."""
        user_id = _get_client_user(upstream)
        if not user_id:
            return
        count = sum(_get_client_user(other) == user_id for other in self._connections)
        if count >= MAX_MCP_CONNECTIONS // 4 and not self._drop_longest_idle(
            lambda other: _get_client_user(other) == user_id
        ):
            raise Unavailable(
                f"Your MCP clients have {count} connections to MCP servers, all of them in use; end a call or a "
                "subscription, or try again later",
                retry_after_ms=_RETRY_AFTER_MS,
            )

    async def _make_room(self, upstream: Upstream) -> None:
        """Wait for a child process slot, ending the longest idle one if necessary; raise Unavailable if all are
        busy.
        """
        user_id = _get_client_user(upstream)
        if user_id:
            most = max(1, self._max_children // 2)
            await self._wait_for_slot(
                lambda other: other.command is not None and _get_client_user(other) == user_id,
                most,
                f"Your MCP clients use {most} MCP servers that this board starts, and the rest of the "
                f"{self._max_children} (PEGBOARD_MCP_CHILDREN) is for others; end a call or a subscription, or try "
                "again later",
            )
        await self._wait_for_slot(
            lambda other: other.command is not None,
            self._max_children,
            f"All of the {self._max_children} MCP servers that this board starts at once are in use "
            "(PEGBOARD_MCP_CHILDREN); try again later",
        )

    async def _wait_for_slot(self, is_counted: Callable[[Upstream], bool], most: int, refusal: str) -> None:
        while len(found := [each for each, upstream in self._sessions.items() if is_counted(upstream)]) >= most:
            leaving = [session.task for session in found if session.is_over]
            if leaving:
                await asyncio.wait(leaving, return_when=asyncio.FIRST_COMPLETED)
            elif not self._drop_longest_idle(is_counted):
                raise Unavailable(refusal, retry_after_ms=_RETRY_AFTER_MS)

    def _drop_longest_idle(self, wanted: Callable[[Upstream], bool]) -> bool:
        """End the connection that has been idle longest; return False if all are in use."""
        idle = [(c.used_at, u) for u, c in self._connections.items() if c.is_idle and c.session and wanted(u)]
        if not idle:
            return False
        self._end_connection(min(idle, key=lambda pair: pair[0])[1])
        return True

    def _stop_idle(self) -> None:
        oldest = time.monotonic() - self._idle_seconds
        for upstream, connection in list(self._connections.items()):
            if connection.is_idle and connection.used_at <= oldest and upstream not in self._kept:
                self._end_connection(upstream)
        self._sweep_timer = None
        if self._connections and not self._closed:
            self._sweep_timer = asyncio.get_running_loop().call_later(self._idle_seconds / 4, self._stop_idle)
