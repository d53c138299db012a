"""How the cost of a confined call grows with the size of arguments and results, the number of tools and concurrency."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from bench.harness import median, row
from pegboard import Pegboard

ROUNDS = 3
SIZES, TOOLS, AT_ONCE = (1, 100, 900), (1, 100), (1, 8, 50)
# Tools with the same libraries share only a zygote, not their code.
GIVE_BACK = "import numpy\n\ndef give_back(text: str):\n    return text\n"
_TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}

Work = Callable[[int], Awaitable[None]]


class _Case(NamedTuple):
    name: str
    kib: int = 1
    tools: int = 1
    at_once: int = 1


class _Seen(NamedTuple):
    rate: float
    p50: float


async def show(board: Pegboard, seconds: float) -> None:
    """Print a table with calls per second and latency for each kind."""
    await _add_tools(board)
    cases = [
        *(_Case(f"arguments and result of {kib} KiB", kib=kib) for kib in SIZES),
        *(_Case(f"tools that share libraries: {tools}", tools=tools) for tools in TOOLS),
        *(_Case(f"at once: {many}", at_once=many) for many in AT_ONCE),
    ]
    seen: dict[tuple[str, str], list[_Seen]] = {(case.name, kind): [] for case in cases for kind in ("python", "shell")}
    for turn in range(ROUNDS + 1):
        for case in cases:
            for kind in ("python", "shell"):
                measured = await _kept_busy(_work(board, kind, case), case.at_once, seconds / 2 if turn else 0.1)
                if turn:
                    seen[case.name, kind].append(measured)
    row("how cost grows", "python p50 ms", "calls/s", "shell p50 ms", "calls/s")
    for case in cases:
        cells = [
            text
            for kind in ("python", "shell")
            for text in (
                f"{median([each.p50 for each in seen[case.name, kind]]):.2f}",
                f"{median([each.rate for each in seen[case.name, kind]]):.0f}",
            )
        ]
        row(case.name, *cells)


async def _add_tools(board: Pegboard) -> None:
    kinds: dict[str, dict[str, Any]] = {
        "python": {"code": GIVE_BACK, "libraries": ["numpy"]},
        "shell": {"command": "cat"},
    }
    for kind, config in kinds.items():
        shared = {"tool_type": kind, "config": config, "input_schema": _TEXT, "read_only": True, "timeout": 60}
        for number in range(max(TOOLS)):
            await board.add({"name": f"{kind}_{number}", **shared})


def _work(board: Pegboard, kind: str, case: _Case) -> Work:
    text = "x" * (case.kib * 1024 - 16)

    async def call(number: int) -> None:
        result = await board.call(f"{kind}_{number % case.tools}", {"text": text})
        assert result.success, result.problem

    return call


async def _kept_busy(work: Work, at_once: int, seconds: float) -> _Seen:
    numbers = itertools.count()
    waits: list[float] = []
    begun = time.perf_counter()
    end = begun + seconds

    async def worker() -> None:
        while (before := time.perf_counter()) < end:
            await work(next(numbers))
            waits.append((time.perf_counter() - before) * 1000)

    await asyncio.gather(*(worker() for _ in range(at_once)))
    return _Seen(len(waits) / (time.perf_counter() - begun), median(waits))
