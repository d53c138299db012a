"""The readiness check: reports why the board cannot serve calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pegboard.journal.journal import Journal
from pegboard.model.call_errors import Unavailable
from pegboard.stages.rate_limit import Limiter
from pegboard.storage.database import Database
from pegboard.storage.migrate import list_pending_revisions


class Readiness:
    """Checks what a call needs: the database, the journal and the rate limiter.

    Requests that arrive while a check runs share its result: the endpoint is public, so requests must stay cheap.
    """

    def __init__(
        self,
        database: Database,
        journal: Journal,
        limiter: Limiter,
        is_draining: Callable[[], bool],
        *,
        check_seconds: float = 2.0,
    ) -> None:
        """Create the check; each part of it may take `check_seconds`."""
        self._database = database
        self._journal = journal
        self._limiter = limiter
        self._is_draining = is_draining
        self._check_seconds = check_seconds
        self._check_task: asyncio.Task[list[str]] | None = None

    async def reasons(self) -> list[str]:
        """Return the reasons why the board cannot serve calls; empty if it is ready."""
        if self._check_task is None or self._check_task.done():
            self._check_task = asyncio.create_task(self._check(), name="pegboard-readiness")
        return list(await asyncio.shield(self._check_task))

    async def _check(self) -> list[str]:
        if self._is_draining():
            return ["the board is shutting down"]
        database, limits = await asyncio.gather(self._check_database(), self._check_limits())
        trouble = self._journal.trouble
        journal = [f"calls cannot be recorded: {trouble}"] if trouble else []
        # If the database cannot be reached, the journal's error only repeats that.
        return [*database, *([] if database else journal), *limits]

    async def _check_database(self) -> list[str]:
        try:
            async with asyncio.timeout(self._check_seconds):
                missing = await list_pending_revisions(self._database)
        except Exception as error:
            return [f"the database cannot be reached: {type(error).__name__}"]
        if missing:
            return [f"migration {revision} is not applied; run: pegboard migrate" for revision in missing]
        try:
            async with asyncio.timeout(self._check_seconds):
                await self._database.check_writable()
        except Exception as error:
            return [f"the database accepts no writes: {type(error).__name__}"]
        return []

    async def _check_limits(self) -> list[str]:
        try:
            async with asyncio.timeout(self._check_seconds):
                await self._limiter.check()
        except (Unavailable, TimeoutError):
            return ["calls cannot be counted: Valkey (PEGBOARD_REDIS_URL) does not respond"]
        return []
