"""Configs, table schemas and a database in memory, for tests of the code between a call and its database."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from pegboard.journal.receipts import ReceiptStore
from pegboard.kinds.base import OpenTool, Output, Prepared
from pegboard.kinds.table.config import TableConfig
from pegboard.kinds.table.executor import TableExecutor
from pegboard.kinds.table.receipt_table import ReceiptTable
from pegboard.kinds.table.source import InsertAnswer, InsertEntry, InsertFault
from pegboard.kinds.table.sources import TableSources
from pegboard.kinds.table.table_schema import Column, TableSchema
from pegboard.model.call import Caller, ReadyCall
from pegboard.model.tool import Kind, Tool

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FIELDS = ({"name": "mood", "required": True}, {"name": "energy", "dataType": "integer"})


def config(*fields: dict[str, Any], **more: Any) -> TableConfig:
    """The config of a table of these fields, each text by default."""
    given = [{"dataType": "text", **field} for field in fields]
    return TableConfig.model_validate({"tableName": "mood_entries", "fields": given, **more})


def facts(*columns: Column, key: tuple[str, ...] = (), **more: Any) -> TableSchema:
    """The facts of a table of these columns."""
    return TableSchema(None, "mood_entries", {column.name: column for column in columns}, key, **more)


ID = Column("id", "bigint", "integer", nullable=False, has_default=True, counts=True)
MOOD = Column("mood", "varchar(20)", "text", nullable=False, max_length=20)
ENERGY = Column("energy", "smallint", "integer", low=-(2**15), high=2**15 - 1)
MOODS = facts(ID, MOOD, ENERGY, key=("id",))


class FakeSource:
    """A database that counts keys, stores its entries, and fails as configured."""

    shown_url = "fake://"

    def __init__(
        self, now: TableSchema | None = MOODS, *, kind: Literal["sqlite", "postgresql"] = "postgresql"
    ) -> None:
        self.kind: Literal["sqlite", "postgresql"] = kind
        self.is_own = self.is_transactional = False
        self.receipts: ReceiptStore = ReceiptTable(self.shown_url, kind, self._run_statement)
        self.now = now
        self.asked = 0
        self.faults: list[InsertFault] = []
        self.unreachable: InsertFault | None = None
        self.entries: list[InsertEntry] = []
        self.rows = 0
        self.was_asked = asyncio.Event()
        self.closed = asyncio.Event()

    async def _run_statement(self, statement: str, *values: object) -> list[Any]:
        raise AssertionError("no tool of these tests has receipts")

    async def facts(self, schema: str | None, table: str) -> TableSchema | None:
        self.asked += 1
        self.was_asked.set()
        await asyncio.sleep(0)
        if self.unreachable is not None:
            raise self.unreachable
        return self.now

    async def tables(self, schema: str | None = None) -> list[str]:
        return [self.now.table] if self.now else []

    async def insert(self, entry: InsertEntry) -> InsertAnswer:
        if self.faults:
            raise self.faults.pop(0)
        self.entries.append(entry)
        return entry.build_answer([self.key(entry, row) for row in entry.rows])

    def key(self, entry: InsertEntry, row: Any) -> tuple[Any, ...]:
        self.rows += 1
        given = dict(zip(row.columns, row.values, strict=True))
        return tuple(given.get(name, self.rows) for name in entry.facts.key)

    async def close(self) -> None:
        self.closed.set()

    @property
    def inserted(self) -> Sequence[dict[str, Any]]:
        """Return every row by its columns."""
        return [dict(zip(row.columns, row.values, strict=True)) for entry in self.entries for row in entry.rows]


class Clock:
    """Replaces `time`, so that a second can pass at once."""

    def __init__(self) -> None:
        self.now = time.monotonic()

    def monotonic(self) -> float:
        return self.now


def tool_of(**more: Any) -> Tool:
    """A tool that logs moods."""
    dumped = config(*FIELDS, **more).model_dump(mode="json", by_alias=True, exclude_unset=True)
    return Tool("t", "o", "log_mood", Kind.TABLE, dumped, {"type": "object"}, NOW, NOW)


def compile_tool(sources: TableSources, **more: Any) -> Prepared:
    """Return such a tool, compiled."""
    tool = tool_of(**more)
    return TableExecutor(sources).prepare(OpenTool(tool, tool.config))


def call_of(arguments: dict[str, Any], **more: Any) -> ReadyCall:
    """Return a call of the tool with these arguments."""
    return ReadyCall("run", tool_of(), Caller("u", "u"), arguments, "", time.monotonic() + 10, **more)


async def run(tool: Prepared, **arguments: Any) -> Output:
    """Call the tool and return its output."""
    output = await tool.run(call_of(arguments))
    assert isinstance(output, Output)
    return output
