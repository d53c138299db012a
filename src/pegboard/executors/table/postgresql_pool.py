"""Connections to a PostgreSQL database, a bounded number of them, each made when it is needed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import asyncpg
from sqlalchemy import URL

from pegboard.executors.table.postgresql_faults import FAILURES, fault_of
from pegboard.executors.table.source import Fault

PATIENCE = 10.0
_CLOSING = 5.0
_FOR_EVER = 2**62
# Two for each table and set of columns: for one row and for many.
_STATEMENTS = 400
# As the board's other connections to its own database have it.
_OWN_SETTINGS = {"synchronous_commit": "on", "idle_in_transaction_session_timeout": "60s"}

_OPTIONS = {"ssl": "sslmode", "schema": "search_path"}
_LIBPQ_ALONE = {
    *("connect_timeout", "channel_binding", "gssencmode", "fallback_application_name", "tcp_user_timeout"),
    *("keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count"),
}


class Connections:
    """Lends connections; whoever borrows one gives it back with nothing set on it and no transaction open."""

    def __init__(self, url: URL, *, is_own: bool, most: int) -> None:
        # The driver reads options from a URL as libpq does, but takes those it does not know for the server's.
        query = {_OPTIONS.get(key, key): value for key, value in url.query.items() if key not in _LIBPQ_ALONE}
        self._address = url.set(drivername="postgresql", query=query).render_as_string(hide_password=False)
        self._settings = {"application_name": "pegboard", **(_OWN_SETTINGS if is_own else {})}
        self._most = most
        self._making = asyncio.Lock()
        self._pool: Any = None
        self._is_closed = False

    @property
    def are_all_in_use(self) -> bool:
        """Whether whoever wants a connection has to wait for one."""
        return self._pool is not None and self._pool.get_size() - self._pool.get_idle_size() >= self._most

    @asynccontextmanager
    async def lent(self, ends: float) -> AsyncIterator[Any]:
        """A connection, within the time left and ten seconds; raises Fault."""
        seconds = max(0.0, min(ends - time.monotonic(), PATIENCE))
        try:
            pool = await self._made()
            conn = await pool.acquire(timeout=seconds)
        except TimeoutError:
            raise self.late() from None
        except (*FAILURES, ValueError) as error:
            raise fault_of(error) from None
        try:
            yield conn
        finally:
            await _given_back(pool, conn)

    async def expire(self) -> None:
        """Make every connection anew before it is used again: one of them died, maybe with the server."""
        if self._pool is not None:
            await self._pool.expire_connections()

    async def close(self) -> None:
        """Close every connection, and make no more."""
        self._is_closed = True
        pool, self._pool = self._pool, None
        if pool is None:
            return
        try:
            async with asyncio.timeout(_CLOSING):
                await pool.close()
        except FAILURES:
            pool.terminate()

    async def _made(self) -> Any:
        if self._is_closed:
            raise asyncpg.InterfaceError("closed")
        if self._pool is None:
            async with self._making:
                if self._pool is None:
                    self._pool = await asyncpg.create_pool(
                        self._address,
                        min_size=0,
                        max_size=self._most,
                        max_queries=_FOR_EVER,
                        statement_cache_size=_STATEMENTS,
                        timeout=PATIENCE,
                        reset=_as_it_is,
                        server_settings=self._settings,
                    )
        return self._pool

    def late(self) -> Fault:
        """Why no connection was lent in time."""
        if self.are_all_in_use:
            return Fault(
                "P2024",
                f"all {self._most} connections to the database are in use and none came free in time",
                retry_after_ms=1000,
            )
        return fault_of(TimeoutError())


async def _as_it_is(_conn: Any) -> None:
    """Nothing is ever set on a connection, so nothing has to be undone."""


def drop(conn: Any) -> None:
    """Cut a connection off, whatever it is doing."""
    # One that has died already belongs to the pool again, and is no longer ours to cut.
    with suppress(asyncpg.InterfaceError):
        conn.terminate()


async def _given_back(pool: Any, conn: Any) -> None:
    with suppress(*FAILURES):
        if conn.is_in_transaction():
            conn.terminate()
        await pool.release(conn)
