"""Tools with upstreams: http compared with plain aiohttp, mcp with the official client, in interleaved runs."""

from __future__ import annotations

import asyncio
import itertools
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from bench.harness import median, row, runner, server
from pegboard import Pegboard
from pegboard.surfaces.rest.server import tune_garbage_collector
from pegboard.testing import NoSettings

ROUNDS = 5
AIM_HTTP, AIM_MCP = 0.6, 0.8
_OBJECT = {"type": "object", "properties": {"text": {"type": "string"}, "count": {"type": "integer"}}}

Work = Callable[[int], Awaitable[None]]


def main(seconds: float = 2.0) -> bool:
    """Print calls per second as ratios; return True if the aims are met."""
    with server("starlette") as web, server("mcp") as mcp, runner() as loop:
        return loop.run(_measured(web.port, mcp.port, seconds))


async def _measured(web: int, mcp: int, seconds: float) -> bool:
    async with AsyncExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory())
        settings = NoSettings(home=Path(home), egress_allow="127.0.0.1", log_level="error")
        board = await stack.enter_async_context(Pegboard.open(settings=settings))
        bare = await stack.enter_async_context(aiohttp.ClientSession())
        child = [sys.executable, "-m", "bench.servers", "mcp-stdio"]
        over_http = await stack.enter_async_context(Client(f"http://127.0.0.1:{mcp}/mcp"))
        over_stdio = await stack.enter_async_context(
            Client(StdioServerParameters(command=child[0], args=child[1:], cwd=Path.cwd()))
        )
        await _add_tools(board, f"http://127.0.0.1:{web}/echo", f"http://127.0.0.1:{mcp}/mcp", child)
        url = f"http://127.0.0.1:{web}/echo"

        async def get(number: int) -> None:
            async with bare.get(url, params={"text": "hello", "count": number}) as response:
                assert (await response.json())["echo"]

        async def post(number: int) -> None:
            async with bare.post(url, json={"text": "hello", "count": number}) as response:
                assert (await response.json())["echo"]

        def called(name: str) -> Work:
            async def call(number: int) -> None:
                result = await board.call(name, {"text": "hello", "count": number})
                assert result.success, result.problem

            return call

        def official(client: Client) -> Work:
            async def call(number: int) -> None:
                assert not (await client.call_tool("echo", {"text": "hello", "count": number})).is_error

            return call

        tune_garbage_collector()  # as the server does; affects both sides
        print("\nTools that reach out, row committed (SQLite), 100 at once (interleaved, median of rounds)")
        row("", "calls/s", "ratio", "p50 ms")
        met = [
            await _compared("bare aiohttp, GET", get, "pegboard, http GET", called("get"), AIM_HTTP, seconds),
            await _compared("bare aiohttp, POST", post, "pegboard, http POST, intent", called("post"), None, seconds),
            await _compared(
                "official client, HTTP",
                official(over_http),
                "pegboard, mcp HTTP",
                called("http_echo"),
                AIM_MCP,
                seconds,
            ),
            await _compared(
                "official client, stdio",
                official(over_stdio),
                "pegboard, mcp stdio",
                called("stdio_echo"),
                AIM_MCP,
                seconds,
            ),
        ]
    return all(met)


async def _add_tools(board: Pegboard, url: str, server_url: str, command: list[str]) -> None:
    for name, method in (("get", "GET"), ("post", "POST")):
        config = {"url": url, "method": method}
        definition: dict[str, Any] = {"name": name, "tool_type": "http", "config": config, "input_schema": _OBJECT}
        await board.add({**definition, "read_only": method == "GET"})
    await board.imports.mcp(board.admin, server_url=server_url, prefix="http_")
    await board.imports.mcp(board.admin, command=command, working_dir=str(Path.cwd()), prefix="stdio_")


async def _compared(base: str, bare: Work, name: str, ours: Work, aim: float | None, seconds: float) -> bool:
    rates: dict[str, list[float]] = {base: [], name: []}
    waits: dict[str, list[float]] = {base: [], name: []}
    for turn in range(ROUNDS + 1):
        for label, work in ((base, bare), (name, ours)):
            rate, wait = await _kept_busy(work, 0.3 if turn == 0 else seconds)
            if turn:
                rates[label].append(rate)
                waits[label].append(wait)
    ratio = median(rates[name]) / median(rates[base])
    for label in (base, name):
        share = median(rates[label]) / median(rates[base])
        row(label, f"{median(rates[label]):,.0f}", f"{share:.2f}", f"{median(waits[label]):.2f}")
    if aim is None:
        return True
    print(f"  aim: {name} at least {aim} of {base}: {'met' if ratio >= aim else 'MISSED'} ({ratio:.2f})")
    return ratio >= aim


async def _kept_busy(work: Work, seconds: float, workers: int = 100) -> tuple[float, float]:
    """Return the calls per second and the median latency in milliseconds, with this many workers."""
    numbers = itertools.count()
    waits: list[float] = []
    begun = time.perf_counter()
    end = begun + seconds

    async def worker() -> None:
        while (before := time.perf_counter()) < end:
            await work(next(numbers))
            waits.append((time.perf_counter() - before) * 1000)

    await asyncio.gather(*(worker() for _ in range(workers)))
    return len(waits) / (time.perf_counter() - begun), median(waits)
