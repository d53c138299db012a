"""Receipts: rows that prove, in the transaction of an effect on the board's own database, that a call took effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.model.json_text import json_text
from pegboard.storage import journal_tables
from pegboard.storage.board_tables import get_table

_receipts = get_table(journal_tables.Receipt)


SignReceipt = Callable[[str, str | None, str | None], str]
"""The MAC of a receipt, from the run id, the row's id and the output as JSON text: `Chain.sign_receipt`."""


async def add_receipt(
    conn: AsyncConnection, run_id: str, sign: SignReceipt, *, row_id: str | None = None, output: Any = None
) -> None:
    """Insert a receipt; IntegrityError means that recovery has given up the call, so the transaction must roll back."""
    text = None if output is None else json_text(output)
    mac = sign(run_id, row_id, text)
    await conn.execute(insert(_receipts).values(id=run_id, row_id=row_id, output=text, is_void=False, mac=mac))


def sign_nothing(run_id: str, row_id: str | None, output: str | None) -> str:
    """Return an empty MAC, for a database without a journal."""
    return ""


async def list_receipts(conn: AsyncConnection) -> list[str]:
    """Return the calls that have a receipt and are not recorded yet."""
    query = select(_receipts.c.id).where(~_receipts.c.is_void).order_by(_receipts.c.id)
    return list((await conn.execute(query)).scalars())
