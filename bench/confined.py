"""Confined code and commands: the cost of confinement, and its effect on other calls, in interleaved rounds.

Every call goes through the board and its row is committed (SQLite). Three aims:

1. A python tool computes an RSI of 500 prices with pandas. The median of back-to-back calls is compared with the time
   that a new interpreter takes to import pandas. For information: the same with a pause before each call, in which
   the board prepares the next process, the very first call, and the same function called in this process.
2. A shell tool runs `true`, interleaved with the same command started by asyncio, unconfined.
3. A builtin `echo` is called at a steady rate, alone and beside 50 confined calls: five callers with ten running calls
   each, alternately python and shell tools. This is measured with calls that end at once, which start the most
   processes per second, and with calls that compute. Requests are sent by a separate process and timed from when they
   are sent, so the time in which the board is busy is included. Phases with and without the other calls have the same
   rate and length, 1,500 calls each, so that fifteen are slower than the p99; their order alternates from round to
   round, and the median p99 of each is compared.

The board has its default settings: of the 50 calls, PEGBOARD_SANDBOX_CHILDREN (the number of processors plus two) run
at once, and the others wait.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from bench import confined_growth
from bench.harness import median, row, runner
from bench.pacer import paced
from bench.servers import BODY, ECHO
from pegboard import Pegboard
from pegboard.model.call import Caller
from pegboard.surfaces.rest.server import tune_garbage_collector
from pegboard.testing import NoSettings, member

ROUNDS = 5
AIM_TIMES, AIM_MORE_MS, AIM_P99_TIMES = 20.0, 15.0, 3.0
CALLERS, CALLS_EACH = 5, 10
ECHOES_A_SECOND = 250
PAUSE = 0.1
# Phases of the third part are this many times longer, and the first half second is not measured.
PHASE, BEGINNING = 3.0, 0.5

RSI = """\
import pandas

def rsi(prices: list[float], period: int = 14):
    change = pandas.Series(prices).diff()
    gain = change.clip(lower=0).rolling(period).mean()
    loss = -change.clip(upper=0).rolling(period).mean()
    return float((100 - 100 / (1 + gain / loss)).iloc[-1])
"""
COMPUTE = """\
def compute(steps: int):
    total = 0
    for step in range(steps):
        total += step * step
    return total
"""
PRICES = [100 + 10 * math.sin(day / 9) + day % 7 for day in range(500)]
_NONE: dict[str, Any] = {"type": "object", "properties": {}}

Work = Callable[[], Awaitable[None]]


def main(seconds: float = 2.0) -> bool:
    """Print the comparisons and the growth of cost; return True if the aims are met."""
    with runner() as loop:
        return loop.run(_measured(seconds))


async def _measured(seconds: float) -> bool:
    async with AsyncExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory())
        settings = NoSettings(home=Path(home), log_level="error")
        board = await stack.enter_async_context(Pegboard.open(settings=settings))
        await _add_tools(board)
        tune_garbage_collector()  # as the server does; again after pandas is loaded
        print("\nCode and commands, confined, row committed (SQLite) (interleaved, median of rounds)")
        met = [await part(board, seconds) for part in (_shell, _python, _beside)]
        await confined_growth.show(board, seconds)
    return all(met)


async def _add_tools(board: Pegboard) -> None:
    # A long timeout: on a busy machine calls wait in the queue, and must still be counted.
    shared = {"is_public": True, "read_only": True, "timeout": 60}
    codes = {"rsi": (RSI, ["pandas"]), "compute": (COMPUTE, [])}
    for name, (code, libraries) in codes.items():
        config = {"code": code, "libraries": libraries}
        await board.add({"name": name, "tool_type": "python", "config": config, **shared})
    commands = {"run_true": "true", "compute_in_shell": "dd if=/dev/urandom of=/dev/null bs=64K count=200 status=none"}
    for name, command in commands.items():
        config = {"command": command}
        await board.add({"name": name, "tool_type": "shell", "config": config, "input_schema": _NONE, **shared})
    await board.add(ECHO)


def _call(board: Pegboard, name: str, arguments: dict[str, Any], caller: Caller | None = None) -> Work:
    async def call() -> None:
        result = await board.call(name, arguments, caller=caller)
        assert result.success, result.problem

    return call


def _command(*command: str) -> Work:
    async def run() -> None:
        process = await asyncio.create_subprocess_exec(*command)
        assert await process.wait() == 0

    return run


async def _took(work: Work, *, pause: float = 0) -> float:
    if pause:
        await asyncio.sleep(pause)
    begun = time.perf_counter()
    await work()
    return (time.perf_counter() - begun) * 1000


async def _shell(board: Pegboard, seconds: float) -> bool:
    bare, confined = _command("true"), _call(board, "run_true", {})
    await confined()
    p50s: list[list[float]] = [[], []]
    for _ in range(ROUNDS):
        # Interleaved, so that other load on the machine affects both.
        pairs = [(await _took(bare), await _took(confined)) for _ in range(round(50 * seconds))]
        for kept, taken in zip(p50s, zip(*pairs, strict=True), strict=True):
            kept.append(median(list(taken)))
    without, with_it = map(median, p50s)
    row("shell: true", "p50 ms", "more ms")
    row("unconfined, started by asyncio", f"{without:.2f}", "")
    more = with_it - without
    row("pegboard, confined", f"{with_it:.2f}", f"{more:.2f}")
    return _report_aim(f"confined within {AIM_MORE_MS:g} ms of unconfined", more <= AIM_MORE_MS, more)


async def _python(board: Pegboard, seconds: float) -> bool:
    arguments = {"prices": PRICES}
    warm, cold = _call(board, "rsi", arguments), _command(sys.executable, "-c", "import pandas")
    names: dict[str, Any] = {}
    exec(RSI, names)
    tune_garbage_collector()

    async def here() -> None:
        names["rsi"](**arguments)

    begun = await _took(warm)
    many = round(10 * seconds)
    p50s: dict[str, list[float]] = {"cold": [], "warm": [], "paused": [], "here": []}
    # Short rounds, so that a temporary slowdown of the machine affects all equally.
    for _ in range(5 * ROUNDS):
        p50s["cold"].append(await _took(cold))
        p50s["warm"].append(median([await _took(warm) for _ in range(many)]))
        p50s["paused"].append(median([await _took(warm, pause=PAUSE) for _ in range(many // 5)]))
        p50s["here"].append(median([await _took(here) for _ in range(many)]))
    before, now = median(p50s["cold"]), median(p50s["warm"])
    row("python: an RSI of 500 prices", "p50 ms", "times faster")
    for label, took in (
        ('python -c "import pandas"', before),
        ("pegboard, warm, one upon the other", now),
        ("pegboard, warm, after a pause", median(p50s["paused"])),
        ("pegboard, the first call", begun),
        ("the same function in this process", median(p50s["here"])),
    ):
        row(label, f"{took:.2f}", f"{before / took:.1f}")
    what = f"warm at least {AIM_TIMES:g} times faster than a cold import"
    return _report_aim(what, before / now >= AIM_TIMES, before / now)


async def _beside(board: Pegboard, seconds: float) -> bool:
    echo = _call(board, "bench_echo", orjson.loads(BODY))
    callers = [await member(board, f"caller {number}") for number in range(CALLERS)]
    loads: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
        "alone": (),
        "beside 50 short calls": (("rsi", {"prices": PRICES}), ("run_true", {})),
        "beside 50 that compute": (("compute", {"steps": 500_000}), ("compute_in_shell", {})),
    }
    seen: dict[str, list[tuple[float, float, float]]] = {name: [] for name in loads}
    for turn in range(ROUNDS):
        for name in sorted(loads, reverse=bool(turn % 2)):
            async with _load(board, callers, loads[name]) as ended:
                await asyncio.sleep(BEGINNING)
                before, begun = len(ended), time.perf_counter()
                took = await paced(echo, ECHOES_A_SECOND, PHASE * seconds)
                rate = (len(ended) - before) / (time.perf_counter() - begun)
            cuts = statistics.quantiles(took, n=100)
            seen[name].append((cuts[49], cuts[98], rate))
    row(f"builtin echo, {ECHOES_A_SECOND} a second", "p50 ms", "p99 ms", "p99 times", "confined/s")
    p99s: dict[str, float] = {}
    for name, phases in seen.items():
        p50, p99s[name], rate = (median(list(values)) for values in zip(*phases, strict=True))
        row(name, f"{p50:.2f}", f"{p99s[name]:.2f}", f"{p99s[name] / p99s['alone']:.2f}", f"{rate:.0f}")
    worst = max(p99s.values()) / p99s["alone"]
    return _report_aim(f"echo's p99 within {AIM_P99_TIMES:g} times", worst <= AIM_P99_TIMES, worst)


@asynccontextmanager
async def _load(
    board: Pegboard, callers: list[Caller], tools: tuple[tuple[str, dict[str, Any]], ...]
) -> AsyncIterator[list[None]]:
    """Keep calls of these tools running, the same number per caller; yield a list with an entry for each that ended."""
    ended: list[None] = []
    is_over = False

    async def keep_calling(work: Work) -> None:
        while not is_over:
            await work()
            ended.append(None)

    kinds = itertools.cycle(tools)
    works = [_call(board, *next(kinds), caller) for caller in callers * CALLS_EACH] if tools else []
    async with asyncio.TaskGroup() as group:
        for work in works:
            group.create_task(keep_calling(work))
        yield ended
        is_over = True


def _report_aim(what: str, met: bool, seen: float) -> bool:
    print(f"  aim: {what}: {'met' if met else 'MISSED'} ({seen:.2f})")
    return met
