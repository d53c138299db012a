"""The pages on tables list every key and every code."""

from __future__ import annotations

import pytest

from pegboard.kinds.table.config import TableConfig, TableEntry, TableField, TablesFile
from pegboard.kinds.table.error_text import EXPLANATIONS
from pegboard.model.base_model import Model
from tests.docs.pages import codes_in, rows_of, section

PAGE = "docs/howto/table-tools.md"
TOOL = "docs/reference/tool-definition.md"
ERRORS = "docs/reference/errors.md"


def keys_of(model: type[Model]) -> set[str]:
    """Return the names that the keys of a model have in files."""
    return {field.alias or name for name, field in model.model_fields.items()}


def listed(page: str, heading: str) -> set[str]:
    """The texts in backticks in the first columns of the tables under a heading."""
    return {code for row in rows_of(section(page, heading)) for code in codes_in(row[0])}


def test_every_key_of_the_file_is_listed_and_no_other() -> None:
    assert listed(PAGE, "The file") == keys_of(TablesFile) | keys_of(TableEntry) | keys_of(TableField)


def test_every_key_of_a_registered_table_is_listed_and_no_other() -> None:
    assert listed(TOOL, "Config of table") == keys_of(TableConfig)


def test_every_code_that_the_database_may_answer_with_is_listed() -> None:
    codes = listed(ERRORS, "Codes of table tools")
    assert {code for code in codes if code.startswith("P")} == {*EXPLANATIONS, "P2010"}


@pytest.mark.parametrize("code", ["table_not_found", "column_not_found", "column_required", "type_mismatch"])
def test_every_code_of_a_table_that_does_not_fit_is_listed(code: str) -> None:
    assert code in listed(ERRORS, "Codes of table tools")
