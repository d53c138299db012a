"""Starts sessions with MCP servers, over HTTP or with a child process. Importing this module loads the SDK."""

from __future__ import annotations

from pegboard.http_client.guarded_client import GuardedClient
from pegboard.kinds.mcp.client_session import McpSession
from pegboard.kinds.mcp.http_transport import McpHttpTransport
from pegboard.kinds.mcp.sdk_logs import silence_sdk_logs
from pegboard.kinds.mcp.server_change import OnChange
from pegboard.kinds.mcp.stdio_transport import McpChildProcess, open_stdio_transport
from pegboard.kinds.mcp.upstream import Upstream
from pegboard.model.call_errors import ToolError

silence_sdk_logs()


def begin(
    upstream: Upstream,
    mode: str,
    on_change: OnChange,
    *,
    outbound: GuardedClient,
    memory: int,
    max_bytes: int,
    seconds: float,
) -> McpSession:
    """Start to open a session in one of the SDK's modes, with a timeout of `seconds`."""
    if upstream.command is None:
        web = McpHttpTransport(upstream, outbound, max_bytes=max_bytes)
        return McpSession(
            upstream,
            web.open(),
            mode=mode,
            seconds=seconds,
            max_bytes=max_bytes,
            on_change=on_change,
            fault=web.requests.fault,
            settled=web.requests.settle,
        )

    def close_session(error: ToolError) -> None:
        session.on_server_closed(error)

    children: list[McpChildProcess] = []
    transport = open_stdio_transport(
        upstream, memory=memory, max_bytes=max_bytes, lost=close_session, started=children.append
    )
    session = McpSession(
        upstream,
        transport,
        mode=mode,
        seconds=seconds,
        max_bytes=max_bytes,
        on_change=on_change,
        read_stderr=lambda: "".join(child.read_stderr() for child in children),
    )
    return session
