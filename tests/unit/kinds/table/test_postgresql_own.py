"""Rows into the board's own PostgreSQL leave receipts."""

from __future__ import annotations

from collections.abc import AsyncIterator

import orjson
import pytest

from pegboard.kinds.table.source import InsertFault
from pegboard.model.ids import new_id
from pegboard.storage.database import Database
from pegboard.storage.migrate import migrate
from tests.unit.kinds.table.postgresql_tables import Way, asked, entry, facts_of, insert, opened, run, together

TABLE = "CREATE TABLE moods (id serial PRIMARY KEY, n int UNIQUE)"
RECEIPTS = "SELECT id::text, row_id, output, is_void FROM receipts ORDER BY id"


@pytest.fixture
async def board_url(postgres_url: str) -> AsyncIterator[str]:
    database = Database.create(postgres_url)
    await migrate(database)
    await run(postgres_url, TABLE)
    yield postgres_url
    await database.close()


async def test_each_entry_leaves_its_receipt(board_url: str) -> None:
    async with opened(board_url, is_own=True) as source:
        facts = await facts_of(source, "moods")
        entries = [entry(facts, {"n": n}) for n in range(20)]
        batch = entry(facts, {"n": 100}, {"n": 101})
        answers = await together(source, [*entries, batch])
        receipts = {row[0]: row[1:] for row in await asked(board_url, RECEIPTS)}
    assert receipts == {
        one.run_id: (answer.row_id, orjson.dumps(answer.output).decode(), False)
        for one, answer in zip([*entries, batch], answers, strict=True)
    }


async def test_a_row_that_is_refused_leaves_none(board_url: str) -> None:
    async with opened(board_url, is_own=True) as source:
        await insert(source, "moods", {"n": 1}, run_id=(first := new_id()))
        with pytest.raises(InsertFault):
            await insert(source, "moods", {"n": 1})
        assert [row[0] for row in await asked(board_url, RECEIPTS)] == [first]


async def test_a_call_that_recovery_has_given_up_inserts_nothing(board_url: str) -> None:
    async with opened(board_url, is_own=True) as source:
        facts = await facts_of(source, "moods")
        entries = [entry(facts, {"n": n}) for n in range(20)]
        await run(board_url, f"INSERT INTO receipts (id, is_void) VALUES ('{entries[7].run_id}', true)")
        answers = await together(source, entries)
        assert [n for n, answer in enumerate(answers) if isinstance(answer, InsertFault)] == [7]
        assert (answers[7].code, answers[7].is_unknown) == ("P2034", False)
        assert await asked(board_url, "SELECT n FROM moods ORDER BY n") == [(n,) for n in range(20) if n != 7]


@pytest.mark.parametrize("reaches", [True, False], ids=["the server got it", "the server did not"])
async def test_receipts_decide_when_the_commit_is_never_answered(board_url: str, reaches: bool) -> None:
    async with Way(board_url) as way, opened(way.url, is_own=True) as source:
        facts = await facts_of(source, "moods")
        way.reaches = reaches
        answers = await together(source, [entry(facts, {"n": n}) for n in range(20)])
        assert [answer for answer in answers if isinstance(answer, InsertFault)] == []
        assert way.cuts == 1
    assert await asked(board_url, "SELECT count(*), count(DISTINCT n) FROM moods") == [(20, 20)]
    assert await asked(board_url, "SELECT count(*) FROM receipts") == [(20,)]
