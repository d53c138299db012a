"""A client of the board's MCP server, as the servers of tools see it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class McpClient:
    """A client that does not share sessions with servers of tools; clients with an equal `key` are the same one."""

    key: str
    # The requests that it may receive during a call: elicitation, sampling, roots.
    capabilities: Mapping[str, Any] = field(default_factory=dict, compare=False)
    # True in the revisions with sessions: sessions for it are opened in such a revision if the server has one.
    has_session: bool = field(default=True, compare=False)
    # The user: the clients of a user get a share of the connections to servers.
    user_id: str = field(default="", compare=False)
    # The callbacks for the end of its session and for changes of its roots, by owner.
    on_end: dict[Hashable, Callable[[], object]] = field(default_factory=dict, compare=False)
    on_roots_change: dict[Hashable, Callable[[], object]] = field(default_factory=dict, compare=False)

    def report_roots_change(self) -> None:
        """Report that its roots have changed."""
        for report in tuple(self.on_roots_change.values()):
            report()

    def end(self) -> None:
        """Report that its session has ended."""
        for report in tuple(self.on_end.values()):
            report()
        self.on_end.clear()
        self.on_roots_change.clear()
