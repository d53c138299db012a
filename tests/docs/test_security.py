"""The page on security names, for each promise, a test that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, codes_in, rows_of, section, text_of

PAGE = "docs/security.md"
_REFERENCE = re.compile(r"tests/[\w/.]*[\w](?:::\w+)*")


def references() -> list[str]:
    """Each path of a test on the page, with the name of a test where one is given."""
    return sorted(set(_REFERENCE.findall(text_of(PAGE))))


def defined_in(file: Path) -> set[str]:
    """The names of the functions, methods and classes of a file."""
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}


@pytest.mark.parametrize("reference", references())
def test_every_test_that_the_page_names_exists(reference: str) -> None:
    path, *names = reference.split("::")
    file = ROOT / path
    assert file.is_file() and file.name.startswith("test_"), f"{PAGE} names {reference}"
    defined = defined_in(file)
    assert any(name.startswith("test_") for name in defined), f"{path} holds no test"
    assert not set(names) - defined, f"{PAGE} names {reference}"


@pytest.mark.parametrize("heading", ["What is defended", "What a call cannot do"])
def test_every_promise_names_a_test(heading: str) -> None:
    rows = rows_of(section(PAGE, heading))
    assert len(rows) > 10
    for row in rows:
        assert [code for code in codes_in(row[-1]) if code.startswith("tests/")], f"{row[0]} names no test"
