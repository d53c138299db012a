"""How the tools are doing: calls, errors and latencies, read off the counts and the rows they do not hold yet."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pegboard.journal.counts import hour_of
from pegboard.journal.histogram import bucket_of, percentile
from pegboard.store import counts
from pegboard.store.database import Database

HOUR = timedelta(hours=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_HOUR = hour_of(datetime.max.replace(tzinfo=UTC))
# What ran: how soon a call was refused, or how long ago one was lost, says nothing about its tool.
_RAN = ("succeeded", "failed")
# How many tools are reckoned up before the event loop may see to somebody else.
_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class ToolStatistics:
    """How the calls of one tool ended; latencies in milliseconds, of calls that ran, to within three per cent."""

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
class Report:
    """Each tool that was called since the one moment and before the other, the most called first."""

    since: datetime
    until: datetime
    tools: tuple[ToolStatistics, ...]


class Statistics:
    """Reads the statistics; rows from before the journal was chained are in none."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        tool_name: str | None = None,
        caller_id: str | None = None,
    ) -> Report:
        """The whole hours that hold the time asked for, or the last day; of all tools and callers, or of one."""
        hours = whole_hours(since, until)
        begin, end = _EPOCH + hours.start * HOUR, _EPOCH + hours.stop * HOUR
        sums: dict[str, _Sums] = {}
        # In one state of the database, or a row could be in both of them or in neither.
        async with self._database.read() as conn:
            async for part in counts.counted(conn, hours, tool_name=tool_name, caller_id=caller_id):
                for name, status, code, bucket, calls in part:
                    sums.setdefault(name, _Sums()).add(status, code, bucket, int(calls))
            async for part in counts.uncounted(conn, begin, end, tool_name=tool_name, caller_id=caller_id):
                for name, status, code, elapsed_ms, _ in part:
                    sums.setdefault(name, _Sums()).add(status, code, bucket_of(elapsed_ms), 1)
        tools = []
        for place, (name, found) in enumerate(sums.items()):
            if place % _AT_ONCE == 0:
                await asyncio.sleep(0)
            tools.append(found.reckoned(name))
        return Report(begin, end, tuple(sorted(tools, key=lambda tool: (-tool.calls, tool.tool_name or ""))))


def whole_hours(since: datetime | None, until: datetime | None) -> range:
    """The hours, counted from 1970, that hold the time from `since`, or a day before, to `until`, or now."""
    stop = -((_EPOCH - (until or datetime.now(UTC))) // HOUR)
    start = stop - 24 if since is None else hour_of(since)
    start = min(max(start, 0), _LAST_HOUR)
    return range(start, min(max(stop, start), _LAST_HOUR))


class _Sums:
    """What is known so far of one tool."""

    def __init__(self) -> None:
        self._statuses: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._latencies: Counter[int] = Counter()

    def add(self, status: str, code: str, bucket: int, calls: int) -> None:
        self._statuses[status] += calls
        if code:
            self._errors[code] += calls
        if status in _RAN:
            self._latencies[bucket] += calls

    def reckoned(self, tool_name: str) -> ToolStatistics:
        taken = self._latencies
        p50, p95, p99, longest = (_rounded(percentile(taken, share)) for share in (0.5, 0.95, 0.99, 1.0))
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


def _rounded(ms: float | None) -> float | None:
    return None if ms is None else round(ms, 3)
