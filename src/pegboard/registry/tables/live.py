"""The file of tables, in force: its tools hang on the board, and follow it and its databases."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from operator import is_not
from pathlib import Path

from pegboard.core.errors import ToolError
from pegboard.core.refusals import Conflict, Fault, Invalid
from pegboard.core.table_config import BATCH_SUFFIX, TableEntry, TablesFile
from pegboard.core.tool import Kind, Tool
from pegboard.executors.table.facts import Facts
from pegboard.executors.table.planning import Finding, findings
from pegboard.executors.table.source import Fault as DatabaseFault
from pegboard.executors.table.sources import Sources
from pegboard.registry.snapshot import Snapshot, names_of
from pegboard.registry.tables.generation import table_tools
from pegboard.registry.tables.reading import MAX_BYTES, addresses, read_tables
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# How often the file is looked at, and the tables that cannot be used.
POLL = 1.0
POLL_TABLES = 2.0
# How long a database may take to say what its tables are, and how many are asked for at once.
_PATIENCE = 5.0
_AT_ONCE = 10
NAME_TAKEN = "tool_id_taken"


@dataclass(frozen=True, slots=True)
class TableStatus:
    """A table of the file: the tools it became, and what keeps them from serving."""

    entry: TableEntry
    database: str
    problems: tuple[Finding, ...]

    @property
    def batch_tool_id(self) -> str | None:
        """The name of the tool that takes many rows, where there is one."""
        return f"{self.entry.toolId}{BATCH_SUFFIX}" if self.entry.batch else None


@dataclass(frozen=True, slots=True)
class Status:
    """What is in force, since when, and why the file as it is now is not, if so."""

    file: Path | None
    loaded_at: datetime | None = None
    error: Invalid | None = None
    items: tuple[TableStatus, ...] = ()


@dataclass(slots=True)
class _Table:
    """A table of the file, what its database last said of it, and its tools made from that."""

    entry: TableEntry
    facts: Facts | None = None
    problems: list[Finding] = field(default_factory=list)
    is_taken: bool = False
    tools: list[Tool] = field(default_factory=list)
    made_from: Facts | None = None


class Tables:
    """The tools of the file's tables, all of them changed at once whenever the file is."""

    def __init__(
        self, file: Path | None, sources: Sources, snapshot: Snapshot, owner_id: str, environ: Mapping[str, str]
    ) -> None:
        self._file = file
        self._sources = sources
        self._snapshot = snapshot
        self._owner_id = owner_id
        self._environ = environ
        self._lock = asyncio.Lock()
        self._seen: tuple[int, ...] | None = None
        self._tables: list[_Table] = []
        self._tools: list[Tool] = []
        self._addresses: dict[str | None, str] = {}
        self._loaded_at: datetime | None = None
        self._error: Invalid | None = None

    async def load(self) -> None:
        """Put the file in force; one that cannot be leaves the board without its tools, and says so."""
        if self._file is not None:
            with suppress(Invalid):
                await self.reload()

    async def reload(self) -> Status:
        """Put the file as it is now in force; Invalid says all that is wrong with it, and what was in force stays."""
        if self._file is None:
            raise Conflict("There is no file of tables; name one in PEGBOARD_TABLES and start the board anew")
        await self._take(self._file)
        return self._status()

    async def status(self) -> Status:
        """How the file and each of its tables are now."""
        await self._look(self._tables)
        return self._status()

    async def watch(self) -> None:
        """Follow the file, and the tables that cannot be used, until cancelled."""
        if self._file is not None:
            await asyncio.gather(self._follow_file(self._file), self._follow_tables())

    async def _follow_file(self, file: Path) -> None:
        while True:
            await asyncio.sleep(POLL)
            try:
                if await asyncio.to_thread(_signature, file) != self._seen:
                    with suppress(Invalid):
                        await self._take(file)
            except Exception:
                log.exception("tables_not_watched", file=str(file))

    async def _follow_tables(self) -> None:
        while True:
            await asyncio.sleep(POLL_TABLES)
            try:
                await self._look([table for table in self._tables if table.problems])
            except Exception:
                log.exception("tables_not_watched", file=str(self._file))

    async def _take(self, file: Path) -> None:
        async with self._lock:
            self._seen = await asyncio.to_thread(_signature, file)
            try:
                read = await asyncio.to_thread(_read, file)
                where = addresses(read, self._environ)
                await self._use(where)
            except Invalid as error:
                self._error = error
                shown = [f"{fault.field}: {fault.message}" for fault in error.faults] or [error.message]
                log.error("tables_not_loaded", file=str(file), faults=shown[:20])  # noqa: TRY400 -- no fault of ours
                raise
            # From here on nothing is waited for until the tools hang, so that no call meets half of the change.
            self._replace(read, where)
        await self._look(self._tables)
        log.info("tables_loaded", file=str(file), tables=len(self._tables), tools=len(self._tools))

    def _replace(self, read: TablesFile, where: dict[str | None, str]) -> None:
        moved = {name for name in {*where, *self._addresses} if where.get(name) != self._addresses.get(name)}
        former = {table.entry.toolId: table for table in self._tables}
        known = {_place(table.entry): table.facts for table in self._tables}
        tables = []
        for entry in read.tables:
            same = former.get(entry.toolId)
            is_same = same is not None and same.entry == entry
            tables.append(same if same and is_same else _Table(entry, known.get(_place(entry))))
        self._tables, self._addresses = tables, where
        self._error, self._loaded_at = None, datetime.now(UTC)
        self._hang()
        if moved:
            self._snapshot.forget(lambda tool: tool.tool_type is Kind.TABLE)

    async def _use(self, where: Mapping[str | None, str]) -> None:
        try:
            await self._sources.use(where)
        except ValueError as error:
            names = ", ".join("database" if name is None else f"sources.{name}" for name in where)
            raise Invalid.of(f"The tables in {self._file} are not valid", [Fault(names, str(error))]) from None

    async def _look(self, tables: Iterable[_Table]) -> None:
        """Ask the databases what the tables are now, and have their tools go by it."""
        turn = asyncio.Semaphore(_AT_ONCE)

        async def look(table: _Table) -> None:
            async with turn:
                await self._look_at(table)

        await asyncio.gather(*(look(table) for table in tables))
        self._hang()

    async def _look_at(self, table: _Table) -> None:
        entry = table.entry
        before = [finding.message for finding in table.problems]
        source = self._sources.named(entry.source)
        try:
            async with asyncio.timeout(_PATIENCE):
                seen = (await self._sources.read(source, entry.schema_, entry.tableName)).facts
        except (DatabaseFault, ToolError) as error:
            table.problems = [Finding(error.code, f"{source.shown_url}: {error.message}")]
        except TimeoutError:
            message = f"{source.shown_url}: the database did not answer within {_PATIENCE:g} seconds"
            table.problems = [Finding("P1001", message)]
        else:
            table.problems = findings(entry, seen, source.kind)
            # One that is away for a while is described as it was.
            table.facts = seen or table.facts
        if table.problems and before != [finding.message for finding in table.problems]:
            log.warning("table_disabled", tool=entry.toolId, problems=[found.code for found in table.problems])
        elif before and not table.problems:
            log.info("table_enabled", tool=entry.toolId)

    def _hang(self) -> None:
        """Hang the tools of every table whose name nobody else has; those that are as before stay."""
        former = {tool.name: tool for tool in self._tools}
        tools: list[Tool] = []
        for table in self._tables:
            if not table.tools or table.facts != table.made_from:
                made = table_tools(table.entry, table.facts, owner_id=self._owner_id, now=datetime.now(UTC))
                table.tools = [_next(former.get(tool.name), tool) for tool in made]
                table.made_from = table.facts
            was_taken, table.is_taken = table.is_taken, any(self._is_taken(tool.name) for tool in table.tools)
            if table.is_taken and not was_taken:
                log.warning("table_disabled", tool=table.entry.toolId, problems=[NAME_TAKEN])
            tools += [] if table.is_taken else table.tools
        if len(tools) != len(self._tools) or any(map(is_not, tools, self._tools)):
            self._snapshot.swap(self._tools, tools)
            self._tools = tools

    def _is_taken(self, tool_name: str) -> bool:
        """Whether a tool in the store has the name or its alias, or a function of this process."""
        for name in names_of(tool_name):
            peg = self._snapshot.find(name)
            if self._snapshot.stored(name) is not None or (peg is not None and peg.tool.tool_type is not Kind.TABLE):
                return True
        return False

    def _status(self) -> Status:
        items = tuple(
            TableStatus(table.entry, self._sources.named(table.entry.source).shown_url, tuple(_problems_of(table)))
            for table in self._tables
        )
        return Status(self._file, self._loaded_at, self._error, items)


def _problems_of(table: _Table) -> list[Finding]:
    if not table.is_taken:
        return table.problems
    names = f"'{table.entry.toolId}'" + (f" or '{table.entry.toolId}{BATCH_SUFFIX}'" if table.entry.batch else "")
    message = f"The board has another tool named {names}; rename that one, or change toolId"
    return [Finding(NAME_TAKEN, message, "toolId"), *table.problems]


def _next(former: Tool | None, tool: Tool) -> Tool:
    """The former tool itself where nothing has changed, else the tool as its next version."""
    if former is None:
        return tool
    if replace(tool, created_at=former.created_at, updated_at=former.updated_at, version=former.version) == former:
        return former
    return replace(tool, created_at=former.created_at, version=former.version + 1)


def _place(entry: TableEntry) -> tuple[str | None, str | None, str]:
    return entry.source, entry.schema_, entry.tableName


def _signature(file: Path) -> tuple[int, ...] | None:
    """What changes with the file; None if it cannot be looked at."""
    try:
        seen = file.stat()
    except OSError:
        return None
    return seen.st_mtime_ns, seen.st_size, seen.st_ino


def _read(file: Path) -> TablesFile:
    try:
        with file.open("rb") as opened:
            raw = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise Invalid.of(f"{file} cannot be read", [Fault("", error.strerror or str(error))]) from None
    return read_tables(raw, str(file))
