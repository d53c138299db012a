"""Flag the tools that their upstreams have changed, while the calls that found out are answered."""

from __future__ import annotations

import asyncio

from pegboard.core.tool import Tool
from pegboard.executors.mcp.upstream import UpstreamTool
from pegboard.registry.registry import Registry
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)


class Flagging:
    """Writes down, one after the other, which tools have drifted."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._running: set[asyncio.Task[None]] = set()

    def flag(self, tool: Tool, found: UpstreamTool | None) -> None:
        """Have the tool flagged soon, unless its server just does not offer it: then there is nothing to accept."""
        if found is None:
            log.warning("tool_gone", tool=tool.name, tool_id=tool.id)
            return
        task = asyncio.create_task(self._flag(tool))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def close(self) -> None:
        """Wait until everything is written down."""
        await asyncio.gather(*self._running)

    async def _flag(self, tool: Tool) -> None:
        log.warning("tool_drifted", tool=tool.name, tool_id=tool.id)
        try:
            await self._registry.flag([tool])
        except Exception:
            # The call that noticed was refused all the same, and so is the next.
            log.exception("drift_not_stored", tool=tool.name)
