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
from pegboard.model.api_errors import Conflict
from pegboard.model.call import Caller
from pegboard.model.import_report import ImportReport, ReportProgress
from pegboard.model.tool import Tool
from pegboard.registry.build_tool import write_definition
from pegboard.registry.import_plan import import_definitions
from pegboard.registry.snapshot import Snapshot
from pegboard.registry.tool_registry import ToolRegistry
from pegboard.storage import tool_rows
from pegboard.storage.database import Database

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

    def __init__(
        self, registry: ToolRegistry, database: Database, snapshot: Snapshot, import_threads: ImportThreads
    ) -> None:
        self.get_owned = registry.get_owned
        self.flag = registry.flag
        self.accept = registry.accept
        self.define = write_definition
        self._registry = registry
        self.import_threads = import_threads
        self._database = database
        self._snapshot = snapshot

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
        """Create or update these tools; those that cannot be imported are listed with the reason in `left_out`."""
        return await import_definitions(
            definitions,
            caller,
            belongs=belongs,
            held_back=held_back,
            dry_run=dry_run,
            registry=self._registry,
            database=self._database,
            snapshot=self._snapshot,
            are_sound=are_sound,
            in_thread=lambda work: self.import_threads.run(work, "importing", tell),
        )

    async def find_tools(self, names: Sequence[str]) -> dict[str, Tool]:
        """Return the tools that have one of these names, by lower-case name."""
        async with self._database.read() as conn:
            return await tool_rows.find_tools_by_name(conn, names)

    async def list_owned(self, caller: Caller, which: Callable[[Tool], bool]) -> list[Tool]:
        """Return the caller's own tools for which `which` is true, by name."""
        async with self._database.read() as conn:
            return [tool for tool in await tool_rows.list_owned_tools(conn, caller.user_id) if which(tool)]
