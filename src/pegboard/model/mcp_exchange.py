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
    """Passed with one call of an MCP client; the executor of mcp tools reads it and fills it in."""

    __slots__ = ("capabilities", "failure", "input_required", "input_responses", "request_state", "result")

    def __init__(
        self,
        capabilities: Mapping[str, Any] | None = None,
        input_responses: Mapping[str, Any] | None = None,
        request_state: str | None = None,
    ) -> None:
        # What the client declared, if it can be asked for input between two requests.
        self.capabilities = capabilities
        # The input that it now gives, and the server's state of the call, if it continues one.
        self.input_responses = input_responses
        self.request_state = request_state
        # The result with which the server asks for input, in place of `result`.
        self.input_required: Mapping[str, Any] | None = None
        # The whole result of the last attempt as its server returned it, with masked credentials.
        self.result: Mapping[str, Any] | None = None
        self.failure: McpFailure | None = None

    def reset(self) -> None:
        """Forget what an earlier attempt returned."""
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
