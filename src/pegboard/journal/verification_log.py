"""Records when the whole journal was last verified, over as many requests as that takes, and proves single rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import orjson

from pegboard.journal.hash_chain import HashChain
from pegboard.journal.tamper_report import TamperFinding
from pegboard.journal.verify import (
    MAX_ROWS_PER_TURN,
    ChainVerifier,
    Position,
    Scope,
    VerificationProgress,
    VerificationReport,
)
from pegboard.model.json_text import replace_unstorable
from pegboard.storage import journal_chain_rows
from pegboard.storage.database import Database
from pegboard.storage.journal_chain_rows import VerificationRow


@dataclass(frozen=True, slots=True)
class LastVerification:
    """The last verification of the whole journal: how many rows, and how many findings of each kind."""

    started_at: datetime
    finished_at: datetime
    checked: int
    findings: Mapping[str, int]
    caller: str


@dataclass(frozen=True, slots=True)
class RowProof:
    """The place of a row in its hash chain; `is_genuine` is None if that cannot be verified."""

    execution_id: str
    writer: int | None
    number: int | None
    mac: str | None
    is_genuine: bool | None
    findings: tuple[TamperFinding, ...] = ()
    note: str | None = None


class VerificationLog:
    """Stores the outcome of each verification that began at the first row and reached the last one."""

    def __init__(self, database: Database, chain: HashChain, verifier: ChainVerifier) -> None:
        self._database = database
        self._chain = chain
        self._verifier = verifier

    async def verify(self, scope: Scope, position: Position | None, limit: int, caller: str) -> VerificationReport:
        """Verify some rows; store the outcome if this ends a verification of the whole journal."""
        progress = self._read_progress(scope, position)
        report = await self._verifier.verify(scope, position, limit)
        if progress is None:
            return report
        findings = Counter(progress.findings)
        findings.update(finding.kind for finding in report.findings)
        checked = progress.checked + report.checked
        if report.next is not None:
            ahead = self._sign(report.next, progress.started_at, checked, dict(findings))
            return replace(report, next=report.next.model_copy(update={"progress": ahead}))
        await self._save(LastVerification(progress.started_at, datetime.now(UTC), checked, dict(findings), caller))
        return report

    async def find_last(self) -> LastVerification | None:
        """Return the last verification of the whole journal, or None if there is none that this board recorded."""
        async with self._database.read() as conn:
            row = await journal_chain_rows.get_verification(conn)
        if row is None or not self._chain.is_same_mac(row.mac, self._compute_mac(row)):
            return None
        return LastVerification(row.started_at, row.finished_at, row.checked, orjson.loads(row.findings), row.caller)

    async def prove(self, execution_id: str) -> RowProof | None:
        """Verify one row against its hash chain; return None if there is no such row."""
        async with self._database.read() as conn:
            link = await journal_chain_rows.find_chain_link(conn, execution_id)
        if link is None:
            return None
        execution_id = execution_id.lower()
        writer, seq, mac = link
        if type(writer) is not int or type(seq) is not int:
            note = "The row is in no hash chain: an older version wrote it, or it was put there"
            return RowProof(execution_id, None, None, None, None, note=note)
        report = await self._verifier.verify(Scope(writer=writer, first=seq, last=seq), None, MAX_ROWS_PER_TURN)
        about = tuple(each for each in report.findings if _is_about(each, execution_id, seq))
        return RowProof(execution_id, writer, seq, mac, not about, about)

    def _read_progress(self, scope: Scope, position: Position | None) -> VerificationProgress | None:
        """Return what was checked before this request, or None if it is not a verification of the whole journal."""
        if scope != Scope():
            return None
        if position is None:
            return VerificationProgress(started_at=datetime.now(UTC), checked=0, mac="")
        given = position.progress
        if given is None:
            return None
        signed = self._sign(position, given.started_at, given.checked, given.findings)
        return given if self._chain.is_same_mac(signed.mac, given.mac) else None

    def _sign(
        self, position: Position, started_at: datetime, checked: int, findings: dict[str, int]
    ) -> VerificationProgress:
        place = (position.writer, position.seq, list(position.macs), position.skipping, position.found)
        content = ("verification so far", *place, _format(started_at), checked, findings)
        return VerificationProgress(
            started_at=started_at, checked=checked, findings=findings, mac=self._chain.sign(content)
        )

    async def _save(self, done: LastVerification) -> None:
        findings = orjson.dumps(dict(done.findings)).decode()
        caller = replace_unstorable(done.caller)
        row = VerificationRow(done.started_at, done.finished_at, done.checked, findings, caller, "")
        async with self._database.write() as conn:
            await journal_chain_rows.save_verification(conn, replace(row, mac=self._compute_mac(row)))

    def _compute_mac(self, row: VerificationRow) -> str:
        moments = (_format(row.started_at), _format(row.finished_at))
        return self._chain.sign(("verification", *moments, row.checked, row.findings, row.caller))


def _format(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _is_about(finding: TamperFinding, execution_id: str, seq: int) -> bool:
    if finding.execution_id == execution_id:
        return True
    first, last = finding.first, finding.last if finding.last is not None else finding.first
    return first is not None and last is not None and first <= seq <= last
