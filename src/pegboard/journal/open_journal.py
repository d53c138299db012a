"""Opens the journal of a board on its database."""

from __future__ import annotations

from pathlib import Path

from pegboard.journal.backend import JournalBackend
from pegboard.journal.commit_queue import DatabaseJournal
from pegboard.journal.hash_chain import HashChain
from pegboard.journal.idempotency import IdempotencyClaims
from pegboard.journal.sqlite_backend import SqliteBackend
from pegboard.journal.transactional_journal import TransactionalJournal
from pegboard.journal.writer import JournalWriter
from pegboard.journal.writer_locks import FileLeases, MemoryLeases, ObservedLeases, WriterLeases
from pegboard.storage.database import Database
from pegboard.storage.vault import Vault

CHAIN_KEY_LABEL = "journal chain"


def start_journal(database: Database, vault: Vault, spools: Path | None) -> DatabaseJournal:
    """Create the journal and start its writer task."""
    claims = IdempotencyClaims(vault)
    ledger, writer = _create_writer(database, vault, spools, claims)
    return DatabaseJournal(ledger, writer, claims)


def create_transactional_journal(database: Database, vault: Vault, spools: Path | None) -> TransactionalJournal:
    """Create the journal of calls that commit their row in the transaction of their effects; it has its own writer."""
    _, writer = _create_writer(database, vault, spools, IdempotencyClaims(vault))
    return TransactionalJournal(writer)


def _create_writer(
    database: Database, vault: Vault, spools: Path | None, claims: IdempotencyClaims
) -> tuple[JournalBackend, JournalWriter]:
    ledger: JournalBackend
    leases: WriterLeases
    if database.kind == "postgresql":
        from pegboard.journal.postgresql_backend import PostgresqlBackend  # noqa: PLC0415 -- its driver is only loaded if used

        ledger, leases = PostgresqlBackend(database), ObservedLeases(database.read)
    else:
        ledger, leases = SqliteBackend(database), FileLeases(spools) if spools else MemoryLeases()
    is_shared = database.kind == "postgresql"
    return ledger, JournalWriter(ledger, open_chain(vault), leases, claims.seal, spools=spools, is_shared=is_shared)


def open_chain(vault: Vault) -> HashChain:
    """Return the hash chain with the board's key."""
    return HashChain(vault.derive(CHAIN_KEY_LABEL))


def get_spool_folder(database: Database, home: Path, board_id: str) -> Path | None:
    """Return the folder of a board's spools: next to a SQLite file, otherwise in home; None in memory."""
    if database.kind == "postgresql":
        return home / "spool" / board_id
    if database.file is None:
        return None
    file = database.file.resolve()  # processes that open the file through different links must find the same folder
    return file.with_name(f"{file.name}.spool")
