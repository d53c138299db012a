"""Kinds that can be registered on this board and not yet be run by it."""

from __future__ import annotations

from pegboard.core.errors import Misconfigured
from pegboard.executors.base import OpenTool, Prepared


class NotHereYet:
    """Says of each tool that this version of the board cannot run its kind."""

    def prepare(self, tool: OpenTool) -> Prepared:
        """Never ready."""
        kind = tool.tool.tool_type
        raise Misconfigured(
            f"Tool '{tool.tool.name}' is of kind {kind}, which this version of Pegboard registers but cannot run yet"
        )

    async def close(self) -> None:
        """Nothing is held."""
