"""A board with running MCP servers, which a test kills: `board_process.py FILE HOW…`; it reports when they run."""

from __future__ import annotations

import asyncio
import sys

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.kinds.mcp.session_pool import McpSessionPool
from tests.mcp_servers.run_servers import odd


async def main(file: str, ways: list[str]) -> None:
    """Start a server for each of the ways, and stay."""
    upstreams = McpSessionPool(
        GuardedClient(AllowList.read(""), connect_seconds=10),
        children=8,
        child_memory=2**30,
        max_bytes=2**20,
        connect_seconds=30,
    )
    for how in ways:
        await upstreams.tools(odd(how, file))
    sys.stdout.write("running\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


asyncio.run(main(sys.argv[1], sys.argv[2:]))
