"""Signed intents and receipts: a forged intent never becomes a row of the journal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from sqlalchemy import bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.journal.backend import CallReceipt, JournalSession
from pegboard.journal.entries import ClaimHolder, IntentRow, OpeningEntry, OpenIntent
from pegboard.journal.hash_chain import HashChain
from pegboard.storage import journal_tables
from pegboard.storage.board_tables import get_table
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

_MAX_LOGGED_IDS = 10
_MAX_ROWS_PER_STATEMENT = 1000
_intents = get_table(journal_tables.Intent)
_receipts = get_table(journal_tables.Receipt)


def sign_intents(chain: HashChain, writer: int, openings: Iterable[OpeningEntry]) -> list[IntentRow]:
    """Return the intents of a writer as signed rows."""
    return [_sign_opening(chain, writer, opening) for opening in openings]


def is_intent_genuine(chain: HashChain, writer: int, intent: OpenIntent) -> bool:
    """True if this board wrote the open intent."""
    content = (intent.id, intent.execution, bool(intent.receipts), intent.claim, intent.digest)
    return _is_valid_mac(chain, ("intent", writer, *content), intent.mac)


def is_receipt_genuine(chain: HashChain, run_id: str, receipt: CallReceipt) -> bool:
    """True if this board wrote the receipt."""
    return _is_valid_mac(chain, ("receipt", run_id, receipt.row_id, receipt.output), receipt.mac)


async def check_claims(
    session: JournalSession, chain: HashChain, claimed: Sequence[IntentRow], held: dict[str, ClaimHolder], now: str
) -> dict[str, ClaimHolder]:
    """Return the holders of keys; those that this board did not write are marked and quarantined."""
    own = {intent.id for intent in claimed}
    forged = {
        name: one._replace(is_genuine=False)
        for name, one in held.items()
        if one.id not in own and not _is_valid_mac(chain, ("claim", one.id, name, one.digest), one.mac)
    }
    if not forged:
        return held
    await quarantine_entries(session, "intents", [one.id for one in forged.values()], now)
    return held | forged


async def quarantine_entries(session: JournalSession, table: str, ids: Sequence[str], now: str) -> None:
    """Mark entries that this board did not write: they stay for inspection and are ignored."""
    await session.set_aside(table, ids, now)
    log.error("entries_set_aside", table=table, count=len(ids), ids=list(ids[:_MAX_LOGGED_IDS]))


async def sign_stored_entries(conn: AsyncConnection, chain: HashChain) -> None:
    """Sign the intents and receipts of a database from before they had MACs."""
    columns = _intents.c
    last: str | None = None
    while True:
        query = select(_intents).order_by(columns.id).limit(_MAX_ROWS_PER_STATEMENT)
        rows = (await conn.execute(query if last is None else query.where(columns.id > last))).all()
        if not rows:
            break
        macs = [
            {
                "id_": row.id,
                "mac": chain.sign(("intent", row.writer, row.id, row.execution, row.receipts, row.claim, row.digest)),
                "claim_mac": chain.sign(("claim", row.id, row.claim, row.digest)) if row.claim is not None else "",
            }
            for row in rows
        ]
        await conn.execute(update(_intents).where(columns.id == bindparam("id_")), macs)
        last = rows[-1].id
    left = (await conn.execute(select(_receipts).where(~_receipts.c.is_void))).all()
    if left:
        signed = [{"id_": row.id, "mac": chain.sign(("receipt", row.id, row.row_id, row.output))} for row in left]
        await conn.execute(update(_receipts).where(_receipts.c.id == bindparam("id_")), signed)


def _sign_opening(chain: HashChain, writer: int, opening: OpeningEntry) -> IntentRow:
    receipts_in = opening.receipts_in
    content = opening.row if receipts_in is None else {"row": opening.row, "receipts_in": receipts_in}
    execution = orjson.dumps(content).decode()
    claim, digest, expires_at = opening.claim or (None, None, None)
    mac = chain.sign(("intent", writer, opening.id, execution, bool(opening.receipts), claim, digest))
    claim_mac = chain.sign(("claim", opening.id, claim, digest)) if claim is not None else ""
    return IntentRow(
        opening.id, writer, "open", execution, bool(opening.receipts), claim, digest, expires_at, mac, claim_mac
    )


def _is_valid_mac(chain: HashChain, content: tuple[Any, ...], mac: object) -> bool:
    try:
        return isinstance(mac, str) and chain.is_same_mac(chain.sign(content), mac)
    except TypeError:  # SQLite may hold values of any type
        return False
