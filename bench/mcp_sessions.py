"""Sessions and lists of MCP: CPU of a session that is used once, memory of idle sessions, CPU of an unchanged list."""

from __future__ import annotations

import asyncio
import urllib.request

from bench.harness import Running, median, row, runner, server
from bench.load import put_load
from bench.mcp_requests import SessionConnection, build_stateless_list
from bench.servers import KEY

ROUNDS = 5
_AT_ONCE = 50
IDLE_SESSIONS, LISTED_TOOLS = 10_000, 1_000
AIM_SESSION_CPU, AIM_IDLE_MB, AIM_LIST_MS = 1 / 3, 60.0, 1.0


def main(seconds: float) -> bool:
    """Print all measurements; return True if every aim is met."""
    with server("tasks") as board, server("mcp-bare") as sdk, runner() as loop:
        used = _compare_used(loop, board, sdk, round(500 * seconds))
        idle = _measure_idle(loop, board, sdk)
    return _measure_list(seconds) and used and idle


def _compare_used(loop: asyncio.Runner, ours: Running, theirs: Running, count: int) -> bool:
    print(f"\nMCP sessions that are opened, used once and closed, {_AT_ONCE} at once (interleaved, median of rounds)")
    costs: dict[str, list[float]] = {"ours": [], "theirs": []}
    for turn in range(ROUNDS + 1):
        for name, target in (("ours", ours), ("theirs", theirs)):
            before = target.cpu_seconds
            loop.run(_use_sessions(target, count))
            if turn:
                costs[name].append((target.cpu_seconds - before) / count * 1e6)
    ratio = median(costs["ours"]) / median(costs["theirs"])
    row("", "CPU µs", "ratio")
    row("low-level server of the SDK", f"{median(costs['theirs']):,.0f}", "1.00")
    row("pegboard", f"{median(costs['ours']):,.0f}", f"{ratio:.2f}")
    return _report(f"at most {AIM_SESSION_CPU:.2f} of the SDK", f"{ratio:.2f}", ratio <= AIM_SESSION_CPU)


async def _use_sessions(target: Running, count: int) -> None:
    async def use() -> None:
        for _ in range(count // _AT_ONCE):
            session = await SessionConnection(target.port, KEY).open()
            await session.call("bench_echo")
            await session.end()

    await asyncio.gather(*(use() for _ in range(_AT_ONCE)))


def _measure_idle(loop: asyncio.Runner, ours: Running, theirs: Running) -> bool:
    print(f"\n{IDLE_SESSIONS:,} idle MCP sessions")
    row("", "MB", "tasks")
    met = True
    for label, target, count in (("the SDK", theirs, IDLE_SESSIONS // 10), ("pegboard", ours, IDLE_SESSIONS)):
        before, tasks = target.memory_mb, _count_tasks(target)
        loop.run(_open_idle(target, count))
        grown, more = target.memory_mb - before, _count_tasks(target) - tasks
        row(f"{label}, {count:,} sessions", f"{grown:.1f}", more)
        met = grown <= AIM_IDLE_MB and more < 100
    return _report(f"pegboard at most {AIM_IDLE_MB:.0f} MB and no task for each", f"{grown:.1f} MB, {more} tasks", met)


def _count_tasks(target: Running) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{target.port}/tasks", timeout=30) as response:
        return int(response.read())


async def _open_idle(target: Running, count: int) -> None:
    async def use() -> None:
        for _ in range(count // _AT_ONCE):
            (await SessionConnection(target.port, KEY).open()).close()

    await asyncio.gather(*(use() for _ in range(_AT_ONCE)))


def _measure_list(seconds: float) -> bool:
    print(f"\nAn unchanged list of {LISTED_TOOLS:,} tools over MCP, one connection")
    wanted = build_stateless_list(KEY)
    with server("unrecorded", BENCH_TOOLS=str(LISTED_TOOLS)) as board, runner() as loop:
        loop.run(put_load(board.port, wanted, expect=b"tool_900", connections=1, seconds=0.5))
        costs = []
        for _ in range(ROUNDS):
            before = board.cpu_seconds
            run = loop.run(put_load(board.port, wanted, expect=b"tool_900", connections=1, seconds=seconds))
            costs.append((board.cpu_seconds - before) / run.calls * 1000)
    return _report(f"at most {AIM_LIST_MS:.0f} ms of CPU", f"{median(costs):.2f} ms", median(costs) <= AIM_LIST_MS)


def _report(what: str, found: str, is_met: bool) -> bool:
    print(f"  aim: {what}: {'met' if is_met else 'MISSED'} ({found})")
    return is_met
