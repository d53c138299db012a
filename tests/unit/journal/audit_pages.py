"""Complete verifications and exports, read page by page as a client does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pegboard.journal.audit import Audit
from pegboard.journal.export import ExportPosition
from pegboard.journal.hash_chain import HashChain
from pegboard.journal.tamper_report import TamperFinding
from pegboard.journal.verify import Position, Scope, VerificationReport
from pegboard.journal.verify_export import LinesPosition
from pegboard.storage.database import Database
from tests.unit.journal.chained_journals import CHAIN, read

TURNS = 10_000


async def verified(
    database: Database, limit: int = 20_000, chain: HashChain = CHAIN, **scope: Any
) -> VerificationReport:
    """Return all pages of a verification as one report."""
    audit = Audit(database, chain)
    checked, findings, notes = 0, list[TamperFinding](), list[str]()
    total: int | None = None
    position: Position | None = None
    for turn in range(TURNS):
        report = await audit.verify(Scope(**scope), next=position, limit=limit)
        # The cursor is sent to the client and back.
        position = None if report.next is None else Position.model_validate_json(report.next.model_dump_json())
        total = report.total if turn == 0 else total
        checked += report.checked
        findings += report.findings
        notes += report.notes
        if position is None:
            return VerificationReport(checked, tuple(findings), tuple(notes), None, total)
    raise AssertionError("the verification does not end")


async def exported(database: Database, limit: int = 1000, **span: Any) -> list[str]:
    """All lines of an export."""
    audit = Audit(database, CHAIN)
    lines: list[str] = []
    position: ExportPosition | None = None
    for _ in range(TURNS):
        page = await audit.export(next=position, limit=limit, **span)
        lines += page.lines
        if page.next is None:
            return lines
        position = ExportPosition.model_validate_json(page.next.model_dump_json())
    raise AssertionError("the export does not end")


async def lines_verified(
    database: Database, lines: Sequence[str], size: int = 1000, *, compare: bool = False, chain: HashChain = CHAIN
) -> VerificationReport:
    """Return all pages of the verification of an export as one report."""
    audit = Audit(database, chain)
    checked, findings, notes = 0, list[TamperFinding](), list[str]()
    position: LinesPosition | None = None
    for start in range(0, max(len(lines), 1), size):
        last = start + size >= len(lines)
        some = lines[start : start + size]
        report = await audit.verify_lines(some, next=position, last=last, compare=compare)
        checked += report.checked
        findings += report.findings
        notes += report.notes
        if report.next is None:
            break
        position = LinesPosition.model_validate_json(report.next.model_dump_json())
    return VerificationReport(checked, tuple(findings), tuple(notes))


async def pruned(database: Database, before: datetime, limit: int = 20_000, **more: Any) -> int:
    """How many rows a whole prune removes."""
    removed = 0
    for _ in range(1000):
        step = await Audit(database, CHAIN).prune(before, limit=limit, **more)
        removed += step.removed
        if not step.more:
            return removed
    raise AssertionError("the prune does not end")


async def list_positions(database: Database) -> list[tuple[int, int]]:
    """Return the positions of the remaining rows."""
    return [(row[0], row[1]) for row in await read(database, "SELECT writer, seq FROM executions ORDER BY 1, 2")]


def received(report: VerificationReport) -> list[str]:
    """The findings in words."""
    return [finding.message for finding in report.findings]
