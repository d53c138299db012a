"""Connections are shared, bounded and closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest

from pegboard.http_client.guarded_client import GuardedClient
from pegboard.kinds.mcp import session_pool
from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.kinds.mcp.upstream import Upstream
from pegboard.model.call_errors import Misconfigured, ToolError, Unavailable
from pegboard.model.mcp_client import McpClient
from tests.mcp_servers.faulty_http_server import McpRequest, answering
from tests.mcp_servers.processes import descendants
from tests.mcp_servers.run_servers import odd
from tests.waiting import until


@asynccontextmanager
async def pooled(outbound: GuardedClient, **limits: Any) -> AsyncIterator[McpSessionPool]:
    """A pool within these limits."""
    made = McpSessionPool(
        outbound, **{"children": 2, "child_memory": 2**30, "max_bytes": 2**20, "connect_seconds": 30, **limits}
    )
    try:
        yield made
    finally:
        await made.close()


def numbered(number: int, how: str = "plain") -> Upstream:
    """Return one of several commands that differ only in their environment."""
    return odd(how, env={"NUMBER": str(number)})


def running() -> set[int]:
    """The servers that run now, and the process that started each."""
    return descendants()


async def test_calls_that_come_at_once_share_one_process(upstreams: McpSessionPool) -> None:
    before = running()
    await asyncio.gather(*(upstreams.call(odd("plain"), "echo", {}) for _ in range(20)))
    assert len(running() - before) == 2


async def test_a_caller_who_gives_up_leaves_the_start_to_the_others(upstreams: McpSessionPool) -> None:
    first = asyncio.create_task(upstreams.call(odd("plain"), "echo", {"text": "a"}))
    second = asyncio.create_task(upstreams.call(odd("plain"), "echo", {"text": "b"}))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second)["content"][0]["text"] == "b"


async def test_no_more_children_run_at_once_than_may(outbound: GuardedClient) -> None:
    before = running()
    async with pooled(outbound) as upstreams:
        for number in range(5):
            await upstreams.call(numbered(number), "echo", {})
            assert len(running() - before) <= 4  # two servers, and the supervisor of each
        await upstreams.call(numbered(0), "echo", {})


async def test_children_that_are_in_use_are_not_ended_for_others(outbound: GuardedClient) -> None:
    async with pooled(outbound) as upstreams:
        hanging = [numbered(number, "hang-call") for number in range(2)]
        for upstream in hanging:
            await upstreams.tools(upstream)
        calls = [asyncio.create_task(upstreams.call(upstream, "echo", {})) for upstream in hanging]
        await asyncio.sleep(0)
        with pytest.raises(Unavailable, match=r"All of the 2 MCP servers .* \(PEGBOARD_MCP_CHILDREN\)") as refused:
            await upstreams.call(numbered(2), "echo", {})
        assert refused.value.retry_after_ms
        calls[0].cancel()
        await asyncio.wait({calls[0]})
        await upstreams.call(numbered(2), "echo", {})  # which replaces the idle one
        calls[1].cancel()
        await asyncio.wait(calls)


async def test_a_board_that_starts_none_says_so_beforehand(outbound: GuardedClient) -> None:
    async with pooled(outbound, children=0) as upstreams:
        with pytest.raises(Misconfigured, match="PEGBOARD_MCP_CHILDREN is 0"):
            upstreams.check(odd("plain"))


async def test_what_is_idle_is_let_go_of(outbound: GuardedClient) -> None:
    before = running()
    async with answering() as server, pooled(outbound, idle_seconds=0.2) as upstreams:
        await upstreams.call(odd("plain"), "echo", {})
        await upstreams.call(server.upstream, "echo", {})

        async def gone() -> bool:
            return running() <= before and server.count("DELETE") == 1

        await until(gone)
        assert not upstreams.connections
        assert (await upstreams.call(odd("plain"), "echo", {"text": "a"}))["content"][0]["text"] == "a"


async def test_what_is_in_use_is_not(outbound: GuardedClient) -> None:
    async with answering(_late) as server, pooled(outbound, idle_seconds=0.1) as upstreams:
        await upstreams.call(server.upstream, "echo", {"text": "late"})
        assert server.count("DELETE") == 0


async def _late(asked: McpRequest) -> bool:
    if asked.says == "tools/call":
        await asyncio.sleep(0.4)
    return False


async def test_connections_are_bounded(outbound: GuardedClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_pool, "MAX_MCP_CONNECTIONS", 3)
    async with answering() as server, pooled(outbound) as upstreams:
        urls = [f"{server.upstream.server_url}?n={number}" for number in range(6)]
        for url in urls:
            await upstreams.call(Upstream(url, None), "echo", {})
            assert len(upstreams.connections) <= 3

        async def left() -> bool:
            return server.count("DELETE") == 3

        await until(left)


async def test_a_closed_pool_starts_nothing(outbound: GuardedClient) -> None:
    before = running()
    async with pooled(outbound) as upstreams:
        opening = asyncio.create_task(upstreams.call(odd("hang"), "echo", {}))
        await asyncio.sleep(0.1)
        with anyio.fail_after(30):
            await upstreams.close()
        with pytest.raises((ToolError, asyncio.CancelledError)):
            await opening
        with pytest.raises(Unavailable, match="shutting down"):
            await upstreams.call(odd("plain"), "echo", {})
        assert running() <= before


async def test_one_dead_and_one_slow_upstream_hold_up_no_other_user(outbound: GuardedClient) -> None:
    async with answering() as server, pooled(outbound, children=4) as upstreams:
        hanging = [asyncio.create_task(upstreams.call(odd(how), "echo", {})) for how in ("hang", "hang-call")]
        hanging += [asyncio.create_task(upstreams.call(odd("exit-at-once"), "echo", {}))]
        for _ in range(20):
            await upstreams.call(server.upstream, "echo", {})
        assert not any(task.done() for task in hanging[:2])
        for task in hanging:
            task.cancel()
        await asyncio.wait(hanging)


async def test_the_clients_of_one_user_leave_half_of_the_children_to_others(outbound: GuardedClient) -> None:
    async with pooled(outbound, children=4) as upstreams:
        hanging = odd("hang-call")
        eve = [replace(hanging, client=McpClient(f"eve-{number}", user_id="eve")) for number in range(3)]
        for upstream in eve[:2]:
            await upstreams.tools(upstream)
        calls = [asyncio.create_task(upstreams.call(upstream, "echo", {})) for upstream in eve[:2]]
        await asyncio.sleep(0)
        with pytest.raises(Unavailable, match=r"Your MCP clients use 2 .* \(PEGBOARD_MCP_CHILDREN\) is for others"):
            await upstreams.tools(eve[2])
        await upstreams.tools(replace(hanging, client=McpClient("ann", user_id="ann")))
        await upstreams.tools(hanging)
        calls[0].cancel()
        await asyncio.wait({calls[0]})
        await upstreams.tools(eve[2])
        calls[1].cancel()


async def test_the_clients_of_one_user_have_a_share_of_the_connections(
    outbound: GuardedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_pool, "MAX_MCP_CONNECTIONS", 4)
    async with pooled(outbound, children=4) as upstreams:
        first, second = (replace(odd("hang-call"), client=McpClient(key, user_id="eve")) for key in "ab")
        await upstreams.tools(first)
        call = asyncio.create_task(upstreams.call(first, "echo", {}))
        await asyncio.sleep(0)
        with pytest.raises(Unavailable, match="Your MCP clients have 1 connections"):
            await upstreams.tools(second)
        await upstreams.tools(odd("plain"))
        call.cancel()
