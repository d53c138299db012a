"""REST: a validated call with key and rate limit, compared with a plain Starlette endpoint, in one interleaved run."""

from __future__ import annotations

from bench.harness import median, row, runner, server
from bench.load import Measured, put_load, request
from bench.servers import BODY, KEY, MESSAGE

ROUNDS = 5
# Relative to a plain endpoint: without the row, with it, for an OpenAI message. Relative to no row: with the row.
AIM_OFF, AIM_ON, AIM_MESSAGE, AIM_ROW = 0.6, 0.5, 0.4, 0.8


def main(seconds: float = 2.0) -> bool:
    """Print calls per second as ratios; return True if the aim is met."""
    print("\nREST, one process, 100 connections, a validated echo with key and limit (interleaved, median of rounds)")
    call = request("/v1/tools/bench_echo/call", BODY, KEY)
    bare = request("/echo", BODY, None)
    message = request("/v1/calls", MESSAGE, KEY)
    seen: dict[str, list[Measured]] = {"starlette": [], "unrecorded": [], "recorded": [], "message": []}
    with (
        server("starlette") as plain,
        server("unrecorded") as without,
        server("recorded") as with_row,
        runner() as loop,
    ):
        targets = [
            ("starlette", plain, bare),
            ("unrecorded", without, call),
            ("recorded", with_row, call),
            ("message", without, message),
        ]
        for _, target, payload in targets:
            loop.run(put_load(target.port, payload, expect=b"hello, board", seconds=0.5))
        for _ in range(ROUNDS):
            for name, target, payload in targets:
                seen[name].append(loop.run(put_load(target.port, payload, expect=b"hello, board", seconds=seconds)))
    base = median([run.rate for run in seen["starlette"]])
    row("", "calls/s", "ratio", "p50 ms", "p99 ms", "failures")
    for name, label in (
        ("starlette", "bare Starlette JSON endpoint"),
        ("unrecorded", "pegboard, row off"),
        ("recorded", "pegboard, row committed (SQLite)"),
        ("message", "pegboard, OpenAI's, row off"),
    ):
        runs = seen[name]
        row(
            label,
            f"{median([run.rate for run in runs]):,.0f}",
            f"{median([run.rate for run in runs]) / base:.2f}",
            f"{median([run.percentile(0.5) for run in runs]):.2f}",
            f"{median([run.percentile(0.99) for run in runs]):.2f}",
            sum(run.failures for run in runs),
        )
    rates = {name: median([run.rate for run in runs]) for name, runs in seen.items()}
    failures = sum(run.failures for runs in seen.values() for run in runs)
    aims = (
        ("row off, of Starlette", rates["unrecorded"] / base, AIM_OFF),
        ("row committed, of Starlette", rates["recorded"] / base, AIM_ON),
        ("a message of OpenAI's, of Starlette", rates["message"] / base, AIM_MESSAGE),
        ("row committed, of row off", rates["recorded"] / rates["unrecorded"], AIM_ROW),
    )
    for what, ratio, aim in aims:
        print(f"  aim: {what} at least {aim}: {'met' if ratio >= aim else 'MISSED'} ({ratio:.2f})")
    return all(ratio >= aim for _, ratio, aim in aims) and not failures
