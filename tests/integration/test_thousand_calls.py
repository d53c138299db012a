"""A thousand calls of http and mcp tools, half of which fail or time out, leave nothing behind."""

from __future__ import annotations

import asyncio
import gc
import os
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.testing import NoSettings
from tests.api_documents import Case, document
from tests.mcp_servers.processes import descendants, matching
from tests.mcp_servers.run_servers import FOLDER
from tests.unit.kinds.mcp.changeable_server import ChangeableServer, changeable_server, odd, tool
from tests.upstreams import (
    Behaviour,
    Received,
    Upstream,
    Wire,
    answer,
    by_path,
    drip,
    echo,
    hang,
    reset,
    reset_in_body,
    too_little,
    upstream,
)
from tests.waiting import until

AT_ONCE = 40
SECONDS = 0.2
WAYS = {
    "fine": echo,
    "hang": hang,
    "drip": drip,
    "reset": reset,
    "cut": reset_in_body,
    "short": too_little,
    "no": answer(404),
    "broken": answer(200, "{", Content_Type="application/json"),
}
Call = tuple[str, dict[str, Any]]


class ProcessResources:
    """The tasks, descriptors and processes of this process now."""

    def __init__(self) -> None:
        gc.collect()
        self.files = len(list(Path("/proc/self/fd").iterdir()))
        self.processes = len(descendants() & matching(str(FOLDER / "faulty_server.py")))
        self.tasks = len(asyncio.all_tasks())
        self.memory = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def __repr__(self) -> str:
        return f"{self.files} files, {self.processes} processes, {self.tasks} tasks, {self.memory:,} bytes"


@pytest.fixture
async def misbehaving_api() -> AsyncIterator[Upstream]:
    """An API that misbehaves by path."""
    async with upstream(by_path(**WAYS)) as running:
        yield running


@pytest.fixture
async def server() -> AsyncIterator[ChangeableServer]:
    """An MCP server whose `look` works, and whose `say` behaves as its argument specifies."""
    async with changeable_server(tool("say"), tool("look")) as running:
        yield running


@pytest.fixture
async def board(
    misbehaving_api: Upstream, server: ChangeableServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Pegboard]:
    """A board with the tools of both servers, and of two commands, one of which never answers."""
    # With an open circuit breaker, the upstreams would not be called at all.
    monkeypatch.setattr("pegboard.http_client.circuit_breaker.CircuitBreaker.admit", lambda _self: None)
    settings = NoSettings(home=tmp_path / "home", egress_allow="127.0.0.1")
    async with Pegboard.open(f"sqlite:///{tmp_path}/board.db", settings=settings) as fresh:
        cases = [Case(f"http_{name}", "get", f"/{name}", {}, {}, "") for name in WAYS]
        await fresh.imports.openapi(fresh.admin, document=document(cases), server_url=misbehaving_api.url)
        await fresh.imports.mcp(fresh.admin, server_url=server.url)
        await fresh.imports.mcp(fresh.admin, command=odd("fine"), prefix="odd_")
        await fresh.imports.mcp(fresh.admin, command=odd("hang-call"), prefix="stuck_")
        # Only these hang: the others fail before their timeout, even on a slow machine.
        for name in ("http_hang", "http_drip", "say", "stuck_echo"):
            await fresh.tools.update(name, {"timeout": SECONDS}, fresh.admin)
        server.instead["tools/call"] = as_reported(server)
        yield fresh


def as_reported(server: ChangeableServer) -> Behaviour:
    """`look` works; `say` hangs, disconnects or refuses, depending on its argument."""
    normal = ChangeableServer(server.tools, server.server)
    ways = {b'"hang"': hang, b'"reset"': reset, b'"no"': answer(500, "no")}

    async def behave(got: Received, wire: Wire) -> None:
        chosen = next((way for word, way in ways.items() if word in got.body), normal.behave)
        await chosen(got, wire)

    return behave


def plan(good: list[Call], bad: list[Call], calls: int) -> list[Call]:
    """Return this many calls, one of each kind in turn."""
    pairs = [(bad[number % len(bad)], good[number % len(good)]) for number in range(calls // 2)]
    return [call for pair in pairs for call in pair]


async def run_calls(board: Pegboard, calls: list[Call]) -> Counter[str]:
    """Run these calls, many of them at the same time, and return how they ended; their caller cancels some."""
    room = asyncio.Semaphore(AT_ONCE)
    ended: Counter[str] = Counter()

    async def one(number: int, name: str, arguments: dict[str, Any]) -> None:
        async with room:
            try:
                async with asyncio.timeout(SECONDS / 2 if number % 50 == 8 else None):
                    result = await board.call(name, arguments)
            except TimeoutError:
                ended["given up"] += 1
            else:
                ended[result.problem.code if result.problem else "fine"] += 1

    await asyncio.gather(*(one(number, *call) for number, call in enumerate(calls)))
    return ended


async def wait_for_release(before: ProcessResources) -> ProcessResources:
    """Wait until no more is in use than before, except pooled connections."""

    async def as_before() -> bool:
        now, kept = ProcessResources(), AT_ONCE // 2
        few = now.files <= before.files + kept and now.tasks <= before.tasks + kept
        return few and now.processes <= before.processes

    try:
        await until(as_before, 60)
    except TimeoutError:
        raise AssertionError(f"before: {before!r}; now: {ProcessResources()!r}") from None
    return ProcessResources()


GOOD: list[Call] = [("http_fine", {}), ("look", {"text": "x"}), ("odd_echo", {"text": "y"})]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.soak)])
async def test_many_calls_leave_nothing_behind(board: Pegboard, count: int) -> None:
    bad: list[Call] = [(f"http_{name}", {}) for name in WAYS if name != "fine"]
    bad += [("say", {"text": "reset"}), ("say", {"text": "no"}), ("stuck_echo", {})]
    calls = plan(GOOD, bad, count)
    await run_calls(board, calls[: max(count // 5, 40)])  # modules and pools are loaded once, before the measurement
    before = ProcessResources()
    ended = await run_calls(board, calls)
    assert sum(ended.values()) == count
    assert set(ended) <= {"fine", "timeout", "upstream_failed", "given up"}, ended
    assert ended["fine"] >= count * 0.45
    assert min(ended["timeout"], ended["upstream_failed"]) >= count * 0.1
    after = await wait_for_release(before)
    assert after.memory - before.memory < 50 * 2**20
    assert await run_calls(board, GOOD) == {"fine": 3}


@pytest.mark.parametrize("count", [100, pytest.param(200, marks=pytest.mark.soak)])
async def test_calls_that_an_mcp_server_never_answers_leave_no_connections(
    board: Pegboard, server: ChangeableServer, count: int
) -> None:
    calls = plan([("look", {})], [("say", {"text": "hang"})], count)
    await run_calls(board, calls[:20])
    before = ProcessResources()
    ended = await run_calls(board, calls)
    assert ended["timeout"] >= count * 0.45
    await wait_for_release(before)
    assert len(server.server.open) < AT_ONCE


async def test_a_board_that_closes_holds_nothing_any_more(tmp_path: Path) -> None:
    before = ProcessResources()
    async with upstream(by_path(**WAYS)) as misbehaving_api, changeable_server(tool("say"), tool("look")) as server:
        outside = ProcessResources()
        settings = NoSettings(home=tmp_path / "home", egress_allow="127.0.0.1")
        async with Pegboard.open(f"sqlite:///{tmp_path}/board.db", settings=settings) as board:
            cases = [Case(f"http_{name}", "get", f"/{name}", {}, {}, "") for name in WAYS]
            await board.imports.openapi(board.admin, document=document(cases), server_url=misbehaving_api.url)
            await board.imports.mcp(board.admin, server_url=server.url)
            await board.imports.mcp(board.admin, command=odd("daemon", str(tmp_path / "pid")), prefix="odd_")
            running = [asyncio.create_task(board.call(name)) for name in ("http_hang", "http_drip", "look", "odd_echo")]
            await running[2]
            await running[3]
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            assert ProcessResources().processes > outside.processes
        assert ProcessResources().processes == outside.processes
    now = ProcessResources()
    assert (now.processes, now.tasks) == (before.processes, before.tasks)
    assert now.files <= before.files + 1  # the loop's own
