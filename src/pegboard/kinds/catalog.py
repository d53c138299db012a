"""The list of all kinds of tools."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pegboard.entry_points import load_entry_points
from pegboard.kinds import builtin, http, internal, mcp, mock, python, shell, table
from pegboard.kinds.base import Executor, KindSpec

_BUILT_IN = (
    http.KIND,
    mcp.KIND,
    python.KIND,
    shell.KIND,
    builtin.KIND,
    mock.KIND,
    internal.KIND,
    table.KIND,
)


def load_kinds() -> Mapping[str, KindSpec]:
    """Return all kinds by name."""
    return MappingProxyType({kind.name: kind for kind in _BUILT_IN})


def find_kind(name: str) -> KindSpec:
    """Return the kind of this name."""
    return load_kinds()[name]


def build_executors(services: Any) -> Mapping[str, Executor]:
    """Return an executor for every kind; executors of installed packages replace the shipped ones."""
    ours = {name: kind.executor(services) for name, kind in load_kinds().items()}
    theirs: dict[str, Executor] = load_entry_points("pegboard.kinds", lambda make: make())
    return ours | {name: executor for name, executor in theirs.items() if name in ours}
