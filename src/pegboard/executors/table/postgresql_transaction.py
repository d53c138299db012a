"""The ends of a transaction in PostgreSQL: how long it is wanted, and how it is committed or undone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from pegboard.executors.table.lanes import Waiting
from pegboard.executors.table.postgresql_faults import FAILURES, fault_of, is_lost
from pegboard.executors.table.postgresql_pool import drop
from pegboard.executors.table.source import Fault, Row

_LOOK = 0.05
_ROLLBACK = 5.0


@asynccontextmanager
async def while_wanted(group: Sequence[Waiting], ends: float, patience: float | None) -> AsyncIterator[None]:
    """Raises TimeoutError when the last of them has left, their time is up or patience at its end."""
    loop = asyncio.get_running_loop()
    left = ends - time.monotonic()
    timers: list[asyncio.TimerHandle] = []
    async with asyncio.timeout(left if patience is None else min(left, patience)) as scope:

        def look() -> None:
            if scope.expired():
                return
            if all(member.is_gone for member in group):
                scope.reschedule(loop.time())
            else:
                timers[:] = [loop.call_later(_LOOK, look)]

        timers.append(loop.call_later(_LOOK, look))
        try:
            yield
        finally:
            timers[0].cancel()


async def commit(conn: Any, until: float, group: Sequence[Waiting]) -> bool | None:
    """Whether the server says so, None if it says nothing; raises Fault where it says why not."""
    # A COMMIT is not cancelled: it might go through all the same, and not be waited for by the server's replicas.
    timer = asyncio.get_running_loop().call_later(until - time.monotonic(), drop, conn)
    try:
        done = await conn.execute("COMMIT")
    except Exception as error:
        if not isinstance(error, FAILURES) or is_lost(error):
            drop(conn)
            return None
        raise fault_of(error, group[0].entry.facts, rows_of(group)) from None
    finally:
        timer.cancel()
    if done != "COMMIT":
        raise Fault("P2010", "the database rolled the transaction back", sqlstate="25P02")
    return True


async def roll_back(conn: Any) -> None:
    """End the transaction, if need be together with the connection: without a COMMIT nothing of it stays."""
    try:
        await conn.execute("ROLLBACK", timeout=_ROLLBACK)
    except FAILURES:
        drop(conn)


def rows_of(group: Sequence[Waiting]) -> list[Row]:
    """The rows of all of them, in order."""
    return [row for member in group for row in member.entry.rows]
