"""A hundred clients insert at once, also while their database is unavailable: every answer matches the table."""

from __future__ import annotations

import signal
from pathlib import Path

import anyio
import anyio.to_thread
import httpx
import pytest

from tests.crash.journal_contents import reader
from tests.crash.postgres_shutdowns import ENDS, make_durable
from tests.crash.server_processes import serving
from tests.crash.table_server import RowBook, TableBoard, callers, ledger, ledger_table
from tests.servers import PostgresServer
from tests.table_databases import rows_of, run_sql
from tests.waiting import until

CLIENTS = 100
EACH = 10
ALL = "SELECT id, n FROM notes"


async def insert_all(clients: list[httpx.AsyncClient], book: RowBook) -> None:
    """Every client inserts its rows in order; every second one has keys and retries."""

    async def insert(place: int, client: httpx.AsyncClient) -> None:
        for count in range(EACH):
            n = f"{place}-{count}"
            await (book.insert_until_known(client, n) if place % 2 else book.once(client, n))

    async with anyio.create_task_group() as group:
        for place, client in enumerate(clients):
            group.start_soon(insert, place, client)


async def check(board: TableBoard, book: RowBook, tables: str) -> None:
    """Compare what the clients know with the journal and the table, when the board has stopped."""
    async with reader(board.url, board.home) as journal:
        await journal.settled()
        assert await board.end(signal.SIGTERM) == 0
        assert book.journal_faults(await journal.rows()) == []
        assert await journal.faults() == []
    assert book.row_faults(await rows_of(tables, ALL)) == []


@pytest.mark.parametrize(
    ("database_url", "where"),
    [("sqlite", "the board's own"), ("postgresql", "the board's own"), ("postgresql", "another")],
    indirect=["database_url"],
)
async def test_a_hundred_clients_get_every_row_in_exactly_once(database_url: str, tmp_path: Path, where: str) -> None:
    tables = database_url if where == "the board's own" else f"sqlite:///{tmp_path}/tables.db"
    await run_sql(tables, ledger_table(tables))
    board = TableBoard(database_url, tmp_path, ledger(), database=tables)
    book = RowBook()
    async with serving(board), callers(board, CLIENTS) as clients:
        await insert_all(clients, book)
        await check(board, book, tables)
    assert book.codes == {"succeeded": CLIENTS * EACH}


@pytest.mark.parametrize(
    ("end", "board_is_in"),
    [("stopped", "SQLite"), ("stopped", "the same"), ("killed", "SQLite"), ("killed", "the same")],
)
async def test_a_database_that_is_unavailable_for_a_while_has_every_row_once(
    own_postgres: PostgresServer, tmp_path: Path, end: str, board_is_in: str
) -> None:
    make_durable(own_postgres)
    tables = own_postgres.url
    await run_sql(tables, ledger_table(tables))
    board = TableBoard(
        tables if board_is_in == "the same" else f"sqlite:///{tmp_path}/board.db", tmp_path, ledger(), database=tables
    )
    book = RowBook()

    async def is_missed() -> bool:
        # Or no caller can notice it, because all have finished.
        return book.codes["P1001"] > 0 or sum(book.codes.values()) >= CLIENTS * EACH

    async with serving(board), callers(board, CLIENTS) as clients:
        async with anyio.create_task_group() as group:
            group.start_soon(insert_all, clients, book)
            await book.acknowledged(3 * CLIENTS)
            await anyio.to_thread.run_sync(ENDS[end], own_postgres)
            if board_is_in == "SQLite":  # otherwise it would take a while until a caller gets the error
                await until(is_missed, 60)
            await anyio.to_thread.run_sync(own_postgres.start)
        await check(board, book, tables)
    with_key = {f"{place}-{count}" for place in range(1, CLIENTS, 2) for count in range(EACH)}
    assert with_key <= book.there.keys()
