"""Field values in PostgreSQL's own types, read back from the server."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from pegboard.json_schema.read_arguments import parse_json
from pegboard.kinds.table.insert_plan import InsertPlan, make_insert_plan
from pegboard.kinds.table.postgresql_source import PostgresqlSource
from pegboard.kinds.table.source import InsertAnswer, InsertEntry, InsertFault
from pegboard.model.call_errors import InvalidArguments
from pegboard.model.ids import new_id
from tests.unit.kinds.table.fakes import config

COLUMNS = {
    "n": ("numeric", "numeric"),
    "f": ("numeric", "double precision"),
    "i": ("integer", "smallint"),
    "u": ("text", "uuid"),
    "e": ("text", "feeling"),
    "d": ("text", "date"),
    "t": ("text", "time"),
    "ip": ("text", "inet"),
    "c": ("text", "char(4)"),
    "at": ("datetime", "timestamptz"),
    "wall": ("datetime", "timestamp"),
    "j": ("json", "jsonb"),
    "words": ("json", "text[]"),
    "numbers": ("json", "numeric(4,1)[]"),
    "days": ("json", "date[]"),
    "feelings": ("json", "feeling[]"),
    "whole": ("json", "integer[]"),
}


@pytest.fixture
async def server(postgres_url: str) -> AsyncIterator[Any]:
    """A connection to a database with the table."""
    conn = await asyncpg.connect(postgres_url.replace("+asyncpg", ""))
    columns = ", ".join(f'"{name}" {type_}' for name, (_, type_) in COLUMNS.items())
    await conn.execute("CREATE TYPE feeling AS ENUM ('sad', 'happy')")
    await conn.execute(f"CREATE TABLE things ({columns})")
    await conn.execute("SET timezone TO 'UTC'")
    yield conn
    await conn.close()


@pytest.fixture
async def source(postgres_url: str, server: Any) -> AsyncIterator[PostgresqlSource]:
    opened = PostgresqlSource(postgres_url)
    yield opened
    await opened.close()


async def insert(source: PostgresqlSource, body: str) -> None:
    """Insert the values twice at the same time, so that they are inserted alone and in a batch."""
    given = parse_json(body.encode())
    fields = [{"name": field, "dataType": COLUMNS[field][0]} for field in given]
    facts = await source.facts(None, "things")
    made = make_insert_plan(config(*fields, tableName="things"), facts, "postgresql")
    assert isinstance(made, InsertPlan), made
    rows = made.rows(given)
    for many in (rows, rows * 2):
        await source.insert(
            InsertEntry(made.facts, many, new_id(), lambda _: InsertAnswer({}, None), time.monotonic() + 10)
        )


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ('{"n": 3.14159265358979323846264338327950288}', "3.14159265358979323846264338327950288"),
        ('{"n": 0.1}', "0.1"),
        ('{"n": 1e-7}', "0.0000001"),
        ('{"f": 0.1}', "0.1"),
        ('{"i": -32768}', "-32768"),
        ('{"u": "550E8400-E29B-41D4-A716-446655440000"}', "550e8400-e29b-41d4-a716-446655440000"),
        ('{"e": "sad"}', "sad"),
        ('{"d": "2025-10-05"}', "2025-10-05"),
        ('{"t": "14:30"}', "14:30:00"),
        ('{"ip": "10.0.0.0/8"}', "10.0.0.0/8"),
        ('{"at": "2025-10-05T14:30:00.123456+05:30"}', "2025-10-05 09:00:00.123456+00"),
        ('{"wall": "2025-10-05T14:30+02:00"}', "2025-10-05 12:30:00"),
        ('{"at": "0001-01-01T00:00:01Z"}', "0001-01-01 00:00:01+00"),
        ('{"at": "9999-12-31T23:59:59.999998Z"}', "9999-12-31 23:59:59.999998+00"),
        ('{"j": {"a": 0.12345678901234567890, "b": 18446744073709551615}}',
         '{"a": 0.12345678901234567890, "b": 18446744073709551615}'),
        ('{"words": ["a, b", "\\"", "NULL", ""]}', '{"a, b","\\"","NULL",""}'),
        ('{"numbers": [1, 2.5]}', "{1.0,2.5}"),
        ('{"days": ["2025-10-05"]}', "{2025-10-05}"),
        ('{"feelings": ["happy", "sad"]}', "{happy,sad}"),
        ('{"whole": []}', "{}"),
    ],
)  # fmt: skip
async def test_a_value_is_kept_as_it_was_given(source: PostgresqlSource, server: Any, body: str, kept: str) -> None:
    await insert(source, body)
    (field,) = parse_json(body.encode())
    rows = await server.fetch(f'SELECT "{field}"::text FROM things')
    assert [stored_value for (stored_value,) in rows] == [kept] * 3


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ('{"i": 32768}', "too_big", "i"),
        ('{"c": "abcde"}', "too_big", "c"),
        ('{"c": "a\\u0000"}', "invalid_string", "c"),
        ('{"u": "x"}', "invalid_string", "u"),
        ('{"e": "angry"}', "invalid_enum_value", "e"),
        ('{"d": "2025-10-05T00:00:00Z"}', "invalid_string", "d"),
        ('{"f": 0.12345678901234567890}', "custom", "f"),
        ('{"at": "0001-01-01T00:00:00Z"}', "too_small", "at"),
        ('{"j": {"a": "\\u0000"}}', "invalid_string", "j"),
        ('{"numbers": [1, 2.55]}', "not_multiple_of", "numbers[1]"),
        ('{"numbers": [1, 1000]}', "too_big", "numbers[1]"),
        ('{"whole": [1, 2147483648]}', "too_big", "whole[1]"),
        ('{"feelings": ["happy", "angry"]}', "invalid_enum_value", "feelings[1]"),
        ('{"words": ["a", "\\u0000"]}', "invalid_string", "words[1]"),
    ],
)
async def test_a_value_that_a_column_would_change_or_refuse_is_refused_before_it(
    source: PostgresqlSource, server: Any, body: str, code: str, field: str
) -> None:
    with pytest.raises(InvalidArguments) as refused:
        await insert(source, body)
    (problem,) = refused.value.problems
    assert (problem.code, problem.field) == (code, field)
    assert not await server.fetch("SELECT 1 FROM things")


async def test_what_only_the_server_can_read_is_reported_by_the_server(source: PostgresqlSource) -> None:
    with pytest.raises(InsertFault) as refused:
        await insert(source, '{"ip": "nowhere"}')
    assert refused.value.code == "P2007"
