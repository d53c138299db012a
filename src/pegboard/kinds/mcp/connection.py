"""The board's connection to one MCP server: opened on demand, and reopened after a failure."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pegboard.kinds.mcp.upstream import CallNotRun, OnUpstreamProgress, ToolChanged, ToolGone, Upstream, UpstreamTool
from pegboard.model.call_errors import ToolError, Unavailable

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

    def __init__(self, upstream: Upstream, begin: BeginSession) -> None:
        self._upstream = upstream
        self._begin = begin
        # The last session that was started, and the last one that was ready.
        self._begun: McpSession | None = None
        self._session: McpSession | None = None
        self._open_task: asyncio.Task[McpSession] | None = None
        self._mode = "auto"
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
        self, tool: str, arguments: Mapping[str, Any], *, pinned: str | None, on_progress: OnUpstreamProgress | None
    ) -> dict[str, Any]:
        """Call the tool; retry once, on a new session if necessary, if the call certainly did not run."""
        return await self._try_twice(lambda: self._call_once(tool, arguments, pinned, on_progress))

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
        self, tool: str, arguments: Mapping[str, Any], pinned: str | None, on_progress: OnUpstreamProgress | None
    ) -> dict[str, Any]:
        session = self.session or await self._get_session()
        if pinned is not None and session.in_doubt:
            await session.refresh(time.monotonic())
        live = session.tools.get(tool)
        if live is None or (pinned is not None and live.digest != pinned):
            live = await self._find_after_refresh(session, tool, pinned)
        return await session.call(live.name, arguments, on_progress)

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
        except ToolError:
            if not (session.was_refused and self._mode == "auto"):
                self._mode = "auto"
                raise
            # Some servers exit if initialize has a newer protocol version than they know.
            session = self._begun = await self._begin(self._upstream, "legacy")
            await session.wait_until_open()
            self._mode = "legacy"
        self._session = session
        return session

    def _on_opened(self, opening: asyncio.Task[McpSession]) -> None:
        self._open_task = None
        if not opening.cancelled():
            opening.exception()  # retrieve the exception: perhaps no caller waits any more


def _explain_missing_tool(shown: str, tool: str, tools: Mapping[str, UpstreamTool]) -> str:
    names = sorted(tools)
    some = ", ".join(names[:_MAX_LISTED_NAMES]) + (", …" if len(names) > _MAX_LISTED_NAMES else "")
    return f"{shown} has no tool '{tool[:100]}'; it offers: {some or 'none'}"
