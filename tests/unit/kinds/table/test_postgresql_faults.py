"""Errors of PostgreSQL, and which calls get them."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.kinds.table.source import InsertFault
from tests.unit.kinds.table.postgresql_tables import (
    entry,
    facts_of,
    fetch_rows,
    insert,
    insert_concurrently,
    opened,
    run,
)

TABLES = """
CREATE TYPE mood AS ENUM ('happy', 'sad');
CREATE TABLE users (id int PRIMARY KEY);
CREATE TABLE moods (
    id serial PRIMARY KEY, who int CONSTRAINT of_user REFERENCES users,
    name varchar(5) NOT NULL DEFAULT 'x', score int2, price numeric(4, 2), day int, mood mood,
    CONSTRAINT one_a_day UNIQUE (name, day),
    CONSTRAINT fair CHECK (score > 0 OR mood = 'sad'), span int4range,
    CONSTRAINT apart EXCLUDE USING gist (span WITH &&)
);
INSERT INTO moods (name, day, span) VALUES ('taken', 1, '[1,5]');
"""


@pytest.mark.parametrize(
    ("row", "code", "sqlstate", "columns", "constraint"),
    [
        ({"name": "taken", "day": 1}, "P2002", "23505", ("name", "day"), "one_a_day"),
        ({"who": 9}, "P2003", "23503", ("who",), "of_user"),
        ({"name": None}, "P2011", "23502", ("name",), None),
        ({"score": 0, "mood": "happy"}, "P2004", "23514", ("score", "mood"), "fair"),
        ({"span": "[2,3]"}, "P2004", "23P01", ("span",), "apart"),
        ({"name": "too long", "day": 3}, "P2000", "22001", ("name",), None),
        ({"day": 3, "score": 40000}, "P2020", "22003", ("score",), None),
        ({"day": 3, "price": 100.5}, "P2020", "22003", ("price",), None),
        ({"mood": "secret"}, "P2007", "22P02", (), None),
        ({"name": "a\x00secret"}, "P2007", "22021", (), None),
        ({"name": "\ud800"}, "P2007", "22P02", (), None),
    ],
)
async def test_a_refusal_names_code_columns_and_constraint_but_no_value(
    postgres_url: str, row: dict[str, Any], code: str, sqlstate: str, columns: tuple[str, ...], constraint: str | None
) -> None:
    async with opened(postgres_url, TABLES) as source:
        with pytest.raises(InsertFault) as raised:
            await insert(source, "moods", row)
        fault = raised.value
        assert (fault.code, fault.sqlstate, fault.columns, fault.constraint) == (code, sqlstate, columns, constraint)
        assert not fault.is_unknown
        assert not fault.is_stale
        assert "secret" not in fault.message
        assert await fetch_rows(postgres_url, "SELECT count(*) FROM moods") == [(1,)]
        assert await insert(source, "moods", {"name": "well"})


async def test_bad_rows_do_not_hurt_their_neighbours(postgres_url: str) -> None:
    async with opened(postgres_url, TABLES) as source:
        facts = await facts_of(source, "moods")
        bad = {3, 4, 50, 99}
        entries = [entry(facts, {"name": "n", "day": n, "who": 9 if n in bad else None}) for n in range(100)]
        answers = await insert_concurrently(source, entries)
        assert {n for n, answer in enumerate(answers) if isinstance(answer, InsertFault)} == bad
        assert {answers[n].code for n in bad} == {"P2003"}
        found = dict(await fetch_rows(postgres_url, "SELECT id::text, day FROM moods WHERE name = 'n'"))
    assert {found[a.output[0][0]]: n for n, a in enumerate(answers) if n not in bad} == {
        n: n for n in range(100) if n not in bad
    }


@pytest.mark.parametrize(
    "bad", [{"name": "taken", "day": 1}, {"name": None}, {"name": "too long"}, {"score": 40000}, {"mood": "x"}]
)
async def test_whatever_is_wrong_with_some_the_others_are_taken(postgres_url: str, bad: dict[str, Any]) -> None:
    async with opened(postgres_url, TABLES) as source:
        facts = await facts_of(source, "moods")
        good = {"name": "n", "score": 1, "mood": "happy"}
        entries = [entry(facts, {**good, "day": n, **(bad if n % 10 == 2 else {})}) for n in range(50)]
        answers = await insert_concurrently(source, entries)
        assert [n for n, answer in enumerate(answers) if isinstance(answer, InsertFault)] == [2, 12, 22, 32, 42]
        assert await fetch_rows(postgres_url, "SELECT count(*) FROM moods WHERE name = 'n'") == [(45,)]


async def test_of_two_alike_in_one_transaction_one_is_taken(postgres_url: str) -> None:
    async with opened(postgres_url, TABLES) as source:
        facts = await facts_of(source, "moods")
        answers = await insert_concurrently(source, [entry(facts, {"name": "n", "day": n // 2}) for n in range(20)])
        assert sum(isinstance(answer, InsertFault) for answer in answers) == 10
        assert await fetch_rows(postgres_url, "SELECT count(*), count(DISTINCT day) FROM moods WHERE name = 'n'") == [
            (10, 10)
        ]


async def test_a_batch_names_the_invalid_row_and_leaves_nothing(postgres_url: str) -> None:
    async with opened(postgres_url, TABLES) as source:
        rows: list[dict[str, Any]] = [{"name": "n", "day": n} for n in range(10)]
        for place, bad in ((6, {"name": "n", "who": 9}), (9, {"name": "n", "day": 2}), (0, {"name": "too long"})):
            with pytest.raises(InsertFault) as raised:
                await insert(source, "moods", *rows[:place], bad, *rows[place + 1 :])
            assert raised.value.row == place
            assert raised.value.columns
        assert await fetch_rows(postgres_url, "SELECT count(*) FROM moods") == [(1,)]


async def test_a_deferred_constraint_refuses_only_its_own_rows_at_commit(postgres_url: str) -> None:
    script = """
    CREATE TABLE users (id int PRIMARY KEY);
    CREATE TABLE t (id serial PRIMARY KEY, who int CONSTRAINT of_user REFERENCES users DEFERRABLE INITIALLY DEFERRED);
    INSERT INTO users VALUES (1);
    """
    async with opened(postgres_url, script) as source:
        facts = await facts_of(source, "t")
        answers = await insert_concurrently(source, [entry(facts, {"who": 2 if n == 5 else 1}) for n in range(20)])
        assert [n for n, answer in enumerate(answers) if isinstance(answer, InsertFault)] == [5]
        assert (answers[5].code, answers[5].columns, answers[5].is_unknown) == ("P2003", ("who",), False)
        assert await fetch_rows(postgres_url, "SELECT count(*) FROM t") == [(19,)]


async def test_a_partition_names_the_columns_too(postgres_url: str) -> None:
    script = """
    CREATE TABLE parts (id int PRIMARY KEY) PARTITION BY RANGE (id);
    CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (10);
    INSERT INTO parts VALUES (1);
    """
    async with opened(postgres_url, script) as source:
        with pytest.raises(InsertFault) as raised:
            await insert(source, "parts", {"id": 1})
        assert (raised.value.code, raised.value.columns) == ("P2002", ("id",))


async def test_what_a_trigger_says_is_passed_on(postgres_url: str) -> None:
    script = """
    CREATE TABLE t (id int PRIMARY KEY);
    CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'closed on Sundays'; END $$;
    CREATE TRIGGER no BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION no();
    """
    async with opened(postgres_url, script) as source:
        with pytest.raises(InsertFault) as raised:
            await insert(source, "t", {"id": 1})
        assert (raised.value.code, raised.value.sqlstate) == ("P2010", "P0001")
        assert raised.value.message == "closed on Sundays"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("DROP TABLE t", "P2021"),
        ("ALTER TABLE t DROP n", "P2022"),
        ("ALTER TABLE t ADD more int NOT NULL", "P2011"),
        ("ALTER TABLE t ALTER n TYPE bool USING true", "P2010"),
        ("ALTER TABLE t ALTER id TYPE bigint", "P2010"),
    ],
)
async def test_facts_that_are_no_longer_true_are_stale(postgres_url: str, change: str, code: str) -> None:
    async with opened(postgres_url, "CREATE TABLE t (id serial PRIMARY KEY, n int)") as source:
        facts = await facts_of(source, "t")
        await insert_concurrently(source, [entry(facts, {"n": n}) for n in range(5)])
        await run(postgres_url, "TRUNCATE t;" + change)
        answers = await insert_concurrently(source, [entry(facts, {"n": n}) for n in range(5)])
        assert [(answer.code, answer.is_stale) for answer in answers] == [(code, True)] * 5


async def test_a_user_who_may_not_insert_is_informed(postgres_url: str) -> None:
    async with opened(postgres_url, "CREATE TABLE t (id int PRIMARY KEY)") as source:
        facts = await facts_of(source, "t")
        role = "r" + postgres_url.rsplit("_", 1)[1]
        await run(postgres_url, f"CREATE ROLE {role} LOGIN PASSWORD 'pw'")
        try:
            server = postgres_url.split("@", 1)[1]
            async with opened(f"postgresql://{role}:pw@{server}") as theirs:
                with pytest.raises(InsertFault) as raised:
                    await theirs.insert(entry(facts, {"id": 1}))
            assert (raised.value.code, raised.value.sqlstate) == ("P1010", "42501")
        finally:
            await run(postgres_url, f"DROP ROLE {role}")
