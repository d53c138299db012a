"""Operations on the whole journal: verify, export, prune."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pegboard.journal.chain_signatures import read_chain_ends
from pegboard.journal.export import MAX_ROWS_PER_PAGE, Exporter, ExportPage, ExportPosition
from pegboard.journal.hash_chain import ChainPosition, HashChain
from pegboard.journal.prune import Pruner, PruneReport
from pegboard.journal.read_chain import CooperativePause, TimeSpan
from pegboard.journal.tamper_report import TamperFinding
from pegboard.journal.verification_log import LastVerification, RowProof, VerificationLog
from pegboard.journal.verify import MAX_ROWS_PER_TURN, ChainVerifier, Position, Scope, VerificationReport
from pegboard.journal.verify_export import ExportVerifier, LinesPosition
from pegboard.storage import journal_chain_rows
from pegboard.storage.database import Database
from pegboard.storage.journal_chain_rows import WriterProcess


class Audit:
    """The journal of one board, with the key of its hash chains."""

    def __init__(self, database: Database, chain: HashChain) -> None:
        self._database = database
        self._chain = chain
        self._log = VerificationLog(database, chain, ChainVerifier(database, chain))
        self._exporter = Exporter(database, chain)
        self._pruner = Pruner(database, chain)

    async def verify(
        self,
        scope: Scope | None = None,
        *,
        next: Position | None = None,
        limit: int = MAX_ROWS_PER_TURN,
        by: str = "",
    ) -> VerificationReport:
        """Verify about `limit` rows against their hash chain; continue with the report's `next`.

        The end of a verification of the whole journal is recorded with the name `by`.
        """
        return await self._log.verify(scope or Scope(), next, limit, by)

    async def find_last_verification(self) -> LastVerification | None:
        """Return when the whole journal was last verified, how many rows, and what was found; None if never."""
        return await self._log.find_last()

    async def list_processes(self, limit: int = 100) -> list[WriterProcess]:
        """Return the processes that write to the journal and have not closed it, latest first."""
        async with self._database.read() as conn:
            return await journal_chain_rows.list_writer_processes(conn, limit)

    async def prove(self, execution_id: str) -> RowProof | None:
        """Return where a row is in its hash chain and whether it is as the board wrote it; None if there is no row."""
        return await self._log.prove(execution_id)

    async def verify_lines(
        self, lines: Sequence[str], *, next: LinesPosition | None = None, last: bool = True, compare: bool = False
    ) -> VerificationReport:
        """Verify lines of an export; with `compare`, also check that the board still has the exported rows."""
        verifier, pause = ExportVerifier(self._chain, next), CooperativePause()
        for line in lines:
            verifier.take(line)
            await pause.yield_if_due()
            if verifier.has_enough:
                break
        notes = []
        if verifier.has_enough:
            notes.append(f"Stopped after {verifier.position.found} findings; there may be more")
        elif last:
            notes += verifier.finish()
        findings = list(verifier.findings)
        if compare and verifier.heads:
            findings += await self._compare_heads(verifier.heads)
        on = None if last or verifier.has_enough else verifier.position
        return VerificationReport(verifier.checked, tuple(findings), tuple(notes), on)

    async def export(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        next: ExportPosition | None = None,
        limit: int = MAX_ROWS_PER_PAGE,
    ) -> ExportPage:
        """Return lines of an export of the rows that finished in a period; continue with the page's `next`."""
        return await self._exporter.page(TimeSpan(since, until), next, limit)

    async def prune(
        self,
        before: datetime,
        *,
        limit: int = MAX_ROWS_PER_TURN,
        dry_run: bool = False,
        force: bool = False,
        by: str = "",
    ) -> PruneReport:
        """Remove up to about `limit` rows that finished before a given time; with `dry_run`, only count them."""
        if dry_run:
            return await self._pruner.count(before)
        return await self._pruner.prune(before, limit=limit, force=force, by=by)

    async def _compare_heads(self, heads: Sequence[tuple[int, ChainPosition]]) -> list[TamperFinding]:
        """Return findings for signed heads of an export that the board no longer has."""
        findings = []
        async with self._database.read() as conn:
            for number, place in heads:
                writer = await journal_chain_rows.get_writer(conn, number)
                pruned = read_chain_ends(self._chain, writer).pruned if writer else ChainPosition()
                if pruned.seq > place.seq or pruned == place or place == ChainPosition():
                    continue
                mac = await journal_chain_rows.read_mac(conn, number, place.seq)
                if mac == place.mac:
                    continue
                if mac is None:
                    message = (
                        f"Row {place.seq} of writer {number}, its head in the export, is not on the board: the database"
                        " was put back to an earlier state, or the row was removed"
                    )
                else:
                    message = f"Row {place.seq} of writer {number} is another on the board than in the export"
                findings.append(TamperFinding("put_back", message, number, place.seq, place.seq))
        return findings
