"""Flags tools that their upstreams have changed, in the background of the calls that detect it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from pegboard.kinds.mcp.upstream import UpstreamTool
from pegboard.model.tool import Tool
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)


class DriftFlagger:
    """Stores which tools have drifted."""

    def __init__(self, flag: Callable[[Iterable[Tool]], Awaitable[None]]) -> None:
        # Stores that these tools have drifted.
        self._store = flag
        self._running: set[asyncio.Task[None]] = set()

    def flag(self, tool: Tool, found: UpstreamTool | None) -> None:
        """Flag the tool in the background; if the server no longer offers it, only log that."""
        if found is None:
            log.warning("tool_gone", tool=tool.name, tool_id=tool.id)
            return
        task = asyncio.create_task(self._flag_drifted(tool))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def close(self) -> None:
        """Wait until all flags are stored."""
        await asyncio.gather(*self._running)

    async def _flag_drifted(self, tool: Tool) -> None:
        log.warning("tool_drifted", tool=tool.name, tool_id=tool.id)
        try:
            await self._store([tool])
        except Exception:
            # The call that detected it was refused anyway, and so is the next.
            log.exception("drift_not_stored", tool=tool.name)
