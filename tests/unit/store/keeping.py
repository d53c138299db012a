"""Rows of the journal put straight into a database, as its writers put them there."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, insert, select, update

from pegboard.core.call import Execution
from pegboard.core.ids import new_id
from pegboard.journal import postgresql, sqlite
from pegboard.journal.chain import Place
from pegboard.journal.entries import Count
from pegboard.journal.ledger import Ledger
from pegboard.journal.postgresql import PostgresqlLedger
from pegboard.journal.sqlite import SqliteLedger, SqliteSession
from pegboard.store import journal_models
from pegboard.store.base_models import table_of
from pegboard.store.database import Database
from pegboard.store.executions import stored
from tests.unit.store.rows import NOW

_executions = table_of(journal_models.Execution)
_writers = table_of(journal_models.Writer)


def ledger_of(database: Database) -> Ledger:
    """The database's side of the journal."""
    return SqliteLedger(database) if database.kind == "sqlite" else PostgresqlLedger(database)


async def keep(database: Database, *made: Execution, writer: int = 1) -> int:
    """Put executions at the end of a writer's chain, whose MACs mean nothing; where it ends now."""
    async with database.read() as conn:
        last = select(func.coalesce(func.max(_executions.c.seq), 0)).where(_executions.c.writer == writer)
        head: int = (await conn.execute(last)).scalar_one()
    places = [Place(head + number, f"{head + number:032x}") for number in range(1, len(made) + 1)]
    rows = [(*stored(one), writer, *place) for one, place in zip(made, places, strict=True)]
    if database.kind == "sqlite":
        connection = database.connect_sqlite()
        SqliteSession(connection)._insert(sqlite._ROWS, [(row[0].replace("-", ""), *row[1:]) for row in rows])
        connection.close()
    else:
        async with database.apart() as driver:
            text = postgresql._insert("executions", postgresql._ROW_FIELDS)
            await driver.execute(text, *postgresql._columns(rows, len(postgresql._ROW_FIELDS)))
    return head + len(made)


async def keep_counts(database: Database, counts: Sequence[Count], *, writer: int = 1, counted_seq: int) -> None:
    """Add to the statistics what a writer has counted, and how far, which must be further than before."""
    ledger = ledger_of(database)
    await ledger.transaction(lambda session: session.count(writer, counted_seq, counts))
    await ledger.close()


async def keep_writer(database: Database, number: int = 1, *, seq: int = 0, counted_seq: int = 0) -> None:
    """A writer whose chain goes this far."""
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
    """Let a writer's chain end there."""
    async with database.write() as conn:
        await conn.execute(update(_writers).where(_writers.c.number == number).values(seq=seq))
