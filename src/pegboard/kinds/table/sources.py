"""The databases that table tools insert into, by their names in the tables file."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from pegboard.journal.receipts import ReceiptJournal, ReceiptStore
from pegboard.journal.transactional_journal import TransactionalJournal
from pegboard.kinds.table.config import TableUnusable
from pegboard.kinds.table.postgresql_source import PostgresqlSource
from pegboard.kinds.table.receipt_table import RECEIPT_TABLE
from pegboard.kinds.table.source import TableSource
from pegboard.kinds.table.sqlite_source import SqliteSource
from pegboard.kinds.table.table_schema import TableSchema
from pegboard.model.tool import Kind, Tool
from pegboard.storage.board_tables import BoardRow
from pegboard.storage.database import Database, finish_despite_cancellation
from pegboard.storage.journal_tables import executions
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

_SQLITE_DRIVERS = {"sqlite", "sqlite+aiosqlite"}
_POSTGRESQL_DRIVERS = {"postgresql", "postgres", "postgresql+asyncpg"}
# The schemas that may contain the board's own tables.
_BOARD_SCHEMAS = (None, "public", "main")
BOARD_TABLES = frozenset({*BoardRow.metadata.tables, *executions.metadata.tables, "alembic_version"})
_ACCEPTED_URLS = 'a database of tables is "sqlite:///FILE" or "postgresql://…"'


_REMOVE_SECONDS = 5.0


class SchemaReading(NamedTuple):
    """The schema of a table and when it was read, as a value of time.monotonic()."""

    facts: TableSchema | None
    at: float


_TableId = tuple[TableSource, str | None, str]


class TableSources:
    """All databases for inserts, each opened once; before set_sources only the board's own."""

    def __init__(
        self,
        database: Database,
        journal: TransactionalJournal | None = None,
        receipts: ReceiptJournal | None = None,
    ) -> None:
        self._database = database
        self._journal = journal
        self.receipts = receipts
        self._own: TableSource | None = None
        self._named: dict[str | None, TableSource] = {}
        self._opened: dict[str, TableSource] = {}
        self._read: dict[_TableId, SchemaReading] = {}
        self._reading: dict[_TableId, asyncio.Task[SchemaReading]] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def get_source(self, name: str | None) -> TableSource:
        """Return the source with this name, None for the file's `database`; raise TableUnusable if there is none."""
        source = self._named.get(name)
        if source is not None:
            return source
        if name is None:
            return self._get_own_source()
        known = ", ".join(f"'{one}'" for one in self._named if one is not None) or "none"
        raise TableUnusable(
            "source_not_found", f"There is no source '{name}' of tables on this board; the tables' file names: {known}"
        )

    async def set_sources(self, addresses: Mapping[str | None, str]) -> None:
        """Replace the sources; those with the same URL stay open, removed ones close when they are idle.

        Raise ValueError, without any change, if a URL is not valid.
        """
        places = {name: normalize_url(url) for name, url in addresses.items()}
        own = _get_board_url(self._database)
        opened: dict[str, TableSource] = {}
        named: dict[str | None, TableSource] = {}
        for name, place in places.items():
            if place == own:
                named[name] = self._get_own_source()
                continue
            if place not in opened:
                opened[place] = self._opened.get(place) or open_source(place)
            named[name] = opened[place]
        gone = [source for place, source in self._opened.items() if place not in opened]
        self._named, self._opened = named, opened
        for source in gone:
            self._release(source)

    def list_receipt_stores(self) -> dict[str, ReceiptStore]:
        """Return the receipts of all open databases other than the board's own."""
        return {source.receipts.name: source.receipts for source in self._opened.values()}

    def list_receipt_databases(self, tools: Iterable[Tool]) -> set[str]:
        """Return the names of the databases to which any of the tools writes receipts."""
        found: set[str] = set()
        for tool in tools if self._opened else ():
            if tool.tool_type == Kind.TABLE and tool.config.get("receipts"):
                with suppress(TableUnusable):
                    found.add(self.get_source(tool.config.get("source")).receipts.name)
        return found

    async def facts(self, source: TableSource, schema: str | None, table: str) -> TableSchema | None:
        """Return the cached schema of the table, or read it; raise InsertFault."""
        return (self.get_last_reading(source, schema, table) or await self.read(source, schema, table)).facts

    def get_last_reading(self, source: TableSource, schema: str | None, table: str) -> SchemaReading | None:
        """Return the last known schema of the table without a query, or None."""
        return self._read.get((source, schema, table))

    async def read(self, source: TableSource, schema: str | None, table: str) -> SchemaReading:
        """Read the current schema of the table; concurrent callers share one query. Raise InsertFault."""
        key = (source, schema, table)
        task = self._reading.get(key)
        if task is None:
            task = self._reading[key] = asyncio.create_task(self._ask(key), name="pegboard-facts")
            task.add_done_callback(lambda done: self._on_read(key, done))
        return await asyncio.shield(task)

    def forget(self, source: TableSource, schema: str | None, table: str) -> None:
        """Drop the cached schema, so that the next use reads it again."""
        self._read.pop((source, schema, table), None)

    async def close(self) -> None:
        """Close all sources after their running inserts."""
        for source in {*self._opened.values(), *([self._own] if self._own else ())}:
            self._release(source)
        self._named, self._opened, self._own = {}, {}, None
        for reading in self._reading.values():
            reading.cancel()
        if ending := [*self._reading.values(), *self._closing]:
            await finish_despite_cancellation(asyncio.wait(ending))
        if self._journal is not None:
            await self._journal.close()

    async def _ask(self, key: _TableId) -> SchemaReading:
        source, schema, table = key
        facts = await source.facts(schema, table)
        if facts is not None:
            facts = exclude_board_table(facts, is_own=source.is_own)
        read = SchemaReading(facts, time.monotonic())
        if source in self._opened.values() or source is self._own:
            self._read[key] = read
        return read

    def _on_read(self, key: _TableId, done: asyncio.Task[SchemaReading]) -> None:
        del self._reading[key]
        if not done.cancelled():
            done.exception()  # retrieve the exception, also if all callers were cancelled

    def _get_own_source(self) -> TableSource:
        if self._own is None:
            self._own = _open_own_source(self._database, self._journal)
        return self._own

    def _release(self, source: TableSource) -> None:
        self._read = {key: read for key, read in self._read.items() if key[0] is not source}
        task = asyncio.create_task(self._close_source(source), name="pegboard-source-closing")
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _close_source(self, source: TableSource) -> None:
        if self.receipts is not None and not source.is_own:
            try:
                async with asyncio.timeout(_REMOVE_SECONDS):
                    await self.receipts.remove_recorded(source.receipts)
            except Exception:
                # The next process that writes receipts there removes them.
                log.warning("receipts_not_removed", database=source.shown_url, exc_info=True)
        try:
            await source.close()
        except Exception:
            log.exception("source_not_closed", database=source.shown_url)


def exclude_board_table(facts: TableSchema, *, is_own: bool) -> TableSchema:
    """Return the schema; mark the table as unusable if it is one of the board's own tables."""
    is_board_table = is_own and facts.schema in _BOARD_SCHEMAS and facts.table.lower() in BOARD_TABLES
    if is_board_table or facts.table.lower() == RECEIPT_TABLE:
        return replace(facts, unfit="it is the board's own")
    return facts


def open_source(url: str) -> TableSource:
    """Open the database of a URL; raise ValueError if the URL is not supported."""
    place = normalize_url(url)
    parsed = make_url(place)
    if parsed.drivername == "sqlite":
        return SqliteSource(Path(str(parsed.database)))
    return PostgresqlSource(place)


def _open_own_source(database: Database, journal: TransactionalJournal | None) -> TableSource:
    if database.kind == "sqlite":
        return SqliteSource.own(database, journal)
    return PostgresqlSource(str(_get_board_url(database)), is_own=True, journal=journal)


def normalize_url(url: str) -> str:
    """Return the canonical form of a database URL; raise ValueError if the URL is not supported."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # the original message may contain part of the password
        raise ValueError(f"not a database URL: {_ACCEPTED_URLS}") from None
    if "@" in (parsed.host or ""):
        raise ValueError("not a database URL: write an @ of the user's name or password as %40, a / as %2F")
    if parsed.drivername in _SQLITE_DRIVERS and parsed.database and parsed.database != ":memory:" and not parsed.query:
        return _render_url(URL.create("sqlite", database=os.path.realpath(parsed.database)))
    if parsed.drivername in _POSTGRESQL_DRIVERS:
        return _normalize_postgresql_url(parsed)
    raise ValueError(f"not a database that tables can be in: {parsed.drivername}; {_ACCEPTED_URLS}")


def _get_board_url(database: Database) -> str | None:
    if database.kind == "postgresql":
        return _normalize_postgresql_url(database.engine.url)
    return (
        None if database.file is None else _render_url(URL.create("sqlite", database=os.path.realpath(database.file)))
    )


def _normalize_postgresql_url(url: URL) -> str:
    query = {("sslmode" if key == "ssl" else key): value for key, value in url.query.items()}
    return _render_url(url.set(drivername="postgresql", query=query))


def _render_url(url: URL) -> str:
    return url.render_as_string(hide_password=False)
