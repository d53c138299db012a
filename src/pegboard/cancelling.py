"""Ending calls that run, wherever they run."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import replace

from pegboard.core.call import Caller, Execution
from pegboard.core.errors import Cancelled
from pegboard.core.refusals import Conflict, NotFound
from pegboard.following.feed import Feed
from pegboard.following.following import Following
from pegboard.pipeline import Pipeline
from pegboard.registry.executions import Executions
from pegboard.store import cancellations
from pegboard.store.cancellations import Cancellation
from pegboard.store.database import Database
from pegboard.store.types import is_uuid
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# How long another process has to end a call, and how often it is looked whether it has.
ELSEWHERE_SECONDS = 3.0
_PAUSE = 0.05


class Cancelling:
    """Ends calls for those who may: their own, or anybody's for an admin."""

    def __init__(self, pipeline: Pipeline, following: Following, database: Database, executions: Executions) -> None:
        self._pipeline = pipeline
        self._following = following
        self._database = database
        self._executions = executions
        self._ending: dict[str, asyncio.Task[None]] = {}

    async def cancel(self, run_id: str, caller: Caller) -> None:
        """End a running call, or all calls of a payload that is followed, and wait until they are recorded.

        Raises NotFound where nothing of the caller's runs under this id, Conflict where it has ended otherwise.
        """
        run_id = run_id.lower()
        user_id = None if caller.is_admin else caller.user_id
        wish = Cancellation("", run_id, f"Cancelled by {caller.name}", user_id, caller.agent_id)
        if self._is_here(run_id):
            if not self._may_end(wish):
                raise _not_found(run_id)
            await self._end_here(wish)
        else:
            if (row := await self._row(run_id, caller)) is not None:
                raise _ended_before(row)
            if not is_uuid(run_id) or self._database.is_memory:
                raise _not_found(run_id)
            await self._end_elsewhere(wish, caller)
        row = await self._row(run_id, caller)
        if row is not None and row.code != Cancelled.code:
            raise _ended_before(row)

    async def look(self) -> None:
        """End what other processes were asked to end, and runs here; called after every change from elsewhere."""
        async with self._database.read() as conn:
            wishes = await cancellations.lately(conn)
        for wish in wishes:
            if wish.id not in self._ending and self._is_here(wish.run_id) and self._may_end(wish):
                self._ending[wish.id] = asyncio.create_task(self._fulfil(wish), name="pegboard-cancelling")

    async def close(self) -> None:
        """Give up what is being ended for others."""
        tasks = list(self._ending.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _is_here(self, run_id: str) -> bool:
        return self._pipeline.running(run_id) is not None or self._feed(run_id) is not None

    def _feed(self, run_id: str) -> Feed | None:
        """The payload that has this id itself."""
        feed = self._following.find(run_id)
        return feed if feed is not None and feed.id == run_id else None

    def _may_end(self, wish: Cancellation) -> bool:
        found = self._pipeline.running(wish.run_id) or self._feed(wish.run_id)
        if found is None:
            return False
        return wish.user_id in (None, found.caller.user_id) and wish.agent_id in (None, found.caller.agent_id)

    async def _end_here(self, wish: Cancellation) -> None:
        feed = self._feed(wish.run_id)
        if feed is None:
            self._pipeline.cancel(wish.run_id, wish.why)
            await self._pipeline.over(wish.run_id)
            return
        if feed.events.is_over:
            raise Conflict(f"The calls of '{feed.id}' have ended already; see GET /v1/calls/{feed.id}/events")
        # Those that wait for their turn will not begin.
        feed.ended_because = wish.why
        for run_id in feed.run_ids.values():
            self._pipeline.cancel(run_id, wish.why)
        while not feed.events.is_over:
            await feed.events.more_than(feed.events.last)

    async def _end_elsewhere(self, wish: Cancellation, caller: Caller) -> None:
        """Have another process end it; raises NotFound where none has said within a while that it did."""
        async with self._database.change() as change:
            wish_id = await cancellations.add(change.conn, *wish[1:])
        give_up = time.monotonic() + ELSEWHERE_SECONDS
        try:
            while time.monotonic() < give_up:
                await asyncio.sleep(_PAUSE)
                async with self._database.read() as conn:
                    is_open = await cancellations.is_open(conn, wish_id)
                if not is_open or await self._row(wish.run_id, caller) is not None:
                    return
        finally:
            async with self._database.write() as conn:
                await cancellations.remove(conn, wish_id)
        raise _not_found(wish.run_id)

    async def _fulfil(self, wish: Cancellation) -> None:
        try:
            with suppress(Conflict):
                await self._end_here(wish)
            async with self._database.write() as conn:
                await cancellations.remove(conn, wish.id)
        except Exception:
            log.exception("cancelling_broke", run_id=wish.run_id)
        finally:
            del self._ending[wish.id]

    async def _row(self, run_id: str, caller: Caller) -> Execution | None:
        """The row of a call that this caller may end; a key that is bound to an agent ends that agent's calls."""
        try:
            row = await self._executions.get(run_id, replace(caller, agent_id=None))
        except NotFound:
            return None
        return row if caller.agent_id in (None, row.agent_id) else None


def _not_found(run_id: str) -> NotFound:
    return NotFound(f"No running call has the id '{run_id[:100]}'")


def _ended_before(row: Execution) -> Conflict:
    how = row.status if row.code is None else f"{row.status} ({row.code})"
    return Conflict(f"Call '{row.id}' has ended already: {how}")
