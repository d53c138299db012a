"""The dependencies in pyproject.toml are those that the code imports."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[2]
PROJECT_TABLE: dict[str, Any] = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
# Only the pytest plugin imports it, inside pytest; langgraph brings langchain-core, and the SDK the API.
OPTIONAL = {"pytest", "langgraph", "langchain-core", "opentelemetry-api"}


def normalise(name: str) -> str:
    """Return the name of a distribution as it is compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_name(requirement: str) -> str:
    """Return the distribution that a requirement names."""
    found = re.match(r"[\w.-]+", requirement)
    assert found is not None
    return normalise(found[0])


def list_imports() -> Iterator[str]:
    """Yield the top-level names that the code imports."""
    for file in (PROJECT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0]


def test_every_imported_package_is_a_dependency() -> None:
    declared = {read_name(requirement) for requirement in PROJECT_TABLE["dependencies"]}
    # A package that a dependency pins exactly has no other possible version.
    pinned = {
        read_name(requirement)
        for name in declared
        for requirement in requires(name) or ()
        if "==" in requirement.partition(";")[0]
    }
    allowed = declared | pinned | OPTIONAL
    imported = set(list_imports()) - sys.stdlib_module_names - {"pegboard"}
    assert {"orjson", "sqlalchemy", "mcp_types"} <= imported
    distributions = packages_distributions()
    unknown = {name for name in imported if allowed.isdisjoint(normalise(one) for one in distributions[name])}
    assert unknown == set()


def test_a_dependency_has_an_upper_bound_only_with_the_reason_beside_it() -> None:
    lines = (PROJECT / "pyproject.toml").read_text().splitlines()
    bounded = [
        requirement
        for requirement in PROJECT_TABLE["dependencies"]
        if any(sign in requirement.partition(";")[0] for sign in ("<", "~=", "=="))
    ]
    for requirement in bounded:
        assert lines[lines.index(f'  "{requirement}",') - 1].startswith("  # "), requirement
