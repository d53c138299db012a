"""Inserts with a journal entry, and the journal that commits it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sqlalchemy import text

from pegboard.journal.audit import Audit
from pegboard.journal.entries import ClosingEntry
from pegboard.journal.open_journal import create_transactional_journal, open_chain
from pegboard.journal.transactional_journal import TransactionalJournal
from pegboard.kinds.table.source import InsertAnswer, InsertEntry
from pegboard.model.journal_row import serialize_execution
from pegboard.storage.database import Database
from tests.unit.journal.standalone_journals import VAULT
from tests.unit.storage.sample_rows import an_execution


@asynccontextmanager
async def opened_journal(database: Database, spools: Path | None) -> AsyncIterator[TransactionalJournal]:
    """A journal for inserts into this database."""
    journal = create_transactional_journal(database, VAULT, spools)
    try:
        yield journal
    finally:
        await journal.close()


def build_entry(entry: InsertEntry) -> InsertEntry:
    """Return the entry, whose journal row is committed with it."""

    def answered(keys: object) -> InsertAnswer:
        answer = entry.build_answer(keys)  # type: ignore[arg-type]
        row = serialize_execution(an_execution(id=entry.run_id, row_id=answer.row_id))
        return answer._replace(closing=ClosingEntry(row))

    return entry._replace(build_answer=answered)


async def recorded(database: Database) -> dict[str, str | None]:
    """The row ids in the journal, by call; the journal verifies."""
    report = await Audit(database, open_chain(VAULT)).verify()
    assert report.findings == ()
    async with database.read() as conn:
        rows = (await conn.execute(text("SELECT id, row_id FROM executions"))).all()
    return {str(id_).replace("-", ""): row_id for id_, row_id in rows}


def strip_id(run_id: str) -> str:
    """Return the id in the form of `recorded`."""
    return run_id.replace("-", "")
