"""Loads the tables file, registers its tools, and follows changes of the file and of its databases.

Polls the file and does not use watchfiles: network file systems report no changes of other machines.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from operator import is_not
from pathlib import Path

from pegboard.kinds.local_tools import LocalTools
from pegboard.kinds.table.config import BATCH_SUFFIX, TableConfig, TableEntry, TablesFile, TableUnusable
from pegboard.kinds.table.generate_tools import build_table_tools
from pegboard.kinds.table.insert_plan import TableConfigProblem, check_table_config
from pegboard.kinds.table.source import InsertFault, TableSource
from pegboard.kinds.table.sources import TableSources
from pegboard.kinds.table.table_schema import TableSchema
from pegboard.kinds.table.tables_file import read_file_bytes, read_tables_file, resolve_addresses
from pegboard.model.api_errors import Conflict, Invalid
from pegboard.model.call_errors import ToolError
from pegboard.model.tool import Kind, Tool, list_lookup_names
from pegboard.telemetry.logs import get_logger

# Timeout for reading the schema of one table, and how many are read concurrently.
INSPECT_TIMEOUT_SECONDS = 5.0
MAX_CONCURRENT_INSPECTIONS = 10
_UNREACHABLE_CODE = "P1001"


class TableInspection:
    """Reads the schemas of many tables; stops asking a database that cannot be reached."""

    def __init__(self, sources: TableSources) -> None:
        self._sources = sources
        self._turn = asyncio.Semaphore(MAX_CONCURRENT_INSPECTIONS)
        self._reached_at: dict[TableSource, float] = {}
        self._unreachable_sources: dict[TableSource, TableConfigProblem] = {}

    async def facts(self, source: TableSource, table: TableConfig) -> TableSchema | TableConfigProblem | None:
        """Read the schema of the table from its source; return the problem if that fails."""
        async with self._turn:
            if source in self._unreachable_sources:
                return self._unreachable_sources[source]
            asked = time.monotonic()
            try:
                async with asyncio.timeout(INSPECT_TIMEOUT_SECONDS):
                    read = await self._sources.read(source, table.schema_, table.tableName)
            except (InsertFault, ToolError) as error:
                found = TableConfigProblem(error.code, f"{source.shown_url}: {error.message}")
            except TimeoutError:
                message = f"{source.shown_url}: the database did not answer within {INSPECT_TIMEOUT_SECONDS:g} seconds"
                found = TableConfigProblem(_UNREACHABLE_CODE, message)
            else:
                self._reached_at[source] = time.monotonic()
                return read.facts
            # If the database has answered since, it is reachable and only this table is slow, for example because it
            # is locked.
            if found.code == _UNREACHABLE_CODE and self._reached_at.get(source, 0) < asked:
                self._unreachable_sources[source] = found
            return found


log = get_logger(__name__)

# Polling intervals for the file and for unusable tables.
FILE_POLL_SECONDS = 1.0
TABLE_POLL_SECONDS = 2.0
# How long a file must be unchanged to count as complete, and how many times to wait for that.
_SETTLE_SECONDS = 0.1
_MAX_SETTLE_WAITS = 10
TOOL_ID_TAKEN_CODE = "tool_id_taken"


@dataclass(frozen=True, slots=True)
class TableStatus:
    """A table of the file with its tools and the problems that disable them."""

    entry: TableEntry
    database: str
    problems: tuple[TableConfigProblem, ...]

    @property
    def batch_tool_id(self) -> str | None:
        """The name of the tool that inserts many rows, or None."""
        return f"{self.entry.toolId}{BATCH_SUFFIX}" if self.entry.batch else None


@dataclass(frozen=True, slots=True)
class TablesStatus:
    """The active tables, when they were loaded, and the error of the current file if it is not active."""

    file: Path | None
    loaded_at: datetime | None = None
    error: Invalid | None = None
    items: tuple[TableStatus, ...] = ()


@dataclass(slots=True)
class _LoadedTable:
    """A table of the file, its last known schema, and the tools made from both."""

    entry: TableEntry
    facts: TableSchema | None = None
    problems: list[TableConfigProblem] = field(default_factory=list)
    is_taken: bool = False
    tools: list[Tool] = field(default_factory=list)

    def make(self, owner_id: str, former: Sequence[Tool]) -> None:
        """Make the tools; unchanged tools are kept as they are."""
        named = {tool.name: tool for tool in former}
        made = build_table_tools(self.entry, self.facts, owner_id=owner_id, now=datetime.now(UTC))
        self.tools = [_make_next_version(named.get(tool.name), tool) for tool in made]


class TablesFileWatcher:
    """The tools of the file's tables; when the file changes, all of them are replaced together."""

    def __init__(
        self, file: Path | None, sources: TableSources, snapshot: LocalTools, owner_id: str, environ: Mapping[str, str]
    ) -> None:
        self._file = file
        self._sources = sources
        self._snapshot = snapshot
        self._owner_id = owner_id
        self._environ = environ
        self._lock = asyncio.Lock()
        self._seen: tuple[int, ...] | None = None
        self._tables: list[_LoadedTable] = []
        self._tools: list[Tool] = []
        self._addresses: dict[str | None, str] = {}
        self._loaded_at: datetime | None = None
        self._error: Invalid | None = None

    async def load(self) -> None:
        """Load the file; if it is not valid, log its faults and leave the board without its tools."""
        if self._file is not None:
            with suppress(Invalid):
                await self.reload()

    @property
    def error(self) -> Invalid | None:
        """Why the current file is not active; None if it is active or if there is no file."""
        return self._error

    async def reload(self) -> TablesStatus:
        """Load the current file; raise Invalid with all its faults, in which case the previous tables stay active."""
        if self._file is None:
            raise Conflict("No tables file. Set PEGBOARD_TABLES for the server and restart it.")
        await self._take(self._file)
        return self._status()

    async def status(self) -> TablesStatus:
        """Return the current state of the file and of each table."""
        await self._look(self._tables)
        return self._status()

    async def watch(self) -> None:
        """Watch the file and the unusable tables until cancelled."""
        if self._file is not None:
            await asyncio.gather(self._follow_file(self._file), self._follow_tables())

    async def _follow_file(self, file: Path) -> None:
        while True:
            await asyncio.sleep(FILE_POLL_SECONDS)
            try:
                if await asyncio.to_thread(read_file_signature, file) != self._seen:
                    await _wait_until_settled(file)
                    with suppress(Invalid):
                        await self._take(file)
            except Exception:
                log.exception("tables_not_watched", file=str(file))

    async def _follow_tables(self) -> None:
        while True:
            await asyncio.sleep(TABLE_POLL_SECONDS)
            try:
                await self._look([table for table in self._tables if table.problems])
            except Exception:
                log.exception("tables_not_watched", file=str(self._file))

    async def _take(self, file: Path) -> None:
        async with self._lock:
            self._seen = await asyncio.to_thread(read_file_signature, file)
            try:
                read = await asyncio.to_thread(lambda: read_tables_file(read_file_bytes(file), str(file)))
                where = resolve_addresses(read, self._environ)
            except Invalid as error:
                self._error = error
                shown = [
                    f"{fault.field}: {fault.message}" if fault.field else fault.message for fault in error.faults
                ] or [error.message]
                log.error("tables_not_loaded", file=str(file), faults=shown[:20])  # noqa: TRY400 -- no fault of ours
                raise
            tables = await asyncio.to_thread(self._build_tables, read)
            await self._sources.set_sources(where)
            # No await from here until the tools are registered, so that no call sees half of the change.
            has_moved = where != self._addresses
            self._tables, self._addresses = tables, where
            self._error, self._loaded_at = None, datetime.now(UTC)
            self._register_tools()
            if has_moved:
                self._snapshot.forget(lambda tool: tool.tool_type == Kind.TABLE)
        await self._look(tables)
        log.info("tables_loaded", file=str(file), tables=len(self._tables), tools=len(self._tools))

    def _build_tables(self, read: TablesFile) -> list[_LoadedTable]:
        """Return the tables of the file with their tools; unchanged tables are the same objects."""
        former = {table.entry.toolId: table for table in self._tables}
        known = {_get_table_key(table.entry): table.facts for table in self._tables}
        tables = []
        for entry in read.tables:
            before = former.get(entry.toolId)
            if before is not None and before.entry == entry:
                tables.append(before)
                continue
            tables.append(_LoadedTable(entry, known.get(_get_table_key(entry))))
            tables[-1].make(self._owner_id, before.tools if before is not None else ())
        return tables

    async def _look(self, tables: Sequence[_LoadedTable]) -> None:
        """Read the schemas of the tables and update their tools."""
        look = TableInspection(self._sources)
        await asyncio.gather(*(self._inspect_table(table, look) for table in tables))
        self._register_tools()

    async def _inspect_table(self, table: _LoadedTable, look: TableInspection) -> None:
        entry, before = table.entry, table.problems
        try:
            source = self._sources.get_source(entry.source)
        except TableUnusable:
            return  # the file has changed since, and the table is no longer in it
        seen = await look.facts(source, entry)
        table.problems = (
            [seen] if isinstance(seen, TableConfigProblem) else check_table_config(entry, seen, source.kind)
        )
        # If the database is unreachable, keep the last known schema.
        if isinstance(seen, TableSchema) and seen != table.facts:
            table.facts = seen
            table.make(self._owner_id, table.tools)
        if table.problems and before != table.problems:
            log.warning("table_disabled", tool=entry.toolId, problems=[found.code for found in table.problems])
        elif before and not table.problems:
            log.info("table_enabled", tool=entry.toolId)

    def _register_tools(self) -> None:
        """Register the tools of all tables whose names are free; unchanged tools stay."""
        tools: list[Tool] = []
        for table in self._tables:
            was_taken, table.is_taken = table.is_taken, any(self._is_taken(tool.name) for tool in table.tools)
            if table.is_taken and not was_taken:
                log.warning("table_disabled", tool=table.entry.toolId, problems=[TOOL_ID_TAKEN_CODE])
            tools += [] if table.is_taken else table.tools
        if len(tools) != len(self._tools) or any(map(is_not, tools, self._tools)):
            self._snapshot.swap_local_tools(self._tools, tools)
            self._tools = tools

    def _is_taken(self, tool_name: str) -> bool:
        """True if a stored tool, or a function of this process, has this name or its alias."""
        for name in list_lookup_names(tool_name):
            compiled = self._snapshot.find(name)
            if self._snapshot.find_stored(name) is not None or (
                compiled is not None and compiled.tool.tool_type != Kind.TABLE
            ):
                return True
        return False

    def _status(self) -> TablesStatus:
        items = tuple(
            TableStatus(
                table.entry, self._sources.get_source(table.entry.source).shown_url, tuple(_list_table_problems(table))
            )
            for table in self._tables
        )
        return TablesStatus(self._file, self._loaded_at, self._error, items)


def _list_table_problems(table: _LoadedTable) -> list[TableConfigProblem]:
    if not table.is_taken:
        return table.problems
    names = f"'{table.entry.toolId}'" + (f" or '{table.entry.toolId}{BATCH_SUFFIX}'" if table.entry.batch else "")
    message = f"The board has another tool named {names}; rename that one, or change toolId"
    return [TableConfigProblem(TOOL_ID_TAKEN_CODE, message, "toolId"), *table.problems]


def _make_next_version(former: Tool | None, tool: Tool) -> Tool:
    """Return the previous tool if nothing has changed, else the tool as its next version."""
    if former is None:
        return tool
    if replace(tool, created_at=former.created_at, updated_at=former.updated_at, version=former.version) == former:
        return former
    return replace(tool, created_at=former.created_at, version=former.version + 1)


def _get_table_key(entry: TableEntry) -> tuple[str | None, str | None, str]:
    return entry.source, entry.schema_, entry.tableName


def read_file_signature(file: Path) -> tuple[int, ...] | None:
    """Return values that change with the file's content or permissions; None if stat fails."""
    try:
        seen = file.stat()
    except OSError:
        return None
    return seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino


async def _wait_until_settled(file: Path) -> None:
    """Wait until the file stops changing, because half of a file may be valid; give up after 10 waits."""
    before = await asyncio.to_thread(read_file_signature, file)
    for _ in range(_MAX_SETTLE_WAITS):
        await asyncio.sleep(_SETTLE_SECONDS)
        now = await asyncio.to_thread(read_file_signature, file)
        if now == before:
            return
        before = now
