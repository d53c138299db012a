"""Progress of one call at a bounded rate."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.model.call import Progress
from pegboard.progress.throttle import ProgressThrottle
from tests.waiting import until


async def test_the_first_is_reported_at_once_and_a_flood_becomes_few() -> None:
    received: list[Progress] = []
    progress = ProgressThrottle(received.append)
    for step in range(10_000):
        progress(Progress(step, 10_000, f"step {step}"))
    assert received == [Progress(0, 10_000, "step 0")]

    async def more() -> bool:
        return len(received) > 1

    await until(more)
    progress.end()
    assert received[1] == Progress(9999, 10_000, "step 9999")
    assert len(received) == 2


async def test_the_end_reports_what_was_held_back_and_nothing_later() -> None:
    received: list[Progress] = []
    progress = ProgressThrottle(received.append)
    progress(Progress(1))
    progress(Progress(partial="a"))
    progress(Progress(partial="b"))
    progress.end()
    progress.end()
    progress(Progress(2))
    assert received == [Progress(1), Progress(1, partial="ab")]


async def test_output_is_bounded_and_says_how_much_is_missing() -> None:
    received: list[Progress] = []
    progress = ProgressThrottle(received.append)
    progress(Progress(0))
    for _ in range(100):
        progress(Progress(partial="x" * 1000))
    progress.end()
    (last,) = received[1:]
    assert last.partial is not None
    assert last.partial.startswith("x" * 16_384)
    assert last.partial.endswith("… [83,616 more characters left out]")


@pytest.mark.parametrize("odd", [math.nan, math.inf, "7", None, 10**400, [1]])
async def test_what_is_no_number_is_not_reported_as_one(odd: Any) -> None:
    received: list[Progress] = []
    progress = ProgressThrottle(received.append)
    progress(Progress(odd, odd, odd if not isinstance(odd, str) else None))
    progress.end()
    assert received == [Progress(0.0)]


@given(st.one_of(st.integers(), st.floats(), st.booleans()))
def test_every_number_that_is_reported_fits_json(given: float) -> None:
    received: list[Progress] = []

    async def report() -> None:
        progress = ProgressThrottle(received.append)
        progress(Progress(1, given))
        progress.end()

    asyncio.run(report())
    number = received[0].total
    assert number is None or (type(number) in (int, float) and abs(number) < 2**1024)
    assert type(number) is not int or abs(number) <= 2**53
