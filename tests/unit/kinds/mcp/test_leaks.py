"""Hundreds of calls, half of them failing or cancelled, leave nothing behind."""

from __future__ import annotations

import asyncio
import gc
import threading
from pathlib import Path
from typing import NamedTuple

import pytest

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.kinds.mcp.upstream import Upstream
from pegboard.model.call_errors import ToolError
from tests.mcp_servers.processes import descendants
from tests.mcp_servers.run_servers import odd, over_http
from tests.waiting import until

AT_ONCE = 20


class ProcessResources(NamedTuple):
    """The resources of this process."""

    files: int
    processes: int
    tasks: int
    threads: int

    @classmethod
    def now(cls) -> ProcessResources:
        """At this moment."""
        gc.collect()
        files = len(list(Path("/proc/self/fd").iterdir()))
        return cls(files, len(descendants()), len(asyncio.all_tasks()), threading.active_count())


async def make_call(upstreams: McpSessionPool, upstream: Upstream, number: int) -> str:
    """Return how one call ended: every fourth fails, every fourth is cancelled."""
    over_http = upstream.command is None
    tool = ("say", "fail", "slow", "say")[number % 4] if over_http else "echo"
    arguments = {"text": str(number), "why": "because", "seconds": 60}
    try:
        async with asyncio.timeout(0.1 if number % 4 == 2 else 20):
            answer = await upstreams.call(upstream, tool, arguments)
    except ToolError:
        return "failed"
    except TimeoutError:
        return "given up"
    return "failed" if answer.get("isError") else "answered"


async def rounds(upstreams: McpSessionPool, ways: list[Upstream], calls: int) -> list[str]:
    """Run this many calls, a few of them at once."""
    ends: list[str] = []
    for first in range(0, calls, AT_ONCE):
        batch = (
            make_call(upstreams, ways[number // 4 % len(ways)], number) for number in range(first, first + AT_ONCE)
        )
        ends += await asyncio.gather(*batch)
    for upstream in ways:
        await upstreams.tools(upstream)
    return ends


async def returned_to(before: ProcessResources) -> None:
    """Wait until no more is in use than before."""

    async def settled() -> bool:
        return all(now <= then for now, then in zip(ProcessResources.now(), before, strict=True))

    try:
        await until(settled, 15)  # after five seconds the servers let go of connections that no client uses
    except TimeoutError:
        pytest.fail(f"{ProcessResources.now()} is held, and {before} was before: {asyncio.all_tasks()}")


@pytest.mark.parametrize("count", [40, pytest.param(200, marks=pytest.mark.soak)])
async def test_files_processes_tasks_and_threads_return_to_where_they_were(count: int) -> None:
    with over_http("modern") as modern, over_http("legacy") as legacy:
        ways = [modern.upstream, legacy.upstream, odd("fickle")]
        closed: ProcessResources | None = None
        for calls in (AT_ONCE, count):
            outbound = GuardedClient(AllowList.read("127.0.0.0/8"), connect_seconds=10)
            upstreams = McpSessionPool(outbound, children=2, child_memory=2**30, max_bytes=2**20, connect_seconds=30)
            await rounds(upstreams, ways, 60)
            warm = ProcessResources.now()
            ends = await rounds(upstreams, ways, calls)
            assert set(ends) == {"answered", "failed", "given up"}
            assert ends.count("answered") <= calls * 0.6
            await returned_to(warm)
            await upstreams.close()
            await outbound.close()
            if closed is None:
                closed = ProcessResources.now()
            await returned_to(closed)
