"""Statistics of tools: calls, errors and latencies, from the stored counts and the rows not counted yet."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from pegboard.journal.latency_counts import compute_percentile, find_bucket, get_bucket_limits, get_hour
from pegboard.model.api_errors import Fault, Invalid
from pegboard.storage import statistics_rows
from pegboard.storage.database import Database
from pegboard.storage.statistics_rows import ToolNames

HOUR = timedelta(hours=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_HOUR = get_hour(datetime.max.replace(tzinfo=UTC))
# Only calls that ran: the duration of a refused or lost call has no meaning for its tool.
_RAN_STATUSES = ("succeeded", "failed")
Period = Literal["hour", "day"]
_PERIOD_HOURS: dict[Period, int] = {"hour": 1, "day": 24}
# The most periods of one series, and of each of several: a month of hours, and a week of them.
MAX_PERIODS = 750
MAX_PERIODS_OF_TOOLS = 170
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
class LatencyCount:
    """How many calls took from `from_ms` to less than `below_ms`; the longest ones have no upper end."""

    from_ms: float
    below_ms: float | None
    calls: int


@dataclass(frozen=True, slots=True)
class StatisticsReport:
    """The tools that were called in a period, most called first; `latencies` are of all calls of them that ran."""

    since: datetime
    until: datetime
    tools: tuple[ToolStatistics, ...]
    latencies: tuple[LatencyCount, ...] = ()


@dataclass(frozen=True, slots=True)
class PeriodStatistics:
    """How the calls of one hour or day ended; latencies as in ToolStatistics."""

    start: datetime
    calls: int
    succeeded: int
    failed: int
    refused: int
    in_doubt: int
    p50_ms: float | None
    p95_ms: float | None


@dataclass(frozen=True, slots=True)
class StatisticsSeries:
    """Every hour or day of a time span in order, for each tool of it that was called."""

    since: datetime
    until: datetime
    by: Period
    tools: Mapping[str, Sequence[PeriodStatistics]]


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
        latencies: bool = False,
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
                for name, status, code, elapsed_ms, *_ in part:
                    sums.setdefault(name, _ToolSums()).add(status, code, find_bucket(elapsed_ms), 1)
        tools = []
        taken: Counter[int] = Counter()
        for place, (name, found) in enumerate(sums.items()):
            if place % _TOOLS_PER_PAUSE == 0:
                await asyncio.sleep(0)
            tools.append(found.build_statistics(name))
            if latencies:
                taken.update(found.latencies)
        tools.sort(key=lambda tool: (-tool.calls, tool.tool_name or ""))
        return StatisticsReport(begin, end, tuple(tools), _build_latencies(taken))

    async def read_series(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        by: Period,
        tool_name: str | None = None,
        caller_id: str | None = None,
    ) -> tuple[PeriodStatistics, ...]:
        """Return statistics of each whole hour or day that covers the time span, in order; raise Invalid for too many.

        The calls of all tools are added up, unless one tool is given.
        """
        hours, size = round_to_hours(since, until), _PERIOD_HOURS[by]
        _check_length(hours, size, MAX_PERIODS)
        sums = await self._sum_periods(hours, size, tool_name, caller_id, by_tool=False)
        return await _build_series(hours, size, sums.get("", {}))

    async def read_series_of_tools(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        by: Period,
        tool_names: Collection[str],
        caller_id: str | None = None,
    ) -> StatisticsSeries:
        """Return the series of each of these tools."""
        hours, size = round_to_hours(since, until), _PERIOD_HOURS[by]
        _check_length(hours, size, MAX_PERIODS_OF_TOOLS)
        sums = await self._sum_periods(hours, size, tool_names, caller_id, by_tool=True)
        series = {name: await _build_series(hours, size, sums.get(name, {})) for name in tool_names}
        return StatisticsSeries(_EPOCH + hours.start * HOUR, _EPOCH + hours.stop * HOUR, by, series)

    async def _sum_periods(
        self, hours: range, size: int, tool_name: ToolNames, caller_id: str | None, *, by_tool: bool
    ) -> dict[str, dict[int, _ToolSums]]:
        """Return the sums of each tool, or of the empty name without `by_tool`, by period since 1970."""
        begin, end = _EPOCH + hours.start * HOUR, _EPOCH + hours.stop * HOUR
        sums: dict[str, dict[int, _ToolSums]] = defaultdict(lambda: defaultdict(_ToolSums))
        whose: dict[str, Any] = {"tool_name": tool_name, "caller_id": caller_id}
        async with self._database.read() as conn:
            counts = statistics_rows.iterate_counts(conn, hours, **whose, period=size, by_tool=by_tool)
            async for part in counts:
                for period, name, status, bucket, calls in part:
                    sums[name][int(period)].add(status, "", bucket, int(calls))
            async for part in statistics_rows.iterate_uncounted(conn, begin, end, **whose):
                for name, status, _, elapsed_ms, _, started_at in part:
                    place = get_hour(started_at) // size
                    sums[name if by_tool else ""][place].add(status, "", find_bucket(elapsed_ms), 1)
        return sums


def _check_length(hours: range, size: int, most: int) -> None:
    """Raise Invalid if the time span has too many periods."""
    if len(hours) > size * most:
        fault = Fault("since", f"the time span has more than {most} periods; make it shorter, or use by=day")
        raise Invalid.of("The time span is too long", [fault])


async def _build_series(hours: range, size: int, sums: Mapping[int, _ToolSums]) -> tuple[PeriodStatistics, ...]:
    await asyncio.sleep(0)
    none = _ToolSums()
    places = range(hours.start // size, -(-hours.stop // size))
    return tuple(sums.get(place, none).build_period(_EPOCH + place * size * HOUR) for place in places)


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
        self.latencies: Counter[int] = Counter()

    def add(self, status: str, code: str, bucket: int, calls: int) -> None:
        self._statuses[status] += calls
        if code:
            self._errors[code] += calls
        if status in _RAN_STATUSES:
            self.latencies[bucket] += calls

    def build_statistics(self, tool_name: str) -> ToolStatistics:
        taken = self.latencies
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

    def build_period(self, start: datetime) -> PeriodStatistics:
        taken = self.latencies
        return PeriodStatistics(
            start=start,
            calls=self._statuses.total(),
            succeeded=self._statuses["succeeded"],
            failed=self._statuses["failed"],
            refused=self._statuses["refused"],
            in_doubt=self._statuses["in_doubt"],
            p50_ms=_round_ms(compute_percentile(taken, 0.5)),
            p95_ms=_round_ms(compute_percentile(taken, 0.95)),
        )


def _build_latencies(taken: Mapping[int, int]) -> tuple[LatencyCount, ...]:
    limits = ((*get_bucket_limits(bucket), taken[bucket]) for bucket in sorted(taken))
    return tuple(
        LatencyCount(_round_limit(least), None if below is None else _round_limit(below), calls)
        for least, below, calls in limits
    )


def _round_limit(ms: float) -> float:
    return float(f"{ms:.4g}")


def _round_ms(ms: float | None) -> float | None:
    return None if ms is None else round(ms, 3)
