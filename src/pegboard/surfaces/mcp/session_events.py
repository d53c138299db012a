"""The event stream of a session: notifications that belong to no request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pegboard.surfaces.mcp.json_rpc import encode_notification
from pegboard.surfaces.mcp.mcp_server import McpServer
from pegboard.surfaces.mcp.mcp_sessions import SessionRecord
from pegboard.surfaces.mcp.response_stream import ResponseStream
from pegboard.surfaces.rest.asgi_request import Receive, run_unless_disconnected


async def stream_session_events(
    server: McpServer,
    session: SessionRecord,
    stream: ResponseStream,
    receive: Receive,
    is_allowed: Callable[[], bool],
) -> None:
    """Send notifications until the client disconnects, the session ends, or another stream of it is opened."""
    if session.close_stream is not None:
        session.close_stream()
    over = asyncio.Event()
    session.close_stream = close = over.set
    session.notify = notify = stream.notify

    def report(method: str) -> None:
        notify(encode_notification(method, {}))

    try:
        with server.changes.watch(session.caller, report, close, is_allowed):
            stream.open()
            if await run_unless_disconnected(receive, over.wait()) is None:
                await stream.abort()
            else:
                await stream.finish_empty()
    except BaseException:
        await stream.abort()
        raise
    finally:
        if session.close_stream is close:
            session.close_stream = session.notify = None
