"""Which executor runs which kind."""

from __future__ import annotations

from collections.abc import Mapping

from pegboard.builtins.catalog import BUILTINS
from pegboard.core.tool import Kind
from pegboard.executors.base import Executor
from pegboard.executors.builtin import BuiltinExecutor
from pegboard.executors.internal import Handler, InternalExecutor
from pegboard.executors.later import NotHereYet
from pegboard.executors.mock import MockExecutor
from pegboard.plugins import installed


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
    theirs: dict[str, Executor] = installed("pegboard.executors", lambda make: make())
    return ours | {Kind(name): executor for name, executor in theirs.items() if name in set(Kind)}


def installed_handlers() -> dict[str, Handler]:
    """The handlers that installed packages offer under the entry point group `pegboard.handlers`."""
    return installed("pegboard.handlers", Handler.of)
