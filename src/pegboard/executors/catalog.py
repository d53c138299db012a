"""Which executor runs which kind."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points

from pegboard.builtins.catalog import BUILTINS
from pegboard.core.tool import Kind
from pegboard.executors.base import Executor
from pegboard.executors.builtin import BuiltinExecutor
from pegboard.executors.internal import Handler, InternalExecutor
from pegboard.executors.later import NotHereYet
from pegboard.executors.mock import MockExecutor


def executors(internal: InternalExecutor) -> Mapping[Kind, Executor]:
    """An executor for every kind, those of installed packages in place of ours."""
    ours: dict[Kind, Executor] = {
        Kind.BUILTIN: BuiltinExecutor({builtin.name: builtin for builtin in BUILTINS}),
        Kind.MOCK: MockExecutor(),
        Kind.INTERNAL: internal,
        Kind.HTTP: NotHereYet(),
        Kind.MCP: NotHereYet(),
        Kind.PYTHON: NotHereYet(),
        Kind.SHELL: NotHereYet(),
        Kind.TABLE: NotHereYet(),
    }
    for point in entry_points(group="pegboard.executors"):
        ours[Kind(point.name)] = point.load()()
    return ours


def installed_handlers() -> dict[str, Handler]:
    """The handlers that installed packages offer under the entry point group `pegboard.handlers`."""
    return {point.name: Handler.of(point.load()) for point in entry_points(group="pegboard.handlers")}
