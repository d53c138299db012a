"""Inserts that share a transaction, with any failure: acknowledged rows are there, and no others."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.table.insert_batching import InsertOutcome, PendingInsert
from pegboard.kinds.table.source import InsertAnswer, InsertEntry, InsertRow
from pegboard.kinds.table.sqlite_schema import read_sqlite_schema
from pegboard.kinds.table.sqlite_source import GroupResult, InsertGroup, commit_group, commit_inserts
from tests.unit.kinds.table.sqlite_tables import return_keys

TABLE = """
CREATE TABLE u (id INTEGER PRIMARY KEY);
CREATE TABLE t (
    id INTEGER PRIMARY KEY, word TEXT UNIQUE ON CONFLICT {} CHECK (word <> 'bad'),
    u INTEGER REFERENCES u DEFERRABLE INITIALLY DEFERRED
);
"""
WORDS = st.sampled_from(["a", "b", "c", "d", "bad", "lost"])
CALLS = st.lists(st.tuples(st.lists(WORDS, min_size=1, max_size=3), st.booleans()), min_size=1, max_size=8)


@pytest.mark.parametrize("on_conflict", ["ABORT", "FAIL", "ROLLBACK", "IGNORE"])
@given(calls=CALLS)
def test_what_is_answered_is_there_once_and_what_is_not_is_in_no_part(
    on_conflict: str, calls: list[tuple[list[str], bool]]
) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript("PRAGMA foreign_keys = ON;" + TABLE.format(on_conflict))
        outcomes = asyncio.run(_outcomes(connection, calls))
        rows = connection.execute("SELECT id, word FROM t").fetchall()
        assert not connection.in_transaction
    found = [
        (key, word)
        for (words, _), outcome in zip(calls, outcomes, strict=True)
        if isinstance(outcome, InsertAnswer)
        for (key,), word in zip(outcome.output, words, strict=True)
    ]
    assert sorted(found) == sorted(rows)
    stored_words = {word for _, word in rows}
    for (words, is_gone), outcome in zip(calls, outcomes, strict=True):
        fits = not {"bad", "lost"} & {*words} and len({*words}) == len(words)
        assert isinstance(outcome, InsertAnswer) <= (fits and not is_gone)
        if fits and not is_gone and not isinstance(outcome, InsertAnswer):
            assert stored_words & {*words}, "nothing was in its way"


async def _outcomes(connection: sqlite3.Connection, calls: list[tuple[list[str], bool]]) -> list[InsertOutcome]:
    facts = read_sqlite_schema(connection, None, "t")
    assert facts is not None
    members = []
    for words, is_gone in calls:
        # Of a word that is lost, the reference leads nowhere, which shows only at the end.
        rows = tuple(InsertRow(("word", "u"), (word, 1 if word == "lost" else None)) for word in words)
        member = PendingInsert(InsertEntry(facts, rows, "run", return_keys, time.monotonic() + 60))
        if is_gone:
            member.done.cancel()
        members.append(member)

    async def commit(group: InsertGroup) -> GroupResult:
        return commit_group(connection, group)

    return await commit_inserts(members, commit)
