"""The row of the last verification of the whole journal, and where a row is in its hash chain."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pegboard.model.json_text import is_uuid
from pegboard.storage import journal_tables
from pegboard.storage.board_tables import get_table
from pegboard.storage.journal_tables import executions

_verifications = get_table(journal_tables.Verification)


@dataclass(frozen=True, slots=True)
class VerificationRow:
    """A verification that reached the end of the journal, as stored; `findings` is JSON text."""

    started_at: datetime
    finished_at: datetime
    checked: int
    findings: str
    caller: str
    mac: str


class ChainLink(NamedTuple):
    """The place of a row: its writer, its number and its MAC; each None if the row is in no chain."""

    writer: int | None
    seq: int | None
    mac: str | None


async def save_verification(conn: AsyncConnection, row: VerificationRow) -> None:
    """Store the last verification in place of the one before."""
    values = asdict(row)
    if not (await conn.execute(update(_verifications).values(values))).rowcount:
        await conn.execute(insert(_verifications).values(id=1, **values))


async def get_verification(conn: AsyncConnection) -> VerificationRow | None:
    """Return the last verification, or None."""
    columns = [_verifications.c[name] for name in VerificationRow.__dataclass_fields__]
    row = (await conn.execute(select(*columns))).mappings().first()
    return None if row is None else VerificationRow(**row)


async def find_chain_link(conn: AsyncConnection, execution_id: str) -> ChainLink | None:
    """Return the place of a row in the journal, or None if there is no such row."""
    if not is_uuid(execution_id):
        return None
    columns = executions.c
    query = select(columns.writer, columns.seq, columns.mac).where(columns.id == execution_id.lower())
    row = (await conn.execute(query)).first()
    return None if row is None else ChainLink(*row)
