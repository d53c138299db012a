"""Seeing what other processes change."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from pegboard.store.database import CHANNEL, Database
from pegboard.telemetry.logs import get_logger

OnChange = Callable[[int], Awaitable[None]]

_READ_REVISION = "SELECT revision FROM board_state WHERE id = 1"
_log = get_logger(__name__)


class Changes:
    """Watches a database for revisions other than the one already seen."""

    def __init__(
        self, database: Database, *, seen: int = 0, poll: float = 0.3, slow_poll: float = 5.0, longest_wait: float = 1.0
    ) -> None:
        self._database = database
        self._seen = seen
        self._poll = poll
        self._slow_poll = slow_poll
        self._longest_wait = longest_wait
        self._failures = 0

    async def watch(self, on_change: OnChange) -> None:
        """Call `on_change(revision)` after every change, whoever made it, until cancelled; errors only delay it."""
        if self._database.is_memory:
            return
        follow = self._follow_postgresql if self._database.kind == "postgresql" else self._follow_sqlite
        while True:
            try:
                async with self._database.apart() as connection:
                    await follow(connection, on_change)
            except Exception as error:
                self._failures += 1
                _log.warning("watching for changes failed, trying again", error=repr(error), failures=self._failures)
                await asyncio.sleep(min(0.05 * 2 ** min(self._failures, 10), self._longest_wait))

    async def _follow_sqlite(self, connection: Any, on_change: OnChange) -> None:
        version = None
        while True:
            current = await _value(connection, "PRAGMA data_version")
            if current != version:
                await self._report(await _value(connection, _READ_REVISION), on_change)
                version = current
            await asyncio.sleep(self._poll)

    async def _follow_postgresql(self, connection: Any, on_change: OnChange) -> None:
        woken = asyncio.Event()
        connection.add_termination_listener(lambda *_: woken.set())
        await connection.add_listener(CHANNEL, lambda *_: woken.set())
        while True:
            woken.clear()
            await self._report(await connection.fetchval(_READ_REVISION, timeout=self._slow_poll), on_change)
            # Now and then it asks unprompted: a connection may be dead without anybody having said so.
            # Not wait_for: in Python 3.11 it loses a cancellation that comes together with a notice.
            with suppress(TimeoutError):
                async with asyncio.timeout(self._slow_poll):
                    await woken.wait()

    async def _report(self, revision: int, on_change: OnChange) -> None:
        # After a failure the board may have missed anything, so it hears of the revision even if it is the same.
        if revision != self._seen or self._failures:
            await on_change(revision)
        self._seen = revision
        self._failures = 0


async def _value(connection: Any, query: str) -> int:
    async with connection.execute(query) as cursor:
        row = await cursor.fetchone()
    return int(row[0])
