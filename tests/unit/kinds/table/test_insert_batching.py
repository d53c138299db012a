"""The size of batches, and the number of waiting inserts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import pytest

from pegboard.kinds.table.insert_batching import (
    MAX_BATCH_CHARS,
    MAX_BATCH_ENTRIES,
    InsertOutcome,
    InsertQueues,
    PendingInsert,
)
from pegboard.kinds.table.source import InsertAnswer, InsertEntry, InsertRow
from pegboard.model.call_errors import Unavailable
from tests.unit.kinds.table.fakes import facts


class Writer:
    """Commits batches when the test allows it, and records their sizes."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.go = asyncio.Event()

    async def write(self, batch: Sequence[PendingInsert]) -> list[InsertOutcome]:
        self.sizes.append(len(batch))
        await self.go.wait()
        return [InsertAnswer(None, None)] * len(batch)


def an_entry(text: str = "") -> InsertEntry:
    return InsertEntry(
        facts(), (InsertRow(("a",), (text,)),), "run", lambda _: InsertAnswer(None, None), time.monotonic() + 30
    )


async def test_rows_that_are_large_together_go_in_several_transactions() -> None:
    writer = Writer()
    writer.go.set()
    batches = InsertQueues(writer.write)
    large = an_entry("x" * (MAX_BATCH_CHARS // 2))
    await asyncio.gather(
        *(batches.put("lane", large) for _ in range(5)), batches.put("lane", an_entry("y" * 2 * MAX_BATCH_CHARS))
    )
    assert writer.sizes == [2, 2, 1, 1]


async def test_small_rows_go_together_by_their_number() -> None:
    writer = Writer()
    writer.go.set()
    batches = InsertQueues(writer.write)
    await asyncio.gather(*(batches.put("lane", an_entry()) for _ in range(MAX_BATCH_ENTRIES + 1)))
    assert writer.sizes == [MAX_BATCH_ENTRIES, 1]


async def test_what_is_being_written_counts_among_what_waits() -> None:
    writer = Writer()
    batches = InsertQueues(writer.write, most_waiting=3)
    waiting = [asyncio.create_task(batches.put(object(), an_entry())) for _ in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(Unavailable):
        await batches.put(object(), an_entry())
    writer.go.set()
    await asyncio.gather(*waiting)
    await batches.rest()
    await batches.put("lane", an_entry())


@pytest.mark.parametrize("is_committing", [True, False])
async def test_an_entry_is_answered_although_it_is_left_only_while_it_is_being_committed(is_committing: bool) -> None:
    writer = Writer()
    begun = asyncio.Event()

    async def write(batch: Sequence[PendingInsert]) -> list[InsertOutcome]:
        batch[0].is_committing = is_committing
        begun.set()
        return await writer.write(batch)

    task = asyncio.create_task(InsertQueues(write).put("lane", an_entry()))
    await begun.wait()
    task.cancel()
    await asyncio.sleep(0)
    writer.go.set()
    await asyncio.wait([task])
    assert task.cancelled() is not is_committing
