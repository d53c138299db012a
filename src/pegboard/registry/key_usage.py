"""Records when keys were last used, once a minute in one write, and reads how other processes used sessions."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime

from pegboard.registry.key_holders import KeyHolders
from pegboard.storage import account_rows
from pegboard.storage.database import Database
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

_PAUSE_SECONDS = 60.0
_LAST_WRITE_SECONDS = 5.0


class KeyUsage:
    """Writes the uses of keys from memory to the database; no call causes a write of its own."""

    def __init__(self, database: Database, keys: KeyHolders) -> None:
        self._database = database
        self._keys = keys
        self._written = 0.0

    async def record(self) -> None:
        """Write the uses since the last time, and read those of sessions by other processes."""
        now = time.time()
        uses = self._keys.list_uses(self._written)
        if uses:
            async with self._database.write() as conn:
                await account_rows.save_key_uses(conn, uses)
        self._written = now
        if self._keys.has_sessions():
            async with self._database.read() as conn:
                self._keys.merge_uses(await account_rows.list_session_uses(conn, datetime.now(UTC)))

    async def run(self) -> None:
        """Record uses every minute until cancelled; an error only delays it."""
        while True:
            await asyncio.sleep(_PAUSE_SECONDS)
            await self._try_to_record()

    async def close(self) -> None:
        """Record the last uses."""
        try:
            async with asyncio.timeout(_LAST_WRITE_SECONDS):
                await self._try_to_record()
        except TimeoutError:
            log.warning("key_uses_not_recorded", error="the database did not answer in time")

    async def _try_to_record(self) -> None:
        try:
            await self.record()
        except Exception as error:
            log.warning("key_uses_not_recorded", error=repr(error))
