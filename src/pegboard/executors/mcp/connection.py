"""The board's connection to one MCP server: there when it is called for, and made anew when it broke."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pegboard.core.errors import ToolError, Unavailable
from pegboard.executors.mcp.upstream import Changed, Gone, NotRun, OnProgress, Upstream, UpstreamTool

if TYPE_CHECKING:
    from pegboard.executors.mcp.session import Session

T = TypeVar("T")

_MOST_NAMED = 10
# A tool that is not there, or not as it was, makes nobody list the tools more often than this.
_LOOKED_AT_SECONDS = 1.0

Begin = Callable[[Upstream, str], Awaitable["Session"]]
"""Starts a session, in the given one of the SDK's modes, when there is room for it."""


class Connection:
    """At most one session with an upstream, shared by all calls to it."""

    def __init__(self, upstream: Upstream, begin: Begin) -> None:
        self._upstream = upstream
        self._begin = begin
        # The last one that was begun, and the last that could be used.
        self._begun: Session | None = None
        self._session: Session | None = None
        self._opening: asyncio.Task[Session] | None = None
        self._mode = "auto"
        # Calls that are on their way, and when the last one ended.
        self.calls = 0
        self.used_at = time.monotonic()

    @property
    def session(self) -> Session | None:
        """The session as long as it can be used."""
        return None if self._session is None or self._session.is_over else self._session

    @property
    def is_idle(self) -> bool:
        """Whether nobody uses it just now."""
        return self.calls == 0 and self._opening is None

    async def tools(self) -> Mapping[str, UpstreamTool]:
        """What the upstream offers now."""
        return await self._twice(self._listed)

    async def call(
        self, tool: str, arguments: Mapping[str, Any], *, pinned: str | None, on_progress: OnProgress | None
    ) -> dict[str, Any]:
        """The tool's answer; a call that surely did not run is tried once more, on a new session if need be."""
        return await self._twice(lambda: self._once(tool, arguments, pinned, on_progress))

    def end(self) -> None:
        """Leave the session, if there is one; the next call makes another."""
        if self._opening is not None:
            self._opening.cancel()
        if self._begun is not None:
            self._begun.end()

    async def _twice(self, attempt: Callable[[], Awaitable[T]]) -> T:
        try:
            return await attempt()
        except NotRun:
            pass
        try:
            return await attempt()
        except NotRun as refused:
            raise refused.error from None

    async def _listed(self) -> Mapping[str, UpstreamTool]:
        asked_at = time.monotonic()
        session = self.session or await self._opened()
        await session.refresh(asked_at)
        return session.tools

    async def _once(
        self, tool: str, arguments: Mapping[str, Any], pinned: str | None, on_progress: OnProgress | None
    ) -> dict[str, Any]:
        session = self.session or await self._opened()
        if pinned is not None and session.in_doubt:
            await session.refresh(time.monotonic())
        live = session.tools.get(tool)
        if live is None or (pinned is not None and live.digest != pinned):
            live = await self._looked_again(session, tool, pinned)
        return await session.call(live.name, arguments, on_progress)

    async def _looked_again(self, session: Session, tool: str, pinned: str | None) -> UpstreamTool:
        """The tool after all, where it is the list that was old and not what the tool is pinned to."""
        await session.refresh(time.monotonic() - _LOOKED_AT_SECONDS)
        live = session.tools.get(tool)
        if live is None:
            raise Gone(_missing(self._upstream.shown, tool, session.tools))
        if pinned is not None and live.digest != pinned:
            raise Changed(
                f"{self._upstream.shown} has changed the tool '{tool}' since it was taken on; "
                "its owner can look at the change and accept it",
                live,
            )
        return live

    async def _opened(self) -> Session:
        if self._opening is None:
            self._opening = asyncio.create_task(self._open(), name="pegboard-mcp-open")
            self._opening.add_done_callback(self._has_opened)
        opening = self._opening
        try:
            # Those who wait share it, and one who gives up leaves it to the others.
            return await asyncio.shield(opening)
        except ToolError as error:
            error.did_run = False  # whatever came of the greeting, no tool was called
            raise
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if opening.cancelled() and task is not None and not task.cancelling():
                raise Unavailable(f"The session with {self._upstream.shown} was ended, the call did not run") from None
            raise

    async def _open(self) -> Session:
        session = self._begun = await self._begin(self._upstream, self._mode)
        try:
            await session.opened()
        except ToolError:
            if not (session.was_refused and self._mode == "auto"):
                self._mode = "auto"
                raise
            # It may be a server that ends when it is greeted in a newer way than it knows.
            session = self._begun = await self._begin(self._upstream, "legacy")
            await session.opened()
            self._mode = "legacy"
        self._session = session
        return session

    def _has_opened(self, opening: asyncio.Task[Session]) -> None:
        self._opening = None
        if not opening.cancelled():
            opening.exception()  # nobody may be waiting any more


def _missing(shown: str, tool: str, tools: Mapping[str, UpstreamTool]) -> str:
    names = sorted(tools)
    some = ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")
    return f"{shown} has no tool '{tool[:100]}'; it offers: {some or 'none'}"
