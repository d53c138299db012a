"""Detects dead writers by their locks and leases; a living writer must never be considered dead."""

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

from pegboard.journal.spool import get_spool_path
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# The number, id and beat of a writer, as read from the database.
ObservedWriter = tuple[int, str, int]

# The first key of every writer's advisory lock; the second is the writer number.
LOCK_CLASS = int.from_bytes(b"pegb")

_SESSION_SETTINGS = {
    # The lock must not end because its connection is idle for long, ...
    "idle_session_timeout": "0",
    # ... but must end soon if the other machine disappears. A frozen machine still answers keepalives.
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
}
# Older servers do not have all of these settings.
_SET_STATEMENT = """
SELECT set_config(name, wanted, false)
FROM unnest($1::text[], $2::text[]) AS settings(name, wanted) JOIN pg_settings USING (name)
"""
# Read from pg_locks and not acquired: a lock taken as a test could stay on a pooled connection and look like a living
# writer.
_LOCKS_STATEMENT = text("""
SELECT pg_postmaster_start_time(), ARRAY(
  SELECT CAST(objid AS bigint) FROM pg_locks
  WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = CAST(:class AS oid)
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
)
""")


# A query that takes longer has failed: calls wait for it.
_LOCKS_TIMEOUT_SECONDS = 2.0


class WriterLeases(Protocol):
    """Detects which writers are dead."""

    async def find_dead_writers(self, writers: Sequence[ObservedWriter]) -> set[int]:
        """Return the numbers of writers that are certainly dead; read the beats after the previous call."""
        ...


class MemoryLeases:
    """Leases for a database in memory, which no other process can access."""

    async def find_dead_writers(self, writers: Sequence[ObservedWriter]) -> set[int]:
        """Return an empty set."""
        return set()


class FileLeases:
    """Leases for a database whose writers are all on this machine, with their spools in one folder.

    A living writer holds the lock on its spool, even if it is frozen. If the folder is missing, no writer counts as
    dead.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def find_dead_writers(self, writers: Sequence[ObservedWriter]) -> set[int]:
        """Return the writers whose spool is missing or not locked."""
        return await asyncio.to_thread(self._find_dead_writers, writers)

    def _find_dead_writers(self, writers: Sequence[ObservedWriter]) -> set[int]:
        if not self._folder.is_dir():
            return set()
        return {number for number, writer_id, _ in writers if _is_spool_free(self._folder, writer_id)}


class _SilentWriter(NamedTuple):
    beat: int
    since: float


class ObservedLeases:
    """Leases for PostgreSQL: a living writer holds an advisory lock and increments its beat within every `grace`.

    A writer is dead if its lock was free and its beat unchanged in every check for at least `grace` seconds of this
    process's clock. The observation restarts if checks are further apart than `grace`, if a check fails, or if the
    server was restarted, because a restart releases all locks. Not safe for concurrent calls.
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
        self._silent: dict[int, _SilentWriter] = {}
        self._server: object = None
        self._checked_at = 0.0

    async def find_dead_writers(self, writers: Sequence[ObservedWriter]) -> set[int]:
        """Return the writers that were silent for long enough; this takes at least three checks."""
        silent, self._silent = self._silent, {}  # nothing is kept if this check fails
        async with asyncio.timeout(_LOCKS_TIMEOUT_SECONDS), self._connection() as connection:
            server, held = (await connection.execute(_LOCKS_STATEMENT, {"class": LOCK_CLASS})).one()
        now, last = self._clock(), self._checked_at
        if server != self._server or now - last > self._grace:
            silent = {}
        for number, _, beat in writers:
            if number not in held:
                before = silent.get(number)
                self._silent[number] = before if before and before.beat == beat else _SilentWriter(beat, now)
        self._server, self._checked_at = server, now
        # Up to the previous check, not this one: the beats were read after the previous one, at an unknown time.
        return {number for number, silence in self._silent.items() if last - silence.since >= self._grace}


async def hold_writer_lock(driver_connection: Any, number: int) -> None:
    """Hold the advisory lock of this writer as long as the asyncpg connection is open; never blocks.

    The lock is shared, so that a writer that lost its connection can acquire it again before the server notices the
    loss.
    """
    await driver_connection.execute(_SET_STATEMENT, list(_SESSION_SETTINGS), list(_SESSION_SETTINGS.values()))
    await driver_connection.execute("SELECT pg_advisory_lock_shared($1, $2)", LOCK_CLASS, number)


def _is_spool_free(folder: Path, writer_id: str) -> bool:
    """True if the spool lock is free or the file is missing; False if the lock is held or cannot be checked."""
    try:
        descriptor = os.open(get_spool_path(folder, writer_id), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return True
    except (ValueError, OSError):
        log.warning("lease_not_readable", writer=writer_id, exc_info=True)
        return False
    try:
        # A shared lock: processes that check at the same time do not mistake each other for the writer.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
