"""The reference lists every dialect with its features."""

from __future__ import annotations

from tests.docs.dialect_table import shown, table


def test_the_table_of_dialects_is_true() -> None:
    assert shown() == table(), "run: python -m tests.docs.dialect_table"
