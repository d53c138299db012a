"""The cause of a failed commit: the database, then it is retried, or the rows themselves, then it is not."""

from __future__ import annotations

import sqlite3

import asyncpg
import pytest
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from pegboard.journal.postgresql_backend import PostgresqlBackend
from pegboard.journal.sqlite_backend import SqliteBackend
from pegboard.storage.database import Database

# The pool raises errors of its own type if a server is shutting down, and so do its pings.
AWAY = [
    DBAPIError("SELECT 1", None, Exception("terminating connection due to administrator command")),
    OperationalError("SELECT 1", None, Exception("the database system is shutting down")),
    PoolTimeout("QueuePool limit reached"),
    asyncpg.CannotConnectNowError("the database system is starting up"),
    asyncpg.AdminShutdownError("terminating connection"),
    asyncpg.InterfaceError("connection is closed"),
    ConnectionRefusedError("nobody listens"),
    TimeoutError(),
]
OWN = [
    asyncpg.UniqueViolationError("there already"),
    asyncpg.UntranslatableCharacterError("\\u0000"),
    ValueError("the driver cannot send it"),
    TypeError("nor this"),
]


def _postgresql() -> PostgresqlBackend:
    return PostgresqlBackend(Database.create("postgresql://nobody@127.0.0.1:1/none"))


@pytest.mark.parametrize("error", AWAY, ids=lambda error: type(error).__name__)
def test_a_database_that_is_away_is_not_the_rows_fault(error: Exception) -> None:
    assert not _postgresql().is_the_rows_own(error)


@pytest.mark.parametrize("error", OWN, ids=lambda error: type(error).__name__)
def test_what_no_database_would_take_is(error: Exception) -> None:
    assert _postgresql().is_the_rows_own(error)


def test_on_sqlite_a_lock_or_a_full_disk_is_not_and_a_row_that_is_there_already_is() -> None:
    ledger = SqliteBackend(Database.create("memory"))
    assert not ledger.is_the_rows_own(sqlite3.OperationalError("database is locked"))
    assert not ledger.is_the_rows_own(OSError(28, "No space left on device"))
    assert ledger.is_the_rows_own(sqlite3.IntegrityError("there already"))
