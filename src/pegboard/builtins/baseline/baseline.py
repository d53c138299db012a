"""The baseline as its callers use it: one of each user's own, and one that all share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from pegboard.builtins.baseline import reading
from pegboard.core.call import Caller
from pegboard.core.findings import Finding, KnownStatus, Scope, payload_of, read_hash
from pegboard.core.refusals import Fault, Forbidden, Invalid, NotFound
from pegboard.store import findings as store
from pegboard.store.database import Database
from pegboard.store.findings import Recorded, Resolved

# Whom the findings belong to that all share.
NOBODY = "00000000-0000-0000-0000-000000000000"
BATCH_SIZE = store.CHUNK
# What is about fewer is over in a few milliseconds.
_FEW = 10_000

T = TypeVar("T")


class Baseline:
    """Records, resolves and looks up findings; queries change nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def query(
        self,
        finding_ids: Sequence[str],
        composite_hashes: Sequence[str],
        caller: Caller,
        *,
        scope: Scope | None = None,
        batch_size: int = BATCH_SIZE,
    ) -> list[dict[str, Any]]:
        """What the baseline knows of each finding, in the order asked; so many are looked up in one statement."""
        owner_id = _owner(caller, reading.scope_of(scope))
        hashes = reading.read_asked(finding_ids, composite_hashes, batch_size)
        async with self._database.read() as conn:
            known = await store.look_up(conn, owner_id, hashes, batch_size=batch_size)
        asked = zip(finding_ids, composite_hashes, hashes, strict=True)
        return [payload_of(finding_id, given, known.get(hashed)) for finding_id, given, hashed in asked]

    async def record(
        self, findings: Sequence[Mapping[str, Any]], caller: Caller, *, scope: Scope | None = None
    ) -> Recorded:
        """Keep that these findings were seen, now or at their `seen_at`: all of them or, if it raises, none."""
        owner_id = _owner(caller, reading.scope_of(scope), changes=True)
        count = len(findings) if isinstance(findings, list | tuple) else 0
        now = datetime.now(UTC)
        sightings = await _aside(count, lambda: reading.read_sightings(findings, now))
        async with self._database.write() as conn:
            return await store.record(conn, owner_id, sightings)

    async def resolve(
        self,
        caller: Caller,
        *,
        composite_hashes: Sequence[str] | None = None,
        findings: Sequence[Mapping[str, Any]] | None = None,
        scope: Scope | None = None,
    ) -> Resolved:
        """Mark findings resolved, until they are seen again: all of them or, if it raises, none."""
        owner_id = _owner(caller, reading.scope_of(scope), changes=True)
        given = composite_hashes if findings is None else findings
        count = len(given) if isinstance(given, list | tuple) else 0
        now = datetime.now(UTC)
        hashes = await _aside(count, lambda: reading.read_resolved(composite_hashes, findings, now))
        async with self._database.write() as conn:
            return await store.resolve(conn, owner_id, hashes, datetime.now(UTC))

    async def page(
        self,
        caller: Caller,
        *,
        scope: Scope | None = None,
        status: KnownStatus | None = None,
        after: str | None = None,
        limit: int,
    ) -> list[Finding]:
        """The findings of a baseline in the order of their hashes; `after` is the hash of the last one seen."""
        owner_id = _owner(caller, reading.scope_of(scope))
        async with self._database.read() as conn:
            return await store.page(conn, owner_id, status=status, after=after, limit=limit)

    async def remove(self, composite_hash: str, caller: Caller, *, scope: Scope | None = None) -> None:
        """Forget a finding, as if it had never been seen."""
        owner_id = _owner(caller, reading.scope_of(scope), changes=True)
        try:
            hashed = read_hash(composite_hash)
        except ValueError as error:
            raise Invalid.of("The finding was not removed", [Fault("composite_hash", str(error))]) from None
        async with self._database.write() as conn:
            was_known = await store.remove(conn, owner_id, hashed)
        if not was_known:
            raise NotFound(f"Finding '{hashed}' is not in this baseline")

    async def remove_all(self, caller: Caller, *, scope: Scope | None = None, status: KnownStatus | None = None) -> int:
        """Forget every finding of a baseline, or those of one status, some at a time; how many there were."""
        owner_id = _owner(caller, reading.scope_of(scope), changes=True)
        removed = 0
        while True:
            async with self._database.write() as conn:
                some = await store.remove_some(conn, owner_id, status, limit=store.CHUNK)
            removed += some
            if some < store.CHUNK:
                return removed


def _owner(caller: Caller, scope: Scope, *, changes: bool = False) -> str:
    if scope == "own":
        return caller.user_id
    if changes and not caller.is_admin:
        raise Forbidden("Only admins change the shared baseline; everybody may query it")
    return NOBODY


async def _aside(count: int, work: Callable[[], T]) -> T:
    """What `work` gives; in a thread where it is about many, so that the event loop has its turns."""
    return work() if count <= _FEW else await asyncio.to_thread(work)
