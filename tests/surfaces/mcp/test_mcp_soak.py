"""Sessions, streams, cancelled calls and a restarting upstream leave nothing in the server."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.mcp_servers.run_servers import HttpServer, over_http
from tests.surfaces.mcp.rpc import SESSION, STATELESS, RpcClient, client_of
from tests.surfaces.mcp.test_mcp_streams import opened, session_stream
from tests.surfaces.rest.clients import good, mock
from tests.waiting import until

pytestmark = pytest.mark.anyio
_ROOT = Path(__file__).parents[3]
# `make soak` runs ten minutes; set SOAK_SECONDS for a shorter run.
_SOAK_SECONDS = float(os.environ.get("SOAK_SECONDS", "600"))
_AT_ONCE = 4
_NUMBERS = count()
# Caches are full after the warm-up. What remains is memory that the allocator keeps for later.
_MORE_MEMORY_KB = 16 * 1024
_MORE_OBJECTS = 2_000


@contextmanager
def usage_server(home: Path) -> Iterator[str]:
    """A server that has the tools `usage` and `wait`; its address."""
    command = [sys.executable, "-m", "tests.surfaces.mcp.usage_server", str(home)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_ROOT, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()
            process.wait(60)


async def measure(http: httpx.AsyncClient) -> dict[str, int]:
    """Return the resources of the server, while it serves no other request and has one session with the upstream."""
    usage: dict[str, int] = (await RpcClient(http, STATELESS).call("usage"))["structuredContent"]
    return usage


async def use_session(http: httpx.AsyncClient) -> None:
    """Open a session with its stream, list, call, and end it."""
    rpc = RpcClient(http, SESSION)
    await rpc.start()
    async with session_stream(rpc):
        await rpc.check_alive()
        assert (await rpc.call("math_eval", {"expression": "6*7"}))["structuredContent"] == {"result": 42}
        assert (await rpc.call("math_eval", {"expression": "1/0"}))["isError"]
        assert (await http.delete(rpc.path, headers=rpc.headers())).status_code == 204


async def listen(http: httpx.AsyncClient, tool: str) -> None:
    """Open a stream, change a tool, wait for the notification, and disconnect."""
    rpc = RpcClient(http, STATELESS)
    message = rpc.message("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    async with opened(rpc, message) as events:
        assert (await events.message())["method"] == "notifications/subscriptions/acknowledged"
        good(await http.patch(f"/v1/tools/{tool}", json={"description": f"Number {next(_NUMBERS)}"}))
        assert (await events.message())["method"] == "notifications/tools/list_changed"


async def cancel(http: httpx.AsyncClient) -> None:
    """Cancel a call of each revision while it runs."""
    for revision in (SESSION, STATELESS):
        rpc = RpcClient(http, revision)
        await rpc.start()
        message = rpc.message("tools/call", {"name": "wait", "_meta": {"progressToken": 1}}, id=9)
        async with opened(rpc, message) as events:
            assert (await events.message())["method"] == "notifications/progress"
            if not rpc.is_stateless:
                await rpc.notify("notifications/cancelled", {"requestId": 9})
                assert await events.ended()
        if not rpc.is_stateless:
            await http.delete(rpc.path, headers=rpc.headers())


async def restart(http: httpx.AsyncClient, upstream: HttpServer) -> None:
    """Restart the server of the imported tools."""
    rpc = RpcClient(http, STATELESS)
    await asyncio.to_thread(upstream.stop)
    assert (await rpc.call("my_say", {"text": "hi"}))["isError"]
    await asyncio.to_thread(upstream.start)

    async def is_back() -> bool:
        return not (await rpc.call("my_say", {"text": "hi"}))["isError"]

    await until(is_back, 60)


async def play_round(http: httpx.AsyncClient, upstream: HttpServer) -> None:
    """Run all kinds of calls concurrently, several times; then restart the upstream once more, without other calls."""
    async with asyncio.TaskGroup() as group:
        group.create_task(restart(http, upstream))
        # It may fail, because its server is restarted. More failures would open the circuit breaker.
        group.create_task(RpcClient(http, STATELESS).call("my_say", {"text": "hi"}))
        for number in range(_AT_ONCE):
            group.create_task(use_session(http))
            group.create_task(listen(http, f"changed_{number}"))
            group.create_task(cancel(http))
    await restart(http, upstream)


@pytest.mark.parametrize(
    ("era", "warm_rounds", "seconds"),
    [
        ("modern", 3, 0.0),
        pytest.param("modern", 20, _SOAK_SECONDS / 2, marks=[pytest.mark.soak, pytest.mark.timeout(900)]),
        pytest.param("legacy", 20, _SOAK_SECONDS / 2, marks=[pytest.mark.soak, pytest.mark.timeout(900)]),
    ],
)
async def test_tasks_files_and_memory_return_to_their_start_values(
    tmp_path: Path, era: str, warm_rounds: int, seconds: float
) -> None:
    with over_http(era) as upstream, usage_server(tmp_path) as url:
        async with client_of(url) as http:
            imported: dict[str, Any] = {"server_url": upstream.upstream.server_url, "prefix": "my_"}
            good(await http.post("/v1/imports/mcp", json=imported, timeout=60))
            for number in range(_AT_ONCE):
                good(await http.post("/v1/tools", json=mock(f"changed_{number}")), 201)
            for _ in range(warm_rounds):
                await play_round(http, upstream)
        async with client_of(url) as http:
            before = await measure(http)
        ends = time.monotonic() + seconds
        rounds = 0
        while not rounds or time.monotonic() < ends:
            async with client_of(url) as http:
                await play_round(http, upstream)
            rounds += 1
        async with client_of(url) as http:

            async def find_settled() -> dict[str, int] | None:
                now = await measure(http)
                return now if now["tasks"] <= before["tasks"] and now["files"] <= before["files"] else None

            # Connections stay open for a while, and the board reads its database now and then.
            after = await until(find_settled, 60)
            assert after is not None
        found = f"after {rounds} rounds: {after}; before: {before}"
        sys.stdout.write(f"{found}\n")
        assert after["objects"] <= before["objects"] + _MORE_OBJECTS, found
        assert after["memory"] <= before["memory"] + _MORE_MEMORY_KB, found
