"""What can be done with the journal as a whole: verify it, export it, prune it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pegboard.journal.chain import Chain, Place
from pegboard.journal.export import ROWS_A_PAGE, Exporter, ExportPage, ExportPosition
from pegboard.journal.findings import Finding
from pegboard.journal.prune import Pruned, Pruner
from pegboard.journal.reading import Pause, Span
from pegboard.journal.signatures import ends_of
from pegboard.journal.verify import ROWS_A_TURN, Position, Report, Scope, Verifier
from pegboard.journal.verify_lines import LinesPosition, LinesVerifier
from pegboard.store import links, writers
from pegboard.store.database import Database


class Audit:
    """The journal of one board, under the key of its chain."""

    def __init__(self, database: Database, chain: Chain) -> None:
        self._database = database
        self._chain = chain
        self._verifier = Verifier(database, chain)
        self._exporter = Exporter(database, chain)
        self._pruner = Pruner(database, chain)

    async def verify(
        self, scope: Scope | None = None, *, next: Position | None = None, limit: int = ROWS_A_TURN
    ) -> Report:
        """Check about `limit` rows against their chain; go on from the report's `next`."""
        return await self._verifier.verify(scope or Scope(), next, limit)

    async def verify_lines(
        self, lines: Sequence[str], *, next: LinesPosition | None = None, last: bool = True, compare: bool = False
    ) -> Report:
        """Check some lines of an export; `compare` also whether the board still has the rows that it had then."""
        verifier, pause = LinesVerifier(self._chain, next), Pause()
        for line in lines:
            verifier.take(line)
            await pause.breathe()
            if verifier.has_enough:
                break
        notes = []
        if verifier.has_enough:
            notes.append(f"Stopped after {verifier.position.found} findings; there may be more")
        elif last:
            notes += verifier.finish()
        findings = list(verifier.findings)
        if compare and verifier.heads:
            findings += await self._compared(verifier.heads)
        on = None if last or verifier.has_enough else verifier.position
        return Report(verifier.checked, tuple(findings), tuple(notes), on)

    async def export(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        next: ExportPosition | None = None,
        limit: int = ROWS_A_PAGE,
    ) -> ExportPage:
        """Some lines of an export of the rows that finished in a span of time; go on from the page's `next`."""
        return await self._exporter.page(Span(since, until), next, limit)

    async def prune(
        self, before: datetime, *, limit: int = ROWS_A_TURN, dry_run: bool = False, force: bool = False, by: str = ""
    ) -> Pruned:
        """Remove up to about `limit` rows that finished before a moment, or say how many there are."""
        if dry_run:
            return await self._pruner.count(before)
        return await self._pruner.prune(before, limit=limit, force=force, by=by)

    async def _compared(self, heads: Sequence[tuple[int, Place]]) -> list[Finding]:
        """What the board no longer has of what was signed when an export was made."""
        findings = []
        async with self._database.read() as conn:
            for number, place in heads:
                writer = await writers.get(conn, number)
                pruned = ends_of(self._chain, writer).pruned if writer else Place()
                if pruned.seq > place.seq or pruned == place or place == Place():
                    continue
                mac = await links.mac_at(conn, number, place.seq)
                if mac == place.mac:
                    continue
                if mac is None:
                    message = (
                        f"Row {place.seq} of writer {number}, its head in the export, is not on the board: the database"
                        " was put back to an earlier state, or the row was removed"
                    )
                else:
                    message = f"Row {place.seq} of writer {number} is another on the board than in the export"
                findings.append(Finding("put_back", message, number, place.seq, place.seq))
        return findings
