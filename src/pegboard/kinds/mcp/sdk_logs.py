"""Drops what the SDK logs about the board's own sessions."""

from __future__ import annotations

import logging
from contextvars import ContextVar

is_in_session: ContextVar[bool] = ContextVar("pegboard_in_an_mcp_session", default=False)
"""True while code of one of the board's sessions runs."""

_SDK_LOGGERS = (
    "client",
    "mcp.client.client",
    "mcp.client.streamable_http",
    "mcp.client.subscriptions",
    "mcp.shared.dispatcher",
    "mcp.shared.jsonrpc_dispatcher",
    "httpx2",
)


def silence_sdk_logs() -> None:
    """Drop log records of the SDK that belong to our sessions: whole messages, URLs, tracebacks.

    Sessions of the application itself are logged as usual.
    """

    def not_ours(_record: logging.LogRecord) -> bool:
        return not is_in_session.get()

    for name in _SDK_LOGGERS:
        logging.getLogger(name).addFilter(not_ours)
