"""Bringing a database to the tables this code expects."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, create_mock_engine, insert, inspect, text
from sqlalchemy.dialects import sqlite

from pegboard.store import contract_models, journal_models, memory_models  # noqa: F401 -- makes their tables known
from pegboard.store.base_models import Base
from pegboard.store.database import Database
from pegboard.store.models import BoardState

if TYPE_CHECKING:
    from alembic.config import Config

_SCRIPTS = Path(__file__).parent / "migrations"
_STARTUP_LOCK = 7_309_453_281
_MIGRATION_LOCK = _STARTUP_LOCK + 1


class SchemaTooNew(Exception):
    """The database was made by a later version of Pegboard than this one."""


async def migrate(database: Database) -> list[str]:
    """Bring the tables up to date and return the revisions applied; two processes may do so at once."""
    async with database.write() as conn:
        if database.kind == "postgresql":
            await conn.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK})
        return await conn.run_sync(_create if database.is_memory else _upgrade)


async def pending(database: Database) -> list[str]:
    """The revisions that `migrate` would apply, in order."""
    async with database.read() as conn:
        return await conn.run_sync(_missing_from_memory if database.is_memory else _missing)


@asynccontextmanager
async def startup_lock(database: Database) -> AsyncIterator[None]:
    """Hold what only one process may do at a time; `migrate` may be called inside it, it cannot be nested itself."""
    if database.file is not None:
        async with _file_lock(database.file.with_name(database.file.name + ".lock")):
            yield
    elif database.kind == "postgresql":
        # The lock goes with the connection.
        async with database.apart() as connection:
            await connection.execute("SELECT pg_advisory_lock($1)", _STARTUP_LOCK)
            yield
    else:
        yield


@asynccontextmanager
async def _file_lock(path: Path) -> AsyncIterator[None]:
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        # Asked for again and again, not waited for in a thread: a thread that waits cannot be cancelled.
        while not _locked(handle):  # noqa: ASYNC110 -- it is another process that lets go
            await asyncio.sleep(0.02)
        yield
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _config(connection: Connection) -> Config:
    from alembic.config import Config  # noqa: PLC0415 -- start-up time: few starts have anything to migrate

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


@cache
def _revisions() -> tuple[str, ...]:
    # A script is named after its revision and they are numbered, so none has to be loaded to know them all.
    return tuple(sorted(script.stem for script in (_SCRIPTS / "versions").glob("[0-9]*.py")))


def _current(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _missing(connection: Connection) -> list[str]:
    known = list(_revisions())
    current = _current(connection)
    if current is None:
        return known
    if current not in known:
        raise SchemaTooNew(
            f"the database is at revision '{current}', which this version does not know (its latest is '{known[-1]}'); "
            "use the version of Pegboard that made it, or a later one"
        )
    return known[known.index(current) + 1 :]


def _upgrade(connection: Connection) -> list[str]:
    missing = _missing(connection)
    if missing:
        from alembic import command  # noqa: PLC0415 -- start-up time

        command.upgrade(_config(connection), "head")
    return missing


def _missing_from_memory(connection: Connection) -> list[str]:
    return [] if inspect(connection).has_table(BoardState.__tablename__) else list(_revisions())


@cache
def _tables() -> str:
    statements = ["BEGIN IMMEDIATE"]  # a script ends the transaction that it finds
    dialect = sqlite.dialect()
    scribe = create_mock_engine("sqlite://", lambda made, *_: statements.append(str(made.compile(dialect=dialect))))
    Base.metadata.create_all(scribe, checkfirst=False)
    return ";".join(statements)


def _create(connection: Connection) -> list[str]:
    missing = _missing_from_memory(connection)
    if missing:
        driver: Any = connection.connection.dbapi_connection
        # All at once: forty statements would go to the driver's thread and back one by one.
        driver.run_async(lambda raw: raw.executescript(_tables()))
        connection.execute(insert(BoardState).values(id=1, revision=0))
    return missing
