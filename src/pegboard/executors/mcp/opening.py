"""Sessions with MCP servers, over HTTP or with a command that is started; the SDK is loaded with this module."""

from __future__ import annotations

from pegboard.core.errors import ToolError
from pegboard.egress.outbound import Outbound
from pegboard.executors.mcp.quiet import quieten_sdk
from pegboard.executors.mcp.session import Session
from pegboard.executors.mcp.stdio import Child
from pegboard.executors.mcp.streams import stdio_transport
from pegboard.executors.mcp.upstream import Upstream
from pegboard.executors.mcp.web import Web

quieten_sdk()


def begin(upstream: Upstream, mode: str, *, outbound: Outbound, memory: int, max_bytes: int, seconds: float) -> Session:
    """A session that is being opened, in one of the SDK's modes, and may take so many seconds for that."""
    if upstream.command is None:
        web = Web(upstream, outbound, max_bytes=max_bytes)
        return Session(
            upstream,
            web.open(),
            mode=mode,
            seconds=seconds,
            max_bytes=max_bytes,
            fault=web.requests.fault,
            settled=web.requests.settle,
        )

    def hung_up(error: ToolError) -> None:
        session.hung_up(error)

    children: list[Child] = []
    transport = stdio_transport(upstream, memory=memory, max_bytes=max_bytes, lost=hung_up, started=children.append)
    session = Session(
        upstream,
        transport,
        mode=mode,
        seconds=seconds,
        max_bytes=max_bytes,
        said=lambda: "".join(child.said() for child in children),
    )
    return session
