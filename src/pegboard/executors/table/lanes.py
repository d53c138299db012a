"""Entries that share a statement wait for each other's transaction and go together in the next."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from contextlib import suppress
from typing import Any

from pegboard.core.errors import Unavailable
from pegboard.executors.table.source import Answered, Entry
from pegboard.store.database import settled

BATCH = 500
# Characters of text that go together in one transaction: a statement may not be of any size.
LARGE = 2**24
MOST_WAITING = 10_000
# How long an entry that nobody waits for any more waits itself to hear of the COMMIT that it is in.
GRACE = 5.0

Outcome = Answered | Exception


class Waiting:
    """An entry in a lane; `is_gone` once nobody waits for it any longer, `is_committing` once it is too late for that.

    Whoever commits says that it is, and only then looks a last time whether anybody is gone.
    """

    __slots__ = ("done", "ended", "entry", "is_committing", "size")

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.size = sum(len(value) for row in entry.rows for value in row.values if type(value) is str)
        self.is_committing = False
        loop = asyncio.get_running_loop()
        self.done: asyncio.Future[Answered] = loop.create_future()
        self.ended: asyncio.Future[Outcome] = loop.create_future()

    @property
    def is_gone(self) -> bool:
        """Whether the caller was cut off; an entry that is not committed yet must not be any more."""
        return self.done.done()


# Commits what it is given and gives an outcome for each; entries that are gone before that are left out.
Write = Callable[[Sequence[Waiting]], Awaitable[list[Outcome]]]


class Lanes:
    """One lane for each statement, each with one transaction at a time, so that none holds up another."""

    def __init__(self, write: Write, *, most_waiting: int = MOST_WAITING) -> None:
        self._write = write
        self._most = most_waiting
        self._waiting: dict[Hashable, deque[Waiting]] = {}
        self._tasks: dict[Hashable, asyncio.Task[Any]] = {}
        self._count = 0

    async def put(self, lane: Hashable, entry: Entry) -> Answered:
        """The entry's answer, once it is committed together with whatever else waits in its lane."""
        if self._count >= self._most:
            refusal = Unavailable("Too many rows are waiting to be inserted", retry_after_ms=1000)
            refusal.did_run = False
            raise refusal
        waiting = Waiting(entry)
        self._waiting.setdefault(lane, deque()).append(waiting)
        self._count += 1
        if lane not in self._tasks:
            self._tasks[lane] = asyncio.create_task(self._work(lane), name="pegboard-inserts")
        try:
            return await waiting.done
        except asyncio.CancelledError:
            if waiting.is_committing and (answered := await _in_the_end(waiting)) is not None:
                return answered
            raise

    async def rest(self) -> None:
        """Return when nothing is waiting or running any more."""
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    async def _work(self, lane: Hashable) -> None:
        queue = self._waiting[lane]
        batch: list[Waiting] = []
        try:
            while queue:
                batch = _next(queue)
                present = [waiting for waiting in batch if not waiting.is_gone]
                outcomes = await self._write(present) if present else []
                for waiting, outcome in zip(present, outcomes, strict=True):
                    waiting.ended.set_result(outcome)
                    if waiting.is_gone:
                        continue
                    if isinstance(outcome, Exception):
                        waiting.done.set_exception(outcome)
                    else:
                        waiting.done.set_result(outcome)
                self._count -= len(batch)
        except Exception as error:  # a fault of ours: nobody may wait for good
            for waiting in (*batch, *queue):
                if not waiting.is_gone:
                    waiting.done.set_exception(error)
            self._count -= len(batch) + len(queue)
            queue.clear()
        finally:
            del self._tasks[lane]
            if not self._waiting[lane]:
                del self._waiting[lane]


async def _in_the_end(waiting: Waiting) -> Answered | None:
    """The answer of an entry that was left while it was being committed: it is in, and should be known to be."""
    with suppress(asyncio.CancelledError):
        await settled(asyncio.wait([waiting.ended], timeout=GRACE))
    outcome = waiting.ended.result() if waiting.ended.done() else None
    return outcome if isinstance(outcome, Answered) else None


def _next(queue: deque[Waiting]) -> list[Waiting]:
    """Whoever is next: one at least, and no more than go together."""
    batch = [queue.popleft()]
    size = batch[0].size
    while queue and len(batch) < BATCH and (size := size + queue[0].size) <= LARGE:
        batch.append(queue.popleft())
    return batch
