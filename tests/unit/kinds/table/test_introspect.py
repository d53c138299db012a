"""Configs generated from the schema of a database."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pegboard.kinds.table.check_constraints import ColumnBounds, read_bounds
from pegboard.kinds.table.column_values import DatabaseKind
from pegboard.kinds.table.insert_plan import check_table_config
from pegboard.kinds.table.introspect import generate_entry
from pegboard.kinds.table.sources import open_source
from pegboard.kinds.table.table_schema import Column, TableSchema
from pegboard.kinds.table.tables_file import read_tables_file
from pegboard.model.documents import write_yaml
from tests.table_databases import run_sql

SQLITE = """
CREATE TABLE mood_entries (
    id INTEGER PRIMARY KEY,
    user_id VARCHAR(50) NOT NULL CHECK (length(user_id) > 0),
    mood TEXT NOT NULL CHECK (mood IN ('happy', 'it''s fine')),
    energy_level INTEGER NOT NULL CHECK (energy_level BETWEEN 1 AND 10),
    weight NUMERIC(5, 2) CHECK (weight > 0),
    notes TEXT,
    photo BLOB,
    is_public BOOLEAN NOT NULL DEFAULT 0,
    size INTEGER GENERATED ALWAYS AS (length(notes)) VIRTUAL,
    "timestamp" TIMESTAMP NOT NULL,
    metadata JSON
)
"""
POSTGRESQL = """
CREATE TYPE mood AS ENUM ('happy', 'sad');
CREATE TABLE mood_entries (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    number bigint GENERATED ALWAYS AS IDENTITY,
    user_id varchar(50) NOT NULL CHECK (char_length(user_id) > 0),
    mood mood NOT NULL,
    kind text NOT NULL DEFAULT 'plain' CHECK (kind IN ('plain', 'it''s fine')),
    energy_level int NOT NULL CHECK (energy_level BETWEEN 1 AND 10),
    small smallint CHECK (small > -5),
    weight numeric(5, 2) CHECK (weight > 0 AND weight <= 300.5),
    ratio double precision CHECK (ratio < 1),
    notes text,
    photo bytea,
    born date,
    tags text[],
    friend uuid,
    recorded_at timestamptz NOT NULL,
    metadata jsonb
);
COMMENT ON TABLE mood_entries IS 'How somebody feels.';
COMMENT ON COLUMN mood_entries.energy_level IS 'From 1 to 10';
"""


@pytest.fixture(params=["sqlite", "postgresql"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of either kind with one table that uses many features."""
    if request.param == "sqlite":
        await run_sql(f"sqlite:///{tmp_path}/mood.db", SQLITE)
        return f"sqlite:///{tmp_path}/mood.db"
    url: str = request.getfixturevalue("postgres_url")
    await run_sql(url, POSTGRESQL)
    return url


async def facts_at(url: str) -> tuple[TableSchema, Any]:
    """Return the schema of the table that the database reports, and the kind of database."""
    source = open_source(url)
    try:
        facts = await source.facts(None, "mood_entries")
    finally:
        await source.close()
    assert facts is not None
    return facts, source.kind


async def fields_at(url: str) -> dict[str, dict[str, Any]]:
    """The fields of the made up table, without their labels, by name."""
    facts, kind = await facts_at(url)
    entry = generate_entry(facts, kind).entry
    assert entry is not None
    return {
        field["name"]: {key: field[key] for key in field if key not in ("name", "label")} for field in entry["fields"]
    }


async def test_a_table_that_was_made_up_is_read_and_fits_its_database(url: str) -> None:
    facts, kind = await facts_at(url)
    invented = generate_entry(facts, kind)
    assert invented.entry is not None
    (entry,) = read_tables_file(write_yaml({"tables": [invented.entry]}).encode(), "made.yaml").tables
    assert check_table_config(entry, facts, kind) == []
    assert (entry.toolId, entry.displayName) == ("add-mood-entries", "Add mood entries")
    assert entry.fields[0].label == "User Id"
    assert [note.split(":")[0] for note in invented.notes] == ["column photo is left out"]


async def test_columns_of_sqlite_become_fields_with_what_their_checks_say(tmp_path: Path) -> None:
    await run_sql(f"sqlite:///{tmp_path}/mood.db", SQLITE)
    assert await fields_at(f"sqlite:///{tmp_path}/mood.db") == {
        "user_id": {"dataType": "text", "required": True, "minLength": 1, "maxLength": 50},
        "mood": {"dataType": "enum", "required": True, "enumValues": ["happy", "it's fine"]},
        "energy_level": {"dataType": "integer", "required": True, "min": 1, "max": 10},
        "weight": {"dataType": "numeric", "required": False, "min": 0.01, "precision": 5, "scale": 2},
        "notes": {"dataType": "text", "required": False},
        "is_public": {"dataType": "boolean", "required": False},
        "timestamp": {"dataType": "datetime", "required": True},
        "metadata": {"dataType": "json", "required": False},
    }


async def test_columns_of_postgresql_become_fields_with_what_their_types_and_checks_say(postgres_url: str) -> None:
    await run_sql(postgres_url, POSTGRESQL)
    fields = await fields_at(postgres_url)
    born = fields.pop("born")
    assert not born["required"]
    assert fields == {
        "user_id": {"dataType": "text", "required": True, "minLength": 1, "maxLength": 50},
        "mood": {"dataType": "enum", "required": True, "enumValues": ["happy", "sad"]},
        "kind": {"dataType": "enum", "required": False, "enumValues": ["plain", "it's fine"]},
        "energy_level": {
            "description": "From 1 to 10",
            "dataType": "integer",
            "required": True,
            "min": 1,
            "max": 10,
        },
        "small": {"dataType": "integer", "required": False, "min": -4, "max": 32767},
        "weight": {"dataType": "numeric", "required": False, "min": 0.01, "max": 300.5, "precision": 5, "scale": 2},
        "ratio": {"dataType": "numeric", "required": False, "max": 1},
        "notes": {"dataType": "text", "required": False},
        "tags": {"dataType": "json", "required": False},
        "friend": {"dataType": "text", "required": False},
        "recorded_at": {"dataType": "datetime", "required": True},
        "metadata": {"dataType": "json", "required": False},
    }


def table(*columns: Column, **more: Any) -> TableSchema:
    """A table with these columns."""
    return TableSchema(None, more.pop("table", "things"), {column.name: column for column in columns}, **more)


def test_a_key_that_the_board_can_make_is_no_field_unless_it_refers_to_another_row() -> None:
    facts = table(Column("id", "uuid", "uuid", nullable=False), Column("name", "text", "text"), key=("id",))
    entry = generate_entry(facts, "postgresql").entry
    assert entry is not None
    assert [field["name"] for field in entry["fields"]] == ["name"]


def test_a_table_with_a_column_that_must_be_filled_in_and_cannot_be_is_left_out_with_the_reason() -> None:
    facts = table(Column("photo", "bytea", "bytes", nullable=False), Column("name", "text", "text"))
    assert generate_entry(facts, "postgresql") == (
        None,
        ["left out: its column photo must be filled in, and no field fits its type bytea"],
    )


@pytest.mark.parametrize(
    ("column", "check"),
    [
        (Column("a", "varchar(5)", "text", max_length=5), "length(a) > 10"),
        (Column("a", "text", "text"), "length(a) > -5"),
        (Column("a", "text", "text"), "length(a) < 0"),
        (Column("a", "varchar(1)", "text", max_length=1), "a IN ('long', 'b')"),
        (Column("a", "smallint", "integer", low=-32768, high=32767), "a > 100000"),
        (Column("a", "integer", "integer"), "a > 99999999999999999999999"),
        (Column("a", "integer", "integer"), "a >= 5 AND a <= 3"),
        (Column("a", "numeric", "numeric"), "a > 5 AND a < 3"),
        (Column("a", "double precision", "float"), "a < 1e305"),
        (Column("a", "mood", "enum", labels=tuple(map(str, range(1001)))), ""),
        (Column("a" * 256, "text", "text"), ""),
        (Column("", "text", "text"), ""),
    ],
)
def test_what_no_file_can_say_of_a_column_is_left_out_of_a_file_that_is_valid(column: Column, check: str) -> None:
    facts = table(column, Column("b", "text", "text"), checks={"c": check})
    entry = generate_entry(facts, "postgresql").entry
    file = read_tables_file(write_yaml({"tables": [entry]}).encode(), "tables.yaml")
    assert check_table_config(file.tables[0], facts, "postgresql") == []


def test_a_column_beyond_the_most_fields_is_left_out_and_noted() -> None:
    entry, notes = generate_entry(table(*(Column(f"c{number}", "text", "text") for number in range(1001))), "sqlite")
    assert entry is not None
    assert len(entry["fields"]) == 1000
    assert notes == ["column c1000 is left out: a table has at most 1,000 fields"]


def test_a_bound_that_may_not_be_reached_becomes_the_next_number_of_the_columns_scale() -> None:
    column = Column("a", "numeric(4,1)", "numeric", precision=4, scale=1)
    entry = generate_entry(table(column, checks={"c": "a > 5.55 AND a < 9"}), "postgresql").entry
    assert entry is not None
    assert (entry["fields"][0]["min"], entry["fields"][0]["max"]) == (5.6, 8.9)


def test_a_view_is_left_out_with_the_reason() -> None:
    facts = table(Column("name", "text", "text"), unfit="it is a view")
    assert generate_entry(facts, "sqlite") == (None, ["left out: it is a view"])


def test_a_table_whose_columns_all_fill_themselves_is_left_out() -> None:
    facts = table(Column("id", "bigint", "integer", has_default=True, counts=True), key=("id",))
    assert generate_entry(facts, "postgresql").entry is None


@pytest.mark.parametrize(
    ("name", "tool_id"),
    [("MoodEntries", "add-mood-entries"), ("HTTPLog", "add-http-log"), ("größe 2", "add-gr-e-2"), ("表", "add-row")],
)
def test_any_name_of_a_table_gives_a_name_that_a_tool_may_have(name: str, tool_id: str) -> None:
    entry = generate_entry(table(Column("a", "text", "text"), table=name), "sqlite").entry
    assert entry is not None
    assert entry["toolId"] == tool_id
    assert entry["tableName"] == name


# PostgreSQL writes its constraints with casts and arrays; SQLite keeps what the user wrote.
POSTGRESQL_CHECKS = [
    ("CHECK ((n >= '-5'::integer))", ColumnBounds(low=Decimal(-5))),
    ("CHECK ((n < (100.5)::numeric(10,2)))", ColumnBounds(below=Decimal("100.5"))),
    ("CHECK (((n)::numeric > 0.5))", ColumnBounds(above=Decimal("0.5"))),
    (
        "CHECK (((n)::text = ANY ((ARRAY['a'::character varying, 'b'::text])::text[])))",
        ColumnBounds(among=("a", "b")),
    ),
    ("CHECK (((char_length((n)::text) <= 10)))", ColumnBounds(longest=10)),
    ("CHECK ((n > 1)) AND CHECK ((n < 5))", ColumnBounds(above=Decimal(1), below=Decimal(5))),
]
CHECKS = [
    ("CHECK (((n >= 1) AND (n <= 10)))", ColumnBounds(low=Decimal(1), high=Decimal(10))),
    ("n BETWEEN -1 AND 10.5 AND length(t) > 0", ColumnBounds(low=Decimal(-1), high=Decimal("10.5"))),
    ("0 < n", ColumnBounds(above=Decimal(0))),
    ("n IS NOT NULL AND n > 2 AND n > 3", ColumnBounds(above=Decimal(3))),
    ("n IN ('a', 'b') AND n IN ('b', 'c')", ColumnBounds(among=("b",))),
    ("length(n) >= 2.5 AND length(n) < 3.5", ColumnBounds(shortest=3, longest=3)),
    ('"n" >= 3', ColumnBounds(low=Decimal(3))),
    ("N >= 3", ColumnBounds(low=Decimal(3))),
    (" AND ".join(["n > 1"] * 5000), ColumnBounds(above=Decimal(1))),
]


@pytest.mark.parametrize(
    ("check", "bounds", "kind"),
    [
        *((*row, "postgresql") for row in [*POSTGRESQL_CHECKS, *CHECKS]),
        *((*row, "sqlite") for row in CHECKS),
        ("[n] >= 3", ColumnBounds(low=Decimal(3)), "sqlite"),
        ("`n` >= 3", ColumnBounds(low=Decimal(3)), "sqlite"),
    ],
)
def test_a_simple_check_is_understood(check: str, bounds: ColumnBounds, kind: DatabaseKind) -> None:
    assert read_bounds([check], ["n", "t"], kind)["n"] == bounds


@pytest.mark.parametrize("kind", get_args(DatabaseKind))
@pytest.mark.parametrize(
    "check",
    [
        "n > 1 OR n < -1",
        "NOT (n > 1)",
        "n NOT IN ('x')",
        "n NOT BETWEEN 1 AND 2",
        "n BETWEEN SYMMETRIC 2 AND 1",
        "abs(n) < 3",
        "n > t",
        "n > 'x'",
        "n IN ('a', upper(t))",
        "n IN (SELECT 'a')",
        "n = ANY ('{a,b}')",
        "CAST(n AS integer) <= 3",
        "CAST(n AS varchar(1)) IN ('a')",
        "other.n > 3",
        "n > 3 nonsense",
        "(",
        "'",
        "",
        "n < 1e99999999",
        "CASE WHEN t = 'x' THEN t < 'y' AND n < 5 AND t > 'a' ELSE 1 END",
    ],
)
def test_a_check_that_is_not_simple_says_nothing(check: str, kind: DatabaseKind) -> None:
    assert read_bounds([check], ["n", "t"], kind).get("n", ColumnBounds()) == ColumnBounds()


@pytest.mark.parametrize("kind", get_args(DatabaseKind))
@pytest.mark.parametrize(
    "check",
    [
        pytest.param("(" * 100 + "n > 1" + ")" * 100, id="brackets"),
        pytest.param("n = ANY (" + "ARRAY[" * 40 + "'a'" + "]" * 40 + ")", id="arrays"),
        pytest.param("n > struct(" + "struct(" * 40 + "1" + ")" * 41, id="calls"),
        pytest.param("NOT " * 10_000 + "n > 1", id="negations"),
        pytest.param("CASE WHEN " * 4_000 + "n > 1", id="cases"),
        pytest.param("n > " + "- " * 20_000 + "1", id="signs"),
        pytest.param("n IN (" + "'option', " * 100_000 + "'last')", id="options"),
        pytest.param("n > 1" + " " * 10_000_000, id="spaces"),
    ],
)
def test_a_check_that_is_too_deep_or_too_long_says_nothing(check: str, kind: DatabaseKind) -> None:
    assert read_bounds([check, "n > 2"], ["n"], kind) == {"n": ColumnBounds(above=Decimal(2))}


@given(st.text(alphabet="nt<>=()[]',:: andorotin1.-\"", max_size=60), st.sampled_from(get_args(DatabaseKind)))
def test_no_check_is_too_odd_to_be_read(check: str, kind: DatabaseKind) -> None:
    assert set(read_bounds([check], ["n", "t"], kind)) <= {"n", "t"}


WORDS = """
n t check and or not in any array between case when end cast as text :: numeric ( ) [ ] , = < >= - 'a' 1 1e5 0x 0xf $$
$a$ E'\\' U&'x' "n" "" length interval date extract filter is null select values $1 ? @ { } ; -- /* */ . ..
"""


@given(
    st.lists(st.sampled_from(WORDS.split()), max_size=30),
    st.sampled_from(["", " "]),
    st.sampled_from(get_args(DatabaseKind)),
)
@example(['else"n""n"."n"position1e5timestamplisttableint1.cast0x/**/.zone[exists~collateelse'], "", "postgresql")
@example(["null(\"\"''*end::grantsimilarilikefilter1e5extract@valuesU&'\\zz'}'}"], "", "sqlite")
def test_no_order_of_words_is_too_odd_to_be_read(words: list[str], between: str, kind: DatabaseKind) -> None:
    assert set(read_bounds([between.join(words)], ["n", "t"], kind)) <= {"n", "t"}
