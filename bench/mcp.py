"""MCP: calls compared with REST, the official SDK and FastMCP in one interleaved run; then sessions and lists."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench import mcp_sessions
from bench.harness import Running, median, row, runner, server
from bench.load import Measured, put_load, request
from bench.mcp_peers import fastmcp_server
from bench.mcp_requests import SESSION, STATELESS, SessionConnection, build_stateless_call
from bench.servers import BODY, KEY

ROUNDS = 5
CONNECTIONS = 100
TOOLS = 10_000
AIM_STATELESS, AIM_SESSION, AIM_SDK, AIM_FASTMCP, AIM_GROWTH = 0.9, 0.85, 3.0, 10.0, 0.05


class Target(NamedTuple):
    """A measured server and the requests of all connections to it."""

    label: str
    running: Running
    payloads: Sequence[bytes]


def main(seconds: float = 2.0) -> bool:
    """Print calls per second as ratios, and the costs of sessions and lists; return True if every aim is met."""
    met = _compare_calls(seconds)
    met = _compare_growth(seconds) and met
    return mcp_sessions.main(seconds) and met


def _compare_calls(seconds: float) -> bool:
    print(f"\nMCP, one process, {CONNECTIONS} connections, a validated echo (interleaved, median of rounds)")
    with (
        server("recorded") as board,
        server("mcp-lowlevel") as sdk,
        server("mcp-bare") as bare,
        fastmcp_server() as fastmcp,
        runner() as loop,
    ):
        targets = {"rest": Target("pegboard, REST", board, [request("/v1/tools/bench_echo/call", BODY, KEY)])}
        servers = {"": ("pegboard", board), "sdk ": ("the SDK", sdk), "bare ": ("the SDK, bare", bare)}
        if fastmcp is not None:
            servers["fastmcp "] = "FastMCP", fastmcp
        for name, (label, running) in servers.items():
            call = build_stateless_call("bench_echo", KEY)
            targets[f"{name}stateless"] = Target(f"{label}, {STATELESS}", running, [call])
            targets[f"{name}session"] = _with_sessions(loop, f"{label}, {SESSION}", running)
        rates = _measure(loop, targets, seconds)
    aims = [
        (f"{STATELESS}, of REST", rates["stateless"] / rates["rest"], AIM_STATELESS),
        (f"{SESSION}, of REST", rates["session"] / rates["rest"], AIM_SESSION),
        (f"{STATELESS}, times the SDK", rates["stateless"] / rates["sdk stateless"], AIM_SDK),
        (f"{SESSION}, times the SDK", rates["session"] / rates["sdk session"], AIM_SDK),
    ]
    if fastmcp is None:
        print("  FastMCP is not installed: run `make bench ARGS=mcp`")
    else:
        aims += [
            (f"{each}, times FastMCP", rates[name] / rates[f"fastmcp {name}"], AIM_FASTMCP)
            for each, name in ((STATELESS, "stateless"), (SESSION, "session"))
        ]
    for what, ratio, aim in aims:
        print(f"  aim: {what} at least {aim}: {'met' if ratio >= aim else 'MISSED'} ({ratio:.2f})")
    return all(ratio >= aim for _, ratio, aim in aims)


def _compare_growth(seconds: float) -> bool:
    print(f"\nMCP calls on a board with {TOOLS:,} tools, and with one and the builtins (interleaved, median of rounds)")
    with tempfile.TemporaryDirectory() as folder:
        many = Path(folder) / "many"
        with server("recorded", home=many, BENCH_TOOLS=str(TOOLS)):
            pass  # registers the tools, so that the next start is an ordinary one
        with server("recorded") as few, server("recorded", home=many) as full, runner() as loop:
            call = build_stateless_call("bench_echo", KEY)
            targets = {
                "few": Target(f"{STATELESS}, 1 tool", few, [call]),
                "many": Target(f"{STATELESS}, {TOOLS:,} tools", full, [call]),
                "few, session": _with_sessions(loop, f"{SESSION}, 1 tool", few),
                "many, session": _with_sessions(loop, f"{SESSION}, {TOOLS:,} tools", full),
            }
            rates = _measure(loop, targets, seconds)
    ratios = [rates["many"] / rates["few"], rates["many, session"] / rates["few, session"]]
    good = all(ratio >= 1 - AIM_GROWTH for ratio in ratios)
    found = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    print(f"  aim: at least {1 - AIM_GROWTH} of the rate: {'met' if good else 'MISSED'} ({found})")
    return good


def _with_sessions(loop: asyncio.Runner, label: str, running: Running) -> Target:
    """Return calls in one session for each connection."""

    async def open_session() -> bytes:
        session = await SessionConnection(running.port, KEY).open()
        session.close()
        return session.build_call("bench_echo")

    async def open_all() -> list[bytes]:
        return [await open_session() for _ in range(CONNECTIONS)]

    return Target(label, running, loop.run(open_all()))


def _measure(loop: asyncio.Runner, targets: dict[str, Target], seconds: float) -> dict[str, float]:
    """Print the median rate of each target, relative to the first, and return the rates."""
    runs: dict[str, list[Measured]] = {name: [] for name in targets}
    costs: dict[str, list[float]] = {name: [] for name in targets}
    for turn in range(ROUNDS + 1):
        for name, (label, running, payloads) in targets.items():
            before = running.cpu_seconds
            length = seconds if turn else 0.5
            load = put_load(running.port, payloads, expect=b"hello, board", connections=CONNECTIONS, seconds=length)
            run = loop.run(load)
            if run.failures:
                raise RuntimeError(f"{label}: {run.failures} of {run.calls} calls failed")
            if turn:
                runs[name].append(run)
                costs[name].append((running.cpu_seconds - before) / run.calls * 1e6)
    rates = {name: median([run.rate for run in each]) for name, each in runs.items()}
    base = next(iter(rates.values()))
    row("", "calls/s", "ratio", "CPU µs", "p50 ms")
    for name, each in runs.items():
        p50 = median([run.percentile(0.5) for run in each])
        row(
            targets[name].label,
            f"{rates[name]:,.0f}",
            f"{rates[name] / base:.2f}",
            f"{median(costs[name]):.0f}",
            f"{p50:.1f}",
        )
    return rates
