"""Counts recorded calls in memory until they are added to the statistics, with latencies in buckets.

Percentiles computed from the buckets have an error of at most 3 %. Bucket 0 holds latencies below one microsecond. The
upper end of each other bucket is about 6 % above its lower end, and its value is at most `RELATIVE_ERROR` away from
both. The last bucket holds everything longer than 30 days.

Not HdrHistogram, whose histograms are opaque bytes: buckets are rows that SQL can add up and filter.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from pegboard.journal.entries import CountRow
from pegboard.model.journal_row import FIELDS, StoredRow
from pegboard.storage.statistics_rows import ALL_CALLERS

RELATIVE_ERROR = 0.03
MIN_LATENCY_MS = 0.001
MAX_LATENCY_MS = 30 * 24 * 3600 * 1000.0

_GROWTH = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
_SCALE = 1 / math.log(_GROWTH)
_OFFSET = 1 - math.log(MIN_LATENCY_MS) * _SCALE
LAST_BUCKET = int(math.log(MAX_LATENCY_MS) * _SCALE + _OFFSET)


def find_bucket(ms: float) -> int:
    """Return the bucket of a latency in milliseconds; 0 for an invalid one."""
    if MIN_LATENCY_MS <= ms < MAX_LATENCY_MS:
        return int(math.log(ms) * _SCALE + _OFFSET)
    return LAST_BUCKET if ms >= MAX_LATENCY_MS else 0


def get_bucket_ms(bucket: int) -> float:
    """Return the value of a bucket in milliseconds."""
    if bucket <= 0:
        return 0.0
    return MIN_LATENCY_MS * _GROWTH ** min(bucket, LAST_BUCKET) * (1 - RELATIVE_ERROR)


def get_bucket_limits(bucket: int) -> tuple[float, float | None]:
    """Return the latency from which on a bucket counts and that below which it does, None if it has no upper end."""
    if bucket <= 0:
        return 0.0, MIN_LATENCY_MS
    below = None if bucket >= LAST_BUCKET else MIN_LATENCY_MS * _GROWTH**bucket
    return MIN_LATENCY_MS * _GROWTH ** (min(bucket, LAST_BUCKET) - 1), below


def compute_percentile(counts: Mapping[int, int], share: float) -> float | None:
    """Return the latency in milliseconds that this share of calls did not exceed; None if there are no calls."""
    wanted = math.ceil(share * sum(counts.values()))
    for bucket in sorted(counts):
        wanted -= counts[bucket]
        if wanted <= 0 < counts[bucket]:
            return get_bucket_ms(bucket)
    return None


_HOUR_LENGTH = len("2026-01-31 12")
_TOOL_NAME, _STATUS, _STARTED_AT, _ELAPSED_MS, _CALLER_ID, _TOOL_ID, _CODE = map(
    FIELDS.index, ("tool_name", "status", "started_at", "elapsed_ms", "caller_id", "tool_id", "code")
)


class CallCounts:
    """The counts of the rows since the last `take`."""

    def __init__(self) -> None:
        # Keyed by the hour as text: parsing it can wait until rows of the same hour are merged.
        self._new: dict[tuple[str, str, str, str, str, int], int] = defaultdict(int)
        self._returned_counts: dict[tuple[int, str, str, str, str, int], int] = defaultdict(int)

    def __len__(self) -> int:
        return len(self._new) + len(self._returned_counts)

    def add(self, row: StoredRow) -> None:
        """Count a stored row; calls of unknown tools are counted under an empty name."""
        self._new[
            row[_STARTED_AT][:_HOUR_LENGTH],
            row[_TOOL_NAME] if row[_TOOL_ID] is not None else "",
            row[_CALLER_ID],
            row[_STATUS],
            row[_CODE] or "",
            find_bucket(row[_ELAPSED_MS]),
        ] += 1

    def take(self) -> list[CountRow]:
        """Return and reset the counts, per caller and in total; sorted, so that two writers cannot deadlock."""
        new, taken = self._new, self._returned_counts
        self._new, self._returned_counts = defaultdict(int), defaultdict(int)
        hours: dict[str, int] = {}
        for (text, tool_name, caller_id, status, code, bucket), calls in new.items():
            hour = hours.get(text)
            if hour is None:
                hour = hours[text] = get_hour(datetime.fromisoformat(f"{text}:00+00:00"))
            taken[hour, tool_name, ALL_CALLERS, status, code, bucket] += calls
            if caller_id != ALL_CALLERS:
                taken[hour, tool_name, caller_id, status, code, bucket] += calls
        return sorted((*key, calls) for key, calls in taken.items())

    def put_back(self, counts: Iterable[CountRow]) -> None:
        """Add counts back that were taken but not committed."""
        for *key, calls in counts:
            self._returned_counts[tuple(key)] += calls  # type: ignore[index]


def get_hour(moment: datetime) -> int:
    """Return the number of whole hours from 1970 to this time."""
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(hours=1)
