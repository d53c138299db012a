"""Sessions that the server forgets, streams without end, redirects, and forbidden addresses."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.kinds.mcp.tool_result import read_output
from pegboard.kinds.mcp.upstream import Upstream
from pegboard.model.call_errors import EgressRefused, InvalidArguments, UpstreamFailed
from tests.mcp_servers.faulty_http_server import McpRequest, answering
from tests.waiting import until


async def call_echo(upstreams: McpSessionPool, upstream: Upstream, text: str = "hi") -> Any:
    return read_output(await upstreams.call(upstream, "echo", {"text": text}))


async def never(_asked: McpRequest) -> bool:
    await asyncio.Event().wait()
    return True


@pytest.mark.parametrize(
    ("status", "body"),
    [
        ("404 Not Found", ""),
        ("404 Not Found", '{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "Session not found"}}'),
        ("400 Bad Request", '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID"}}'),
    ],
)
async def test_a_session_that_the_server_forgot_is_made_again_for_the_same_call(
    status: str, body: str, upstreams: McpSessionPool
) -> None:
    async def answer(asked: McpRequest) -> bool:
        if asked.headers.get("mcp-session-id", server.session) != server.session:
            asked.send(status, body, Content_Type="application/json")
            return True
        return False

    async with answering(answer) as server:
        assert await call_echo(upstreams, server.upstream) == "hi"
        server.session = "s2"
        assert await asyncio.gather(*(call_echo(upstreams, server.upstream, text) for text in "abc")) == ["a", "b", "c"]
        assert server.count("initialize") == 2
        server.session = "s3"
        assert [tool.name for tool in await upstreams.tools(server.upstream)] == ["echo"]


async def test_giving_a_call_up_does_not_wait_for_a_server_that_does_not_take_note(upstreams: McpSessionPool) -> None:
    async def answer(asked: McpRequest) -> bool:
        hangs = asked.says == "notifications/cancelled" or (asked.says == "tools/call" and asked.text == "hang")
        return await never(asked) if hangs else False

    async with answering(answer) as server:
        await upstreams.tools(server.upstream)
        for _ in range(5):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await call_echo(upstreams, server.upstream, "hang")
        assert await call_echo(upstreams, server.upstream) == "hi"

        async def received() -> bool:
            return server.count("notifications/cancelled") >= 3

        await until(received)


async def test_a_stream_that_ends_at_once_is_not_asked_for_without_end(upstreams: McpSessionPool) -> None:
    async def answer(asked: McpRequest) -> bool:
        if asked.says != "GET":
            return False
        asked.stream()
        asked.writer.write(b"retry: 0\n\n")
        return True

    async with answering(answer) as server:
        for _ in range(24):
            assert await call_echo(upstreams, server.upstream) == "hi"
            await asyncio.sleep(0.05)
        assert 1 <= server.count("GET") <= 3


def memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


async def test_a_flood_of_events_is_not_kept(upstreams: McpSessionPool) -> None:
    async def answer(asked: McpRequest) -> bool:
        if asked.says != "tools/call" or asked.text != "flood":
            return False
        asked.stream()
        while True:
            for _ in range(100):
                asked.event({"method": "notifications/message", "params": {"level": "info", "data": "x" * 1000}})
            await asked.writer.drain()

    async with answering(answer) as server:
        assert await call_echo(upstreams, server.upstream) == "hi"
        before = memory()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.0):
                await call_echo(upstreams, server.upstream, "flood")
        assert memory() - before < 32 * 2**20
        with anyio.fail_after(30):
            assert await call_echo(upstreams, server.upstream) == "hi"


async def test_a_redirect_within_the_server_is_followed_with_the_credentials(upstreams: McpSessionPool) -> None:
    async def answer(asked: McpRequest) -> bool | None:
        if asked.path == "/new" or asked.says in ("GET", "DELETE"):
            return False
        asked.send("307 Temporary Redirect", Location="/new")
        return None

    async with answering(answer) as server:
        upstream = Upstream(server.upstream.server_url, None, (("Authorization", "Bearer s3cr3t"),))
        assert await call_echo(upstreams, upstream) == "hi"
        assert {asked.headers["authorization"] for asked in server.asked} == {"Bearer s3cr3t"}


async def test_text_that_is_not_unicode_is_refused_and_the_session_continues(upstreams: McpSessionPool) -> None:
    async with answering() as server:
        await upstreams.tools(server.upstream)
        with pytest.raises(InvalidArguments):
            await call_echo(upstreams, server.upstream, "half \ud800")
        assert await call_echo(upstreams, server.upstream) == "hi"
        assert server.count("initialize") == 1


async def test_nothing_of_a_session_is_logged_by_the_sdk(
    upstreams: McpSessionPool, caplog: pytest.LogCaptureFixture
) -> None:
    async def answer(asked: McpRequest) -> bool:
        if asked.says != "tools/call" or asked.text == "hi":
            return False
        asked.send("200 OK", '{"broken', Content_Type="application/json", Set_Cookie="a=s3cr3t")
        return True

    caplog.set_level(logging.DEBUG)
    async with answering(answer) as server:
        upstream = Upstream(f"{server.upstream.server_url}?key=s3cr3t", None, (("Authorization", "Bearer s3cr3t"),))
        with pytest.raises(UpstreamFailed):
            await call_echo(upstreams, upstream, "break")
        assert await call_echo(upstreams, upstream) == "hi"
        await upstreams.close()
        assert not [record for record in caplog.records if record.name.startswith(("mcp", "client", "httpx2"))]
        assert "s3cr3t" not in caplog.text
        # Sessions of the application itself are still logged.
        async with Client(str(server.upstream.server_url)):
            assert [record for record in caplog.records if record.name.startswith("mcp")]


async def test_the_address_policy_applies_to_every_connection() -> None:
    async def rebound(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    async with answering() as server:
        outbound = GuardedClient(AllowList.read(""), resolver=rebound, connect_seconds=10)
        upstreams = McpSessionPool(outbound, children=0, child_memory=2**30, max_bytes=2**20, connect_seconds=30)
        for host in ("127.0.0.1", "public.example"):
            with pytest.raises(EgressRefused, match="PEGBOARD_EGRESS_ALLOW"):
                await call_echo(upstreams, Upstream(f"http://{host}:{server.port}/mcp", None))
        with pytest.raises(EgressRefused):
            upstreams.check(Upstream("http://2130706433/mcp", None))
        assert server.asked == []
        await upstreams.close()
        await outbound.close()
