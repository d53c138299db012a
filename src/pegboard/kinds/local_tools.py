"""The tools of a board in memory, as the kinds see them that add tools of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from pegboard.model.tool import Tool


class FoundTool(Protocol):
    """A tool of the board, ready to be called."""

    @property
    def tool(self) -> Tool:
        """The tool."""
        ...


class LocalTools(Protocol):
    """Finds tools, and adds those that are never stored (`registry/snapshot.py`)."""

    def find(self, name: str) -> FoundTool | None:
        """Return the tool of that name, alias or id, or None."""
        ...

    def find_stored(self, name: str) -> Tool | None:
        """Return the stored tool of that name or alias, even if a local tool of this process hides it."""
        ...

    def local(self) -> list[Tool]:
        """Return the tools that exist only in this process."""
        ...

    def add_local(self, tool: Tool) -> None:
        """Add a tool that exists only in this process."""
        ...

    def swap_local_tools(self, former: Iterable[Tool], tools: Iterable[Tool]) -> None:
        """Replace the former local tools by these, atomically."""
        ...

    def forget(self, which: Callable[[Tool], bool]) -> None:
        """Discard the prepared form of these tools, so that their next call prepares them again."""
        ...
