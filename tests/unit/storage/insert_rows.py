"""Insert rows of the journal directly into a database, in the same form as the journal's writers."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, insert, select, text, update

from pegboard.journal.backend import JournalBackend
from pegboard.journal.entries import CountRow
from pegboard.journal.hash_chain import ChainPosition
from pegboard.journal.postgresql_backend import PostgresqlBackend
from pegboard.journal.sqlite_backend import SqliteBackend
from pegboard.model.call import Execution
from pegboard.model.ids import new_id
from pegboard.model.journal_row import FIELDS, serialize_execution
from pegboard.storage import journal_tables
from pegboard.storage.board_tables import get_table
from pegboard.storage.database import Database
from tests.unit.journal.chained_journals import CASTS
from tests.unit.storage.sample_rows import NOW

_executions = journal_tables.executions
_writers = get_table(journal_tables.Writer)


def ledger_of(database: Database) -> JournalBackend:
    """The database's side of the journal."""
    return SqliteBackend(database) if database.kind == "sqlite" else PostgresqlBackend(database)


async def insert_rows(database: Database, *made: Execution, writer: int = 1) -> int:
    """Add executions with meaningless MACs to the end of a writer's chain; return the new end."""
    async with database.read() as conn:
        last = select(func.coalesce(func.max(_executions.c.seq), 0)).where(_executions.c.writer == writer)
        head: int = (await conn.execute(last)).scalar_one()
    places = [ChainPosition(head + number, f"{head + number:032x}") for number in range(1, len(made) + 1)]
    columns = (*FIELDS, "writer", "seq", "mac")
    casts = CASTS if database.kind == "postgresql" else {}
    values = ", ".join(casts.get(name, ":{}").format(name) for name in columns)
    rows = [
        dict(zip(columns, (*serialize_execution(one), writer, *place), strict=True))
        for one, place in zip(made, places, strict=True)
    ]
    if database.kind == "sqlite":
        for row in rows:
            row["id"] = row["id"].replace("-", "")
    async with database.write() as conn:
        await conn.execute(text(f"INSERT INTO executions ({', '.join(columns)}) VALUES ({values})"), rows)
    return head + len(made)


async def keep_counts(database: Database, counts: Sequence[CountRow], *, writer: int = 1, counted_seq: int) -> None:
    """Add to the statistics what a writer has counted, and how far, which must be further than before."""
    ledger = ledger_of(database)
    await ledger.transaction(lambda session: session.count(writer, counted_seq, counts))
    await ledger.close()


async def keep_writer(database: Database, number: int = 1, *, seq: int = 0, counted_seq: int = 0) -> None:
    """Insert a writer whose chain has this length."""
    blank = dict.fromkeys(("mac", "signature", "pruned_mac", "pruned_signature"), "")
    async with database.write() as conn:
        await conn.execute(
            insert(_writers).values(
                number=number,
                id=new_id(),
                host="here",
                pid=1,
                started_at=NOW,
                beat=0,
                seq=seq,
                counted_seq=counted_seq,
                pruned_seq=0,
                **blank,
            )
        )


async def move_writer(database: Database, number: int, seq: int) -> None:
    """Set the end of a writer's chain."""
    async with database.write() as conn:
        await conn.execute(update(_writers).where(_writers.c.number == number).values(seq=seq))
