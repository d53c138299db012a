"""The table of columns fits the row of a call and the migrations."""

from __future__ import annotations

from pathlib import Path

from pegboard.model.call import Execution
from pegboard.model.journal_row import COLUMNS, FIELDS, STORED_COLUMNS, serialize_execution
from pegboard.storage import migrate
from tests.unit.storage.sample_rows import an_execution

VERSIONS = Path(migrate.__file__).parent / "migrations" / "versions"


def test_every_field_of_an_execution_is_one_column() -> None:
    assert sorted(column.name for column in COLUMNS) == sorted(FIELDS)


def test_a_value_that_is_not_a_string_does_not_keep_the_others_from_being_cleaned() -> None:
    row = serialize_execution(an_execution(row_id=7, error="a\0b"))
    assert (row[FIELDS.index("row_id")], row[FIELDS.index("error")]) == (7, "a\ufffdb")


def test_added_columns_are_the_last_fields_and_accept_null() -> None:
    since = [column.since or "" for column in STORED_COLUMNS]
    assert since == sorted(since)
    added = [column for column in STORED_COLUMNS if column.since]
    assert len(added) < len(STORED_COLUMNS)
    assert not [
        column.name for column in added if column.required or Execution._field_defaults[column.name] is not None
    ]


def test_the_migration_of_an_added_column_adds_it() -> None:
    for column in COLUMNS:
        if column.since is not None:
            script = (VERSIONS / f"{column.since}.py").read_text(encoding="utf-8")
            assert f'add_column("executions", sa.Column("{column.name}"' in script
