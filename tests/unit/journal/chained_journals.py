"""Journals for tests: rows in hash chains, written and tampered with by plain SQL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from sqlalchemy import insert, text, update

from pegboard.journal.hash_chain import ChainPosition, HashChain
from pegboard.model.call import Execution
from pegboard.model.ids import new_id
from pegboard.model.journal_row import FIELDS, serialize_execution
from pegboard.storage import board_tables
from pegboard.storage.board_tables import get_table
from pegboard.storage.database import Database
from pegboard.storage.journal_tables import Writer
from pegboard.storage.migrate import migrate
from tests.unit.storage.sample_rows import NOW, an_execution

CHAIN = HashChain(b"a key of the chain for tests only")
MINUTE = timedelta(minutes=1)
_board = get_table(board_tables.BoardRow)
_writers = get_table(Writer)
CASTS = {
    "id": "CAST(CAST(:{} AS TEXT) AS UUID)",
    "started_at": "CAST(CAST(:{} AS TEXT) || '+00' AS TIMESTAMPTZ)",
    "finished_at": "CAST(CAST(:{} AS TEXT) || '+00' AS TIMESTAMPTZ)",
    "arguments": "CAST(CAST(:{} AS TEXT) AS JSON)",
}


@asynccontextmanager
async def memory_database() -> AsyncIterator[Database]:
    """A database that is quick to make."""
    database = Database.create("memory")
    await migrate(database)
    try:
        yield database
    finally:
        await database.close()


async def add_writer(database: Database, number: int, chain: HashChain = CHAIN) -> None:
    """Add a writer without rows."""
    count = {"writers": number, "writers_signature": chain.sign_writers(number)}
    async with database.write() as conn:
        await conn.execute(update(_board).values(**count))
        await conn.execute(
            insert(_writers).values(
                number=number,
                id=new_id(),
                host="here",
                pid=number,
                started_at=NOW,
                beat=0,
                counted_seq=0,
                **_head(chain, number, ChainPosition()),
                pruned_seq=0,
                pruned_mac="",
                pruned_signature="",
            )
        )


async def append(
    database: Database,
    number: int,
    executions: Sequence[Execution],
    head: ChainPosition | None = None,
    chain: HashChain = CHAIN,
) -> list[ChainPosition]:
    """Append rows to a writer's chain, and update its head; return the positions of the rows."""
    rows = [serialize_execution(execution) for execution in executions]
    columns = [*FIELDS, "writer", "seq", "mac"]
    casts = CASTS if database.kind == "postgresql" else {}
    values = ", ".join(casts.get(name, ":{}").format(name) for name in columns)
    statement = text(f"INSERT INTO executions ({', '.join(columns)}) VALUES ({values})")
    async with database.write() as conn:
        if head is None:
            found = await conn.execute(text("SELECT seq, mac FROM writers WHERE number = :n"), {"n": number})
            head = ChainPosition(*found.one())
        places = chain.links(number, head, rows)
        kept = [
            dict(zip(columns, (*row, number, *place), strict=True)) for row, place in zip(rows, places, strict=True)
        ]
        if database.kind == "sqlite":
            for values_of in kept:
                values_of["id"] = values_of["id"].replace("-", "")
        if kept:
            await conn.execute(statement, kept)
            await conn.execute(
                update(_writers).where(_writers.c.number == number).values(**_head(chain, number, places[-1]))
            )
    return places


async def journal(database: Database, *lengths: int) -> list[list[Execution]]:
    """Create writers with this many rows each, one row per minute from NOW on."""
    made = []
    for number, length in enumerate(lengths, start=1):
        executions = [call(place) for place in range(length)]
        await add_writer(database, number)
        await append(database, number, executions)
        made.append(executions)
    return made


def call(minutes: int = 0, **fields: Any) -> Execution:
    """Return a call that finished this many minutes after NOW."""
    moment = NOW + minutes * MINUTE
    known = {"arguments": {"n": minutes, "x": 1.5}, "arguments_digest": "abc", "tool_id": new_id(), "attempts": 1}
    return an_execution(**{"started_at": moment, "finished_at": moment, **known, **fields})


async def unchained(database: Database, *executions: Execution) -> None:
    """Add rows of a version without chain; call it first."""
    await add_writer(database, 1)
    await append(database, 1, executions)
    await run(database, "UPDATE executions SET writer = NULL, seq = NULL, mac = NULL")
    await _forget_writers(database)


async def empty(database: Database) -> None:
    """Remove all rows and writers."""
    await run(database, "DELETE FROM executions")
    await _forget_writers(database)


async def _forget_writers(database: Database) -> None:
    await run(database, "DELETE FROM writers")
    await run(database, "UPDATE board_state SET writers = 0, writers_signature = ''")


async def prune_by_hand(database: Database, place: ChainPosition) -> None:
    """Remove the beginning of writer 1's chain as the board would."""
    await run(database, "DELETE FROM executions WHERE writer = 1 AND seq <= :seq", seq=place.seq)
    marker = {"s": place.seq, "m": place.mac, "g": CHAIN.sign_pruned(1, place)}
    step = "pruned_seq = :s, pruned_mac = :m, pruned_signature = :g"
    await run(database, f"UPDATE writers SET {step} WHERE number = 1", **marker)


async def run(database: Database, statement: str, **values: Any) -> None:
    """Change rows as an attacker who can write to the database and does not have the key."""
    async with database.write() as conn:
        await conn.execute(text(statement), values)


async def read(database: Database, statement: str, **values: Any) -> list[Any]:
    """Rows as they are."""
    async with database.read() as conn:
        return [tuple(row) for row in await conn.execute(text(statement), values)]


def _head(chain: HashChain, number: int, place: ChainPosition) -> dict[str, Any]:
    return {"seq": place.seq, "mac": place.mac, "signature": chain.sign_head(number, place)}
