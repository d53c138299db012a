"""The connection to one database, SQLite or PostgreSQL: reads, writes, and a revision for every change."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar
from uuid import uuid4

from sqlalchemy import URL, Connection, event, make_url, select, text, update
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from pegboard.storage.board_tables import BoardRow

CHANNEL = "pegboard_changes"

_URL_HELP = (
    'a database is "memory", "sqlite:///FILE" (or "sqlite+aiosqlite:///FILE"), '
    'or "postgresql://…" (or "postgres://…", "postgresql+asyncpg://…")'
)
_WRITE_OPTION = "pegboard_writing"
# For every SQLite connection; tests pass others to `Database.create` and to `SqliteSource`.
SQLITE_PRAGMAS = ("busy_timeout = 5000", "synchronous = FULL", "foreign_keys = ON")

T = TypeVar("T")


class DatabaseUnusable(Exception):
    """Raised if the database cannot be reached or used."""


@dataclass(frozen=True, slots=True)
class Change:
    """A write transaction with its revision."""

    conn: AsyncConnection
    revision: int


class Database:
    """The database of a board; created with `Database.create(url)`."""

    def __init__(
        self,
        engine: AsyncEngine,
        kind: Literal["sqlite", "postgresql"],
        shown_url: str,
        *,
        file: Path | None = None,
        keeper: sqlite3.Connection | None = None,
        pragmas: Sequence[str] = SQLITE_PRAGMAS,
    ) -> None:
        self.engine = engine
        self.kind = kind
        self.shown_url = shown_url
        self.file = file
        # An in-memory database exists as long as one connection to it is open.
        self._keeper = keeper
        self._pragmas = pragmas
        # SQLite allows one writer at a time; a lock here is fair and fast, SQLite's own waiting is neither.
        self._writing = asyncio.Lock() if kind == "sqlite" else None
        self._reading = self._writing if keeper else None
        self._holder: asyncio.Task[Any] | None = None

    @classmethod
    def create(cls, url: str, *, pragmas: Sequence[str] = SQLITE_PRAGMAS) -> Database:
        """Return the database of a URL; raise ValueError with the supported forms. `pragmas` are for SQLite."""
        if url in {"memory", "sqlite://", "sqlite:///:memory:", "sqlite+aiosqlite:///:memory:"}:
            return cls._memory(pragmas)
        try:
            parsed = make_url(url)
        except ArgumentError:
            raise ValueError(f"not a database URL: {_URL_HELP}") from None
        if parsed.drivername in {"sqlite", "sqlite+aiosqlite"} and parsed.database and not parsed.query:
            return cls._file(Path(parsed.database), pragmas)
        if parsed.drivername in {"postgresql", "postgres", "postgresql+asyncpg"}:
            return cls._postgresql(parsed)
        raise ValueError(f"not a database this board can use: {format_url(parsed)}; {_URL_HELP}")

    @classmethod
    def _memory(cls, pragmas: Sequence[str]) -> Database:
        name = f"file:pegboard-{uuid4().hex}?mode=memory&cache=shared"
        keeper = sqlite3.connect(name, uri=True, check_same_thread=False)
        engine = create_async_engine(
            URL.create("sqlite+aiosqlite", database=name, query={"uri": "true"}),
            pool_size=1,
            max_overflow=0,
            hide_parameters=True,
        )
        _tune_sqlite(engine, pragmas)
        return cls(engine, "sqlite", "memory", keeper=keeper, pragmas=pragmas)

    @classmethod
    def _file(cls, file: Path, pragmas: Sequence[str]) -> Database:
        file = file.absolute()
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Created here, so that no other user can ever read it; SQLite gives its side files the same mode.
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
        engine = create_async_engine(URL.create("sqlite+aiosqlite", database=str(file)), hide_parameters=True)
        _tune_sqlite(engine, pragmas)
        return cls(engine, "sqlite", f"sqlite:///{file}", file=file, pragmas=pragmas)

    @classmethod
    def _postgresql(cls, url: URL) -> Database:
        if "@" in (url.host or ""):
            # The parsed host may be part of a password.
            raise ValueError("not a database URL: an '@' in a user or password is written %40")
        query = {("ssl" if key == "sslmode" else key): value for key, value in url.query.items()}
        engine = create_async_engine(
            url.set(drivername="postgresql+asyncpg", query=query),
            # Parameters may be private, and failed statements are logged.
            hide_parameters=True,
            # Replaces a connection that died with the server before it is used.
            pool_pre_ping=True,
            pool_size=10,
            max_overflow=10,
            connect_args={
                "timeout": 10,
                "server_settings": {
                    "application_name": "pegboard",
                    "synchronous_commit": "on",
                    # A process that froze during a change must not block the others forever.
                    "idle_in_transaction_session_timeout": "60s",
                },
            },
        )
        return cls(engine, "postgresql", format_url(url))

    @property
    def is_memory(self) -> bool:
        """True if the database does not outlive this process."""
        return self._keeper is not None

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """Open a connection that sees one consistent state of the database; must not be nested."""
        options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        async with (
            self._hold_lock(self._reading),
            self._open_connection(options if self.kind == "postgresql" else {}) as conn,
        ):
            try:
                yield conn
            finally:
                await finish_despite_cancellation(conn.rollback())

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """Open a write transaction without a new revision (for the journal); commits on exit, rolls back on error."""
        async with self._hold_lock(self._writing), self._open_connection({_WRITE_OPTION: True}) as conn:
            try:
                yield conn
            except BaseException:
                await finish_despite_cancellation(conn.rollback())
                raise
            await finish_despite_cancellation(conn.commit())

    @asynccontextmanager
    async def change(self) -> AsyncIterator[Change]:
        """Open a write transaction with the next revision; changes are serialized, so checks inside it stay true."""
        async with self.write() as conn:
            step = update(BoardRow).where(BoardRow.id == 1).values(revision=BoardRow.revision + 1)
            revision = (await conn.execute(step.returning(BoardRow.revision))).scalar_one()
            if self.kind == "postgresql":
                notification = {"channel": CHANNEL, "payload": str(revision)}
                await conn.execute(text("SELECT pg_notify(:channel, :payload)"), notification)
            yield Change(conn, revision)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold this process's write lock, for code with its own connection; PostgreSQL needs no lock."""
        async with self._hold_lock(self._writing):
            yield

    def connect_sqlite(self) -> sqlite3.Connection:
        """Return a sqlite3 connection for a thread with many writes; it never begins transactions implicitly."""
        where = str(self.file or self.engine.url.database)
        return open_sqlite(where, self._pragmas, is_uri=self.file is None)

    @asynccontextmanager
    async def connect_driver(self) -> AsyncIterator[Any]:
        """Open a driver connection (aiosqlite, asyncpg) outside the pool, for long use."""
        connecting = asyncio.ensure_future(self.engine.connect())
        try:
            # aiosqlite's thread reports to the event loop, which may be closed soon after a cancellation.
            conn = await (finish_despite_cancellation(connecting) if self.kind == "sqlite" else connecting)
        except asyncio.CancelledError:
            if not connecting.cancelled() and connecting.exception() is None:
                await finish_despite_cancellation(connecting.result().close())
            raise
        try:
            driver = (await conn.get_raw_connection()).driver_connection
            await conn.run_sync(Connection.detach)
            yield driver
        finally:
            await finish_despite_cancellation(conn.close())

    async def ping(self) -> None:
        """Raise if the database does not answer."""
        async with self.read() as conn:
            await conn.execute(text("SELECT 1"))

    async def check_writable(self) -> None:
        """Raise if the database accepts no writes; changes nothing."""
        if self._writing is not None and self._writing.locked():
            return  # a write is running and will report any error itself
        async with self._hold_lock(self._writing), self._open_connection({_WRITE_OPTION: True}) as conn:
            await conn.execute(update(BoardRow).where(BoardRow.id == 1).values(revision=BoardRow.revision))
            await finish_despite_cancellation(conn.rollback())

    async def close(self) -> None:
        """Close every connection."""
        await self.engine.dispose()
        if self._keeper:
            self._keeper.close()

    @asynccontextmanager
    async def _open_connection(self, options: dict[str, Any]) -> AsyncIterator[AsyncConnection]:
        conn = await self.engine.connect()
        try:
            yield await conn.execution_options(**options)
        finally:
            await finish_despite_cancellation(conn.close())

    @asynccontextmanager
    async def _hold_lock(self, lock: asyncio.Lock | None) -> AsyncIterator[None]:
        if lock is None:
            yield
            return
        task = asyncio.current_task()
        if self._holder is task:
            raise RuntimeError("read(), write() and change() do not nest: use the connection that is already there")
        async with lock:
            self._holder = task
            try:
                yield
            finally:
                self._holder = None


async def read_revision(conn: AsyncConnection) -> int:
    """Return the revision of the board's last change."""
    return (await conn.execute(select(BoardRow.revision).where(BoardRow.id == 1))).scalar_one()


def open_sqlite(where: str, pragmas: Iterable[str], *, is_uri: bool) -> sqlite3.Connection:
    """Return a connection for a thread with many writes; it never begins transactions implicitly."""
    connection = sqlite3.connect(
        where, uri=is_uri, isolation_level=None, cached_statements=256, check_same_thread=False
    )
    try:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def close_sqlite(connection: sqlite3.Connection) -> None:
    """Roll back an open transaction, and close the connection in any case."""
    try:
        if connection.in_transaction:
            connection.rollback()
    finally:
        connection.close()


async def finish_despite_cancellation(work: Awaitable[T]) -> T:
    """Await `work` to its end even if this task is cancelled; raise the cancellation afterwards."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        task.exception()
        raise cancelled
    return task.result()


def format_url(url: URL) -> str:
    """Return the URL for display: without password and options."""
    return url.set(query={}).render_as_string()


def _tune_sqlite(engine: AsyncEngine, pragmas: Sequence[str]) -> None:
    @event.listens_for(engine.sync_engine, "connect")
    def tune(connection: Any, _record: Any) -> None:
        # The driver must not begin transactions itself: `begin` below does.
        connection.isolation_level = None
        connection.run_async(partial(_set_pragmas, pragmas))

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer locks at once: a transaction that starts as a reader could not wait for the lock later.
        writing = connection.get_execution_options().get(_WRITE_OPTION)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def read_driver_message(error: Exception) -> str:
    """Return the error message of the database driver, without SQLAlchemy's additions."""
    if isinstance(error, DBAPIError) and error.orig is not None:
        return str(error.orig.__cause__ or error.orig)
    return str(error) or type(error).__name__


async def _set_pragmas(pragmas: Sequence[str], connection: Any) -> None:
    for pragma in pragmas:
        await connection.execute(f"PRAGMA {pragma}")
    # SQLite does not wait if two connections switch a file to WAL mode at the same time.
    give_up = time.monotonic() + 5
    while True:
        try:
            await connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > give_up:
                raise
            await asyncio.sleep(0.02)
        else:
            return
