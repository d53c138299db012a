"""The calls of one request run at the same time, and some of them after its end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import anyio
import pytest

from pegboard.concurrency.concurrent_calls import MAX_CONCURRENT_CALLS, ConcurrentCalls


class Calls:
    """Calls that begin, and end when they may."""

    def __init__(self) -> None:
        self.began: list[int] = []
        self.ended: list[int] = []
        self.cancelled: list[int] = []
        self.may_end = asyncio.Event()

    async def run(self, number: int) -> int:
        """Run one call."""
        self.began.append(number)
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.cancelled.append(number)
            raise
        self.ended.append(number)
        return number


async def passes() -> None:
    """Let every task run that can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_at_most_twenty_run_at_once_and_the_results_are_in_order() -> None:
    calls = Calls()
    running = asyncio.create_task(ConcurrentCalls().run((partial(calls.run, n), False) for n in range(45)))
    await passes()
    assert calls.began == list(range(MAX_CONCURRENT_CALLS)) == list(range(20))
    calls.may_end.set()
    with anyio.fail_after(10):
        assert await running == list(range(45))


async def test_a_cancellation_ends_the_calls_that_do_not_detach() -> None:
    calls = Calls()
    running = asyncio.create_task(ConcurrentCalls().run((partial(calls.run, n), n == 1) for n in range(3)))
    await passes()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert calls.cancelled == [0, 2]
    calls.may_end.set()
    await passes()
    assert calls.ended == [1]


async def test_an_exception_is_raised_when_all_calls_have_ended() -> None:
    calls = Calls()

    async def broken() -> int:
        raise LookupError("broken")

    starts: list[Callable[[], Awaitable[int]]] = [broken, partial(calls.run, 1)]
    running = asyncio.create_task(ConcurrentCalls().run((start, False) for start in starts))
    await passes()
    assert not running.done()
    calls.may_end.set()
    with anyio.fail_after(10), pytest.raises(LookupError, match="broken"):
        await running
    assert calls.ended == [1]


async def test_a_call_that_is_cancelled_while_it_waits_for_a_slot_is_reported() -> None:
    calls, reported = Calls(), list[int]()
    work = ((partial(calls.run, n), False) for n in range(25))
    running = asyncio.create_task(ConcurrentCalls().run(work, on_cancelled=reported.append))
    await passes()
    assert len(calls.began) == MAX_CONCURRENT_CALLS
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert sorted(reported) == list(range(25))
