"""Queues of inserts: entries with the same statement wait for the running transaction and share the next.

Written by hand: libraries for batches wait for a timer or a size, which would delay a single call.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from contextlib import suppress
from typing import Any

from pegboard.kinds.table.source import InsertAnswer, InsertEntry
from pegboard.model.call_errors import Unavailable
from pegboard.storage.database import finish_despite_cancellation

MAX_BATCH_ENTRIES = 500
# Maximum number of text characters in one transaction: the size of a statement is limited.
MAX_BATCH_CHARS = 2**24
MAX_WAITING_ENTRIES = 10_000
# How long a cancelled entry waits for the result of a COMMIT that includes it.
COMMIT_GRACE_SECONDS = 5.0

InsertOutcome = InsertAnswer | Exception


class PendingInsert:
    """A queued entry; `is_gone` if its caller was cancelled, `is_committing` once it is too late to cancel it.

    The writer sets `is_committing` first and then checks `is_gone` once more.
    """

    __slots__ = ("done", "ended", "entry", "is_committing", "size")

    def __init__(self, entry: InsertEntry) -> None:
        self.entry = entry
        self.size = sum(len(value) for row in entry.rows for value in row.values if type(value) is str)
        self.is_committing = False
        loop = asyncio.get_running_loop()
        self.done: asyncio.Future[InsertAnswer] = loop.create_future()
        self.ended: asyncio.Future[InsertOutcome] = loop.create_future()

    @property
    def is_gone(self) -> bool:
        """True if the caller was cancelled; an entry that is not yet committed must then not be committed."""
        return self.done.done()


# Commits the given entries and returns one outcome for each; skips entries that are gone before the COMMIT.
WriteBatch = Callable[[Sequence[PendingInsert]], Awaitable[list[InsertOutcome]]]


class InsertQueues:
    """One queue for each statement, each with one transaction at a time, so that no statement blocks another."""

    def __init__(self, write: WriteBatch, *, most_waiting: int = MAX_WAITING_ENTRIES) -> None:
        self._write = write
        self._most = most_waiting
        self._waiting: dict[Hashable, deque[PendingInsert]] = {}
        self._tasks: dict[Hashable, asyncio.Task[Any]] = {}
        self._count = 0

    async def put(self, queue_key: Hashable, entry: InsertEntry) -> InsertAnswer:
        """Queue the entry and return its answer after the COMMIT; raise Unavailable if too many entries wait."""
        if self._count >= self._most:
            refusal = Unavailable("Too many rows are waiting to be inserted", retry_after_ms=1000)
            refusal.did_run = False
            raise refusal
        waiting = PendingInsert(entry)
        self._waiting.setdefault(queue_key, deque()).append(waiting)
        self._count += 1
        if queue_key not in self._tasks:
            self._tasks[queue_key] = asyncio.create_task(self._work(queue_key), name="pegboard-inserts")
        try:
            return await waiting.done
        except asyncio.CancelledError:
            if waiting.is_committing and (answered := await _wait_for_commit(waiting)) is not None:
                return answered
            raise

    async def rest(self) -> None:
        """Return when no entry is waiting and no transaction is running."""
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    async def _work(self, queue_key: Hashable) -> None:
        queue = self._waiting[queue_key]
        batch: list[PendingInsert] = []
        try:
            while queue:
                batch = _take_batch(queue)
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
        except Exception as error:  # an internal error: no caller may wait forever
            for waiting in (*batch, *queue):
                if not waiting.is_gone:
                    waiting.done.set_exception(error)
            self._count -= len(batch) + len(queue)
            queue.clear()
        finally:
            del self._tasks[queue_key]
            if not self._waiting[queue_key]:
                del self._waiting[queue_key]


async def _wait_for_commit(waiting: PendingInsert) -> InsertAnswer | None:
    """Return the answer of an entry whose caller was cancelled during its COMMIT, so that the insert is recorded."""
    with suppress(asyncio.CancelledError):
        await finish_despite_cancellation(asyncio.wait([waiting.ended], timeout=COMMIT_GRACE_SECONDS))
    outcome = waiting.ended.result() if waiting.ended.done() else None
    return outcome if isinstance(outcome, InsertAnswer) else None


def _take_batch(queue: deque[PendingInsert]) -> list[PendingInsert]:
    """Return the next batch: at least one entry, limited by MAX_BATCH_ENTRIES and MAX_BATCH_CHARS."""
    batch = [queue.popleft()]
    size = batch[0].size
    while queue and len(batch) < MAX_BATCH_ENTRIES and (size := size + queue[0].size) <= MAX_BATCH_CHARS:
        batch.append(queue.popleft())
    return batch
