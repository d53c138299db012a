"""Keep the SDK's own log lines about our sessions out of the log."""

from __future__ import annotations

import logging
from contextvars import ContextVar

in_session: ContextVar[bool] = ContextVar("pegboard_in_an_mcp_session", default=False)
"""Whether what runs now belongs to a session of the board's."""

_SDK_LOGGERS = (
    "client",
    "mcp.client.client",
    "mcp.client.streamable_http",
    "mcp.client.subscriptions",
    "mcp.shared.dispatcher",
    "mcp.shared.jsonrpc_dispatcher",
    "httpx2",
)


def quieten_sdk() -> None:
    """Drop what it logs there: whole messages, URLs, a traceback for each oddity.

    Sessions that an application has of its own are logged as ever.
    """

    def not_ours(_record: logging.LogRecord) -> bool:
        return not in_session.get()

    for name in _SDK_LOGGERS:
        logging.getLogger(name).addFilter(not_ours)
