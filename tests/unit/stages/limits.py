"""Shared helpers of tests of rate limits."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import strategies as st

from pegboard.model.tool import RateLimit

HOURLY = RateLimit(max_calls=4, period="hour")  # one every 900 seconds
WIDE = RateLimit(max_calls=1000, period="hour")


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def run_without_waiting(call: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of the call, which must not wait for anything."""
    with pytest.raises(StopIteration) as stopped:
        call.send(None)
    return stopped.value.value


limits = st.builds(
    RateLimit,
    max_calls=st.integers(1, 2000),
    period=st.sampled_from(["second", "minute", "hour"]),
    burst=st.none() | st.integers(1, 8),
)
starts = st.floats(0, 2e9)
pauses = st.lists(st.just(0.0) | st.floats(0, 3) | st.floats(0, 5000), max_size=60)
