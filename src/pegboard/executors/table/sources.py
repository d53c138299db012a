"""The databases that table tools insert into, by the names that the tables' file gives them."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from pegboard.core.table_errors import TableUnusable
from pegboard.executors.table.facts import Facts
from pegboard.executors.table.postgresql import PostgresqlSource
from pegboard.executors.table.source import Source
from pegboard.executors.table.sqlite import SqliteSource
from pegboard.store.database import Database, settled
from pegboard.store.journal_models import Execution
from pegboard.store.models import BoardState
from pegboard.store.receipts import SignReceipt, unsigned
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

_SQLITE = {"sqlite", "sqlite+aiosqlite"}
_POSTGRESQL = {"postgresql", "postgres", "postgresql+asyncpg"}
# Where the board keeps itself, in the database that tables may be in as well.
_BOARDS_SCHEMAS = (None, "public", "main")
BOARDS_TABLES = frozenset({*BoardState.metadata.tables, *Execution.metadata.tables, "alembic_version"})
_ACCEPTED = 'a database of tables is "sqlite:///FILE" or "postgresql://…"'


class Read(NamedTuple):
    """What a database said of a table, and when on the clock of time.monotonic()."""

    facts: Facts | None
    at: float


_Table = tuple[Source, str | None, str]


class Sources:
    """Every database there is to insert into, each opened once; until told otherwise, the board's own alone."""

    def __init__(self, database: Database, sign_receipt: SignReceipt = unsigned) -> None:
        self._database = database
        self._sign_receipt = sign_receipt
        self._own: Source | None = None
        self._named: dict[str | None, Source] = {}
        self._opened: dict[str, Source] = {}
        self._read: dict[_Table, Read] = {}
        self._reading: dict[_Table, asyncio.Task[Read]] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def named(self, name: str | None) -> Source:
        """The source of this name, None being the file's `database`; raises TableUnusable."""
        source = self._named.get(name)
        if source is not None:
            return source
        if name is None:
            return self._the_own()
        known = ", ".join(f"'{one}'" for one in self._named if one is not None) or "none"
        raise TableUnusable(
            "source_not_found", f"There is no source '{name}' of tables on this board; the tables' file names: {known}"
        )

    async def use(self, addresses: Mapping[str | None, str]) -> None:
        """Have these sources and no other; what keeps its URL stays open, what is gone closes when it rests.

        A URL that is none raises ValueError, and everything stays as it was.
        """
        places = {name: place_of(url) for name, url in addresses.items()}
        own = _place_of_board(self._database)
        opened: dict[str, Source] = {}
        named: dict[str | None, Source] = {}
        for name, place in places.items():
            if place == own:
                named[name] = self._the_own()
                continue
            if place not in opened:
                opened[place] = self._opened.get(place) or open_source(place)
            named[name] = opened[place]
        gone = [source for place, source in self._opened.items() if place not in opened]
        self._named, self._opened = named, opened
        for source in gone:
            self._let_go(source)

    async def facts(self, source: Source, schema: str | None, table: str) -> Facts | None:
        """What the source says of the table, or has said since it was last forgotten; raises Fault."""
        return (self.last_read(source, schema, table) or await self.read(source, schema, table)).facts

    def last_read(self, source: Source, schema: str | None, table: str) -> Read | None:
        """What the source has said of the table, without asking it."""
        return self._read.get((source, schema, table))

    async def read(self, source: Source, schema: str | None, table: str) -> Read:
        """What the source says of the table now, asked once for all who want to know at the same time; raises Fault."""
        key = (source, schema, table)
        task = self._reading.get(key)
        if task is None:
            task = self._reading[key] = asyncio.create_task(self._ask(key), name="pegboard-facts")
            task.add_done_callback(lambda done: self._has_read(key, done))
        return await asyncio.shield(task)

    def forget(self, source: Source, schema: str | None, table: str) -> None:
        """Have the table's facts read anew when they are next wanted."""
        self._read.pop((source, schema, table), None)

    async def close(self) -> None:
        """Close every source, what is running in it ended."""
        for source in {*self._opened.values(), *([self._own] if self._own else ())}:
            self._let_go(source)
        self._named, self._opened, self._own = {}, {}, None
        for reading in self._reading.values():
            reading.cancel()
        if ending := [*self._reading.values(), *self._closing]:
            await settled(asyncio.wait(ending))

    async def _ask(self, key: _Table) -> Read:
        source, schema, table = key
        facts = await source.facts(schema, table)
        if facts is not None and source.is_own:
            facts = spared(facts)
        read = Read(facts, time.monotonic())
        if source in self._opened.values() or source is self._own:
            self._read[key] = read
        return read

    def _has_read(self, key: _Table, done: asyncio.Task[Read]) -> None:
        del self._reading[key]
        if not done.cancelled():
            done.exception()  # seen, also where everybody who asked has gone away

    def _the_own(self) -> Source:
        if self._own is None:
            self._own = _own_source(self._database, self._sign_receipt)
        return self._own

    def _let_go(self, source: Source) -> None:
        self._read = {key: read for key, read in self._read.items() if key[0] is not source}
        task = asyncio.create_task(_closed(source), name="pegboard-source-closing")
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


def spared(facts: Facts) -> Facts:
    """What is said of a table in the board's database: if the board keeps itself in it, that it takes no rows."""
    if facts.schema in _BOARDS_SCHEMAS and facts.table.lower() in BOARDS_TABLES:
        return replace(facts, unfit="it is the board's own")
    return facts


def open_source(url: str) -> Source:
    """The database that a URL names; ValueError says which URLs there are."""
    place = place_of(url)
    parsed = make_url(place)
    if parsed.drivername == "sqlite":
        return SqliteSource(Path(str(parsed.database)))
    return PostgresqlSource(place)


def _own_source(database: Database, sign_receipt: SignReceipt) -> Source:
    if database.kind == "sqlite":
        return SqliteSource.own(database, sign_receipt)
    return PostgresqlSource(str(_place_of_board(database)), is_own=True, sign_receipt=sign_receipt)


async def _closed(source: Source) -> None:
    try:
        await source.close()
    except Exception:
        log.exception("source_not_closed", database=source.shown_url)


def place_of(url: str) -> str:
    """The URL in the one form that the same database always has here; ValueError says which URLs there are."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # what they say may hold a part of the password
        raise ValueError(f"not a database URL: {_ACCEPTED}") from None
    if "@" in (parsed.host or ""):
        raise ValueError("not a database URL: write an @ of the user's name or password as %40, a / as %2F")
    if parsed.drivername in _SQLITE and parsed.database and parsed.database != ":memory:" and not parsed.query:
        return _text(URL.create("sqlite", database=os.path.realpath(parsed.database)))
    if parsed.drivername in _POSTGRESQL:
        return _postgresql_place(parsed)
    raise ValueError(f"not a database that tables can be in: {parsed.drivername}; {_ACCEPTED}")


def _place_of_board(database: Database) -> str | None:
    if database.kind == "postgresql":
        return _postgresql_place(database.engine.url)
    return None if database.file is None else _text(URL.create("sqlite", database=os.path.realpath(database.file)))


def _postgresql_place(url: URL) -> str:
    query = {("sslmode" if key == "ssl" else key): value for key, value in url.query.items()}
    return _text(url.set(drivername="postgresql", query=query))


def _text(url: URL) -> str:
    return url.render_as_string(hide_password=False)
