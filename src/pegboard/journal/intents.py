"""Intents as they are stored: signed, so that a forged one never becomes a row of the journal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from sqlalchemy import bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.journal.chain import Chain
from pegboard.journal.entries import Held, Intent, Opening, OpenIntent
from pegboard.journal.ledger import ReceiptOf, Session
from pegboard.store import journal_models
from pegboard.store.base_models import table_of
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

_SHOWN_IDS = 10
_AT_ONCE = 1000
_intents = table_of(journal_models.Intent)
_receipts = table_of(journal_models.Receipt)


def sign_intents(chain: Chain, writer: int, openings: Iterable[Opening]) -> list[Intent]:
    """The intents of a writer as they are stored."""
    return [_signed(chain, writer, opening) for opening in openings]


def is_intent_genuine(chain: Chain, writer: int, intent: OpenIntent) -> bool:
    """Whether this board wrote an intent that was left open."""
    content = (intent.id, intent.execution, bool(intent.receipts), intent.claim, intent.digest)
    return _is_mac(chain, ("intent", writer, *content), intent.mac)


def is_receipt_genuine(chain: Chain, run_id: str, receipt: ReceiptOf) -> bool:
    """Whether this board wrote a receipt."""
    return _is_mac(chain, ("receipt", run_id, receipt.row_id, receipt.output), receipt.mac)


async def check_claims(
    session: Session, chain: Chain, claimed: Sequence[Intent], held: dict[str, Held], now: str
) -> dict[str, Held]:
    """The holders of keys, those that this board did not write marked and set aside."""
    own = {intent.id for intent in claimed}
    forged = {
        name: one._replace(is_genuine=False)
        for name, one in held.items()
        if one.id not in own and not _is_mac(chain, ("claim", one.id, name, one.digest), one.mac)
    }
    if not forged:
        return held
    await set_aside(session, "intents", [one.id for one in forged.values()], now)
    return held | forged


async def set_aside(session: Session, table: str, ids: Sequence[str], now: str) -> None:
    """Mark entries that this board did not write, so that they stay for people to look at and count for nothing."""
    await session.set_aside(table, ids, now)
    log.error("entries_set_aside", table=table, count=len(ids), ids=list(ids[:_SHOWN_IDS]))


async def sign_stored(conn: AsyncConnection, chain: Chain) -> None:
    """Sign the intents and receipts of a database from before they had MACs."""
    columns = _intents.c
    last: str | None = None
    while True:
        query = select(_intents).order_by(columns.id).limit(_AT_ONCE)
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
        signed = [{"id_": row.id, "mac": chain.sign_receipt(row.id, row.row_id, row.output)} for row in left]
        await conn.execute(update(_receipts).where(_receipts.c.id == bindparam("id_")), signed)


def _signed(chain: Chain, writer: int, opening: Opening) -> Intent:
    execution = orjson.dumps(opening.row).decode()
    claim, digest, expires_at = opening.claim or (None, None, None)
    mac = chain.sign(("intent", writer, opening.id, execution, bool(opening.receipts), claim, digest))
    claim_mac = chain.sign(("claim", opening.id, claim, digest)) if claim is not None else ""
    return Intent(
        opening.id, writer, "open", execution, bool(opening.receipts), claim, digest, expires_at, mac, claim_mac
    )


def _is_mac(chain: Chain, content: tuple[Any, ...], mac: object) -> bool:
    try:
        return isinstance(mac, str) and chain.same(chain.sign(content), mac)
    except TypeError:  # SQLite may hold values of any type
        return False
