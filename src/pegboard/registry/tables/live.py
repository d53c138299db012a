"""The file of tables, in force: its tools hang on the board, and follow it and its databases."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from operator import is_not
from pathlib import Path

from pegboard.core.refusals import Conflict, Invalid
from pegboard.core.table_config import BATCH_SUFFIX, TableEntry, TablesFile
from pegboard.core.table_errors import TableUnusable
from pegboard.core.tool import Kind, Tool
from pegboard.executors.table.facts import Facts
from pegboard.executors.table.planning import Finding, findings
from pegboard.executors.table.sources import Sources
from pegboard.registry.snapshot import Snapshot, names_of
from pegboard.registry.tables.generation import table_tools
from pegboard.registry.tables.looking import Look
from pegboard.registry.tables.reading import addresses, bytes_of, read_tables
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# How often the file is looked at, and the tables that cannot be used.
POLL = 1.0
POLL_TABLES = 2.0
# How long a file must have been as it is to be taken for whole, and how often that is waited for.
_REST = 0.1
_MOST_RESTS = 10
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

    def make(self, owner_id: str, former: Sequence[Tool]) -> None:
        """Make the tools, those of the former ones that would be the same excepted."""
        named = {tool.name: tool for tool in former}
        made = table_tools(self.entry, self.facts, owner_id=owner_id, now=datetime.now(UTC))
        self.tools = [_next(named.get(tool.name), tool) for tool in made]


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

    @property
    def error(self) -> Invalid | None:
        """Why the file as it is now is not in use; None if it is, or if there is none."""
        return self._error

    async def reload(self) -> Status:
        """Put the file as it is now in force; Invalid says all that is wrong with it, and what was in force stays."""
        if self._file is None:
            raise Conflict("No tables file. Set PEGBOARD_TABLES for the server and restart it.")
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
                    await _rested(file)
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
                read = await asyncio.to_thread(lambda: read_tables(bytes_of(file), str(file)))
                where = addresses(read, self._environ)
            except Invalid as error:
                self._error = error
                shown = [
                    f"{fault.field}: {fault.message}" if fault.field else fault.message for fault in error.faults
                ] or [error.message]
                log.error("tables_not_loaded", file=str(file), faults=shown[:20])  # noqa: TRY400 -- no fault of ours
                raise
            tables = await asyncio.to_thread(self._made_of, read)
            await self._sources.use(where)
            # From here on nothing is waited for until the tools hang, so that no call meets half of the change.
            has_moved = where != self._addresses
            self._tables, self._addresses = tables, where
            self._error, self._loaded_at = None, datetime.now(UTC)
            self._hang()
            if has_moved:
                self._snapshot.forget(lambda tool: tool.tool_type is Kind.TABLE)
        await self._look(tables)
        log.info("tables_loaded", file=str(file), tables=len(self._tables), tools=len(self._tools))

    def _made_of(self, read: TablesFile) -> list[_Table]:
        """The tables of the file with their tools, those that are as before the very same."""
        former = {table.entry.toolId: table for table in self._tables}
        known = {_place(table.entry): table.facts for table in self._tables}
        tables = []
        for entry in read.tables:
            before = former.get(entry.toolId)
            if before is not None and before.entry == entry:
                tables.append(before)
                continue
            tables.append(_Table(entry, known.get(_place(entry))))
            tables[-1].make(self._owner_id, before.tools if before is not None else ())
        return tables

    async def _look(self, tables: Sequence[_Table]) -> None:
        """Ask the databases what the tables are now, and have their tools go by it."""
        look = Look(self._sources)
        await asyncio.gather(*(self._look_at(table, look) for table in tables))
        self._hang()

    async def _look_at(self, table: _Table, look: Look) -> None:
        entry, before = table.entry, table.problems
        try:
            source = self._sources.named(entry.source)
        except TableUnusable:
            return  # the file has changed since this look began, and the table is no longer in it
        seen = await look.facts(source, entry)
        table.problems = [seen] if isinstance(seen, Finding) else findings(entry, seen, source.kind)
        # One that is away for a while is described as it was.
        if isinstance(seen, Facts) and seen != table.facts:
            table.facts = seen
            table.make(self._owner_id, table.tools)
        if table.problems and before != table.problems:
            log.warning("table_disabled", tool=entry.toolId, problems=[found.code for found in table.problems])
        elif before and not table.problems:
            log.info("table_enabled", tool=entry.toolId)

    def _hang(self) -> None:
        """Hang the tools of every table whose name nobody else has; those that are as before stay."""
        tools: list[Tool] = []
        for table in self._tables:
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
    """What changes with the file, or with who may read it; None if it cannot be looked at."""
    try:
        seen = file.stat()
    except OSError:
        return None
    return seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino


async def _rested(file: Path) -> None:
    """Wait until nobody is writing the file any more, since half of it may read like a whole; not for ever, though."""
    before = await asyncio.to_thread(_signature, file)
    for _ in range(_MOST_RESTS):
        await asyncio.sleep(_REST)
        now = await asyncio.to_thread(_signature, file)
        if now == before:
            return
        before = now
