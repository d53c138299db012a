"""A locked or slow table, beside others that are not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from pegboard.kinds.table.postgresql_source import PostgresqlSource
from pegboard.kinds.table.source import InsertEntry, InsertFault
from tests.unit.kinds.table.postgresql_tables import (
    connected,
    entry,
    facts_of,
    fetch_rows,
    insert_concurrently,
    opened,
    run,
)
from tests.waiting import until

COLUMNS = [f"c{n}" for n in range(12)]
TABLES = f"""
CREATE TABLE stuck (id serial PRIMARY KEY, {", ".join(f"{name} int" for name in COLUMNS)});
CREATE TABLE free (id serial PRIMARY KEY, n int);
CREATE TABLE counted (id serial PRIMARY KEY, n int UNIQUE);
"""
WAITING = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name = 'pegboard' AND wait_event_type = 'Lock'"
)


async def insert_beside_lock(source: PostgresqlSource, url: str, callers: Sequence[InsertEntry]) -> None:
    """Insert into a free table while a crowd waits for one that is locked."""
    free = await facts_of(source, "free")
    async with connected(url) as other:
        await other.execute("BEGIN; LOCK TABLE stuck")
        tasks = [asyncio.create_task(source.insert(one)) for one in callers]

        async def are_waiting() -> bool:
            return bool(await fetch_rows(url, WAITING) >= [(2,)])

        await until(are_waiting)
        for n in range(3):
            await source.insert(entry(free, {"n": n}, seconds=0.9))
        assert not any(task.done() for task in tasks)
        await other.execute("COMMIT")
        await asyncio.gather(*tasks)
    assert await fetch_rows(url, "SELECT count(*) FROM free") == [(3,)]


async def test_rows_with_ever_other_columns_for_a_locked_table_hold_up_no_other(postgres_url: str) -> None:
    async with opened(postgres_url, TABLES, connections=6) as source:
        facts = await facts_of(source, "stuck")
        await insert_beside_lock(source, postgres_url, [entry(facts, {name: 1}) for name in COLUMNS])
    assert await fetch_rows(postgres_url, "SELECT count(*) FROM stuck") == [(12,)]


async def test_batches_for_a_locked_table_hold_up_no_other(postgres_url: str) -> None:
    async with opened(postgres_url, TABLES, connections=6) as source:
        facts = await facts_of(source, "stuck")
        await insert_beside_lock(source, postgres_url, [entry(facts, {"c0": n}, {"c1": n}) for n in range(12)])
    assert await fetch_rows(postgres_url, "SELECT count(*) FROM stuck") == [(24,)]


async def test_a_caller_who_leaves_while_the_row_is_being_committed_leaves_an_answer(postgres_url: str) -> None:
    script = """
    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END';
    CREATE CONSTRAINT TRIGGER late AFTER INSERT ON free DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION wait();
    """
    async with opened(postgres_url, TABLES + script) as source, connected(postgres_url) as other:
        await other.execute("SELECT pg_advisory_lock(1)")
        task = asyncio.create_task(source.insert(entry(await facts_of(source, "free"), {"n": 1})))

        async def is_waiting() -> bool:
            return bool(await fetch_rows(postgres_url, WAITING) >= [(1,)])

        await until(is_waiting)
        task.cancel()
        await other.execute("SELECT pg_advisory_unlock(1)")
        assert (await task).output == [["1"]]
    assert await fetch_rows(postgres_url, "SELECT id FROM free") == [(1,)]


@pytest.mark.parametrize("setting", ["lock_timeout", "statement_timeout"])
async def test_a_lock_timeout_of_the_server_refuses_only_the_waiting_row(postgres_url: str, setting: str) -> None:
    await run(
        postgres_url,
        f"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET {setting} = 200', current_database()); END $$",
    )
    async with opened(postgres_url, TABLES) as source, connected(postgres_url) as other:
        facts = await facts_of(source, "counted")
        await other.execute("BEGIN; INSERT INTO counted (n) VALUES (7)")
        answers = await insert_concurrently(source, [entry(facts, {"n": n}) for n in range(20)])
        assert [n for n, answer in enumerate(answers) if isinstance(answer, InsertFault)] == [7]
        assert answers[7].code == "P1008"
        await other.execute("ROLLBACK")
    assert await fetch_rows(postgres_url, "SELECT count(*) FROM counted") == [(19,)]
