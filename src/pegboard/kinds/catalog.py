"""The executor of each kind and the internal handlers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from pegboard.baseline.baseline import Baseline
from pegboard.baseline.baseline_tools import build_baseline_handlers
from pegboard.entry_points import load_entry_points
from pegboard.kinds.base import Executor
from pegboard.kinds.builtin.catalog import BUILTINS
from pegboard.kinds.builtin.executor import BuiltinExecutor
from pegboard.kinds.confined_call import ConfinedServices
from pegboard.kinds.http.executor import HttpExecutor
from pegboard.kinds.internal.executor import Handler, InternalExecutor
from pegboard.kinds.mcp.executor import McpExecutor
from pegboard.kinds.mcp.upstream import UpstreamTool
from pegboard.kinds.mock.executor import MockExecutor
from pegboard.kinds.outbound_services import OutboundServices
from pegboard.kinds.python.executor import PythonExecutor
from pegboard.kinds.shell.executor import ShellExecutor
from pegboard.kinds.table.executor import TableExecutor
from pegboard.kinds.table.sources import TableSources
from pegboard.model.tool import Kind, Tool


def build_executors(
    internal: InternalExecutor,
    reach: OutboundServices,
    confinement: ConfinedServices,
    sources: TableSources,
    on_drift: Callable[[Tool, UpstreamTool | None], None],
) -> Mapping[Kind, Executor]:
    """Return an executor for every kind; executors of installed packages replace the shipped ones."""
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
    theirs: dict[str, Executor] = load_entry_points("pegboard.kinds", lambda make: make())
    return ours | {Kind(name): executor for name, executor in theirs.items() if name in set(Kind)}


def build_shipped_handlers(baseline: Baseline) -> dict[str, Handler]:
    """Return the handlers of the internal tools that every board has."""
    return {name: Handler.of(function) for name, function in build_baseline_handlers(baseline).items()}


def load_installed_handlers() -> dict[str, Handler]:
    """Return the handlers of installed packages: for admins' tools, and a separate group also for members' tools."""
    for_members = load_entry_points("pegboard.member_handlers", functools.partial(Handler.of, for_members=True))
    return load_entry_points("pegboard.handlers", Handler.of) | for_members
