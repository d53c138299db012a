"""Chains: the CPU time of ten sequential builtin steps, compared with ten single calls."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.harness import median, row, runner
from pegboard import Pegboard
from pegboard.model.chain import Chain
from pegboard.testing import NoSettings

ROUNDS = 5
STEPS = 10
MOST = 3.0


def main(seconds: float = 2.0) -> bool:
    """Print the cost of a chain relative to its calls; return True if the aim is met."""
    print(f"\nA chain of {STEPS} builtin steps, each referring to the one before, rows committed (SQLite)")
    with TemporaryDirectory() as home, runner() as loop:
        single, chained = loop.run(_measured(Path(home), max(10, int(40 * seconds))))
    ratio = chained / single
    row("", "CPU µs")
    row(f"{STEPS} single calls", f"{single * 1e6:,.0f}")
    row("the chain", f"{chained * 1e6:,.0f}")
    print(f"  aim: at most {MOST} of the single calls: {'met' if ratio <= MOST else 'MISSED'} ({ratio:.2f})")
    return ratio <= MOST


async def _measured(home: Path, times: int) -> tuple[float, float]:
    line = Chain.model_validate(
        {
            "steps": [
                {
                    "id": f"s{number}",
                    "tool": "echo",
                    "arguments": {"text": f"{{{{steps.s{number - 1}.output.echo.text}}}}" if number else "hello"},
                }
                for number in range(STEPS)
            ]
        }
    )
    async with Pegboard.open(settings=NoSettings(home=home, log_level="error")) as board:

        async def calls() -> None:
            for _ in range(STEPS):
                assert (await board.call("echo", {"text": "hello"})).success

        async def chain() -> None:
            assert (await board.chain(line)).success

        single, chained = [], []
        for _ in range(ROUNDS):
            single.append(await _cost(calls, times))
            chained.append(await _cost(chain, times))
    return median(single), median(chained)


async def _cost(work: Callable[[], Awaitable[None]], times: int) -> float:
    begun = time.process_time()
    for _ in range(times):
        await work()
    return (time.process_time() - begun) / times
