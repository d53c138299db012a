"""The baseline service: one baseline per user, and one that all users share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from pegboard.baseline import read_findings
from pegboard.model.api_errors import Fault, Forbidden, Invalid, NotFound
from pegboard.model.baseline_finding import BaselineFinding, KnownStatus, Scope, build_query_payload, read_hash
from pegboard.model.call import Caller
from pegboard.storage import baseline_rows as store
from pegboard.storage.baseline_rows import RecordCounts, ResolveCounts
from pegboard.storage.database import Database

# The owner id of findings in the shared baseline.
SHARED_OWNER_ID = "00000000-0000-0000-0000-000000000000"
BATCH_SIZE = store.CHUNK_ROWS
# Up to this many findings are read on the event loop: it takes a few milliseconds.
_MAX_INLINE_FINDINGS = 10_000

T = TypeVar("T")


class Baseline:
    """Records, resolves, queries and removes findings."""

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
        """Return what is known of each finding, in the given order; one SQL statement reads `batch_size` hashes."""
        owner_id = _get_owner_id(caller, read_findings.read_scope(scope))
        hashes = read_findings.read_queried_hashes(finding_ids, composite_hashes, batch_size)
        async with self._database.read() as conn:
            known = await store.find_seen(conn, owner_id, hashes, batch_size=batch_size)
        asked = zip(finding_ids, composite_hashes, hashes, strict=True)
        return [build_query_payload(finding_id, given, known.get(hashed)) for finding_id, given, hashed in asked]

    async def record(
        self, findings: Sequence[Mapping[str, Any]], caller: Caller, *, scope: Scope | None = None
    ) -> RecordCounts:
        """Record that these findings were seen, now or at their `seen_at`, in one transaction."""
        owner_id = _get_owner_id(caller, read_findings.read_scope(scope), changes=True)
        count = len(findings) if isinstance(findings, list | tuple) else 0
        now = datetime.now(UTC)
        sightings = await _run_in_thread_if_large(count, lambda: read_findings.read_sightings(findings, now))
        async with self._database.write() as conn:
            return await store.record_sightings(conn, owner_id, sightings)

    async def resolve(
        self,
        caller: Caller,
        *,
        composite_hashes: Sequence[str] | None = None,
        findings: Sequence[Mapping[str, Any]] | None = None,
        scope: Scope | None = None,
    ) -> ResolveCounts:
        """Mark findings as resolved, in one transaction; a finding that is recorded again becomes recurring."""
        owner_id = _get_owner_id(caller, read_findings.read_scope(scope), changes=True)
        given = composite_hashes if findings is None else findings
        count = len(given) if isinstance(given, list | tuple) else 0
        now = datetime.now(UTC)
        hashes = await _run_in_thread_if_large(
            count, lambda: read_findings.read_resolved(composite_hashes, findings, now)
        )
        async with self._database.write() as conn:
            return await store.resolve_findings(conn, owner_id, hashes, datetime.now(UTC))

    async def page(
        self,
        caller: Caller,
        *,
        scope: Scope | None = None,
        status: KnownStatus | None = None,
        after: str | None = None,
        limit: int,
    ) -> list[BaselineFinding]:
        """Return one page of findings in the order of their hashes; `after` is the last hash of the previous page."""
        owner_id = _get_owner_id(caller, read_findings.read_scope(scope))
        async with self._database.read() as conn:
            return await store.list_findings(conn, owner_id, status=status, after=after, limit=limit)

    async def remove(self, composite_hash: str, caller: Caller, *, scope: Scope | None = None) -> None:
        """Delete a finding from the baseline; raise NotFound if it is not there."""
        owner_id = _get_owner_id(caller, read_findings.read_scope(scope), changes=True)
        try:
            hashed = read_hash(composite_hash)
        except ValueError as error:
            raise Invalid.of("The finding was not removed", [Fault("composite_hash", str(error))]) from None
        async with self._database.write() as conn:
            was_known = await store.remove_finding(conn, owner_id, hashed)
        if not was_known:
            raise NotFound(f"Finding '{hashed}' is not in this baseline")

    async def remove_all(self, caller: Caller, *, scope: Scope | None = None, status: KnownStatus | None = None) -> int:
        """Delete all findings of a baseline, or those of one status, in chunks, and return how many were deleted."""
        owner_id = _get_owner_id(caller, read_findings.read_scope(scope), changes=True)
        removed = 0
        while True:
            async with self._database.write() as conn:
                some = await store.remove_findings(conn, owner_id, status, limit=store.CHUNK_ROWS)
            removed += some
            if some < store.CHUNK_ROWS:
                return removed


def _get_owner_id(caller: Caller, scope: Scope, *, changes: bool = False) -> str:
    if scope == "own":
        return caller.user_id
    if changes and not caller.is_admin:
        raise Forbidden("Only admins change the shared baseline; everybody may query it")
    return SHARED_OWNER_ID


async def _run_in_thread_if_large(count: int, work: Callable[[], T]) -> T:
    """Return the result of `work`; for many findings it runs in a thread, so that it does not block the event loop."""
    return work() if count <= _MAX_INLINE_FINDINGS else await asyncio.to_thread(work)
