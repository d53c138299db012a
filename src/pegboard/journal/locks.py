"""Knowing that a writer is gone, and never taking a living one for dead."""

from __future__ import annotations

import asyncio
import fcntl
import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.journal.spool import spool_path
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# A writer's number, its id, and its beat as the database has it.
Observed = tuple[int, str, int]

# The first half of every writer's advisory lock; the second is its number.
LOCK_CLASS = int.from_bytes(b"pegb")

_SETTINGS = {
    # The lock must not end because nothing is said on its connection for long, ...
    "idle_session_timeout": "0",
    # ... but must end soon when the other machine is gone without a word. One that is frozen still answers these.
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
}
# Older servers do not know all of them.
_SET = """
SELECT set_config(name, wanted, false)
FROM unnest($1::text[], $2::text[]) AS settings(name, wanted) JOIN pg_settings USING (name)
"""
# Read, and not tried: a lock taken to try it could stay behind on a pooled connection, and look like a living writer.
_LOOK = text("""
SELECT pg_postmaster_start_time(), ARRAY(
  SELECT CAST(objid AS bigint) FROM pg_locks
  WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = CAST(:class AS oid)
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
)
""")


# A look that takes longer has failed: calls wait behind it.
_LOOK_SECONDS = 2.0


class Leases(Protocol):
    """Tells which writers are gone."""

    async def gone(self, writers: Sequence[Observed]) -> set[int]:
        """The numbers of those that are certainly dead; the beats must have been read since this was last asked."""
        ...


class NoSiblings:
    """For a database in memory, which no other process can see."""

    async def gone(self, writers: Sequence[Observed]) -> set[int]:
        """Nobody."""
        return set()


class FileLeases:
    """For a database whose writers are all on this machine and have their spools in one folder.

    A living writer holds the lock on its spool, also when it is frozen. Without the folder nobody is known to be dead.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def gone(self, writers: Sequence[Observed]) -> set[int]:
        """Those whose spool is missing, or held by nobody."""
        return await asyncio.to_thread(self._gone, writers)

    def _gone(self, writers: Sequence[Observed]) -> set[int]:
        if not self._folder.is_dir():
            return set()
        return {number for number, writer_id, _ in writers if _is_free(self._folder, writer_id)}


class _Silence(NamedTuple):
    beat: int
    since: float


class ObservedLeases:
    """For PostgreSQL: a living writer holds an advisory lock and raises its beat, well more often than every `grace`.

    Dead is whose lock was free and whose beat stood still in every look over at least `grace` seconds of this process's
    own clock. The observation begins anew when looks are further apart than `grace`, when one fails, and when the
    server was started again, since then the writers' locks ended with it. Not to be asked twice at the same time.
    """

    def __init__(
        self,
        connection: Callable[[], AbstractAsyncContextManager[AsyncConnection]],
        *,
        grace: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connection = connection
        self._grace = grace
        self._clock = clock
        self._silent: dict[int, _Silence] = {}
        self._server: object = None
        self._looked_at = 0.0

    async def gone(self, writers: Sequence[Observed]) -> set[int]:
        """Those that were silent for long enough; it takes at least three looks to know."""
        silent, self._silent = self._silent, {}  # so that nothing is left of it if this look fails
        async with asyncio.timeout(_LOOK_SECONDS), self._connection() as connection:
            server, held = (await connection.execute(_LOOK, {"class": LOCK_CLASS})).one()
        now, last = self._clock(), self._looked_at
        if server != self._server or now - last > self._grace:
            silent = {}
        for number, _, beat in writers:
            if number not in held:
                before = silent.get(number)
                self._silent[number] = before if before and before.beat == beat else _Silence(beat, now)
        self._server, self._looked_at = server, now
        # Up to the last look and not to this one: the beats were read after that, but who knows how long ago.
        return {number for number, silence in self._silent.items() if last - silence.since >= self._grace}


async def hold(driver_connection: Any, number: int) -> None:
    """Show that the writer of this number lives, for as long as this connection of asyncpg does; waits for nobody.

    The lock is shared, so that a writer that lost its connection holds it again before the server has noticed the loss.
    """
    await driver_connection.execute(_SET, list(_SETTINGS), list(_SETTINGS.values()))
    await driver_connection.execute("SELECT pg_advisory_lock_shared($1, $2)", LOCK_CLASS, number)


def _is_free(folder: Path, writer_id: str) -> bool:
    """Whether nobody holds the lock of a writer's spool; where that cannot be told, somebody does."""
    try:
        descriptor = os.open(spool_path(folder, writer_id), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return True
    except (ValueError, OSError):
        log.warning("lease_not_readable", writer=writer_id, exc_info=True)
        return False
    try:
        # Shared: of several who ask at once, none takes another for the writer.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
