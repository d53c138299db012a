"""The journal of a board, on whatever database it has."""

from __future__ import annotations

from pathlib import Path

from pegboard.journal.chain import Chain
from pegboard.journal.claims import Claims
from pegboard.journal.ledger import Ledger
from pegboard.journal.locks import FileLeases, Leases, NoSiblings, ObservedLeases
from pegboard.journal.sqlite import SqliteLedger
from pegboard.journal.store import StoreJournal
from pegboard.journal.writer import Writer
from pegboard.store.database import Database
from pegboard.store.vault import Vault

CHAIN = "journal chain"


def start_journal(database: Database, vault: Vault, spools: Path | None) -> StoreJournal:
    """A journal that has begun its work."""
    ledger: Ledger
    leases: Leases
    if database.kind == "postgresql":
        from pegboard.journal.postgresql import PostgresqlLedger  # noqa: PLC0415 -- its driver is only loaded if used

        ledger, leases = PostgresqlLedger(database), ObservedLeases(database.read)
    else:
        ledger, leases = SqliteLedger(database), FileLeases(spools) if spools else NoSiblings()
    claims = Claims(vault)
    writer = Writer(
        ledger, chain_of(vault), leases, claims.seal, spools=spools, is_shared=database.kind == "postgresql"
    )
    return StoreJournal(ledger, writer, claims)


def chain_of(vault: Vault) -> Chain:
    """The chain under the board's key."""
    return Chain(vault.derive(CHAIN))


def spool_folder(database: Database, home: Path, board_id: str) -> Path | None:
    """Where a board's spools lie, and no other's: beside a file, where all who share it find them; else in home."""
    if database.kind == "postgresql":
        return home / "spool" / board_id
    if database.file is None:
        return None
    file = database.file.resolve()  # two who come by different links must meet
    return file.with_name(f"{file.name}.spool")
