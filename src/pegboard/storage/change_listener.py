"""Detects changes that other processes make to the database.

Written by hand: SQLite has no notifications, and a lost LISTEN connection must not lose a change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from pegboard.storage.database import CHANNEL, Database
from pegboard.telemetry.logs import get_logger

OnChange = Callable[[int], Awaitable[None]]

_READ_REVISION = "SELECT revision FROM board_state WHERE id = 1"
_log = get_logger(__name__)


class ChangeListener:
    """Watches a database for new revisions."""

    def __init__(
        self, database: Database, *, seen: int = 0, poll: float = 0.3, slow_poll: float = 5.0, longest_wait: float = 1.0
    ) -> None:
        self._database = database
        self._seen = seen
        self._poll_seconds = poll
        self._slow_poll_seconds = slow_poll
        self._max_wait_seconds = longest_wait
        self._failures = 0

    async def watch(self, on_change: OnChange) -> None:
        """Call `on_change(revision)` after every change by any process, until cancelled; errors only delay it."""
        if self._database.is_memory:
            return
        follow = self._follow_postgresql if self._database.kind == "postgresql" else self._follow_sqlite
        while True:
            try:
                async with self._database.connect_driver() as connection:
                    await follow(connection, on_change)
            except Exception as error:
                self._failures += 1
                _log.warning("watching for changes failed, trying again", error=repr(error), failures=self._failures)
                await asyncio.sleep(min(0.05 * 2 ** min(self._failures, 10), self._max_wait_seconds))

    async def _follow_sqlite(self, connection: Any, on_change: OnChange) -> None:
        version = None
        while True:
            current = await _read_integer(connection, "PRAGMA data_version")
            if current != version:
                await self._report(await _read_integer(connection, _READ_REVISION), on_change)
                version = current
            await asyncio.sleep(self._poll_seconds)

    async def _follow_postgresql(self, connection: Any, on_change: OnChange) -> None:
        woken = asyncio.Event()
        connection.add_termination_listener(lambda *_: woken.set())
        await connection.add_listener(CHANNEL, lambda *_: woken.set())
        while True:
            woken.clear()
            await self._report(await connection.fetchval(_READ_REVISION, timeout=self._slow_poll_seconds), on_change)
            # Also poll at intervals: a connection may be dead without notice. Not wait_for: in Python 3.11 it loses a
            # cancellation that arrives together with a notification.
            with suppress(TimeoutError):
                async with asyncio.timeout(self._slow_poll_seconds):
                    await woken.wait()

    async def _report(self, revision: int, on_change: OnChange) -> None:
        # After a failure the board may have missed changes, so report the revision even if it is the same.
        if revision != self._seen or self._failures:
            await on_change(revision)
        self._seen = revision
        self._failures = 0


async def _read_integer(connection: Any, query: str) -> int:
    async with connection.execute(query) as cursor:
        row = await cursor.fetchone()
    return int(row[0])
