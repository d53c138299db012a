"""Tables files: checked against their databases, and written from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from pegboard.kinds.table.config import TableEntry
from pegboard.kinds.table.insert_plan import check_table_config, find_wider_fields
from pegboard.kinds.table.introspect import generate_entry
from pegboard.kinds.table.source import InsertFault, TableSource
from pegboard.kinds.table.sources import BOARD_TABLES, exclude_board_table, open_source
from pegboard.kinds.table.tables_file import read_tables_file, read_tool_ids, resolve_addresses
from pegboard.model.api_errors import Fault as Refused
from pegboard.model.api_errors import Invalid
from pegboard.model.call_errors import ToolError
from pegboard.surfaces.cli.output import format_count


@dataclass(frozen=True, slots=True)
class TablesFileProblem:
    """A problem of a tables file: its path in the file, the tool that it concerns, and a message."""

    path: str
    code: str
    message: str
    tool_id: str | None = None

    @property
    def place(self) -> str:
        """The path and the tool, for messages."""
        return self.path if self.tool_id is None else f"{self.path} ({self.tool_id})"


@dataclass(frozen=True, slots=True)
class TablesFileCheck:
    """The result of checking a tables file."""

    tables: int = 0
    tools: int = 0
    found: list[TablesFileProblem] = field(default_factory=list)

    @property
    def count(self) -> str:
        """The number of tables and tools, as text."""
        return f"{format_count(self.tables, 'table')}, {format_count(self.tools, 'tool')}"


async def check_tables_file(raw: bytes, file: str, own: str, environ: Mapping[str, str]) -> TablesFileCheck:
    """Return every problem of the file, and between it and its databases; `own` is the URL of the board's database."""
    try:
        read = read_tables_file(raw, file)
        in_own = read.database is None and any(entry.source is None for entry in read.tables)
        where = resolve_addresses(read.model_copy(update={"database": own}) if in_own else read, environ)
    except Invalid as error:
        tool_ids = read_tool_ids(raw, file)
        faults = [
            TablesFileProblem(fault.field, "invalid", fault.message, _find_tool_id(fault, tool_ids))
            for fault in error.faults
        ]
        return TablesFileCheck(found=faults or [TablesFileProblem("", "invalid", error.message)])
    found: list[TablesFileProblem] = []
    async with AsyncExitStack() as stack:
        sources: dict[str | None, TableSource] = {}
        for name in {entry.source: None for entry in read.tables}:
            sources[name] = open_source(where[name])
            stack.push_async_callback(sources[name].close)
        for place, entry in enumerate(read.tables):
            is_own = in_own and entry.source is None
            found += await _check_table(entry, f"tables.{place}", sources[entry.source], is_own=is_own)
    tools = sum(2 if entry.batch else 1 for entry in read.tables)
    return TablesFileCheck(len(read.tables), tools, list(dict.fromkeys(found)))


async def _check_table(entry: TableEntry, path: str, source: TableSource, *, is_own: bool) -> list[TablesFileProblem]:
    try:
        facts = await source.facts(entry.schema_, entry.tableName)
    except (InsertFault, ToolError) as error:
        where = "database" if entry.source is None else f"sources.{entry.source}"
        return [TablesFileProblem(where, error.code, f"{source.shown_url}: {error.message}")]
    if facts is not None and is_own:
        facts = exclude_board_table(facts)
    names = [each.name for each in entry.fields]
    return [
        TablesFileProblem(
            f"{path}.fields.{names.index(finding.field)}" if finding.field in names else path,
            finding.code,
            finding.message,
            entry.toolId,
        )
        for finding in [*check_table_config(entry, facts, source.kind), *find_wider_fields(entry, facts)]
    ]


def _find_tool_id(fault: Refused, tool_ids: Mapping[int, str]) -> str | None:
    """Return the tool id of the table that the path of a fault refers to."""
    under, _, rest = fault.field.partition(".")
    place = rest.partition(".")[0]
    return tool_ids.get(int(place)) if under == "tables" and place.isdecimal() else None


@dataclass(frozen=True, slots=True)
class GeneratedTablesFile:
    """A tables file generated from a database, with notes on its tables."""

    document: dict[str, Any]
    notes: list[str]


async def generate_tables_file(
    source: TableSource, schema: str | None, names: Sequence[str], address: Any
) -> GeneratedTablesFile:
    """Generate a tables file for these tables, or for all; raise Invalid if a table does not exist."""
    there = await source.tables(schema)
    own = BOARD_TABLES if "board_state" in there else frozenset()
    entries: list[dict[str, Any]] = []
    notes: list[str] = []
    taken: set[str] = set()
    for name in names or [name for name in there if name not in own]:
        facts = await source.facts(schema, name)
        if facts is None:
            raise Invalid(f"There is no table '{name}'; there are: {', '.join(there) or 'none'}")
        entry, noted = generate_entry(facts, source.kind)
        notes += [f"{name}: {note}" for note in noted]
        if entry is not None:
            entry["toolId"] = _make_unique(entry["toolId"], taken)
            entries.append({key: value for key, value in entry.items() if key != "schema" or schema is not None})
    return GeneratedTablesFile({"database": address, "tables": entries}, notes)


def _make_unique(tool_id: str, taken: set[str]) -> str:
    number, name = 2, tool_id
    while name in taken:
        name, number = f"{tool_id}-{number}", number + 1
    taken.add(name)
    return name
