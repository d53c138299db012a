"""Watching ends on request, whatever arrives at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from pegboard.storage.change_listener import ChangeListener
from pegboard.storage.database import Database


class Connection:
    """The methods of a PostgreSQL connection that watching uses, to notify it at an exact moment."""

    def __init__(self) -> None:
        self.notice: Callable[..., None] | None = None
        self.asked = asyncio.Event()

    def add_termination_listener(self, callback: Callable[..., None]) -> None:
        """Do nothing: the connection never breaks."""

    async def add_listener(self, channel: str, callback: Callable[..., None]) -> None:
        """Keep the callback."""
        self.notice = callback

    async def fetchval(self, query: str, timeout: float) -> int:
        """The revision is always the same."""
        self.asked.set()
        return 1


class Watched:
    """The methods of a database that watching uses."""

    kind = "postgresql"
    is_memory = False

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @asynccontextmanager
    async def connect_driver(self) -> AsyncIterator[Connection]:
        """The same connection each time."""
        yield self._connection


async def nothing(revision: int) -> None:
    """Do nothing after a change."""


async def test_a_notice_that_comes_with_the_cancellation_does_not_swallow_it() -> None:
    connection: Any = Connection()
    changes = ChangeListener(cast("Database", Watched(connection)), seen=1)
    watching = asyncio.create_task(changes.watch(nothing))
    await connection.asked.wait()
    for _ in range(3):
        await asyncio.sleep(0)  # until it waits for a notification
    connection.notice()
    watching.cancel()
    connection.asked.clear()
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(10):
            await watching
    assert not connection.asked.is_set()
