"""Runs the calls of one request at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")

# How many calls of one request run at the same time; the others wait.
MAX_CONCURRENT_CALLS = 20


def make_call_slots() -> asyncio.Semaphore:
    """Return the slots that the calls of one request share."""
    return asyncio.Semaphore(MAX_CONCURRENT_CALLS)


class ConcurrentCalls:
    """Runs calls at the same time, and keeps those that continue when their caller is cancelled."""

    def __init__(self) -> None:
        self._detached: set[asyncio.Task[Any]] = set()

    async def run(
        self,
        calls: Iterable[tuple[Callable[[], Awaitable[T]], bool]],
        slots: asyncio.Semaphore | None = None,
        *,
        on_cancelled: Callable[[int], None] | None = None,
    ) -> list[T]:
        """Run calls, each given with whether it detaches, and return their results; raise the first exception.

        If this is cancelled, it waits until all calls that do not detach have ended. `on_cancelled` is called with the
        position of each call that is cancelled, while it runs or while it waits for a slot.
        """
        slots = slots or make_call_slots()
        running: list[asyncio.Future[T]] = []
        for position, (start, detaches) in enumerate(calls):
            work = _run_in_slot(start, slots, partial(on_cancelled, position) if on_cancelled else None)
            running.append(self.detach(work) if detaches else asyncio.create_task(work))
        # With return_exceptions, a cancellation waits until all cancelled calls are recorded.
        results = await asyncio.gather(*running, return_exceptions=True)
        ended: list[T] = []
        for result in results:
            if isinstance(result, BaseException):
                raise result
            ended.append(result)
        return ended

    def detach(self, work: Coroutine[Any, Any, T]) -> asyncio.Future[T]:
        """Run `work` in a task and return a future for it; cancelling the future does not cancel the task."""
        task = asyncio.create_task(work)
        self._detached.add(task)
        task.add_done_callback(self._detached.discard)
        return asyncio.shield(task)


async def _run_in_slot(
    start: Callable[[], Awaitable[T]], slots: asyncio.Semaphore, on_cancelled: Callable[[], None] | None
) -> T:
    try:
        async with slots:
            return await start()
    except asyncio.CancelledError:
        if on_cancelled is not None:
            on_cancelled()
        raise
