"""What an MCP client and a tool of another MCP server exchange, beside the arguments and the output of the call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class McpFailure(NamedTuple):
    """An error of the protocol that the server of the tool sent and its client has to see."""

    code: int
    message: str
    data: Any = None


class McpExchange:
    """Passed with one call of an MCP client; only the executor of mcp tools fills it in."""

    __slots__ = ("failure", "result")

    def __init__(self) -> None:
        # The whole result of the last attempt as its server returned it, with masked credentials.
        self.result: Mapping[str, Any] | None = None
        self.failure: McpFailure | None = None

    def reset(self) -> None:
        """Forget what an earlier attempt returned."""
        self.result = None
        self.failure = None
