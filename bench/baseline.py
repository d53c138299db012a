"""The baseline: look up 10,000 hashes among a million, and record 100,000 findings, compared with plain SQL.

Plain SQL is hand-written code for the same table with the database's own driver: one statement for the lookup, one
upsert in one transaction for the recording, without validation. Pegboard additionally validates every hash and id,
handles duplicates, and for a call also validates the arguments and the output and writes a row to the journal. Turns
are interleaved; memory is the maximum growth of the process during lookup or recording.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg

from bench.harness import median, row, runner
from bench.postgresql import ordinary_postgres
from pegboard import Pegboard
from pegboard.testing import NoSettings

ROWS, ASKED, RECORDED = 1_000_000, 10_000, 100_000
ROUNDS = 5
AIM = 2.0
# The memory limit for lookup and recording, independent of the size of the baseline.
MOST_MB = 300
NOW = datetime(2026, 1, 1, tzinfo=UTC)

_LOOK_UP = "SELECT composite_hash, first_seen_at, seen_count, resolved_at FROM findings WHERE owner_id = "
_UPSERT = (
    "INSERT INTO findings AS f (owner_id, composite_hash, finding_id, seen_count, first_seen_at, last_seen_at) {} "
    "ON CONFLICT (owner_id, composite_hash) DO UPDATE SET seen_count = f.seen_count + 1, "
    "last_seen_at = excluded.last_seen_at, resolved_at = NULL"
)
_UNNEST = "SELECT $1::uuid, * FROM unnest($2::text[], $3::text[], $4::bigint[], $5::timestamptz[], $6::timestamptz[])"

Work = Callable[[Sequence[str]], Awaitable[object]]


class PlainSqlite:
    """Hand-written SQL with the standard library."""

    def __init__(self, board: Pegboard) -> None:
        self._connection: sqlite3.Connection = board.database.connect_sqlite()
        self._owner = board.admin.user_id.replace("-", "")

    async def fill(self, rows: int) -> None:
        """Insert this many findings into the table."""
        self._connection.create_function("hashed", 1, hashed, deterministic=True)
        self._connection.execute(
            "INSERT INTO findings SELECT ?, hashed(value), 'f-' || value, 1, ?, ?, NULL FROM "
            "(WITH RECURSIVE n(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n LIMIT ?) SELECT value FROM n) "
            "ORDER BY 2",
            (self._owner, *2 * ("2026-01-01 00:00:00.000000",), rows),
        )

    async def look_up(self, hashes: Sequence[str]) -> None:
        """Look up the hashes with one statement."""
        among = ",".join("?" * len(hashes))
        statement = f"{_LOOK_UP} ? AND composite_hash IN ({among})"
        await asyncio.to_thread(lambda: self._connection.execute(statement, (self._owner, *hashes)).fetchall())

    async def record(self, hashes: Sequence[str]) -> None:
        """Run the upsert with executemany in one transaction."""
        await asyncio.to_thread(self._record, hashes)

    def _record(self, hashes: Sequence[str]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        at = "2026-01-02 00:00:00.000000"
        rows = [(self._owner, one, "f-0", 1, at, at) for one in sorted(hashes)]
        self._connection.executemany(_UPSERT.format("VALUES (?, ?, ?, ?, ?, ?)"), rows)
        self._connection.execute("COMMIT")

    async def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class PlainPostgresql:
    """Hand-written SQL with asyncpg."""

    def __init__(self, connection: asyncpg.Connection, owner: str) -> None:
        self._connection = connection
        self._owner = owner

    async def fill(self, rows: int) -> None:
        """Insert this many findings into the table."""
        await self._connection.execute(
            "INSERT INTO findings SELECT $1, encode(sha256(i::text::bytea), 'hex'), 'f-' || i, 1, $2, $2, NULL "
            "FROM generate_series(0, $3 - 1) AS i ORDER BY 2",
            *(self._owner, NOW, rows),
            timeout=600,
        )
        await self._connection.execute("ANALYZE findings")

    async def look_up(self, hashes: Sequence[str]) -> None:
        """Look up the hashes with one statement."""
        await self._connection.fetch(f"{_LOOK_UP} $1 AND composite_hash = ANY($2)", self._owner, hashes)

    async def record(self, hashes: Sequence[str]) -> None:
        """Record the findings with one statement."""
        count = len(hashes)
        columns = (sorted(hashes), ["f-0"] * count, [1] * count, [NOW] * count, [NOW] * count)
        await self._connection.execute(_UPSERT.format(_UNNEST), self._owner, *columns, timeout=600)

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()


def main(seconds: float = 2.0) -> bool:
    """Print lookups and recordings as ratios to plain SQL, and memory; return True if the aims are met."""
    share = 1 if seconds >= 2 else 10
    print(f"\nBaseline: {ROWS // share:,} findings, next to plain SQL (interleaved, median of rounds)")
    with tempfile.TemporaryDirectory() as name, runner() as loop, ordinary_postgres() as postgres:
        folder = Path(name)
        postgres.ask("postgres", "CREATE DATABASE board")
        met = [loop.run(_measured("SQLite", f"sqlite:///{folder}/board.db", folder, share))]
        met.append(loop.run(_measured("PostgreSQL", postgres.url("board"), folder, share)))
    return all(met)


def hashed(number: object) -> str:
    """Return the hash of the finding with this number."""
    return hashlib.sha256(str(number).encode()).hexdigest()


async def _measured(label: str, url: str, folder: Path, share: int) -> bool:
    rows, asked, recorded = ROWS // share, ASKED, RECORDED // share
    async with Pegboard.open(url, settings=NoSettings(home=folder / label)) as board, _by_hand(url, board) as plain:
        await plain.fill(rows)
        chosen = random.Random(9)

        def some() -> list[str]:
            known = chosen.sample(range(rows), asked * 9 // 10)
            return [hashed(number) for number in (*known, *range(-asked // 10, 0))]

        def scanned() -> list[str]:
            """Return hashes of findings, half of them known."""
            known = chosen.sample(range(rows), recorded // 2)
            fresh = (chosen.getrandbits(64) + rows for _ in range(recorded - len(known)))
            return [hashed(number) for number in (*known, *fresh)]

        _reset_peak()
        before = _memory_mb("VmRSS")
        looked = await _turns([plain.look_up, _querying(board), _calling(board)], some)
        kept = await _turns([plain.record, _recording(board)], scanned)
        grown = _memory_mb("VmHWM") - before
    row(f"{label}: {asked:,} looked up", "ms", "ratio")
    for what, took in zip(("plain SQL", "board.baseline.query", "a whole call"), looked, strict=True):
        row(f"  {what}", f"{took * 1000:.1f}", f"{took / looked[0]:.2f}")
    row(f"{label}: {recorded:,} recorded", "ms", "ratio")
    for what, took in zip(("plain SQL", "board.baseline.record"), kept, strict=True):
        row(f"  {what}", f"{took * 1000:.1f}", f"{took / kept[0]:.2f}")
    query, record = looked[1] / looked[0], kept[1] / kept[0]
    met = query <= AIM and record <= AIM and grown <= MOST_MB
    print(
        f"  aim: {label}: within {AIM:g} times plain SQL (query {query:.2f}, record {record:.2f}), "
        f"at most {MOST_MB} MB more memory ({grown:.0f}): {'met' if met else 'MISSED'}"
    )
    return met


@asynccontextmanager
async def _by_hand(url: str, board: Pegboard) -> AsyncIterator[PlainSqlite | PlainPostgresql]:
    made: PlainSqlite | PlainPostgresql
    if url.startswith("sqlite"):
        made = PlainSqlite(board)
    else:
        made = PlainPostgresql(await asyncpg.connect(url), board.admin.user_id)
    try:
        yield made
    finally:
        await made.close()


async def _turns(contenders: Sequence[Work], given: Callable[[], list[str]]) -> list[float]:
    """Return the median time of each contender, with new hashes in every turn."""
    seen: list[list[float]] = [[] for _ in contenders]
    for turn in range(1 + ROUNDS):
        for contender, times in zip(contenders, seen, strict=True):
            hashes = given()
            begun = time.perf_counter()
            await contender(hashes)
            if turn:
                times.append(time.perf_counter() - begun)
    return [median(times) for times in seen]


def _querying(board: Pegboard) -> Work:
    async def query(hashes: Sequence[str]) -> object:
        return await board.baseline.query(hashes, hashes, board.admin)

    return query


def _calling(board: Pegboard) -> Work:
    async def call(hashes: Sequence[str]) -> object:
        ids = [f"f-{place}" for place in range(len(hashes))]
        given = {"finding_ids": ids, "composite_hashes": hashes, "query_type": "batch_baseline_check"}
        result = await board.call("batch_baseline_query", given)
        if not result.success:
            raise RuntimeError(result.problem)
        return result

    return call


def _recording(board: Pegboard) -> Work:
    async def record(hashes: Sequence[str]) -> object:
        findings: list[dict[str, Any]] = [{"finding_id": "f-0", "composite_hash": one} for one in hashes]
        done = await board.baseline.record(findings, board.admin)
        if done.recorded != len(hashes):
            raise RuntimeError(done)
        return done

    return record


def _reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _memory_mb(name: str) -> float:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) / 1024
