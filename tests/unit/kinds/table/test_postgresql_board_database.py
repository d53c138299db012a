"""Rows into the board's own PostgreSQL are committed with their journal entries."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from pegboard.kinds.table.postgresql_source import PostgresqlSource
from pegboard.kinds.table.source import InsertFault
from pegboard.storage.database import Database
from pegboard.storage.migrate import migrate
from tests.unit.journal.standalone_journals import opened as opened_hand
from tests.unit.kinds.table.journaled import build_entry, opened_journal, recorded, strip_id
from tests.unit.kinds.table.postgresql_tables import (
    DatabaseProxy,
    connected,
    entry,
    facts_of,
    fetch_rows,
    insert_concurrently,
    opened,
    run,
)
from tests.unit.storage.sample_rows import an_execution

TABLE = "CREATE TABLE moods (id serial PRIMARY KEY, n int UNIQUE)"


@pytest.fixture
async def board(postgres_url: str) -> AsyncIterator[Database]:
    database = Database.create(postgres_url)
    await migrate(database)
    await run(postgres_url, TABLE)
    yield database
    await database.close()


@pytest.fixture
def url(board: Database, postgres_url: str) -> str:
    return postgres_url


@asynccontextmanager
async def own_source(board: Database, url: str, spools: Path) -> AsyncIterator[PostgresqlSource]:
    """The board's own database as a source, reached at this address."""
    async with opened_journal(board, spools) as journal, opened(url, is_own=True, journal=journal) as source:
        yield source


async def test_each_entry_is_recorded_in_the_transaction_of_its_rows(board: Database, url: str, tmp_path: Path) -> None:
    async with own_source(board, url, tmp_path / "spools") as source:
        facts = await facts_of(source, "moods")
        entries = [build_entry(entry(facts, {"n": n})) for n in range(20)]
        batch = build_entry(entry(facts, {"n": 100}, {"n": 101}))
        answers = await insert_concurrently(source, [*entries, batch])
    made_by = dict(await fetch_rows(url, "SELECT id::text, xmin::text FROM moods"))
    recorded_by = await fetch_rows(url, "SELECT row_id, xmin::text FROM executions")
    assert {row_id: made_by[row_id] for row_id, _ in recorded_by} == dict(recorded_by)
    assert await recorded(board) == {
        strip_id(one.run_id): answer.row_id for one, answer in zip([*entries, batch], answers, strict=True)
    }


async def test_a_row_that_is_refused_leaves_no_entry_and_hurts_no_other(
    board: Database, url: str, tmp_path: Path
) -> None:
    async with own_source(board, url, tmp_path / "spools") as source:
        facts = await facts_of(source, "moods")
        entries = [build_entry(entry(facts, {"n": n})) for n in (1, 2, 1, 3)]
        answers = await insert_concurrently(source, entries)
    refused = [isinstance(answer, InsertFault) for answer in answers]
    assert sum(refused) == 1
    assert await fetch_rows(url, "SELECT n FROM moods ORDER BY n") == [(1,), (2,), (3,)]
    assert (await recorded(board)).keys() == {
        strip_id(one.run_id) for one, is_refused in zip(entries, refused, strict=True) if not is_refused
    }


async def test_a_call_that_recovery_has_given_up_inserts_nothing(board: Database, url: str, tmp_path: Path) -> None:
    async with (
        own_source(board, url, tmp_path / "spools") as source,
        opened_hand(board, tmp_path / "spools") as standalone,
    ):
        facts = await facts_of(source, "moods")
        entries = [build_entry(entry(facts, {"n": n})) for n in range(20)]
        await standalone.record(an_execution(id=entries[7].run_id, status="failed", attempts=1))
        answers = await insert_concurrently(source, entries)
        assert [n for n, answer in enumerate(answers) if isinstance(answer, InsertFault)] == [7]
        assert (answers[7].code, answers[7].is_unknown) == ("P2034", False)
    assert await fetch_rows(url, "SELECT n FROM moods ORDER BY n") == [(n,) for n in range(20) if n != 7]
    assert len(await recorded(board)) == 20


async def test_a_journal_that_was_closed_by_another_process_begins_another_chain(
    board: Database, url: str, tmp_path: Path
) -> None:
    async with own_source(board, url, tmp_path / "spools") as source:
        facts = await facts_of(source, "moods")
        await source.insert(build_entry(entry(facts, {"n": 1})))
        await run(url, "UPDATE writers SET closed_at = now()")
        await source.insert(build_entry(entry(facts, {"n": 2})))
    assert await fetch_rows(url, "SELECT count(DISTINCT writer) FROM executions") == [(2,)]
    assert len(await recorded(board)) == 2


@pytest.mark.parametrize("reaches", [True, False], ids=["the server got it", "the server did not"])
async def test_the_journal_decides_when_the_commit_is_never_answered(
    board: Database, url: str, tmp_path: Path, reaches: bool
) -> None:
    async with DatabaseProxy(url) as way, own_source(board, way.url, tmp_path / "spools") as source:
        facts = await facts_of(source, "moods")
        way.reaches = reaches
        entries = [build_entry(entry(facts, {"n": n})) for n in range(20)]
        answers = await insert_concurrently(source, entries)
        assert [answer for answer in answers if isinstance(answer, InsertFault)] == []
        assert way.cuts == 1
        # The head, which the lost commit may have changed, is read again.
        await source.insert(build_entry(entry(facts, {"n": 20})))
    assert await fetch_rows(url, "SELECT count(*), count(DISTINCT n) FROM moods") == [(21, 21)]
    assert len(await recorded(board)) == 21


async def test_a_commit_that_stays_open_on_the_server_is_ended_before_the_rows_are_sent_again(
    board: Database, url: str, tmp_path: Path
) -> None:
    async with DatabaseProxy(url) as way, own_source(board, way.url, tmp_path / "spools") as source:
        way.is_quiet = True
        facts = await facts_of(source, "moods")
        way.reaches = False
        answers = await insert_concurrently(source, [build_entry(entry(facts, {"n": n})) for n in range(5)])
        assert [answer for answer in answers if isinstance(answer, InsertFault)] == []
    assert await fetch_rows(url, "SELECT count(*), count(DISTINCT n) FROM moods") == [(5, 5)]
    assert len(await recorded(board)) == 5


async def test_a_commit_that_fails_for_a_deferred_constraint_leaves_nothing(
    board: Database, url: str, tmp_path: Path
) -> None:
    await run(url, "ALTER TABLE moods ADD up int REFERENCES moods (n) DEFERRABLE INITIALLY DEFERRED")
    async with own_source(board, url, tmp_path / "spools") as source:
        facts = await facts_of(source, "moods")
        entries = [build_entry(entry(facts, {"n": n, "up": up})) for n, up in ((1, 1), (2, 9), (3, 3))]
        answers = await insert_concurrently(source, entries)
    assert [isinstance(answer, InsertFault) for answer in answers] == [False, True, False]
    assert await fetch_rows(url, "SELECT n FROM moods ORDER BY n") == [(1,), (3,)]
    assert len(await recorded(board)) == 2


async def test_a_table_that_is_locked_holds_up_no_other_table(board: Database, url: str, tmp_path: Path) -> None:
    await run(url, "CREATE TABLE others (n int)")
    async with own_source(board, url, tmp_path / "spools") as source:
        moods, others = await facts_of(source, "moods"), await facts_of(source, "others")
        async with asyncio.timeout(60):
            async with connected(url) as conn, conn.transaction():
                await conn.execute("LOCK TABLE moods IN ACCESS EXCLUSIVE MODE")
                stuck = asyncio.create_task(source.insert(build_entry(entry(moods, {"n": 1}))))
                for n in range(5):
                    await source.insert(build_entry(entry(others, {"n": n})))
                assert not stuck.done()
            await stuck
    assert len(await recorded(board)) == 6
