"""Printed output counts towards the limits of waiting rows and of reads, and appears in no log."""

from __future__ import annotations

import asyncio
from pathlib import Path

import anyio
import pytest

from pegboard.journal.read_chain import iterate_rows
from pegboard.model.call_errors import Unavailable
from pegboard.storage import journal_chain_rows
from pegboard.storage.database import Database
from tests.unit.journal.chained_journals import add_writer, append, call
from tests.unit.journal.standalone_journals import opened, start
from tests.unit.storage.sample_rows import an_execution


async def test_it_weighs_as_much_as_it_is_long(database: Database, tmp_path: Path) -> None:
    async with opened(database, tmp_path / "spools", max_bytes=10_000) as standalone:
        standalone.ledger.gate = asyncio.Event()
        waiting = [asyncio.create_task(standalone.record())]
        await standalone.ledger.tried.wait()
        waiting += [asyncio.create_task(standalone.record(an_execution(printed="x" * 10_000)))]
        await asyncio.sleep(0)
        try:
            with pytest.raises(Unavailable, match="behind with its work"):
                await standalone.begin()
        finally:
            standalone.ledger.gate.set()
            with anyio.fail_after(30):
                await asyncio.gather(*waiting)


async def test_of_a_row_that_is_lost_the_log_has_all_but_what_was_printed(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    standalone = start(database, tmp_path / "spools")
    lost = an_execution(attempts=1, printed="a printed secret", error="its error")
    await standalone.journal.close()
    with pytest.raises(Unavailable):
        await standalone.record(lost)
    assert lost.id in caplog.text
    assert "its error" in caplog.text
    assert "a printed secret" not in caplog.text


async def test_rows_that_printed_much_are_read_a_few_at_a_time(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_writer(database, 1)
    await append(database, 1, [call(place, printed="x" * 64_000) for place in range(75)])
    asked: list[int] = []
    readable = journal_chain_rows.list_readable_rows

    async def noting(*arguments: object, limit: int, **more: object) -> object:
        asked.append(limit)
        return await readable(*arguments, limit=limit, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(journal_chain_rows, "list_readable_rows", noting)
    async with database.read() as conn:
        found = [row async for row in iterate_rows(conn, 1, 0, limit=1000)]
    assert len(found) == 75
    assert set(asked) == {25}
