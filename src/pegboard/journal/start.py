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


def start_journal(database: Database, vault: Vault, home: Path) -> StoreJournal:
    """A journal that has begun its work; a file's spools lie beside it, where all who share it find them."""
    ledger: Ledger
    leases: Leases
    spools: Path | None
    if database.kind == "postgresql":
        from pegboard.journal.postgresql import PostgresqlLedger  # noqa: PLC0415 -- its driver is only loaded if used

        ledger, leases, spools = PostgresqlLedger(database), ObservedLeases(database.read), home / "spool"
    elif database.file is None:
        ledger, leases, spools = SqliteLedger(database), NoSiblings(), None
    else:
        spools = database.file.with_name(f"{database.file.name}.spool")
        ledger, leases = SqliteLedger(database), FileLeases(spools)
    claims = Claims(vault)
    writer = Writer(
        ledger, chain_of(vault), leases, claims.seal, spools=spools, is_shared=database.kind == "postgresql"
    )
    return StoreJournal(ledger, writer, claims)


def chain_of(vault: Vault) -> Chain:
    """The chain under the board's key."""
    return Chain(vault.derive(CHAIN))
