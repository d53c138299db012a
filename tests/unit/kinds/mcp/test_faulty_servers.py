"""Misbehaving servers over HTTP: each call ends in time with a clear error, and other calls continue."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import anyio
import pytest

from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.kinds.mcp.tool_result import read_output
from pegboard.kinds.mcp.upstream import Upstream
from pegboard.model.call_errors import RateLimited, ToolError, UpstreamFailed, UpstreamUnreachable
from tests.mcp_servers.faulty_http_server import McpRequest, WebServer, answering


async def call_echo(upstreams: McpSessionPool, upstream: Upstream, text: str = "hi") -> Any:
    return read_output(await upstreams.call(upstream, "echo", {"text": text}))


async def get_call_error(upstreams: McpSessionPool, upstream: Upstream, text: str = "hi") -> ToolError:
    with pytest.raises(ToolError) as error:
        await call_echo(upstreams, upstream, text)
    return error.value


async def never(_asked: McpRequest) -> bool:
    await asyncio.Event().wait()
    return True


@pytest.mark.parametrize(
    ("says", "message"),
    [
        ("server/discover", "did not answer initialize within 0.5 s"),
        ("initialize", "did not answer initialize within 0.5 s"),
        ("notifications/initialized", "did not list its tools within 0.5 s"),
        ("tools/list", "did not list its tools within 0.5 s"),
    ],
)
async def test_a_server_that_hangs_at_the_start_is_given_up(says: str, message: str, hasty: McpSessionPool) -> None:
    async def answer(asked: McpRequest) -> bool:
        return await never(asked) if asked.says == says else False

    async with answering(answer) as server:
        with anyio.fail_after(30):
            error = await get_call_error(hasty, server.upstream)
    assert isinstance(error, UpstreamUnreachable)
    assert message in error.message


async def test_a_port_that_takes_no_connection_is_given_up_in_time(upstreams: McpSessionPool) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:  # until the queue of unaccepted connections is full
            each.setblocking(False)
            each.connect_ex(listening.getsockname())
        try:
            with anyio.fail_after(30):
                error = await get_call_error(
                    upstreams, Upstream(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", None)
                )
        finally:
            for each in waiting:
                each.close()
    assert isinstance(error, UpstreamUnreachable)
    assert "within 2 s" in error.message


async def test_a_port_without_a_listener_is_reported_as_unreachable(upstreams: McpSessionPool) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    error = await get_call_error(upstreams, Upstream(f"http://127.0.0.1:{port}/mcp", None))
    assert isinstance(error, UpstreamUnreachable)
    assert f"127.0.0.1:{port}: Connection refused" in error.message


@pytest.mark.parametrize(
    ("status", "kind", "message"),
    [
        ("401 Unauthorized", UpstreamFailed, "answered 401 Unauthorized: no entry (are the tool's credentials right?)"),
        ("404 Not Found", UpstreamFailed, "answered 404 Not Found: no entry"),
        ("500 Oops", UpstreamFailed, "answered 500 Internal Server Error: no entry"),
        ("502 Bad Gateway", UpstreamUnreachable, "answered 502 Bad Gateway: no entry"),
        ("503 Busy", UpstreamUnreachable, "answered 503 Service Unavailable: no entry"),
        ("429 Slow", RateLimited, "answered 429 Too Many Requests: no entry"),
        ("599 What", UpstreamFailed, "answered 599: no entry"),
    ],
)
@pytest.mark.parametrize("says", ["initialize", "tools/call"])
async def test_a_status_that_is_no_answer_is_reported(
    status: str, kind: type[ToolError], message: str, says: str, upstreams: McpSessionPool
) -> None:
    async def answer(asked: McpRequest) -> bool:
        if asked.says != says:
            return False
        asked.send(status, "<html><b>no</b>\n entry", Retry_After="7")
        return True

    if says == "tools/call" and status.startswith("404"):
        return  # the status for an unknown session
    async with answering(answer) as server:
        error = await get_call_error(upstreams, server.upstream)
    assert type(error) is kind
    assert error.message == f"http://127.0.0.1:{server.port} {message}"
    assert error.retry_after_ms == 7000


async def among_neighbours(server: WebServer, upstreams: McpSessionPool) -> ToolError:
    """Return the error of the failing call, while calls before and after it on the same session succeed."""
    assert await call_echo(upstreams, server.upstream) == "hi"
    neighbour = asyncio.create_task(call_echo(upstreams, server.upstream, "wait"))
    error = await get_call_error(upstreams, server.upstream, "fail")
    assert await call_echo(upstreams, server.upstream, "go on") == "go on"
    assert await neighbour == "wait"
    assert server.count("initialize") == 1
    return error


async def _drop(_asked: McpRequest) -> bool:
    return True


async def _cut_off(asked: McpRequest) -> bool:
    asked.stream()
    asked.event({"method": "notifications/message", "params": {"level": "info", "data": "soon"}})
    return True


async def _half(asked: McpRequest) -> bool:
    asked.writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{")
    return True


async def _large(asked: McpRequest) -> bool:
    asked.say("x" * 2**21)
    return True


async def _large_event(asked: McpRequest) -> bool:
    asked.stream()
    asked.event({"id": asked.message["id"], "result": {"content": [{"type": "text", "text": "x" * 2**21}]}})
    return True


async def _broken(asked: McpRequest) -> bool:
    asked.send("200 OK", '{"jsonrpc": "2.0", "id": 1, "resu', Content_Type="application/json")
    return True


async def _page(asked: McpRequest) -> bool:
    asked.send("200 OK", "<html>", Content_Type="text/html")
    return True


async def _accepted(asked: McpRequest) -> bool:
    asked.send("202 Accepted")
    return True


async def _packed(asked: McpRequest) -> bool:
    asked.send("200 OK", b"\x1f\x8b", Content_Type="application/json", Content_Encoding="gzip")
    return True


async def _away(asked: McpRequest) -> bool:
    asked.send("307 Temporary Redirect", Location="http://169.254.169.254/latest?token=1")
    return True


@pytest.mark.parametrize(
    ("odd", "kind", "message"),
    [
        (_drop, UpstreamUnreachable, "closed the connection without an answer"),
        (_cut_off, UpstreamUnreachable, "ended its answer before it was complete"),
        (_half, UpstreamUnreachable, "broke off"),
        (_large, UpstreamFailed, "more than 1048576 bytes"),
        (_large_event, UpstreamFailed, "cannot be read"),
        (_broken, UpstreamFailed, "Failed to parse JSON response"),
        (_page, UpstreamFailed, "Unexpected content type: text/html"),
        (_accepted, UpstreamFailed, "202 Accepted"),
        (_packed, UpstreamFailed, "Content-Encoding 'gzip'"),
        (_away, UpstreamFailed, "Redirect to http://169.254.169.254/latest not followed"),
    ],
)
async def test_a_call_that_breaks_hurts_none_of_its_neighbours(
    odd: Any, kind: type[ToolError], message: str, upstreams: McpSessionPool
) -> None:
    went_on = asyncio.Event()

    async def answer(asked: McpRequest) -> bool:
        if asked.says == "tools/call":
            if asked.text == "fail":
                return bool(await odd(asked))
            if asked.text == "go on":
                went_on.set()
            if asked.text == "wait":
                await went_on.wait()
        return False

    async with answering(answer) as server:
        error = await among_neighbours(server, upstreams)
    assert type(error) is kind
    assert message in error.message
