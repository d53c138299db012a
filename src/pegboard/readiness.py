"""Whether the board can serve calls now, and if not, why."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pegboard.core.errors import Unavailable
from pegboard.journal.base import Journal
from pegboard.stages.limit import Limiter
from pegboard.store.database import Database
from pegboard.store.migrate import pending

# How long each part may take to answer.
_SECONDS = 2.0


class Readiness:
    """Checks the database, the journal and the limits by what a call needs of them.

    Requests that come while a check runs share its result: anybody may ask, and asking must not cost the board much.
    """

    def __init__(self, database: Database, journal: Journal, limiter: Limiter, is_draining: Callable[[], bool]) -> None:
        self._database = database
        self._journal = journal
        self._limiter = limiter
        self._is_draining = is_draining
        self._checking: asyncio.Task[list[str]] | None = None

    async def reasons(self) -> list[str]:
        """What keeps the board from serving calls; empty if nothing does."""
        if self._checking is None or self._checking.done():
            self._checking = asyncio.create_task(self._check(), name="pegboard-readiness")
        return list(await asyncio.shield(self._checking))

    async def _check(self) -> list[str]:
        if self._is_draining():
            return ["the board is shutting down"]
        database, limits = await asyncio.gather(self._check_database(), self._check_limits())
        trouble = self._journal.trouble
        journal = [f"calls cannot be recorded: {trouble}"] if trouble else []
        # The journal cannot tell more than that where its database is away.
        return [*database, *([] if database else journal), *limits]

    async def _check_database(self) -> list[str]:
        try:
            async with asyncio.timeout(_SECONDS):
                missing = await pending(self._database)
        except Exception as error:
            return [f"the database cannot be reached: {type(error).__name__}"]
        if missing:
            return [f"migration {revision} is not applied; run: pegboard migrate" for revision in missing]
        try:
            async with asyncio.timeout(_SECONDS):
                await self._database.check_writable()
        except Exception as error:
            return [f"the database accepts no writes: {type(error).__name__}"]
        return []

    async def _check_limits(self) -> list[str]:
        try:
            async with asyncio.timeout(_SECONDS):
                await self._limiter.check()
        except (Unavailable, TimeoutError):
            return ["calls cannot be counted: Valkey (PEGBOARD_REDIS_URL) does not answer"]
        return []
