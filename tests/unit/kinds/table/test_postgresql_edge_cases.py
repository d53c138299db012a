"""Unusual names, types, keys and rights on PostgreSQL."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import make_url

from pegboard.kinds.table.source import InsertFault
from tests.unit.kinds.table.postgresql_tables import (
    connected,
    entry,
    facts_of,
    fetch_rows,
    insert,
    insert_concurrently,
    opened,
    run,
)


async def test_a_percent_sign_in_a_name_stays_one(postgres_url: str) -> None:
    script = 'CREATE TABLE "100% ""sure"";" (id serial PRIMARY KEY, "50%" int)'
    async with opened(postgres_url, script) as source:
        assert await insert(source, '100% "sure";', {"50%": 7}) == [["1"]]
    assert await fetch_rows(postgres_url, 'SELECT "50%" FROM "100% ""sure"";"') == [(7,)]


async def test_a_name_longer_than_any_is_that_of_no_table(postgres_url: str) -> None:
    async with opened(postgres_url) as source:
        assert await source.facts(None, "x" * 64) is None
        assert await source.facts("x" * 64, "t") is None
        assert await source.tables("x" * 64) == []


@pytest.mark.parametrize(
    ("type_", "given", "id_"),
    [("bit(3)", "101", "101"), ("interval", "26 hours", "26:00:00"), ("inet", "10.0.0.1", "10.0.0.1")],
)
async def test_a_key_of_any_type_is_reported_as_the_server_writes_it(
    postgres_url: str, type_: str, given: str, id_: str
) -> None:
    async with opened(postgres_url, f"CREATE TABLE t (k {type_} PRIMARY KEY)") as source:
        assert await insert(source, "t", {"k": given}) == [[id_]]


async def test_what_would_be_cut_without_a_word_has_no_field(postgres_url: str) -> None:
    async with opened(postgres_url, 'CREATE TABLE t (c "char", n name, at time(2))') as source:
        columns = (await facts_of(source, "t")).columns
    assert (columns["c"].family, columns["n"].family) == ("bytes", "bytes")
    assert columns["at"].precision == 2


@pytest.mark.parametrize(
    ("row", "code", "columns"),
    [
        ({"size": 0}, "P2004", ("size",)),
        ({"size": None}, "P2011", ("size",)),
        ({"size": 1, "ip": "nowhere"}, "P2007", ("ip",)),
        ({"size": 1, "bits": "10101"}, "P2000", ("bits",)),
        ({"size": 1, "word": "ONE"}, "P2002", ("word",)),
    ],
)
async def test_columns_are_named_also_if_the_server_does_not(
    postgres_url: str, row: dict[str, Any], code: str, columns: tuple[str, ...]
) -> None:
    script = """
    CREATE DOMAIN positive AS int CHECK (VALUE > 0);
    CREATE DOMAIN counted AS positive NOT NULL;
    CREATE TABLE t (size counted, ip inet, bits bit varying(3), word text);
    CREATE UNIQUE INDEX ON t (lower(word));
    INSERT INTO t VALUES (1, NULL, NULL, 'one');
    """
    async with opened(postgres_url, script) as source:
        with pytest.raises(InsertFault) as raised:
            await insert(source, "t", row)
    assert (raised.value.code, raised.value.columns) == (code, columns)


async def test_the_check_of_a_domain_speaks_of_the_column(postgres_url: str) -> None:
    script = r"""CREATE DOMAIN positive AS int CHECK (VALUE > 0); CREATE TABLE t ("a\1" positive)"""
    async with opened(postgres_url, script) as source:
        assert (await facts_of(source, "t")).checks == {"positive_check": r'CHECK (("a\1" > 0))'}


async def test_a_user_who_may_only_insert_does(postgres_url: str) -> None:
    database = make_url(postgres_url).database
    role = f"only_{database}"
    await run(
        postgres_url,
        f"""CREATE ROLE "{role}" LOGIN PASSWORD 'pw'; CREATE TABLE t (id serial PRIMARY KEY, n int);
        GRANT INSERT ON t TO "{role}"; GRANT USAGE ON t_id_seq TO "{role}" """,
    )
    url = make_url(postgres_url).set(username=role, password="pw")
    try:
        async with opened(url.render_as_string(hide_password=False)) as source:
            facts = await facts_of(source, "t")
            assert facts.key == ()
            assert [
                answer.output for answer in await insert_concurrently(source, [entry(facts, {"n": n}) for n in (1, 2)])
            ] == [
                [[]],
                [[]],
            ]
        assert await fetch_rows(postgres_url, "SELECT n FROM t ORDER BY n") == [(1,), (2,)]
    finally:
        await run(postgres_url, f'DROP OWNED BY "{role}"; DROP ROLE "{role}"')


async def test_a_policy_that_keeps_a_row_out_keeps_out_no_other(postgres_url: str) -> None:
    database = make_url(postgres_url).database
    role = f"kept_{database}"
    await run(
        postgres_url,
        f"""CREATE ROLE "{role}" LOGIN PASSWORD 'pw'; CREATE TABLE t (id serial PRIMARY KEY, n int);
        GRANT INSERT, SELECT ON t TO "{role}"; GRANT USAGE ON t_id_seq TO "{role}";
        ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON t USING (n <> 3)""",
    )
    url = make_url(postgres_url).set(username=role, password="pw")
    try:
        async with opened(url.render_as_string(hide_password=False)) as source:
            facts = await facts_of(source, "t")
            answers = await insert_concurrently(source, [entry(facts, {"n": n}) for n in range(6)])
        assert [n for n, answer in enumerate(answers) if isinstance(answer, InsertFault)] == [3]
        assert (answers[3].code, answers[3].constraint) == ("P1010", "a row-level security policy")
    finally:
        await run(postgres_url, f'DROP OWNED BY "{role}"; DROP ROLE "{role}"')


async def test_a_batch_names_the_row_also_if_only_the_commit_is_refused(postgres_url: str) -> None:
    script = """
    CREATE TABLE t (id int PRIMARY KEY, n int UNIQUE DEFERRABLE INITIALLY DEFERRED,
      of_id int REFERENCES t DEFERRABLE INITIALLY DEFERRED);
    INSERT INTO t VALUES (1, 1);
    """
    async with opened(postgres_url, script) as source:
        for bad in ({"id": 5, "n": 1}, {"id": 5, "of_id": 77}):
            with pytest.raises(InsertFault) as raised:
                await insert(source, "t", {"id": 3, "n": 3, "of_id": 4}, {"id": 4, "n": 4}, bad)
            assert raised.value.row == 2
        async with connected(postgres_url) as conn:
            assert await conn.fetchval("SELECT count(*) FROM t") == 1
