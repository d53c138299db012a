"""A bounded pool of connections to a PostgreSQL database, opened on demand.

Wraps `asyncpg.Pool` for what it does not do: the deadline of a call, InsertFault, and terminating a connection that was
left within a transaction.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import asyncpg
from sqlalchemy import URL

from pegboard.kinds.table.postgresql_errors import DRIVER_ERRORS, explain_postgresql_error
from pegboard.kinds.table.source import InsertFault

CONNECT_SECONDS = 10.0
_CLOSE_SECONDS = 5.0
_UNLIMITED_QUERIES = 2**62
# Two for each table and set of columns: for one row and for many.
_STATEMENT_CACHE_SIZE = 400
# The settings of the board's other connections to its own database.
_OWN_SETTINGS = {"synchronous_commit": "on", "idle_in_transaction_session_timeout": "60s"}

_OPTION_NAMES = {"ssl": "sslmode", "schema": "search_path"}
_LIBPQ_ONLY_OPTIONS = {
    *("connect_timeout", "channel_binding", "gssencmode", "fallback_application_name", "tcp_user_timeout"),
    *("keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count"),
}


class PostgresqlPool:
    """Lends connections; they must be returned without changed settings and without an open transaction."""

    def __init__(self, url: URL, *, is_own: bool, most: int) -> None:
        # The driver reads URL options like libpq, but sends unknown ones to the server as settings.
        query = {
            _OPTION_NAMES.get(key, key): value for key, value in url.query.items() if key not in _LIBPQ_ONLY_OPTIONS
        }
        self._dsn = url.set(drivername="postgresql", query=query).render_as_string(hide_password=False)
        self._settings = {"application_name": "pegboard", **(_OWN_SETTINGS if is_own else {})}
        self._most = most
        self._pool_lock = asyncio.Lock()
        self._pool: Any = None
        self._is_closed = False

    @property
    def are_all_in_use(self) -> bool:
        """True if all connections are in use, so that a caller must wait."""
        return self._pool is not None and self._pool.get_size() - self._pool.get_idle_size() >= self._most

    @asynccontextmanager
    async def acquire(self, ends: float) -> AsyncIterator[Any]:
        """Lend a connection within the remaining time, at most ten seconds; raise InsertFault if there is none."""
        seconds = max(0.0, min(ends - time.monotonic(), CONNECT_SECONDS))
        try:
            pool = await self._open_connection()
            conn = await pool.acquire(timeout=seconds)
        except TimeoutError:
            raise self.late() from None
        except (*DRIVER_ERRORS, ValueError) as error:
            raise explain_postgresql_error(error) from None
        try:
            yield conn
        finally:
            await _release_connection(pool, conn)

    async def expire(self) -> None:
        """Replace all connections before their next use: one of them was lost, perhaps because the server restarted."""
        if self._pool is not None:
            await self._pool.expire_connections()

    async def close(self) -> None:
        """Close all connections and open no more."""
        self._is_closed = True
        pool, self._pool = self._pool, None
        if pool is None:
            return
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await pool.close()
        except DRIVER_ERRORS:
            pool.terminate()

    async def _open_connection(self) -> Any:
        if self._is_closed:
            raise asyncpg.InterfaceError("closed")
        if self._pool is None:
            async with self._pool_lock:
                if self._pool is None:
                    self._pool = await asyncpg.create_pool(
                        self._dsn,
                        min_size=0,
                        max_size=self._most,
                        max_queries=_UNLIMITED_QUERIES,
                        statement_cache_size=_STATEMENT_CACHE_SIZE,
                        timeout=CONNECT_SECONDS,
                        reset=_skip_reset,
                        server_settings=self._settings,
                    )
        return self._pool

    def late(self) -> InsertFault:
        """Return the error for a connection that was not available in time."""
        if self.are_all_in_use:
            return InsertFault(
                "P2024",
                f"all {self._most} connections to the database are in use and none came free in time",
                retry_after_ms=1000,
            )
        return explain_postgresql_error(TimeoutError())


async def _skip_reset(_conn: Any) -> None:
    """Do nothing: no settings of a connection are ever changed."""


def terminate_connection(conn: Any) -> None:
    """Terminate a connection, whatever it is doing."""
    # A connection that is already closed belongs to the pool again and must not be terminated.
    with suppress(asyncpg.InterfaceError):
        conn.terminate()


async def _release_connection(pool: Any, conn: Any) -> None:
    with suppress(*DRIVER_ERRORS):
        if conn.is_in_transaction():
            conn.terminate()
        await pool.release(conn)
