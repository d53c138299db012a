"""Which executor runs which kind."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from pegboard.builtins.baseline.baseline import Baseline
from pegboard.builtins.baseline.handlers import baseline_handlers
from pegboard.builtins.catalog import BUILTINS
from pegboard.core.tool import Kind, Tool
from pegboard.executors.base import Executor
from pegboard.executors.builtin import BuiltinExecutor
from pegboard.executors.confinement import Confinement
from pegboard.executors.http.executor import HttpExecutor
from pegboard.executors.internal import Handler, InternalExecutor
from pegboard.executors.mcp.executor import McpExecutor
from pegboard.executors.mcp.upstream import UpstreamTool
from pegboard.executors.mock import MockExecutor
from pegboard.executors.python import PythonExecutor
from pegboard.executors.reach import Reach
from pegboard.executors.shell import ShellExecutor
from pegboard.executors.table.executor import TableExecutor
from pegboard.executors.table.sources import Sources
from pegboard.plugins import installed


def executors(
    internal: InternalExecutor,
    reach: Reach,
    confinement: Confinement,
    sources: Sources,
    on_drift: Callable[[Tool, UpstreamTool | None], None],
) -> Mapping[Kind, Executor]:
    """An executor for every kind, those of installed packages in place of ours."""
    ours: dict[Kind, Executor] = {
        Kind.BUILTIN: BuiltinExecutor({builtin.name: builtin for builtin in BUILTINS}),
        Kind.MOCK: MockExecutor(),
        Kind.INTERNAL: internal,
        Kind.HTTP: HttpExecutor(reach.outbound, reach.breakers, reach.hosts, max_response_bytes=reach.max_bytes),
        Kind.MCP: McpExecutor(reach.upstreams, reach.breakers, reach.hosts, on_drift),
        Kind.PYTHON: PythonExecutor(
            confinement.sandbox, confinement.libraries, max_result_bytes=confinement.max_result_bytes
        ),
        Kind.SHELL: ShellExecutor(confinement.sandbox, confinement.own, can_hide=confinement.can_hide),
        Kind.TABLE: TableExecutor(sources),
    }
    theirs: dict[str, Executor] = installed("pegboard.executors", lambda make: make())
    return ours | {Kind(name): executor for name, executor in theirs.items() if name in set(Kind)}


def shipped_handlers(baseline: Baseline) -> dict[str, Handler]:
    """The handlers of the internal tools that are on every board."""
    return {name: Handler.of(function) for name, function in baseline_handlers(baseline).items()}


def installed_handlers() -> dict[str, Handler]:
    """The handlers that installed packages offer: to admins' tools, and to members' tools in a group of their own."""
    for_members = installed("pegboard.member_handlers", functools.partial(Handler.of, for_members=True))
    return installed("pegboard.handlers", Handler.of) | for_members
