"""Limits how many log-ins from one address may fail."""

from __future__ import annotations

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable

MAX_FAILURES = 10
PERIOD_SECONDS = 60.0
# The addresses that are remembered; the one that failed longest ago is forgotten first.
_MAX_ADDRESSES = 10_000


class LoginLimit:
    """The failed log-ins of the last minute by address, in one process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()

    def get_wait_seconds(self, address: str) -> int:
        """Return after how many seconds this address may try again, or 0."""
        failures = self._failures.get(address)
        if failures is None or len(failures) < MAX_FAILURES:
            return 0
        return max(0, math.ceil(failures[0] + PERIOD_SECONDS - self._clock()))

    def count_failure(self, address: str) -> None:
        """Count a log-in that failed."""
        self._failures.setdefault(address, deque(maxlen=MAX_FAILURES)).append(self._clock())
        self._failures.move_to_end(address)
        if len(self._failures) > _MAX_ADDRESSES:
            self._failures.popitem(last=False)
