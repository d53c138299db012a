"""Tables in SQLite: the board's own file, or another; one thread and one connection each."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Literal, TypeVar
from urllib.parse import quote

from pegboard.executors.table.facts import Facts
from pegboard.executors.table.lanes import Lanes, Outcome, Waiting
from pegboard.executors.table.source import Answered, Entry, Fault
from pegboard.executors.table.sqlite_facts import read_facts, read_tables
from pegboard.executors.table.sqlite_faults import fault_of, is_of_the_connection
from pegboard.executors.table.sqlite_insert import commit
from pegboard.store.database import Database, settled
from pegboard.store.receipts import SignReceipt, unsigned

T = TypeVar("T")

# SQLite has one writer at a time, so all that waits goes together, whatever its table.
_LANE = "entries"
_PRAGMAS = ("busy_timeout = 5000", "synchronous = FULL", "foreign_keys = ON")


class SqliteSource:
    """The tables of an SQLite file that is there already, or with `own` those beside the board's."""

    kind: Literal["sqlite", "postgresql"] = "sqlite"

    def __init__(
        self, file: Path | None, *, database: Database | None = None, sign_receipt: SignReceipt = unsigned
    ) -> None:
        self.shown_url = database.shown_url if database else f"sqlite:///{file}"
        self.is_own = database is not None
        self._file = file
        self._database = database
        self._sign_receipt = sign_receipt if self.is_own else None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pegboard-tables")
        self._connection: sqlite3.Connection | None = None
        # The file that the connection has open, and not another that took its name since.
        self._opened: tuple[int, int] | None = None
        self._lanes = Lanes(self._write)

    @classmethod
    def own(cls, database: Database, sign_receipt: SignReceipt = unsigned) -> SqliteSource:
        """The board's own database, also in memory: written in the board's turn, each entry with a receipt."""
        return cls(database.file, database=database, sign_receipt=sign_receipt)

    async def facts(self, schema: str | None, table: str) -> Facts | None:
        """What the database says of the table now, None if it has no such; raises Fault where it cannot be asked."""
        return await self._ask(lambda connection: read_facts(connection, schema, table))

    async def tables(self, schema: str | None = None) -> list[str]:
        """The names of the tables there are; raises Fault."""
        return await self._ask(read_tables) if schema in {None, "main"} else []

    async def insert(self, entry: Entry) -> Answered:
        """The answer, its rows committed; raises Fault, whose `row` says which of several is at fault."""
        return await self._lanes.put(_LANE, entry)

    async def close(self) -> None:
        """Let what waits be committed, then close the connection and end the thread."""
        await self._lanes.rest()
        await settled(asyncio.get_running_loop().run_in_executor(self._thread, self._disconnect))
        self._thread.shutdown(wait=False)

    async def _write(self, members: Sequence[Waiting]) -> list[Outcome]:
        return await self._in_turn(lambda: self._commit(members))

    async def _ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        return await self._in_turn(lambda: self._answer(question))

    async def _in_turn(self, work: Callable[[], T]) -> T:
        turn: AbstractAsyncContextManager[None] = self._database.turn() if self._database else nullcontext()
        async with turn:
            return await settled(asyncio.get_running_loop().run_in_executor(self._thread, work))

    def _commit(self, members: Sequence[Waiting]) -> list[Outcome]:
        try:
            connection = self._connected()
            outcomes = commit(connection, members, sign_receipt=self._sign_receipt)
        except Fault as fault:
            return [fault for _ in members]
        except BaseException:
            self._disconnect()
            raise
        unwell = any(isinstance(outcome, Fault) and is_of_the_connection(outcome) for outcome in outcomes)
        if unwell or connection.in_transaction:
            self._disconnect()
        return outcomes

    def _answer(self, question: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._connected()
        try:
            return question(connection)
        except sqlite3.Error as error:
            self._disconnect()
            raise fault_of(error) from error

    def _connected(self) -> sqlite3.Connection:
        """The connection, to the file that has the name now; raises Fault."""
        if self._file and not self._database and _identity(self._file) != self._opened:
            self._disconnect()
        if self._connection is None:
            try:
                self._connection = self._connect()
            except sqlite3.Error as error:
                raise fault_of(error) from error
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        if self._database:
            return self._database.connect_sqlite()
        assert self._file is not None
        self._opened = _identity(self._file)
        where = f"file:{quote(str(self._file.absolute()))}?mode=rw"
        connection = sqlite3.connect(
            where, uri=True, isolation_level=None, cached_statements=256, check_same_thread=False
        )
        try:
            for pragma in _PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                if connection.in_transaction:
                    connection.rollback()
            finally:
                connection.close()


def _identity(file: Path) -> tuple[int, int]:
    """Which file has the name; raises Fault where none has, or it may not be looked at."""
    try:
        found = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise Fault("P1003", f"Database file {file} does not exist", sqlstate="3D000") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise Fault("P1001", f"Database file {file}: {reason}", sqlstate="08001", retry_after_ms=1000) from None
    if not os.access(file, os.R_OK):
        raise Fault("P1010", f"Database file {file} may not be read by this process", sqlstate="42501")
    return found.st_dev, found.st_ino
