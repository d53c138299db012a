"""Migrates a database to the schema that this code expects."""

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

from pegboard.storage import journal_tables  # noqa: F401 -- makes its tables known
from pegboard.storage.board_tables import Base, BoardRow
from pegboard.storage.database import Database

if TYPE_CHECKING:
    from alembic.config import Config

_SCRIPTS = Path(__file__).parent / "migrations"
_STARTUP_LOCK = 7_309_453_281
_MIGRATION_LOCK = _STARTUP_LOCK + 1


class SchemaTooNew(Exception):
    """Raised if the database was created by a later version of Pegboard."""


async def migrate(database: Database) -> list[str]:
    """Migrate the schema and return the revisions applied; safe to run in two processes at once."""
    async with database.write() as conn:
        if database.kind == "postgresql":
            await conn.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK})
        return await conn.run_sync(_create_tables if database.is_memory else _upgrade_tables)


async def list_pending_revisions(database: Database) -> list[str]:
    """Return the revisions that `migrate` would apply, in order."""
    async with database.read() as conn:
        return await conn.run_sync(_list_missing_in_memory if database.is_memory else _list_missing_revisions)


@asynccontextmanager
async def hold_startup_lock(database: Database) -> AsyncIterator[None]:
    """Hold the lock for start-up, one process at a time; `migrate` may be called inside it; must not be nested."""
    if database.file is not None:
        async with _hold_file_lock(database.file.with_name(database.file.name + ".lock")):
            yield
    elif database.kind == "postgresql":
        # The lock ends with the connection.
        async with database.connect_driver() as connection:
            await connection.execute("SELECT pg_advisory_lock($1)", _STARTUP_LOCK)
            yield
    else:
        yield


@asynccontextmanager
async def _hold_file_lock(path: Path) -> AsyncIterator[None]:
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        # Asked for again and again, not waited for in a thread: a thread that waits cannot be cancelled.
        while not _try_lock(handle):  # noqa: ASYNC110 -- it is another process that lets go
            await asyncio.sleep(0.02)
        yield
    finally:
        os.close(handle)


def _try_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def build_alembic_config(connection: Connection) -> Config:
    """Return the configuration with which `alembic.command` runs the migrations on this connection."""
    from alembic.config import Config  # noqa: PLC0415 -- start-up time: few starts have anything to migrate

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


@cache
def _list_revisions() -> tuple[str, ...]:
    # Scripts are named after their numbered revisions, so none has to be imported to list them.
    return tuple(sorted(script.stem for script in (_SCRIPTS / "versions").glob("[0-9]*.py")))


def _read_current_revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _list_missing_revisions(connection: Connection) -> list[str]:
    known = list(_list_revisions())
    current = _read_current_revision(connection)
    if current is None:
        return known
    if current not in known:
        raise SchemaTooNew(
            f"the database is at revision '{current}', which this version does not know (its latest is '{known[-1]}'); "
            "use the version of Pegboard that made it, or a later one"
        )
    return known[known.index(current) + 1 :]


def _upgrade_tables(connection: Connection) -> list[str]:
    missing = _list_missing_revisions(connection)
    if missing:
        from alembic import command  # noqa: PLC0415 -- start-up time

        command.upgrade(build_alembic_config(connection), "head")
    return missing


def _list_missing_in_memory(connection: Connection) -> list[str]:
    return [] if inspect(connection).has_table(BoardRow.__tablename__) else list(_list_revisions())


@cache
def _build_schema_script() -> str:
    statements = ["BEGIN IMMEDIATE"]  # executescript commits the open transaction first
    dialect = sqlite.dialect()
    scribe = create_mock_engine("sqlite://", lambda made, *_: statements.append(str(made.compile(dialect=dialect))))
    Base.metadata.create_all(scribe, checkfirst=False)
    return ";".join(statements)


def _create_tables(connection: Connection) -> list[str]:
    missing = _list_missing_in_memory(connection)
    if missing:
        driver: Any = connection.connection.dbapi_connection
        # In one script: about forty statements would otherwise be separate round trips to the driver's thread.
        driver.run_async(lambda raw: raw.executescript(_build_schema_script()))
        connection.execute(insert(BoardRow).values(id=1, revision=0))
    return missing
