"""Rows that wait for a lock or a connection, and their callers' deadlines."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from pegboard.kinds.table.source import InsertAnswer, InsertFault, RowKey
from tests.unit.kinds.table.postgresql_tables import (
    connected,
    entry,
    facts_of,
    fetch_rows,
    insert,
    insert_concurrently,
    opened,
    return_keys,
    run,
)
from tests.waiting import until

TABLES = """
CREATE TABLE t (id serial PRIMARY KEY, n int UNIQUE);
CREATE TABLE other (id serial PRIMARY KEY, n int);
"""
WAITING = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE application_name = 'pegboard' AND datname = current_database() AND wait_event_type = 'Lock'"
)


async def test_a_locked_table_refuses_in_time_and_takes_nothing_later(postgres_url: str) -> None:
    async with opened(postgres_url, TABLES) as source, connected(postgres_url) as other:
        facts = await facts_of(source, "t")
        await other.execute("BEGIN; LOCK TABLE t")
        answers = await insert_concurrently(
            source, [entry(facts, {"n": n}, seconds=0.3 + n % 3 / 10) for n in range(20)]
        )
        assert {(answer.code, answer.is_unknown) for answer in answers} == {("P1008", False)}

        async def is_given_up() -> bool:
            return not await other.fetchval(WAITING)

        assert await until(is_given_up)
        await other.execute("COMMIT")
        assert await insert(source, "t", {"n": 100})
        assert await fetch_rows(postgres_url, "SELECT n FROM t") == [(100,)]


async def test_a_locked_batch_refuses_in_time(postgres_url: str) -> None:
    async with opened(postgres_url, TABLES) as source, connected(postgres_url) as other:
        facts = await facts_of(source, "t")
        await other.execute("BEGIN; LOCK TABLE t")
        with pytest.raises(InsertFault) as raised:
            await source.insert(entry(facts, {"n": 1}, {"n": 2}, seconds=0.3))
        assert (raised.value.code, raised.value.is_unknown) == ("P1008", False)
        await other.execute("COMMIT")
        assert await insert(source, "t", {"n": 1}, {"n": 2})


async def test_a_locked_table_holds_up_no_other(postgres_url: str) -> None:
    async with opened(postgres_url, TABLES, connections=2) as source, connected(postgres_url) as other:
        facts, free = await facts_of(source, "t"), await facts_of(source, "other")
        await other.execute("BEGIN; LOCK TABLE t")
        stuck = [asyncio.create_task(source.insert(entry(facts, {"n": n}))) for n in range(20)]

        async def is_waiting() -> bool:
            return bool(await other.fetchval(WAITING))

        await until(is_waiting)
        assert len(await insert_concurrently(source, [entry(free, {"n": n}) for n in range(20)])) == 20
        await other.execute("COMMIT")
        assert len(await asyncio.gather(*stuck)) == 20
        assert await fetch_rows(postgres_url, "SELECT count(*) FROM t") == [(20,)]


async def test_a_row_that_waits_for_another_users_holds_up_no_neighbour(postgres_url: str) -> None:
    async with opened(postgres_url, TABLES) as source, connected(postgres_url) as other:
        facts = await facts_of(source, "t")
        await other.execute("BEGIN; INSERT INTO t (n) VALUES (7)")
        tasks = [asyncio.create_task(source.insert(entry(facts, {"n": n}))) for n in range(20)]
        await asyncio.gather(*tasks[:7], *tasks[8:])
        assert not tasks[7].done()
        assert len(await insert_concurrently(source, [entry(facts, {"n": n}) for n in range(20, 30)])) == 10
        await other.execute("ROLLBACK")
        assert (await tasks[7]).output
        assert await fetch_rows(postgres_url, "SELECT n FROM t ORDER BY n") == [(n,) for n in range(30)]


async def test_a_caller_who_is_gone_leaves_no_row(postgres_url: str) -> None:
    async with opened(postgres_url, TABLES) as source, connected(postgres_url) as other:
        facts = await facts_of(source, "t")
        await other.execute("BEGIN; LOCK TABLE t")
        tasks = [asyncio.create_task(source.insert(entry(facts, {"n": n}))) for n in range(10)]

        async def is_waiting() -> bool:
            return bool(await other.fetchval(WAITING))

        await until(is_waiting)
        for task in tasks[:4]:
            task.cancel()
        await asyncio.wait(tasks[:4])
        await other.execute("COMMIT")
        await asyncio.gather(*tasks[4:])
        assert await fetch_rows(postgres_url, "SELECT n FROM t ORDER BY n") == [(n,) for n in range(4, 10)]


async def test_the_statement_ends_when_all_callers_have_left(postgres_url: str) -> None:
    async with opened(postgres_url, TABLES) as source, connected(postgres_url) as other:
        facts = await facts_of(source, "t")
        await other.execute("BEGIN; LOCK TABLE t")
        tasks = [asyncio.create_task(source.insert(entry(facts, {"n": n}))) for n in range(3)]

        async def waiting() -> bool:
            return bool(await other.fetchval(WAITING))

        async def not_waiting() -> bool:
            return not await waiting()

        await until(waiting)
        for task in tasks:
            task.cancel()
        await until(not_waiting)
        await other.execute("COMMIT")
    assert await fetch_rows(postgres_url, "SELECT n FROM t") == []


async def test_a_caller_who_leaves_just_before_commit_is_left_out(postgres_url: str) -> None:
    async with opened(postgres_url, TABLES) as source:
        facts = await facts_of(source, "t")
        tasks: list[asyncio.Task[InsertAnswer]] = []

        def leave(keys: Sequence[RowKey]) -> InsertAnswer:
            tasks[3].cancel()
            return return_keys(keys)

        entries = [entry(facts, {"n": n}) for n in range(10)]
        entries[5] = entries[5]._replace(build_answer=leave)
        tasks += [asyncio.create_task(source.insert(one)) for one in entries]
        await asyncio.wait(tasks)
        assert [n for n, task in enumerate(tasks) if task.cancelled()] == [3]
        rows = dict(await fetch_rows(postgres_url, "SELECT n, id::text FROM t"))
    assert rows == {n: task.result().output[0][0] for n, task in enumerate(tasks) if n != 3}


async def test_an_answer_that_cannot_be_made_leaves_no_row_and_hurts_no_neighbour(postgres_url: str) -> None:
    async with opened(postgres_url, TABLES) as source:
        facts = await facts_of(source, "t")

        def fail(_: Sequence[RowKey]) -> InsertAnswer:
            raise LookupError

        entries = [entry(facts, {"n": n}) for n in range(10)]
        entries[4] = entries[4]._replace(build_answer=fail)
        answers = await insert_concurrently(source, entries)
        assert [n for n, answer in enumerate(answers) if isinstance(answer, LookupError)] == [4]
        assert await fetch_rows(postgres_url, "SELECT count(*) FROM t WHERE n <> 4") == [(9,)]
        assert await fetch_rows(postgres_url, "SELECT count(*) FROM t WHERE n = 4") == [(0,)]


async def test_when_all_connections_are_in_use_that_is_what_is_reported(postgres_url: str) -> None:
    async with opened(postgres_url, TABLES, connections=1) as source, connected(postgres_url) as other:
        facts, free = await facts_of(source, "t"), await facts_of(source, "other")
        await other.execute("BEGIN; LOCK TABLE t")
        stuck = asyncio.create_task(source.insert(entry(facts, {"n": 1}, {"n": 2})))

        async def is_waiting() -> bool:
            return bool(await other.fetchval(WAITING))

        await until(is_waiting)
        answers = await insert_concurrently(
            source, [entry(free, {"n": 1}, seconds=0.2), entry(free, {"n": 2}, {}, seconds=0.2)]
        )
        assert [answer.code for answer in answers] == ["P2024", "P2024"]
        await other.execute("COMMIT")
        await stuck
        assert await insert(source, "other", {"n": 3})
    assert await fetch_rows(postgres_url, "SELECT n FROM other") == [(3,)]


async def test_a_row_that_may_not_lock_says_it_timed_out(postgres_url: str) -> None:
    async with opened(postgres_url, TABLES) as source, connected(postgres_url) as other:
        facts = await facts_of(source, "t")
        name = postgres_url.rsplit("/", 1)[1]
        await run(postgres_url, f"ALTER DATABASE {name} SET lock_timeout = '50ms'")
        await other.execute("BEGIN; LOCK TABLE t")
        async with opened(postgres_url) as impatient:
            answers: list[Any] = await insert_concurrently(impatient, [entry(facts, {"n": n}) for n in range(3)])
        assert {(answer.code, answer.sqlstate) for answer in answers} == {("P1008", "55P03")}


async def test_a_source_that_closes_lets_what_runs_end(postgres_url: str) -> None:
    async with opened(postgres_url, TABLES) as source:
        facts = await facts_of(source, "t")
        tasks = [asyncio.create_task(source.insert(entry(facts, {"n": n}))) for n in range(50)]
        await asyncio.sleep(0)
        await source.close()
        assert len(await asyncio.gather(*tasks)) == 50
    assert await fetch_rows(postgres_url, "SELECT count(*) FROM t") == [(50,)]
