"""Receipts: proof, written in the transaction of an effect on the board's own database, that a call took effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.store import journal_models
from pegboard.store.base_models import table_of
from pegboard.store.types import json_text

_receipts = table_of(journal_models.Receipt)


SignReceipt = Callable[[str, str | None, str | None], str]
"""The MAC of a receipt, from the run id, the row's id and the output as JSON text: `Chain.sign_receipt`."""


async def add(
    conn: AsyncConnection, run_id: str, sign: SignReceipt, *, row_id: str | None = None, output: Any = None
) -> None:
    """Leave a receipt; an IntegrityError means that recovery has given the call up, and nothing may be committed."""
    text = None if output is None else json_text(output)
    mac = sign(run_id, row_id, text)
    await conn.execute(insert(_receipts).values(id=run_id, row_id=row_id, output=text, is_void=False, mac=mac))


def unsigned(run_id: str, row_id: str | None, output: str | None) -> str:
    """No MAC, for a database that no journal is kept in."""
    return ""


async def all_of(conn: AsyncConnection) -> list[str]:
    """The calls that have left a receipt and are not recorded yet."""
    query = select(_receipts.c.id).where(~_receipts.c.is_void).order_by(_receipts.c.id)
    return list((await conn.execute(query)).scalars())
