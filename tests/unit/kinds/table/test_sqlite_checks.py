"""CHECK constraints parsed from CREATE statements."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.table.sqlite_schema import find_columns, read_checks


@pytest.mark.parametrize(
    ("columns", "checks"),
    [
        ("a INT", {}),
        ("a INT CHECK (a > 0)", {"a > 0": "a > 0"}),
        ("a INT check( a>0 AND (a<9) )", {"a>0 AND (a<9)": "a>0 AND (a<9)"}),
        ("a TEXT CONSTRAINT c CHECK (a IN ('x,)', 'it''s'))", {"c": "a IN ('x,)', 'it''s')"}),
        ('a INT, CONSTRAINT "odd ""name" CHECK (a <> 1)', {'odd "name': "a <> 1"}),
        ("a INT, CONSTRAINT [c d] CHECK (a <> 1), CONSTRAINT `e` CHECK (a <> 2)", {"c d": "a <> 1", "e": "a <> 2"}),
        ("a INT CONSTRAINT n NOT NULL CHECK (a > 0), b INT CHECK (b > 0)", {"n": "a > 0", "b > 0": "b > 0"}),
        ("a INT /* CHECK (no) */ CHECK -- why\n (a > 0)", {"a > 0": "a > 0"}),
        ("a TEXT DEFAULT 'CHECK (x)', b AS (a = ')') CHECK (b)", {"b": "b"}),
        ('a INT CHECK ("a" > 0), CHECK ("a" < 9)', {"a": '("a" > 0) AND ("a" < 9)'}),
        ('"CHECK" INT CHECK ("CHECK" > (1))', {"CHECK": '"CHECK" > (1)'}),
    ],
)
def test_each_check_is_found_by_the_name_it_has_in_errors(columns: str, checks: dict[str, str]) -> None:
    statement = f"CREATE TABLE t ({columns})"
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(statement)
        (kept,) = connection.execute("SELECT sql FROM sqlite_master").fetchone()
    assert read_checks(kept) == checks


@given(
    name=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1),
    word=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
)
def test_any_name_and_any_text_is_reported_as_sqlite_has_it(name: str, word: str) -> None:
    quoted, literal = name.replace('"', '""'), word.replace("'", "''")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE t (a TEXT CONSTRAINT \"{quoted}\" CHECK (a = '{literal}'))")
        (kept,) = connection.execute("SELECT sql FROM sqlite_master").fetchone()
        with pytest.raises(sqlite3.IntegrityError) as refused:
            connection.execute("INSERT INTO t VALUES (?)", (word + "x",))
    assert read_checks(kept) == {name: f"a = '{literal}'"}
    assert str(refused.value) == f"CHECK constraint failed: {name}"


@given(st.text())
def test_no_text_is_too_odd_to_be_examined(text: str) -> None:
    assert all(isinstance(check, str) for check in read_checks(text).values())


def test_the_columns_of_a_check_are_those_it_names() -> None:
    columns = {"a": 1, "b c": 2, "d": 3}
    assert find_columns("length(a) < 5 AND \"b c\" <> 'd' OR a IS NULL", columns) == ("a", "b c")
