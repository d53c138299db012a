"""A server killed while it inserts rows: its clients repeat their calls with their keys, and no row exists twice."""

from __future__ import annotations

import signal
from pathlib import Path

import anyio
import anyio.to_thread
import httpx
import pytest

from pegboard.kinds.table.receipt_table import RECEIPT_TABLE
from tests.crash.database_locks import hold_write_lock
from tests.crash.journal_contents import reader
from tests.crash.server_processes import serving
from tests.crash.table_server import RowBook, TableBoard, callers, ledger, ledger_table
from tests.table_databases import rows_of, run_sql
from tests.waiting import until

CLIENTS = 40
EACH = 8
ONCE_OR_OFTEN = pytest.mark.parametrize("kills", [1, pytest.param(10, marks=pytest.mark.soak)])
NUMBERS = {f"{place}-{count}" for place in range(CLIENTS) for count in range(EACH)}


async def insert_while_it_is_killed(board: TableBoard, book: RowBook, kills: int) -> None:
    """Have clients insert all rows, each until its outcome is known, while the server is killed repeatedly."""
    async with callers(board, CLIENTS) as clients:

        async def insert(place: int, client: httpx.AsyncClient) -> None:
            for count in range(EACH):
                await book.insert_until_known(client, f"{place}-{count}")

        async with anyio.create_task_group() as group:
            for place, client in enumerate(clients):
                group.start_soon(insert, place, client)
            for turn in range(1, kills + 1):
                await book.acknowledged(len(NUMBERS) * turn // (kills + 2))
                book.is_up = anyio.Event()
                await board.end(signal.SIGKILL)
                await board.start()
                book.is_up.set()


async def insert_without_keys_while_it_is_killed(board: TableBoard, book: RowBook, kills: int) -> None:
    """Have clients insert rows without keys, each once, while the server is killed repeatedly."""
    is_over = False
    async with callers(board, CLIENTS) as clients:

        async def insert(place: int, client: httpx.AsyncClient) -> None:
            count = 0
            while not is_over:
                await book.is_up.wait()
                await book.once(client, f"{place}-{count}")
                count += 1

        async with anyio.create_task_group() as group:
            for place, client in enumerate(clients):
                group.start_soon(insert, place, client)
            for _ in range(kills):
                await book.acknowledged(len(book.there) + len(NUMBERS) // 2)
                book.is_up = anyio.Event()
                await board.end(signal.SIGKILL)
                await board.start()
                book.is_up.set()
            await book.acknowledged(len(book.there) + len(NUMBERS) // 2)
            is_over = True


async def recorded_apart(url: str, tables: str | None = None) -> tuple[list[str], int]:
    """Ids of rows that only the table or only the journal has, and the number of calls in doubt."""
    there = {str(key) for (key,) in await rows_of(tables or url, "SELECT id FROM notes")}
    found = await rows_of(url, "SELECT row_id, status, repeat_of FROM executions")
    recorded = {row_id for row_id, status, repeat_of in found if status == "succeeded" and repeat_of is None}
    return sorted(there ^ recorded), sum(status == "in_doubt" for _, status, _ in found)


async def receipts_removed(tables: str) -> None:
    """Return once every receipt is recorded and removed."""

    async def none_left() -> bool:
        return not await rows_of(tables, f"SELECT 1 FROM {RECEIPT_TABLE} WHERE entry IS NOT NULL LIMIT 1")

    await until(none_left, 60)


async def check(board: TableBoard, book: RowBook, tables: str, *, receipts: bool = False) -> None:
    """Compare what the clients know with the journal and the table."""
    async with reader(board.url, board.home) as journal:
        await journal.settled()
        if receipts:
            await receipts_removed(tables)
        verified = await anyio.to_thread.run_sync(board.program.start, "audit", "verify")
        assert verified.code == 0, verified.err
        assert await board.end(signal.SIGTERM) == 0
        rows = await journal.rows()
        assert book.journal_faults(rows) == []
        assert not {row.status for row in rows} - {"succeeded", "in_doubt", "refused", "failed"}
    assert book.row_faults(await rows_of(tables, "SELECT id, n FROM notes")) == []


@pytest.mark.timeout(300)
@ONCE_OR_OFTEN
async def test_in_the_boards_own_database_every_key_has_its_row_once_however_often_the_server_dies(
    database_url: str, tmp_path: Path, kills: int
) -> None:
    await run_sql(database_url, ledger_table(database_url))
    board = TableBoard(database_url, tmp_path, ledger())
    book = RowBook()
    async with serving(board):
        await insert_while_it_is_killed(board, book, kills)
        await check(board, book, database_url)
    assert book.open == {}, "each row and its journal entry are there together"
    assert set(book.there) == NUMBERS
    assert await recorded_apart(database_url) == ([], 0)


@pytest.mark.timeout(300)
@ONCE_OR_OFTEN
async def test_in_the_boards_own_database_the_journal_has_each_row_and_no_other_without_any_key(
    database_url: str, tmp_path: Path, kills: int
) -> None:
    await run_sql(database_url, ledger_table(database_url))
    board = TableBoard(database_url, tmp_path, ledger())
    book = RowBook()
    async with serving(board):
        await insert_without_keys_while_it_is_killed(board, book, kills)
        await check(board, book, database_url)
    assert set(book.open.values()) <= {"unanswered", "unavailable"}
    assert await recorded_apart(database_url) == ([], 0)


@pytest.mark.timeout(300)
@ONCE_OR_OFTEN
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_in_another_database_no_key_has_its_row_twice(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, kills: int
) -> None:
    tables = f"sqlite:///{tmp_path}/tables.db" if kind == "sqlite" else str(request.getfixturevalue("postgres_url"))
    await run_sql(tables, ledger_table(tables))
    board = TableBoard(f"sqlite:///{tmp_path}/board.db", tmp_path, ledger(), database=tables)
    book = RowBook()
    async with serving(board):
        await insert_while_it_is_killed(board, book, kills)
        await check(board, book, tables)
    assert book.there.keys() | book.open.keys() == NUMBERS
    assert set(book.open.values()) <= {"in_doubt"}


@pytest.fixture(params=["sqlite", "postgresql"])
async def tables(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Another database than the board's own, with a table."""
    url = str(request.getfixturevalue("postgres_url")) if request.param == "postgresql" else ""
    url = url or f"sqlite:///{tmp_path}/tables.db"
    await run_sql(url, ledger_table(url))
    return url


@pytest.mark.timeout(300)
@ONCE_OR_OFTEN
async def test_with_receipts_every_key_has_its_row_once_in_another_database(
    tmp_path: Path, tables: str, kills: int
) -> None:
    url = f"sqlite:///{tmp_path}/board.db"
    board = TableBoard(url, tmp_path, ledger(receipts=True), database=tables)
    book = RowBook()
    async with serving(board):
        await insert_while_it_is_killed(board, book, kills)
        await check(board, book, tables, receipts=True)
    assert book.open == {}, "each row is there with its receipt"
    assert set(book.there) == NUMBERS
    assert await recorded_apart(url, tables) == ([], 0)


@pytest.mark.timeout(300)
@ONCE_OR_OFTEN
async def test_with_receipts_the_journal_has_each_row_of_another_database_and_no_other_without_any_key(
    tmp_path: Path, tables: str, kills: int
) -> None:
    url = f"sqlite:///{tmp_path}/board.db"
    board = TableBoard(url, tmp_path, ledger(receipts=True), database=tables)
    book = RowBook()
    async with serving(board):
        await insert_without_keys_while_it_is_killed(board, book, kills)
        await check(board, book, tables, receipts=True)
    assert set(book.open.values()) <= {"unanswered", "unavailable"}
    assert await recorded_apart(url, tables) == ([], 0)


@pytest.mark.timeout(300)
async def test_rows_whose_server_dies_before_their_journal_entries_are_recorded_from_their_receipts(
    database_url: str, tmp_path: Path, tables: str
) -> None:
    """The journal cannot be written from before the rows are committed until the server is dead."""
    board = TableBoard(database_url, tmp_path, ledger(receipts=True), database=tables)
    book = RowBook()
    async with serving(board), callers(board, CLIENTS) as clients:
        await book.once(clients[0], "first")
        async with anyio.create_task_group() as group, hold_write_lock(database_url):
            for place, client in enumerate(clients):
                group.start_soon(book.once, client, f"{place}")

            async def all_are_committed() -> bool:
                # On a slow machine the journal may refuse the last calls before they run.
                committed = len(await rows_of(tables, "SELECT id FROM notes")) - 1
                return committed > 0 and committed + len(book.refused) == CLIENTS

            await until(all_are_committed, 60)
            await board.end(signal.SIGKILL)
        await board.start()
        await check(board, book, tables, receipts=True)
    assert await recorded_apart(database_url, tables) == ([], 0)
