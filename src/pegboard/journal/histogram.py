"""Latencies in buckets: few numbers, of which percentiles are told to within three per cent.

Bucket 0 holds what took less than a microsecond. Every other one reaches from some length to about six per cent more,
and stands for the value in it that is at most `RELATIVE_ERROR` away from either end. The last one holds all that took
longer than a month.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

RELATIVE_ERROR = 0.03
SHORTEST_MS = 0.001
LONGEST_MS = 30 * 24 * 3600 * 1000.0

_GROWTH = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
_SCALE = 1 / math.log(_GROWTH)
_OFFSET = 1 - math.log(SHORTEST_MS) * _SCALE
LAST_BUCKET = int(math.log(LONGEST_MS) * _SCALE + _OFFSET)


def bucket_of(ms: float) -> int:
    """The bucket that a number of milliseconds falls into; 0 for what is no length of time."""
    if SHORTEST_MS <= ms < LONGEST_MS:
        return int(math.log(ms) * _SCALE + _OFFSET)
    return LAST_BUCKET if ms >= LONGEST_MS else 0


def value_of(bucket: int) -> float:
    """The milliseconds that a bucket stands for."""
    if bucket <= 0:
        return 0.0
    return SHORTEST_MS * _GROWTH ** min(bucket, LAST_BUCKET) * (1 - RELATIVE_ERROR)


def percentile(counts: Mapping[int, int], share: float) -> float | None:
    """The milliseconds that this share of the calls in the buckets stayed within; None where there are no calls."""
    wanted = math.ceil(share * sum(counts.values()))
    for bucket in sorted(counts):
        wanted -= counts[bucket]
        if wanted <= 0 < counts[bucket]:
            return value_of(bucket)
    return None
