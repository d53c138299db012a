"""Growth: the cost of 10,000 registered tools for a call, the start-up and the memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.harness import median, row, runner, server
from bench.load import put_load, request
from bench.servers import BODY, KEY

ROUNDS = 5
TOOLS = 10_000
MAX_START, MAX_MEMORY, MIN_RATIO = 5.0, 300.0, 0.9


def main(seconds: float = 2.0) -> bool:
    """Print the comparison; return True if every aim is met."""
    print(f"\nGrowth: {TOOLS:,} tools against 10 (interleaved, median of rounds)")
    call = request("/v1/tools/tool_7/call", BODY, KEY)
    with tempfile.TemporaryDirectory() as folder:
        many = Path(folder) / "many"
        with server("unrecorded", home=many, BENCH_TOOLS=str(TOOLS)):
            pass  # registers the tools, so that the next start is an ordinary one
        rates: dict[str, list[float]] = {"few": [], "many": []}
        with (
            server("unrecorded", BENCH_TOOLS="10") as few,
            server("unrecorded", home=many, BENCH_TOOLS="0") as full,
            runner() as loop,
        ):
            for _ in range(ROUNDS):
                for name, target in (("few", few), ("many", full)):
                    run = loop.run(put_load(target.port, call, expect=b'"echo"', seconds=seconds))
                    rates[name].append(run.rate)
            memory = full.memory_mb
            row("", "calls/s", "start s", "memory MB")
            row("10 tools", f"{median(rates['few']):,.0f}", f"{few.start_seconds:.2f}", f"{few.memory_mb:.0f}")
            row(f"{TOOLS:,} tools", f"{median(rates['many']):,.0f}", f"{full.start_seconds:.2f}", f"{memory:.0f}")
    ratio = median(rates["many"]) / median(rates["few"])
    good = ratio >= MIN_RATIO and full.start_seconds < MAX_START and memory < MAX_MEMORY
    print(
        f"  aim: a call costs the same (ratio {ratio:.2f} ≥ {MIN_RATIO}), start under {MAX_START:.0f} s, "
        f"memory under {MAX_MEMORY:.0f} MB: {'met' if good else 'MISSED'}"
    )
    return good
