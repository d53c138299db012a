"""The page on architecture names modules and folders that exist, and every layer that import-linter checks."""

from __future__ import annotations

import re
import tomllib

from tests.docs.pages import ROOT, codes_in, prose_of, rows_of, section, text_of

PAGE = "docs/architecture.md"
SOURCE = ROOT / "src" / "pegboard"


def test_every_module_on_the_page_exists() -> None:
    modules = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")}
    named = {code for code in codes_in(prose_of(PAGE)) if re.fullmatch(r"[\w/]+\.py", code)}
    assert "pipeline.py" in named
    missing = {name for name in named if not any(f"/{module}".endswith(f"/{name}") for module in modules)}
    assert not missing


def test_every_folder_and_module_of_the_package_is_on_the_page() -> None:
    contracts = tomllib.loads(text_of("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    parts = {part for layer in layers for part in re.split(r" [:|] ", layer)} - {"__main__"}
    listed = {code for row in rows_of(section(PAGE, "Where things are")) for code in codes_in(row[0])}
    assert {name.removesuffix("/").removesuffix(".py") for name in listed} == parts


def test_every_file_of_the_sandbox_is_in_the_table_of_its_processes() -> None:
    rows = rows_of(section(PAGE, "How code is confined"))
    listed = {code for row in rows for code in codes_in(row[0]) if code.endswith(".py")}
    folder = SOURCE / "sandbox"
    assert listed == {path.name for path in folder.rglob("*.py")} - {"__init__.py"}
