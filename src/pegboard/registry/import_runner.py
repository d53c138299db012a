"""Shared by all importers: the threads that they run in, and how they read and write the tools of the board."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from pegboard.kinds.import_target import Definition
from pegboard.model.accounts import refuse_agents
from pegboard.model.api_errors import Conflict, Invalid
from pegboard.model.call import Caller
from pegboard.model.import_report import ImportReport, ReportProgress
from pegboard.model.tool import Tool
from pegboard.registry.apply_plan import MAX_TRIES, carry_out
from pegboard.registry.build_tool import write_definition
from pegboard.registry.import_plan import ImportPlanner
from pegboard.registry.tool_registry import ToolRegistry
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

    async def run(self, work: Callable[[Callable[[int, int], None]], T], what: str, tell: ReportProgress) -> T:
        """Run `work` in a thread and return its result; `work` is called with a function that reports progress.

        That function raises once the caller no longer waits.
        """
        loop = asyncio.get_running_loop()
        unwanted = threading.Event()

        def on_progress(done: int, total: int) -> None:
            if unwanted.is_set():
                raise _ImportAbandoned
            loop.call_soon_threadsafe(tell, what, done, total)

        try:
            return await loop.run_in_executor(self._threads, work, on_progress)
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
        tell: ReportProgress,
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
            work, report = await self.import_threads.run(plan, "importing", tell)
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
