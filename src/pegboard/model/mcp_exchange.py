"""The messages between an MCP client and a tool of another MCP server, besides arguments and output."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from pegboard.model.mcp_client import McpClient

# From the least to the most severe.
LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

# Sends a request for input to the client and returns the result; raises ClientRefused.
AskClient = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
# Sends the params of a log message to the client.
OnLog = Callable[[Mapping[str, Any]], None]


class McpFailure(NamedTuple):
    """An error of the protocol that the server of the tool sent and its client has to see."""

    code: int
    message: str
    data: Any = None


class ClientRefused(Exception):
    """The client answered a request for input with an error, or cannot be asked."""

    def __init__(self, failure: McpFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class McpExchange:
    """Passed with one request of an MCP client; the executor of mcp tools reads it and fills it in."""

    __slots__ = (
        "ask", "capabilities", "client", "failure", "input_required", "input_responses", "input_seconds", "log_level",
        "on_log", "request_state", "result", "timer",
    )  # fmt: skip

    def __init__(
        self,
        capabilities: Mapping[str, Any] | None = None,
        input_responses: Mapping[str, Any] | None = None,
        request_state: str | None = None,
        *,
        client: McpClient | None = None,
        ask: AskClient | None = None,
        on_log: OnLog | None = None,
        log_level: str | None = None,
    ) -> None:
        # The capabilities of the client, if it can be asked for input between two requests.
        self.capabilities = capabilities
        # The input that it now gives, and the server's state of the call, if it continues one.
        self.input_responses = input_responses
        self.request_state = request_state
        # The client, if it has sessions with servers that no other client uses, and how it is reached during the call.
        self.client = client
        self.ask = ask
        self.on_log = on_log
        # The least level of the log messages that it gets.
        self.log_level = log_level
        # Ends the current attempt; paused while the client is asked.
        self.timer: asyncio.Timeout | None = None
        # How long the client was asked.
        self.input_seconds = 0.0
        # The result with which the server asks for input, in place of `result`.
        self.input_required: Mapping[str, Any] | None = None
        # The whole result of the last attempt as its server returned it, with masked credentials.
        self.result: Mapping[str, Any] | None = None
        self.failure: McpFailure | None = None

    def reset(self) -> None:
        """Drop the results of an earlier attempt."""
        self.result = None
        self.failure = None
        self.input_required = None

    def build_extras(self) -> dict[str, Any]:
        """Return the members of the request to the server, beside the tool and its arguments."""
        extras: dict[str, Any] = {}
        if self.input_responses is not None:
            extras["inputResponses"] = self.input_responses
        if self.request_state is not None:
            extras["requestState"] = self.request_state
        return extras
