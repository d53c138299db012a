"""Table tools: 100 concurrent clients insert a validated row into PostgreSQL, compared with other programs.

The server has its default settings, so acknowledged rows are on disk. Each contender inserts the same row into its own
table, in turns; before each turn the table is emptied and a checkpoint made, and afterwards its rows are counted.
pgbench is the upper limit: it uses only the database, and its clients do nothing else. Pegboard adds HTTP, the key,
validation, the intent before the insert and the row in the journal after it.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import asyncpg

from bench import table_growth, table_validation
from bench.harness import Running, median, row, runner, server
from bench.load import Measured, put_load, request
from bench.postgresql import Ordinary, ordinary_postgres
from bench.servers import KEY
from bench.table_by_hand import TABLE as BY_HAND
from bench.table_peers import BODY, CLIENTS, board, make_table, pgbench, pooled, toolbox, toolbox_program

ROUNDS = 5
WARMING = 0.5
AIM = 0.6
MEASURED, BOARD = "measured", "board"
POOLS = (10, 100)
# The requirements of seed 000, in milliseconds.
SEED_VALIDATION, SEED_INSERT, SEED_TOTAL = 10.0, 50.0, 200.0


@dataclass(frozen=True, slots=True)
class Contender:
    """One program that inserts rows, and its results."""

    label: str
    database: str
    table: str
    run: Callable[[float], Measured]
    # The process that receives HTTP load, if there is one.
    target: Running | None = None
    seen: list[Measured] = field(default_factory=list)
    # CPU time of the target, in microseconds per insert.
    cpu: list[float] = field(default_factory=list)
    # The share of a core that the load generator used; near 1, it would be the bottleneck.
    load: list[float] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Inserts per second."""
        return median([run.rate for run in self.seen])

    @property
    def faults(self) -> int:
        """Inserts that were refused, and rows that were acknowledged but are missing."""
        return sum(run.failures for run in self.seen) + sum(self.lost)

    def percentile(self, share: float) -> float:
        """Return the latency percentile of inserts in milliseconds."""
        return median([run.percentile(share) for run in self.seen])

    def take_turn(self, postgres: Ordinary, seconds: float) -> None:
        """Empty the table and insert for this long."""
        postgres.ask(self.database, f"TRUNCATE {self.table}", "CHECKPOINT")
        load, cpu = time.process_time(), self.target.cpu_seconds if self.target else 0
        seen = self.run(seconds)
        self.seen.append(seen)
        if self.target:
            self.load.append((time.process_time() - load) / seen.seconds)
            self.cpu.append((self.target.cpu_seconds - cpu) / seen.calls * 1e6)
        stored = int(postgres.ask(self.database, f"SELECT count(*) FROM {self.table}"))
        self.lost.append(max(0, seen.calls - seen.failures - stored))

    def forget(self) -> None:
        """Discard the results so far."""
        for kept in (self.seen, self.cpu, self.load, self.lost):
            kept.clear()


@dataclass(frozen=True, slots=True)
class Ground:
    """The environment of the comparison; creates a table for each contender."""

    postgres: Ordinary
    folder: Path
    loop: asyncio.Runner
    stack: ExitStack

    def table(self, database: str, name: str) -> str:
        """Create a table and return its name."""
        self.postgres.ask(database, make_table(name))
        return name

    def over_http(
        self, target: Running, path: str, expect: bytes, key: str | None = None, clients: int = CLIENTS
    ) -> Callable[[float], Measured]:
        """Return a function that posts the row to this path from all clients for a number of seconds."""
        load = partial(put_load, target.port, request(path, BODY, key), expect=expect, connections=clients)
        return lambda seconds: self.loop.run(load(seconds=seconds))


def main(seconds: float = 2.0) -> bool:
    """Print inserts per second, validation, the numbers of seed 000 and growth; return True if the aims are met."""
    print(f"\nTable tools: a row into PostgreSQL, {CLIENTS} clients (interleaved, median of rounds)")
    with ordinary_postgres() as postgres, tempfile.TemporaryDirectory() as name, runner() as loop:
        folder = Path(name)
        postgres.ask("postgres", f"CREATE DATABASE {MEASURED}", f"CREATE DATABASE {BOARD}")
        with ExitStack() as stack:
            ground = Ground(postgres, folder, loop, stack)
            limit, ours, alone, peers = _limit(ground), *_ours(ground), _peers(ground)
            for turn in range(1 + ROUNDS):
                for one in (limit, *ours, alone, *peers):
                    one.take_turn(postgres, seconds if turn else WARMING)
                    if turn == 0:
                        one.forget()
        met = [_compared(limit, ours, peers)]
        microseconds, is_quick = table_validation.show()
        met += [is_quick, _seed(microseconds / 1000, ours[0], alone)]
        met.append(table_growth.show(postgres, MEASURED, folder, loop, seconds))
    return all(met)


def _limit(ground: Ground) -> Contender:
    table = ground.table(MEASURED, "by_pgbench")
    return Contender("pgbench, prepared", MEASURED, table, pgbench(ground.postgres, MEASURED, table, ground.folder))


def _ours(ground: Ground) -> tuple[list[Contender], Contender]:
    """Return boards with 100 clients each, and the first of them with one client."""
    own = ground.postgres.url(BOARD, "+asyncpg")
    table, other = ground.table(BOARD, "in_its_own"), ground.table(MEASURED, "in_another")
    first = ground.stack.enter_context(board(ground.folder / "postgresql", [table], own=own, database=None))
    measured = ground.postgres.url(MEASURED)
    second = ground.stack.enter_context(board(ground.folder / "sqlite", [other], own=None, database=measured))
    expect = b'"rowCount":1'
    path, other_path = (f"/v1/tools/{name}/call" for name in (table, other))
    boards = [
        Contender("pegboard, all in PostgreSQL", BOARD, table, ground.over_http(first, path, expect, KEY), first),
        Contender(
            "pegboard, journal in SQLite", MEASURED, other, ground.over_http(second, other_path, expect, KEY), second
        ),
    ]
    return boards, Contender("alone", BOARD, table, ground.over_http(first, path, expect, KEY, clients=1))


def _peers(ground: Ground) -> list[Contender]:
    peers = []
    for size in POOLS:
        table = ground.table(MEASURED, f"by_pool_{size}")
        pool = ground.loop.run(_opened(ground.postgres.url(MEASURED), size))
        ground.stack.callback(pool.terminate)
        peers.append(Contender(f"asyncpg, pool of {size}", MEASURED, table, _inserting(ground, pool, table)))
    program = toolbox_program()
    if program is not None:
        table = ground.table(MEASURED, "by_toolbox")
        go = ground.stack.enter_context(toolbox(program, ground.folder / "go", ground.postgres, MEASURED, table))
        run = ground.over_http(go, f"/api/tool/{table}/invoke", b'\\"id\\":')
        peers.append(Contender("genai-toolbox", MEASURED, table, run, go))
    table = ground.table(MEASURED, BY_HAND)
    url = ground.postgres.url(MEASURED, "+asyncpg")
    written = ground.stack.enter_context(server("by-hand", BENCH_DATABASE_URL=url))
    run = ground.over_http(written, "/rows", b'"rowCount":1')
    peers.append(Contender("FastAPI, SQLAlchemy, by hand", MEASURED, table, run, written))
    return peers


async def _opened(url: str, size: int) -> asyncpg.Pool:
    return await asyncpg.create_pool(url, min_size=size, max_size=size)


def _inserting(ground: Ground, pool: asyncpg.Pool, table: str) -> Callable[[float], Measured]:
    return lambda seconds: ground.loop.run(pooled(pool, table, seconds))


def _compared(limit: Contender, ours: list[Contender], peers: list[Contender]) -> bool:
    row("", "inserts/s", "ratio", "p50 ms", "p99 ms", "faults", "CPU µs", "load's core")
    for one in (limit, *ours, *peers):
        row(
            one.label,
            f"{one.rate:,.0f}",
            f"{one.rate / limit.rate:.2f}",
            f"{one.percentile(0.5):.2f}",
            f"{one.percentile(0.99):.2f}",
            one.faults,
            *((f"{median(one.cpu):.0f}", f"{median(one.load):.0%}") if one.target else ()),
        )
    if toolbox_program() is None:
        row("genai-toolbox", "not installed: its package has no program for this machine")
    best = max(peers, key=lambda peer: peer.rate)
    met = not any(one.faults for one in (limit, *ours, *peers))
    for one in ours:
        ratio, ahead = one.rate / limit.rate, one.rate / best.rate
        good = ratio >= AIM and ahead > 1
        met = met and good
        print(
            f"  aim: {one.label}: at least {AIM} of pgbench ({ratio:.2f}), ahead of the others "
            f"({ahead:.2f} times {best.label}): {'met' if good else 'MISSED'}"
        )
    return met


def _seed(validation: float, callers: Contender, alone: Contender) -> bool:
    """Compare the p99 with the requirements of seed 000; a whole call of a single client stands for the insert."""
    insert, total = alone.percentile(0.99), callers.percentile(0.99)
    row("seed 000", "validation", "insert", "total", "at once", "failed")
    row("asked for", *(f"< {most:g} ms" for most in (SEED_VALIDATION, SEED_INSERT, SEED_TOTAL)), "100", "0")
    row("seen", f"{validation:.3f} ms", f"{insert:.1f} ms", f"{total:.1f} ms", CLIENTS, callers.faults)
    met = validation < SEED_VALIDATION and insert < SEED_INSERT and total < SEED_TOTAL and not callers.faults
    print(f"  aim: seed 000's own numbers: {'met' if met else 'MISSED'}")
    return met
