"""The cost of 1,000 table tools for a call, the start-up and the memory."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bench.harness import median, row
from bench.load import put_load, request
from bench.postgresql import Ordinary
from bench.servers import KEY
from bench.table_peers import BODY, CLIENTS, board, make_table

ROUNDS = 5
TABLES = 1000
MIN_RATIO = 0.9


def show(postgres: Ordinary, database: str, folder: Path, loop: asyncio.Runner, seconds: float) -> bool:
    """Print the comparison; return True if a call costs the same."""
    names = [f"table_{number}" for number in range(TABLES)]
    postgres.ask(database, "BEGIN", *map(make_table, names), "COMMIT")
    call = request(f"/v1/tools/{names[0]}/call", BODY, KEY)
    url = postgres.url(database)
    rates: dict[str, list[float]] = {"one": [], "many": []}
    failures = 0
    with (
        board(folder / "one", names[:1], own=None, database=url) as one,
        board(folder / "many", names, own=None, database=url) as many,
    ):
        for turn in range(1 + ROUNDS):
            for name, target in (("one", one), ("many", many)):
                postgres.ask(database, f"TRUNCATE {names[0]}", "CHECKPOINT")
                load = put_load(
                    target.port, call, expect=b'"rowCount":1', connections=CLIENTS, seconds=seconds if turn else 0.5
                )
                run = loop.run(load)
                failures += run.failures
                if turn:
                    rates[name].append(run.rate)
        row("tools, journal in SQLite", "inserts/s", "start s", "memory MB")
        for label, name, target in (("1 table", "one", one), (f"{TABLES:,} tables", "many", many)):
            row(label, f"{median(rates[name]):,.0f}", f"{target.start_seconds:.2f}", f"{target.memory_mb:.0f}")
    ratio = median(rates["many"]) / median(rates["one"])
    good = ratio >= MIN_RATIO and not failures
    print(f"  aim: a call costs the same (ratio {ratio:.2f} ≥ {MIN_RATIO}): {'met' if good else 'MISSED'}")
    return good
