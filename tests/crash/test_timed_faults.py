"""Faults that do harm only at one moment, injected at that moment."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from pegboard.journal import commit_queue
from pegboard.journal.postgresql_backend import PostgresqlSession
from pegboard.model.call_errors import Unavailable
from pegboard.storage.database import Database
from pegboard.storage.migrate import migrate
from tests.crash.journal_contents import Reader
from tests.crash.standalone_journals import Process, Trouble, answer, chain, execution, ready

PATIENT = 5.0
Start = Callable[..., Process]


@pytest.fixture
async def start(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Start]:
    """Starts processes on one database, which recover dead writers only on request."""
    monkeypatch.setattr(commit_queue, "MAINTENANCE_SECONDS", 1e9)
    monkeypatch.setattr(commit_queue, "RETRY_AFTER_MS", 10)
    database = Database.create(database_url)
    await migrate(database)
    await database.close()
    started: list[Process] = []

    def begin(**options: Any) -> Process:
        process = Process(database_url, tmp_path / "spools", **options)
        started.append(process)
        return process

    yield begin
    for process in started:
        if not process.is_over:
            await process.close()


@pytest.fixture
async def journal(database_url: str) -> AsyncIterator[Reader]:
    """A reader of the journal."""
    opened = Reader(Database.create(database_url), chain())
    yield opened
    await opened.close()


async def statuses(journal: Reader) -> dict[str, str]:
    """Return the status of each call, after the chain was verified."""
    assert await journal.faults() == []
    return {row.id: row.status for row in await journal.rows()}


@pytest.mark.parametrize("trouble", ["away", "undone", "mute"])
async def test_a_transaction_that_fails_is_made_again_and_happens_once(
    start: Start, journal: Reader, trouble: Trouble
) -> None:
    process = start(patience=PATIENT)
    begun = [ready(), ready(key="k"), ready(has_effects=False)]
    process.ledger.fail(trouble, times=2)
    assert await asyncio.gather(*map(process.begin, begun)) == [None] * 3
    process.ledger.fail(trouble, times=2)
    await asyncio.gather(*map(process.end, begun))
    assert await statuses(journal) == {call.run_id: "succeeded" for call in begun}
    assert await journal.all_of("SELECT state FROM intents") == [("done",)]


async def test_a_journal_that_is_closed_refuses_calls_at_once(start: Start) -> None:
    process = start()
    await process.close()
    with pytest.raises(Unavailable):
        await asyncio.wait_for(process.begin(ready()), 30)


async def test_rows_that_are_written_while_the_journal_closes_are_not_reported_to_be_lost(
    start: Start, journal: Reader, caplog: pytest.LogCaptureFixture
) -> None:
    process = start()
    call = ready(has_effects=False)
    ending = asyncio.create_task(process.end(call))
    await asyncio.sleep(0)
    with caplog.at_level(logging.ERROR):
        await process.close()
    await ending
    assert await statuses(journal) == {call.run_id: "succeeded"}
    assert "execution_not_recorded" not in caplog.text


async def test_what_is_in_the_spool_counts_when_the_database_returns_while_the_journal_closes(
    start: Start, journal: Reader
) -> None:
    process = start()
    call = ready(key="k")
    await process.begin(call)
    process.ledger.trouble = "away"
    await process.end(call)
    process.writer.heals_at_the_end = True
    await process.close()
    other = start()
    await other.look()
    assert await statuses(journal) == {call.run_id: "succeeded"}
    again = await other.begin(ready(key="k"))
    assert again is not None
    assert (again.run_id, again.answer.success) == (call.run_id, True)


async def test_a_process_that_never_reached_the_database_loses_nothing_that_it_acknowledged(
    start: Start, journal: Reader
) -> None:
    process = start()
    await process.look()
    process.ledger.trouble = "away"
    call = ready(has_effects=False)
    assert await process.begin(call) is None
    try:
        await process.end(call)
    except Unavailable:
        expected = {}
    else:
        expected = {call.run_id: "succeeded"}
    await process.crash()
    await start().look()
    assert await statuses(journal) == expected


async def test_what_is_in_the_spool_counts_when_its_process_dies_while_the_dead_are_searched_for(
    start: Start, journal: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying = start()
    calls = [ready(key="k"), ready(has_effects=False)]
    for call in calls:
        await dying.begin(call)
    dying.ledger.trouble = "away"
    for call in calls:
        await dying.end(call)
    other = start()
    await other.look()
    await dying.crash_when_seen_by(other)
    await other.look()
    assert await statuses(journal) == {call.run_id: "succeeded" for call in calls}


async def test_a_spool_that_cannot_be_taken_over_keeps_no_other_waiting(start: Start, journal: Reader) -> None:
    odd, dead = start(), start()
    first, second = ready(), ready()
    await odd.begin(first)
    await dead.begin(second)
    assert odd.writer.spool is not None
    odd.writer.spool.append([b'[["a row of another version"]]'])
    await odd.crash()
    await dead.crash()
    await start().look()
    await start().look()
    found = await statuses(journal)
    assert found[second.run_id] == "in_doubt"


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_a_key_that_is_released_while_another_call_requests_it_goes_to_that_call(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder, other = start(), start()
    first, second = ready(key="k"), ready(key="k")
    await holder.begin(first)
    await other.look()

    class Between:
        """The holder's call is refused after the key was requested, and before the holder is read."""

        def __init__(self, driver: Any) -> None:
            self._driver = driver

        def __getattr__(self, name: str) -> Any:
            return getattr(self._driver, name)

        async def fetch(self, text: str, *values: Any) -> Any:
            monkeypatch.setattr(PostgresqlSession, "claim", claim)
            await holder.journal.record(execution(first, "refused", attempts=0), answer(first, success=False))
            return await self._driver.fetch(text, *values)

    claim = PostgresqlSession.claim

    async def claimed(self: PostgresqlSession, *values: Any) -> Any:
        self._driver = Between(self._driver)
        return await claim(self, *values)

    monkeypatch.setattr(PostgresqlSession, "claim", claimed)
    assert await other.begin(second) is None
    await other.end(second)
