"""Statistics of tools: calls, errors and latencies, from the stored counts and the rows not counted yet."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pegboard.journal.latency_counts import compute_percentile, find_bucket, get_hour
from pegboard.storage import statistics_rows
from pegboard.storage.database import Database

HOUR = timedelta(hours=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_HOUR = get_hour(datetime.max.replace(tzinfo=UTC))
# Only calls that ran: the duration of a refused or lost call has no meaning for its tool.
_RAN_STATUSES = ("succeeded", "failed")
# How many tools are computed before the event loop may run other tasks.
_TOOLS_PER_PAUSE = 100


@dataclass(frozen=True, slots=True)
class ToolStatistics:
    """How the calls of one tool ended; latencies in milliseconds, of calls that ran, with an error of at most 3 %."""

    tool_name: str | None
    calls: int
    succeeded: int
    failed: int
    refused: int
    in_doubt: int
    errors: Mapping[str, int]
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    max_ms: float | None


@dataclass(frozen=True, slots=True)
class StatisticsReport:
    """The tools that were called in a period, most called first."""

    since: datetime
    until: datetime
    tools: tuple[ToolStatistics, ...]


class Statistics:
    """Reads the statistics; rows from before the hash chain existed are not included."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        tool_name: str | None = None,
        caller_id: str | None = None,
    ) -> StatisticsReport:
        """Return statistics for the whole hours that cover the period (default: the last day)."""
        hours = round_to_hours(since, until)
        begin, end = _EPOCH + hours.start * HOUR, _EPOCH + hours.stop * HOUR
        sums: dict[str, _ToolSums] = {}
        # In one transaction, otherwise a row could be counted twice or not at all.
        async with self._database.read() as conn:
            async for part in statistics_rows.iterate_counts(conn, hours, tool_name=tool_name, caller_id=caller_id):
                for name, status, code, bucket, calls in part:
                    sums.setdefault(name, _ToolSums()).add(status, code, bucket, int(calls))
            async for part in statistics_rows.iterate_uncounted(
                conn, begin, end, tool_name=tool_name, caller_id=caller_id
            ):
                for name, status, code, elapsed_ms, _ in part:
                    sums.setdefault(name, _ToolSums()).add(status, code, find_bucket(elapsed_ms), 1)
        tools = []
        for place, (name, found) in enumerate(sums.items()):
            if place % _TOOLS_PER_PAUSE == 0:
                await asyncio.sleep(0)
            tools.append(found.build_statistics(name))
        return StatisticsReport(begin, end, tuple(sorted(tools, key=lambda tool: (-tool.calls, tool.tool_name or ""))))


def round_to_hours(since: datetime | None, until: datetime | None) -> range:
    """Return the hours since 1970 that cover `since` (default: a day before the end) to `until` (default: now)."""
    stop = -((_EPOCH - (until or datetime.now(UTC))) // HOUR)
    start = stop - 24 if since is None else get_hour(since)
    start = min(max(start, 0), _LAST_HOUR)
    return range(start, min(max(stop, start), _LAST_HOUR))


class _ToolSums:
    """The sums for one tool."""

    def __init__(self) -> None:
        self._statuses: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._latencies: Counter[int] = Counter()

    def add(self, status: str, code: str, bucket: int, calls: int) -> None:
        self._statuses[status] += calls
        if code:
            self._errors[code] += calls
        if status in _RAN_STATUSES:
            self._latencies[bucket] += calls

    def build_statistics(self, tool_name: str) -> ToolStatistics:
        taken = self._latencies
        p50, p95, p99, longest = (_round_ms(compute_percentile(taken, share)) for share in (0.5, 0.95, 0.99, 1.0))
        return ToolStatistics(
            tool_name=tool_name or None,
            calls=self._statuses.total(),
            succeeded=self._statuses["succeeded"],
            failed=self._statuses["failed"],
            refused=self._statuses["refused"],
            in_doubt=self._statuses["in_doubt"],
            errors=dict(self._errors.most_common()),
            p50_ms=p50,
            p95_ms=p95,
            p99_ms=p99,
            max_ms=longest,
        )


def _round_ms(ms: float | None) -> float | None:
    return None if ms is None else round(ms, 3)
