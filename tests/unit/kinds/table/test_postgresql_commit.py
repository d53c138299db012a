"""A lost connection, above all at COMMIT: no row twice, and no acknowledged row lost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from sqlalchemy import make_url

from pegboard.kinds.table import postgresql_insert
from pegboard.kinds.table.postgresql_insert import SentTransaction, find_commit_outcome
from pegboard.kinds.table.postgresql_pool import PostgresqlPool
from pegboard.kinds.table.source import InsertFault
from tests import servers
from tests.unit.kinds.table.postgresql_tables import (
    DatabaseProxy,
    connected,
    entry,
    facts_of,
    fetch_rows,
    insert,
    insert_concurrently,
    opened,
    run,
)
from tests.waiting import until

TABLES = """
CREATE TABLE counted (id serial PRIMARY KEY, n int);
CREATE TABLE given (id uuid DEFAULT gen_random_uuid() PRIMARY KEY, n int);
CREATE TABLE keyless (n int);
"""


@pytest.mark.parametrize("reaches", [True, False], ids=["the server got it", "the server did not"])
@pytest.mark.parametrize("table", ["counted", "given", "keyless"])
async def test_rows_whose_commit_is_never_answered_are_there_once(postgres_url: str, table: str, reaches: bool) -> None:
    await run(postgres_url, TABLES)
    async with DatabaseProxy(postgres_url) as way, opened(way.url) as source:
        facts = await facts_of(source, table)
        way.reaches = reaches
        answers = await insert_concurrently(source, [entry(facts, {"n": n}) for n in range(50)])
        assert way.cuts == 1
        assert [answer for answer in answers if isinstance(answer, BaseException)] == []
    found = await fetch_rows(postgres_url, f"SELECT * FROM {table} ORDER BY n")
    assert [row[-1] for row in found] == list(range(50))
    if table != "keyless":
        assert [answer.output for answer in answers] == [[[str(row[0])]] for row in found]


@pytest.mark.parametrize("reaches", [True, False], ids=["the server got it", "the server did not"])
async def test_a_batch_whose_commit_is_never_answered_is_there_once(postgres_url: str, reaches: bool) -> None:
    await run(postgres_url, TABLES)
    async with DatabaseProxy(postgres_url) as way, opened(way.url) as source:
        way.reaches = reaches
        keys = await insert(source, "counted", *({"n": n} for n in range(5)))
    assert keys == [[str(row[0])] for row in await fetch_rows(postgres_url, "SELECT id FROM counted ORDER BY n")]


@pytest.mark.parametrize("reaches", [True, False], ids=["the server got it", "the server did not"])
async def test_a_server_that_restarts_at_commit_is_asked_when_it_is_back(
    own_postgres: servers.PostgresServer, reaches: bool
) -> None:
    await run(own_postgres.url, TABLES)

    async def restart() -> None:
        await asyncio.to_thread(own_postgres.stop)
        back.append(asyncio.create_task(asyncio.to_thread(own_postgres.start)))

    back: list[asyncio.Task[None]] = []
    async with DatabaseProxy(own_postgres.url) as way, opened(way.url) as source:
        facts = await facts_of(source, "counted")
        way.reaches, way.meanwhile = reaches, restart
        answers = await insert_concurrently(source, [entry(facts, {"n": n}) for n in range(20)])
        await back[0]
        found = await fetch_rows(own_postgres.url, "SELECT id, n FROM counted ORDER BY n")
    assert not [answer for answer in answers if isinstance(answer, InsertFault) and answer.is_unknown]
    stored_keys = [answer.output[0][0] for answer in answers if not isinstance(answer, InsertFault)]
    assert stored_keys == [str(row[0]) for row in found]
    assert len(stored_keys) == 20 or not reaches


async def test_a_server_that_does_not_notice_the_cut_is_not_waited_for(postgres_url: str) -> None:
    await run(postgres_url, TABLES)
    async with DatabaseProxy(postgres_url) as way, opened(way.url) as source:
        facts = await facts_of(source, "counted")
        way.reaches, way.is_quiet = False, True
        answers = await insert_concurrently(source, [entry(facts, {"n": n}) for n in range(20)])
        assert way.cuts == 1
        found = await fetch_rows(postgres_url, "SELECT id::text FROM counted ORDER BY n")
        assert [answer.output[0] for answer in answers] == [list(row) for row in found]


async def test_no_one_can_say_while_the_server_stays_away(
    own_postgres: servers.PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql_insert, "COMMIT_GRACE_SECONDS", 0.2)
    await run(own_postgres.url, TABLES)
    async with DatabaseProxy(own_postgres.url) as way, opened(way.url) as source:
        facts = await facts_of(source, "counted")
        await source.insert(entry(facts, {"n": 0}))
        way.reaches = True
        way.meanwhile = lambda: asyncio.to_thread(own_postgres.stop)
        with pytest.raises(InsertFault) as raised:
            await source.insert(entry(facts, {"n": 1}, seconds=1.5))
        assert (raised.value.code, raised.value.is_unknown) == ("P1017", True)
        own_postgres.start()
        assert await fetch_rows(own_postgres.url, "SELECT n FROM counted ORDER BY n") == [(0,), (1,)]
        assert await insert(source, "counted", {"n": 2})


async def test_an_answer_that_comes_after_the_time_is_up_is_still_given(postgres_url: str) -> None:
    await run(postgres_url, TABLES)
    async with DatabaseProxy(postgres_url) as way, opened(way.url) as source:
        facts = await facts_of(source, "counted")
        await source.insert(entry(facts, {"n": 1}))
        one = entry(facts, {"n": 2}, seconds=1)

        async def is_late() -> bool:
            return time.monotonic() > one.ends + 0.1

        way.reaches, way.meanwhile = True, lambda: until(is_late)
        assert (await source.insert(one)).output == [["2"]]
        assert way.cuts == 1


async def test_a_connection_lost_before_commit_is_made_again(postgres_url: str) -> None:
    script = """
    CREATE TABLE t (id serial PRIMARY KEY, n int);
    CREATE SEQUENCE times;
    CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('times') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN NULL; END $$;
    CREATE TRIGGER die AFTER INSERT ON t FOR EACH STATEMENT EXECUTE FUNCTION die();
    """
    async with opened(postgres_url, script) as source:
        facts = await facts_of(source, "t")
        answers = await insert_concurrently(source, [entry(facts, {"n": n}) for n in range(20)])
        found = await fetch_rows(postgres_url, "SELECT id::text FROM t ORDER BY n")
    assert [answer.output[0] for answer in answers] == [list(row) for row in found]


async def test_a_row_that_kills_its_connection_is_not_tried_forever(postgres_url: str) -> None:
    script = """
    CREATE TABLE t (id serial PRIMARY KEY);
    CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$;
    CREATE TRIGGER die BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION die();
    """
    async with opened(postgres_url, script) as source:
        with pytest.raises(InsertFault) as raised:
            await insert(source, "t", {})
        assert (raised.value.code, raised.value.is_unknown) == ("P1017", False)
        assert await fetch_rows(postgres_url, "SELECT count(*) FROM t") == [(0,)]


async def test_idle_connections_that_died_are_no_fault(postgres_url: str) -> None:
    async with opened(postgres_url, TABLES) as source:
        facts = [await facts_of(source, table) for table in ("counted", "given", "keyless")]
        for _ in range(3):
            answers = await insert_concurrently(source, [entry(one, {"n": 1}) for one in facts])
            assert not [answer for answer in answers if isinstance(answer, BaseException)]
            await run(
                postgres_url,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'pegboard' AND datname = current_database()",
            )
        assert await fetch_rows(postgres_url, "SELECT count(*) FROM counted") == [(3,)]


async def test_every_answered_row_is_there_once_though_the_server_restarts(
    own_postgres: servers.PostgresServer,
) -> None:
    await run(own_postgres.url, "CREATE TABLE t (id serial PRIMARY KEY, n int)")
    answered: dict[int, str] = {}
    unknown: set[int] = set()
    async with opened(own_postgres.url) as source:
        facts = await facts_of(source, "t")
        restarted = asyncio.Event()

        async def is_at(count: int) -> bool:
            return len(answered) >= count

        async def client(numbers: Sequence[int]) -> None:
            for n in numbers:
                while n not in answered and n not in unknown:
                    try:
                        answered[n] = (await source.insert(entry(facts, {"n": n}))).output[0][0]
                    except InsertFault as fault:
                        if fault.is_unknown:
                            unknown.add(n)
                        await restarted.wait()

        async def restart() -> None:
            await until(partial(is_at, 500))
            await asyncio.to_thread(own_postgres.stop)
            await asyncio.to_thread(own_postgres.start)
            restarted.set()

        await asyncio.gather(restart(), *(client(range(first, 2000, 100)) for first in range(100)))
        rows: list[Any] = await fetch_rows(own_postgres.url, "SELECT n, id::text FROM t")
    assert len(rows) == len(dict(rows))
    assert {n: key for n, key in rows if n not in unknown} == answered
    assert len(answered) + len(unknown) == 2000


async def test_an_id_that_went_to_another_transaction_proves_nothing(postgres_url: str) -> None:
    await run(postgres_url, TABLES)
    async with opened(postgres_url) as source, connected(postgres_url) as conn:
        facts = await facts_of(source, "counted")
        connections = PostgresqlPool(make_url(postgres_url), is_own=False, most=1)
        xid = await conn.fetchval("INSERT INTO counted (n) VALUES (1) RETURNING pg_current_xact_id()::text")
        until = time.monotonic() + 5
        assert await find_commit_outcome(connections, SentTransaction([], [(1,)], xid, facts), until) is True
        assert await find_commit_outcome(connections, SentTransaction([], [(2,)], xid, facts), until) is None
        to_come = str(int(xid) + 10**6)
        assert await find_commit_outcome(connections, SentTransaction([], [(1,)], to_come, facts), until) is False
        await connections.close()
