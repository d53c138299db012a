"""Tables files: checked against their databases, and written from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from pegboard.core.errors import ToolError
from pegboard.core.refusals import Fault as Refused
from pegboard.core.refusals import Invalid
from pegboard.core.table_config import TableEntry
from pegboard.executors.table.planning import findings, wider_than_columns
from pegboard.executors.table.source import Fault, Source
from pegboard.executors.table.sources import BOARDS_TABLES, open_source, spared
from pegboard.registry.tables.inventing import table_entry
from pegboard.registry.tables.reading import addresses, read_tables, tool_ids_in
from pegboard.surfaces.cli.output import counted


@dataclass(frozen=True, slots=True)
class Found:
    """A problem of a tables file: its place in the file, the tool that it concerns, and what is wrong."""

    path: str
    code: str
    message: str
    tool_id: str | None = None

    @property
    def place(self) -> str:
        """The path, with the tool beside it."""
        return self.path if self.tool_id is None else f"{self.path} ({self.tool_id})"


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of a check."""

    tables: int = 0
    tools: int = 0
    found: list[Found] = field(default_factory=list)

    @property
    def count(self) -> str:
        """How much there is in it."""
        return f"{counted(self.tables, 'table')}, {counted(self.tools, 'tool')}"


async def check(raw: bytes, file: str, own: str, environ: Mapping[str, str]) -> Checked:
    """Everything that is wrong with the file or between it and its databases; `own` is the board's."""
    try:
        read = read_tables(raw, file)
        in_own = read.database is None and any(entry.source is None for entry in read.tables)
        where = addresses(read.model_copy(update={"database": own}) if in_own else read, environ)
    except Invalid as error:
        tool_ids = tool_ids_in(raw, file)
        faults = [Found(fault.field, "invalid", fault.message, _tool_of(fault, tool_ids)) for fault in error.faults]
        return Checked(found=faults or [Found("", "invalid", error.message)])
    found: list[Found] = []
    async with AsyncExitStack() as stack:
        sources: dict[str | None, Source] = {}
        for name in {entry.source: None for entry in read.tables}:
            sources[name] = open_source(where[name])
            stack.push_async_callback(sources[name].close)
        for place, entry in enumerate(read.tables):
            is_own = in_own and entry.source is None
            found += await _check_table(entry, f"tables.{place}", sources[entry.source], is_own=is_own)
    tools = sum(2 if entry.batch else 1 for entry in read.tables)
    return Checked(len(read.tables), tools, list(dict.fromkeys(found)))


async def _check_table(entry: TableEntry, path: str, source: Source, *, is_own: bool) -> list[Found]:
    try:
        facts = await source.facts(entry.schema_, entry.tableName)
    except (Fault, ToolError) as error:
        where = "database" if entry.source is None else f"sources.{entry.source}"
        return [Found(where, error.code, f"{source.shown_url}: {error.message}")]
    if facts is not None and is_own:
        facts = spared(facts)
    names = [each.name for each in entry.fields]
    return [
        Found(
            f"{path}.fields.{names.index(finding.field)}" if finding.field in names else path,
            finding.code,
            finding.message,
            entry.toolId,
        )
        for finding in [*findings(entry, facts, source.kind), *wider_than_columns(entry, facts)]
    ]


def _tool_of(fault: Refused, tool_ids: Mapping[int, str]) -> str | None:
    """The tool of the table that the path of a fault names."""
    under, _, rest = fault.field.partition(".")
    place = rest.partition(".")[0]
    return tool_ids.get(int(place)) if under == "tables" and place.isdecimal() else None


@dataclass(frozen=True, slots=True)
class Made:
    """A file of tables made from a database, with what to know about each."""

    document: dict[str, Any]
    notes: list[str]


async def make(source: Source, schema: str | None, names: Sequence[str], address: Any) -> Made:
    """A file of these tables, or of all that there are; Invalid names those that there are not."""
    there = await source.tables(schema)
    own = BOARDS_TABLES if "board_state" in there else frozenset()
    entries: list[dict[str, Any]] = []
    notes: list[str] = []
    taken: set[str] = set()
    for name in names or [name for name in there if name not in own]:
        facts = await source.facts(schema, name)
        if facts is None:
            raise Invalid(f"There is no table '{name}'; there are: {', '.join(there) or 'none'}")
        entry, noted = table_entry(facts, source.kind)
        notes += [f"{name}: {note}" for note in noted]
        if entry is not None:
            entry["toolId"] = _unlike(entry["toolId"], taken)
            entries.append({key: value for key, value in entry.items() if key != "schema" or schema is not None})
    return Made({"database": address, "tables": entries}, notes)


def _unlike(tool_id: str, taken: set[str]) -> str:
    number, name = 2, tool_id
    while name in taken:
        name, number = f"{tool_id}-{number}", number + 1
    taken.add(name)
    return name
