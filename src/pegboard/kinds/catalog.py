"""The list of all kinds of tools: the built-in ones and those of installed packages."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from pegboard.entry_points import load_entry_points
from pegboard.kinds import builtin, http, internal, mcp, mock, python, shell, table
from pegboard.kinds.base import Executor, KindSpec, RegistrationRules
from pegboard.model.call import Caller
from pegboard.model.call_errors import Misconfigured
from pegboard.model.tool import Tool
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

_BUILT_IN: tuple[KindSpec, ...] = (
    http.KIND,
    mcp.KIND,
    python.KIND,
    shell.KIND,
    builtin.KIND,
    mock.KIND,
    internal.KIND,
    table.KIND,
)
_GROUP = "pegboard.kinds"
# Entry points of these groups could replace the executor of a kind before version 0.2.
_EXECUTOR_GROUPS = (_GROUP, "pegboard.executors")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,49}", re.ASCII)


class _Installed(NamedTuple):
    kinds: Mapping[str, KindSpec]
    # What creates an executor that replaces the one of a built-in kind.
    executors: Mapping[str, Callable[[], Executor]]


def load_kinds() -> Mapping[str, KindSpec]:
    """Return all kinds by name; a kind of an installed package replaces a built-in one of the same name."""
    return _load_installed(tuple(sys.path)).kinds


def list_plugin_kinds() -> list[KindSpec]:
    """Return the kinds of installed packages."""
    return [kind for kind in load_kinds().values() if kind not in _BUILT_IN]


def find_kind(name: str) -> KindSpec:
    """Return the kind of this name; if no installed package has it, one whose tools cannot run."""
    return load_kinds().get(name) or _make_missing_kind(name)


def build_executors(services: Any) -> Mapping[str, Executor]:
    """Return an executor for every kind; one of an installed package that cannot be created is left out."""
    executors = {}
    for name, kind in load_kinds().items():
        try:
            executors[name] = kind.executor(services)
        except Exception:
            if kind in _BUILT_IN:
                raise
            log.exception("plugin_left_out", group=_GROUP, plugin=name)
    for name, make in _load_installed(tuple(sys.path)).executors.items():
        warnings.warn(
            f"The entry point of a package replaces the executor of the kind '{name}'. Load a KindSpec instead, by the "
            f"entry point group {_GROUP}; version 0.3 will load nothing else",
            DeprecationWarning,
            stacklevel=2,
        )
        try:
            executors[name] = make()
        except Exception:
            log.exception("plugin_left_out", group=_GROUP, plugin=name)
    return executors


def make_missing_error(name: str) -> Misconfigured:
    """Return the error of a call of a tool whose kind has no executor."""
    return Misconfigured(
        f"No package that is installed here runs tools of the kind '{name}'. Install the package that adds this kind "
        "on the machine of the board, and restart the board; or give the tool another tool_type"
    )


@lru_cache(maxsize=1)
def _load_installed(_where: tuple[str, ...]) -> _Installed:
    kinds = {kind.name: kind for kind in _BUILT_IN}
    executors: dict[str, Callable[[], Executor]] = {}
    for group in _EXECUTOR_GROUPS:
        for name, found in load_entry_points(group, _check).items():
            if isinstance(found, KindSpec):
                kinds[found.name] = found
            elif name in kinds:
                executors[name] = found
            else:
                log.error("plugin_left_out", group=group, plugin=name, why="no KindSpec, and no kind has this name")
    return _Installed(kinds, executors)


def _check(loaded: Any) -> Any:
    if isinstance(loaded, KindSpec) and not _NAME.fullmatch(loaded.name):
        raise ValueError(f"the name of a kind has 1 to 50 lower-case letters, digits and underscores: '{loaded.name}'")
    return loaded


class _AnyConfig(BaseModel):
    model_config = ConfigDict(extra="allow")


@lru_cache(maxsize=100)
def _make_missing_kind(name: str) -> KindSpec:
    def refuse(_services: Any) -> Executor:
        raise make_missing_error(name)

    # Whether the kind runs code of the tool's owner is not known, so it is assumed.
    return KindSpec(
        name, _AnyConfig, refuse, is_missing=True, runs_own_code=True, may_register=_refuse_members_without_package
    )


def _refuse_members_without_package(tool: Tool, caller: Caller, _rules: RegistrationRules) -> str | None:
    if caller.is_admin:
        return None
    return f"Only admins may register tools of the kind '{tool.tool_type}' while no installed package has it"
