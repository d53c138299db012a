"""Imports of many tools: the importers of a board, the OS threads that they run in, and the plan of what is written."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pegboard.http_client.circuit_breaker import CircuitBreakers
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.kinds.http.importer import OpenApiImport
from pegboard.kinds.import_target import Definition
from pegboard.kinds.mcp.importer import McpImport
from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.kinds.mcp.upstream_changes import UpstreamChanges
from pegboard.kinds.mcp.upstream_monitor import UpstreamMonitor
from pegboard.model.accounts import refuse_agents
from pegboard.model.api_errors import Conflict, Forbidden, Invalid, Refusal
from pegboard.model.call import Caller
from pegboard.model.import_report import ImportReport, LeftOut, ReportProgress
from pegboard.model.tool import Tool, list_lookup_names
from pegboard.registry.apply_plan import (
    MAX_TRIES,
    NAME_TAKEN_MESSAGE,
    ApplyPlan,
    ApplyWork,
    carry_out,
    list_changed_fields,
)
from pegboard.registry.build_tool import write_definition
from pegboard.registry.import_sources import OpenApiSources
from pegboard.registry.named_secrets import SecretInjector
from pegboard.registry.tool_create import read_definition
from pegboard.registry.tool_registry import ToolRegistry
from pegboard.registry.upstream_checks import UpstreamChecks
from pegboard.registry.upstream_registry import UpstreamRegistry
from pegboard.storage import tool_rows

T = TypeVar("T")

MAX_IMPORTS_PER_USER = 2


class _ImportAbandoned(Exception):
    """The caller no longer waits for the import."""


class ImportThreads:
    """A separate pool of OS threads for imports, so that calls never wait for an import."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="import")
        self._busy: Counter[str] = Counter()

    @contextmanager
    def place(self, caller: Caller) -> Iterator[None]:
        """Count one running import of this caller; raise Conflict if the user already has MAX_IMPORTS_PER_USER."""
        if self._busy[caller.user_id] >= MAX_IMPORTS_PER_USER:
            raise Conflict(f"You have {MAX_IMPORTS_PER_USER} imports running already; wait for one to end")
        self._busy[caller.user_id] += 1
        try:
            yield
        finally:
            self._busy[caller.user_id] -= 1

    async def run(self, work: Callable[[Callable[[int, int], None]], T], what: str, on_progress: ReportProgress) -> T:
        """Run `work` in a thread and return its result; `work` is called with a function that reports progress.

        That function raises once the caller no longer waits.
        """
        loop = asyncio.get_running_loop()
        unwanted = threading.Event()

        def report_count(done: int, total: int) -> None:
            if unwanted.is_set():
                raise _ImportAbandoned
            loop.call_soon_threadsafe(on_progress, what, done, total)

        try:
            return await loop.run_in_executor(self._threads, work, report_count)
        finally:
            unwanted.set()

    def close(self) -> None:
        """Shut down the threads; imports that have not started are cancelled."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class ImportRunner:
    """Reads and writes the tools of the board for importers; an `ImportTarget`."""

    def __init__(self, registry: ToolRegistry, import_threads: ImportThreads) -> None:
        self.get_owned = registry.get_owned
        self.flag = registry.flag
        self.accept = registry.accept
        self.define = write_definition
        self.import_threads = import_threads
        self._registry = registry

    async def import_tools(
        self,
        definitions: Sequence[Definition],
        caller: Caller,
        belongs: Callable[[Tool, Definition], bool],
        *,
        held_back: Callable[[Tool, Tool], bool] = lambda _now, _then: False,
        are_sound: bool = False,
        dry_run: bool,
        on_progress: ReportProgress,
    ) -> ImportReport:
        """Create the defined tools, and update those for which `belongs` returns True (imported from this source).

        A definition that cannot be used is listed with the reason in `left_out`; the others are imported. If
        `held_back(current, updated)` returns True, the tool is not updated and is listed in `drifted`. `are_sound`
        means that the schemas have been checked already. Raises Conflict if the same tools are changed concurrently in
        MAX_TRIES attempts.
        """
        refuse_agents(caller)
        planner = ImportPlanner(definitions, caller, belongs, held_back, self._registry, are_sound)
        for _ in range(MAX_TRIES):
            plan = await planner.read_current_tools()
            # In an OS thread: planning hundreds of tools takes seconds and must not block calls.
            work, report = await self.import_threads.run(plan, "importing", on_progress)
            try:
                if dry_run or await carry_out(work, caller, self._registry):
                    await self._registry.snapshot.refresh()
                    return report
            except Invalid:
                continue  # a name was taken concurrently; the next plan takes it into account
        raise Conflict("Nothing was imported: the same tools keep being changed by others; try again")

    async def find_tools(self, names: Sequence[str]) -> dict[str, Tool]:
        """Return the tools that have one of these names, by lower-case name."""
        async with self._registry.database.read() as conn:
            return await tool_rows.find_tools_by_name(conn, names)

    async def list_owned(self, caller: Caller, which: Callable[[Tool], bool]) -> list[Tool]:
        """Return the caller's own tools for which `which` is true, by name."""
        async with self._registry.database.read() as conn:
            return [tool for tool in await tool_rows.list_owned_tools(conn, caller.user_id) if which(tool)]


# Makes the plan; it is called with a function that reports the number of planned tools and the total.
BuildPlan = Callable[[Callable[[int, int], None]], "tuple[ApplyWork, ImportReport]"]

# Config keys that the owner may set if the source does not; all other keys come from the source.
_OWNER_CONFIG_KEYS = ("headers", "env", "working_dir", "timeout", "response", "max_response_bytes")
_SUGGESTED_FIELDS = ("display_name", "tags", "read_only", "idempotent", "destructive")
_PREFIX_HINT = "import with another prefix"


@dataclass(frozen=True, slots=True)
class ImportPlanner:
    """Plans an import of these definitions against the tools that are on the board.

    Fields that a definition does not contain keep the value that the owner has set.
    """

    definitions: Sequence[Definition]
    caller: Caller
    belongs: Callable[[Tool, Definition], bool]
    held_back: Callable[[Tool, Tool], bool]
    registry: ToolRegistry
    are_sound: bool
    # Tools that were built already, by name and previous version, so that planning again costs only what changed.
    known: dict[tuple[str, object], Tool] = field(default_factory=dict)

    async def read_current_tools(self) -> BuildPlan:
        """Read the current tools and return the function that plans from them."""
        names = [str(definition["name"]) for definition in self.definitions]
        async with self.registry.database.read() as conn:
            before = await tool_rows.find_tools_by_name(conn, names)
            new = {name: f"new {place}" for place, name in enumerate(names) if name.lower() not in before}
            in_use = set(await self.registry.find_taken_names(conn, new))
        return lambda on_progress: self._plan_tools(names, before, in_use, on_progress)

    def _plan_tools(
        self, names: list[str], before: dict[str, Tool], in_use: set[str], on_progress: Callable[[int, int], None]
    ) -> tuple[ApplyWork, ImportReport]:
        work, report = ApplyWork(ApplyPlan(), names, before, [], []), ImportReport()
        for place, definition in enumerate(self.definitions):
            name = names[place]
            old = before.get(name.lower())
            try:
                if old is not None:
                    self._update(old, definition, work, report)
                elif in_use & set(list_lookup_names(name)):
                    raise Forbidden(f"{NAME_TAKEN_MESSAGE}; {_PREFIX_HINT}")
                else:
                    work.created.append(self._build_once(name, None, lambda made=definition: self._build_tool(made)))  # type: ignore[misc]
                    report.created.append(name)
            except Refusal as error:
                # Without the tool's name, so that the reason is the same for all tools with this problem.
                reasons = "; ".join(f"{fault.field}: {fault.message}" for fault in error.faults)
                report.left_out.append(LeftOut(name, reasons or error.message))
            on_progress(place + 1, len(names))
        return work, report

    def _build_tool(self, definition: Definition) -> Tool:
        return self.registry.make_tool(read_definition(definition), self.caller, is_sound=self.are_sound)

    def _build_version(self, old: Tool, wanted: Definition) -> Tool:
        return self.registry.build_version(old, read_definition(wanted), self.caller, is_sound=self.are_sound)

    def _build_once(self, name: str, old: Tool | None, make: Callable[[], Tool]) -> Tool:
        key = (name, old and (old.id, old.version, old.updated_at))
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    def _update(self, old: Tool, definition: Definition, work: ApplyWork, report: ImportReport) -> None:
        # This applies to admins too: the owner could send the credentials that the import sets to another server.
        if old.owner_id != self.caller.user_id:
            raise Forbidden(f"a tool of this name belongs to another user; {_PREFIX_HINT}")
        if not self.belongs(old, definition):
            raise Forbidden(f"a tool of this name does not come from this source; {_PREFIX_HINT}, or remove it first")
        shown = write_definition(old)
        wanted = _keep_owner_fields(shown, definition)
        # A definition that equals the current one needs no check; one with credentials never equals it.
        changed = old if wanted == shown else self._build_once(old.name, old, lambda: self._build_version(old, wanted))
        if changed is old:
            report.unchanged.append(old.name)
            return
        is_held = self.held_back(old, changed)
        (report.drifted if is_held else report.updated).append(old.name)
        now = write_definition(changed)
        report.changes[old.name] = {
            name: {"before": shown[name], "after": now[name]}
            for name in list_changed_fields(old, changed)
            if name in shown
        }
        if not is_held:
            work.updated.append(changed)


def _keep_owner_fields(shown: Definition, definition: Definition) -> dict[str, Any]:
    """Return the definition, with the current values of the fields that it leaves to the tool's owner."""
    own = {name: value for name, value in shown["config"].items() if name in _OWNER_CONFIG_KEYS}
    pinned = [one["config"].get("pinned") for one in (shown, definition)]
    # Suggested fields of the source apply once; later the owner's values stay, unless the pinned definition changes.
    theirs = _SUGGESTED_FIELDS if pinned[0] == pinned[1] else ("tags",)
    values = {name: value for name, value in definition.items() if name not in theirs}
    return {**shown, **values, "config": {**own, **definition["config"]}}


@dataclass(frozen=True, slots=True)
class Imports:
    """`board.imports.openapi(caller, …)`, `board.imports.mcp(caller, …)` and `board.imports.changes.accept(…)`."""

    openapi: OpenApiImport
    mcp: McpImport
    sources: OpenApiSources
    changes: UpstreamChanges
    checks: UpstreamChecks
    registered: UpstreamRegistry
    monitor: UpstreamMonitor
    import_threads: ImportThreads

    @classmethod
    def of(
        cls,
        registry: ToolRegistry,
        *,
        outbound: GuardedClient,
        upstreams: McpSessionPool,
        opener: SecretInjector,
        breakers: CircuitBreakers,
        max_bytes: int,
    ) -> Imports:
        """Create the importers of one board; `max_bytes` limits the size of a document."""
        import_threads = ImportThreads()
        target = ImportRunner(registry, import_threads)
        snapshot = registry.snapshot
        registered = UpstreamRegistry(registry.database, snapshot, registry.vault, opener, registry, breakers)
        changes = UpstreamChanges(target, upstreams, registered, snapshot.upstreams.find, registry.find_owner)
        monitor = UpstreamMonitor(upstreams, snapshot.upstreams.list_peers, changes.observe)
        mcp = McpImport(target, upstreams, fill_in=opener.fill_in, opened=opener.open, registered=registered)
        return cls(
            OpenApiImport(target, outbound, missing_secrets=opener.missing, max_bytes=max_bytes),
            mcp,
            OpenApiSources(snapshot),
            changes,
            UpstreamChecks(mcp, registered, monitor, snapshot.upstreams.get_peer, registry.find_owner),
            registered,
            monitor,
            import_threads,
        )

    async def close(self) -> None:
        """Stop reading lists, and shut down the import threads; imports that have not started are cancelled."""
        await self.monitor.close()
        self.import_threads.close()
