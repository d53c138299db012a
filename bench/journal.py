"""The journal with ten million rows: reading and writing must cost about the same as with an almost empty one."""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from bench.harness import median, row, runner
from pegboard.journal.entries import ClosingEntry, EntryBatch
from pegboard.journal.hash_chain import HashChain
from pegboard.journal.latency_counts import find_bucket
from pegboard.journal.sqlite_backend import SqliteBackend
from pegboard.journal.statistics import Statistics
from pegboard.journal.writer import JournalWriter
from pegboard.journal.writer_locks import MemoryLeases
from pegboard.model.call import Execution
from pegboard.model.filters import ExecutionFilter
from pegboard.model.ids import make_lowest_id, new_id
from pegboard.model.journal_row import serialize_execution
from pegboard.storage import execution_rows
from pegboard.storage.database import Database
from pegboard.storage.migrate import migrate

ROWS, QUICK_ROWS, FEW_ROWS = 10_000_000, 300_000, 1_000
TOOLS, CALLERS = 50, 100
SPAN = timedelta(days=30)
PAGE, ROUNDS = 50, 15
AT_ONCE = 250_000
# Rows that the writer has not added to the statistics yet, as after a few busy seconds.
UNCOUNTED = 500
# How much longer a page may take with a full journal, and the total time for the statistics of a day, which
# depends on the number of tools called per hour, not on the size of the journal.
MAX_MORE_MS, MAX_STATISTICS_MS = 10.0, 150.0
# About as many batches per round as the writer commits before it adds them to the statistics.
BATCH, BATCHES, WRITE_ROUNDS = 100, 20, 11
# The maximum cost of a row in a full journal, relative to an almost empty one.
MAX_TIMES = 1.5

Question = Callable[[Database, datetime], Awaitable[Any]]


# Deterministic pseudo-random values: each part of a row is computed from the number of the row.
_DRAWN = "((n * {factor} + {shift}) % 1000003) / 1000003.0"
_FILL = f"""
WITH RECURSIVE numbers(n) AS (SELECT :first UNION ALL SELECT n + 1 FROM numbers WHERE n < :last),
chance AS (
  SELECT n, :begin + n * :step AS ms, {_DRAWN.format(factor=7919, shift=13)} AS a,
    {_DRAWN.format(factor=104729, shift=101)} AS b, {_DRAWN.format(factor=1299709, shift=7)} AS c,
    {_DRAWN.format(factor=15485863, shift=31)} AS d FROM numbers
),
drawn AS (
  SELECT n, ms, CAST({TOOLS} * a * a AS INTEGER) AS tool, CAST({CALLERS} * b * b AS INTEGER) AS caller, c,
    round((1 + CAST({TOOLS} * a * a AS INTEGER)) * (0.2 + 0.02 / (1.0001 - d)), 3) AS elapsed,
    strftime('%Y-%m-%d %H:%M:%f', ms / 1000.0, 'unixepoch') || '000' AS at FROM chance
)
INSERT INTO executions (id, tool_name, status, started_at, finished_at, elapsed_ms, caller_id, caller, surface, dialect,
  attempts, tool_id, tool_version, kind, request_id, code, error, arguments_digest, writer, seq, mac)
SELECT printf('%012x7%03x8%015x', CAST(ms AS INTEGER), n % 4096, n), 'tool_' || tool,
  CASE WHEN c < 0.98 THEN 'succeeded' WHEN c < 0.99 THEN 'failed' WHEN c < 0.9999 THEN 'refused' ELSE 'in_doubt' END,
  at, at, elapsed, printf('00000000-0000-7000-8000-%012d', caller), 'user ' || caller, 'rest', 'plain', 1,
  printf('00000000-0000-7000-9000-%012d', tool), 1, 'http', printf('request-%032d', n),
  CASE WHEN c < 0.98 THEN NULL WHEN c < 0.985 THEN 'timeout' WHEN c < 0.99 THEN 'execution_failed'
    WHEN c < 0.995 THEN 'rate_limited' WHEN c < 0.9999 THEN 'invalid_type' ELSE 'in_doubt' END,
  CASE WHEN c < 0.98 THEN NULL ELSE 'It did not go as it should have gone' END, printf('%064x', n), 1, n,
  printf('%032x', n)
FROM drawn
"""
_COUNT = """
INSERT INTO execution_counts (hour, tool_name, caller_id, status, code, bucket, calls)
SELECT CAST(strftime('%s', started_at) AS INTEGER) / 3600, tool_name, {whose}, status, coalesce(code, ''),
  bucket_of(elapsed_ms), count(*)
FROM executions WHERE writer = 1 AND seq BETWEEN :first AND :last GROUP BY 1, 2, 3, 4, 5, 6
ON CONFLICT DO UPDATE SET calls = execution_counts.calls + excluded.calls
"""
_WRITER = """
INSERT INTO writers (number, id, host, pid, started_at, beat, seq, mac, signature, pruned_seq, pruned_mac,
  pruned_signature, counted_seq) VALUES (1, ?, 'bench', 1, '2026-01-01 00:00:00.000000', 0, ?, '', '', 0, '', '', ?)
"""


def main(seconds: float = 2.0) -> bool:
    """Print every comparison; return True if every aim is met."""
    rows = ROWS if seconds >= 1 else QUICK_ROWS
    print(f"\nThe journal: {rows:,} rows against {FEW_ROWS:,} (SQLite, interleaved, median of rounds)")
    with tempfile.TemporaryDirectory() as folder, runner() as loop:
        begun = time.perf_counter()
        now = datetime.now(UTC)
        few, many = (loop.run(fill_journal(Path(folder) / f"{size}.db", size, now)) for size in (FEW_ROWS, rows))
        size = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e9
        print(f"  filled in {time.perf_counter() - begun:.0f} s, {size:.1f} GB")
        try:
            loop.run(few.ping())
            loop.run(many.ping())
            return all([loop.run(reading(few, many, now)), loop.run(writing(few, many))])
        finally:
            loop.run(few.close())
            loop.run(many.close())


async def reading(few: Database, many: Database, now: datetime) -> bool:
    """Print the time of queries on a full and an almost empty journal; return True if the aim is met."""
    row("reading", "few rows ms", "many rows ms", "first time ms")
    slow = []
    for name, question in _questions().items():
        small = [await _time(few, question, now)]
        large = [await _time(many, question, now)]
        for _ in range(ROUNDS):
            small.append(await _time(few, question, now))
            large.append(await _time(many, question, now))
        took = median(large[1:])
        row(name, f"{median(small[1:]):.1f}", f"{took:.1f}", f"{large[0]:.1f}")
        if took > (MAX_STATISTICS_MS if name.startswith("statistics") else median(small[1:]) + MAX_MORE_MS):
            slow.append(name)
    print(
        f"  aim: a page within {MAX_MORE_MS:.0f} ms of the small one, statistics under {MAX_STATISTICS_MS:.0f} ms: "
        f"{'met' if not slow else 'MISSED by ' + ', '.join(slow)}"
    )
    return not slow


def _questions() -> dict[str, Question]:
    tool, caller = "tool_3", f"00000000-0000-7000-8000-{7:012}"
    middle = {"since": SPAN / 2, "until": SPAN / 3}
    pages: dict[str, dict[str, Any]] = {
        "first page": {},
        "a tool": {"tool": tool},
        "a caller": {"caller_id": caller},
        "a tool and a caller": {"tool": tool, "caller_id": caller},
        "status failed": {"status": "failed"},
        "status in_doubt, which is rare": {"status": "in_doubt"},
        "a code": {"code": "timeout"},
        "a tool by its id": {"tool": tool, "tool_id": f"00000000-0000-7000-9000-{3:012}"},
        "a caller's failed calls": {"caller_id": caller, "status": "failed"},
        "a tool's calls in_doubt": {"tool": tool, "status": "in_doubt"},
        "a span in the middle": middle,
        "a tool in that span": {"tool": tool, **middle},
        "a caller's code in that span": {"caller_id": caller, "code": "rate_limited", **middle},
    }
    questions: dict[str, Question] = {name: partial(_page, **wanted) for name, wanted in pages.items()}
    questions["a page far back"] = partial(_page, before=SPAN * 0.9)
    questions["a tool's page far back"] = partial(_page, before=SPAN * 0.9, tool=tool)
    questions["statistics of a day"] = partial(_statistics)
    questions["statistics of a day, one tool"] = partial(_statistics, tool_name=tool)
    questions["statistics of a day, one caller"] = partial(_statistics, caller_id=caller)
    return questions


async def _page(database: Database, now: datetime, *, before: timedelta | None = None, **wanted: Any) -> None:
    """Read a page; timedelta values are relative to now."""
    found: dict[str, Any] = {
        name: now - value if isinstance(value, timedelta) else value for name, value in wanted.items()
    }
    place = make_lowest_id(now - before) if before is not None else None
    async with database.read() as conn:
        await execution_rows.list_executions(conn, ExecutionFilter(**found), before=place, limit=PAGE + 1)


async def _statistics(database: Database, now: datetime, **wanted: Any) -> None:
    await Statistics(database).read(until=now, **wanted)


async def _time(database: Database, question: Question, now: datetime) -> float:
    begun = time.perf_counter()
    await question(database, now)
    return (time.perf_counter() - begun) * 1000


class _Cost(NamedTuple):
    cpu: float
    wall: float


async def writing(few: Database, many: Database) -> bool:
    """Print the cost of a row in a full and an almost empty journal; return True if the aim is met."""
    writers = [
        JournalWriter(SqliteBackend(each), HashChain(bytes(32)), MemoryLeases(), _unsealed, **_ALONE)
        for each in (few, many)
    ]
    taken: list[list[_Cost]] = [[], []]
    for turn in range(1 + WRITE_ROUNDS):
        batches = [_batch(turn * BATCHES + number) for number in range(BATCHES)]
        for place in (0, 1) if turn % 2 else (1, 0):
            taken[place].append(await _cost(writers[place], batches))
    for writer in writers:
        await writer.close()
    print(f"  batches of {BATCH} rows over {TOOLS} tools and {CALLERS} callers, {WRITE_ROUNDS} rounds of {BATCHES}")
    row("writing, a row", "few rows µs", "many rows µs", "times", "first µs")
    met = True
    for name in _Cost._fields:
        (_, *small), (first, *large) = ([getattr(cost, name) for cost in costs] for costs in taken)
        times = median(large) / median(small)
        met = met and times <= MAX_TIMES
        row(name, f"{median(small):.1f}", f"{median(large):.1f}", f"{times:.2f}", f"{first:.1f}")
    print(f"  aim: a row costs at most {MAX_TIMES} times what it does with few: {'met' if met else 'MISSED'}")
    return met


_ALONE: dict[str, Any] = {"spools": None, "is_shared": False}


def _unsealed(_answer: bytes, _run_id: str) -> str | None:
    return None


async def _cost(writer: JournalWriter, batches: list[EntryBatch]) -> _Cost:
    cpu, wall = time.process_time(), time.perf_counter()
    for batch in batches:
        await writer.commit(batch)
    rows = len(batches) * BATCH / 1e6
    return _Cost((time.process_time() - cpu) / rows, (time.perf_counter() - wall) / rows)


def _batch(number: int) -> EntryBatch:
    """Return calls like those that fill the journal, with the current time."""
    return EntryBatch([], [ClosingEntry(serialize_execution(_call(number * BATCH + place))) for place in range(BATCH)])


def _call(number: int) -> Execution:
    draw = random.Random(number).random  # the same in every run
    tool, caller = int(TOOLS * draw() ** 2), int(CALLERS * draw() ** 2)
    is_well, now = draw() < 0.98, datetime.now(UTC)
    return Execution(
        id=new_id(),
        tool_name=f"tool_{tool}",
        status="succeeded" if is_well else "failed",
        started_at=now,
        finished_at=now,
        elapsed_ms=round((1 + tool) * (0.2 + 0.02 / (1.0001 - draw())), 3),
        caller_id=f"00000000-0000-7000-8000-{caller:012}",
        caller=f"user {caller}",
        surface="rest",
        dialect="plain",
        attempts=1,
        tool_id=f"00000000-0000-7000-9000-{tool:012}",
        tool_version=1,
        kind="http",
        request_id=f"request-{number:032}",
        code=None if is_well else "timeout",
        error=None if is_well else "It did not go as it should have gone",
        arguments_digest=f"{number:064x}",
    )


async def fill_journal(path: Path, rows: int, now: datetime) -> Database:
    """Create a journal with this many calls, spread evenly over the last month."""
    url = f"sqlite:///{path}"
    empty = Database.create(url)
    await migrate(empty)
    await empty.close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.create_function("bucket_of", 1, find_bucket, deterministic=True)
    # No durability is needed: the file is deleted after the benchmark.
    for pragma in ("synchronous = OFF", "journal_mode = OFF", "cache_size = -1000000"):
        connection.execute(f"PRAGMA {pragma}")
    month = SPAN / timedelta(milliseconds=1)
    begin, step, counted = now.timestamp() * 1000 - month, month / rows, rows - UNCOUNTED
    for first in range(1, rows + 1, AT_ONCE):
        last = min(first + AT_ONCE - 1, rows)
        connection.execute("BEGIN")
        connection.execute(_FILL, {"first": first, "last": last, "begin": begin, "step": step})
        for whose in ("caller_id", "''"):
            connection.execute(_COUNT.format(whose=whose), {"first": first, "last": min(last, counted)})
        connection.execute("COMMIT")
    connection.execute(_WRITER, (new_id().replace("-", ""), rows, counted))
    connection.execute("UPDATE board_state SET writers = 1")
    connection.close()
    return Database.create(url)
