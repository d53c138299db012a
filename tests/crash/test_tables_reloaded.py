"""The tables file reloaded during traffic: every row is inserted once, into one table."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path

import anyio

from tests.crash.journal_contents import reader
from tests.crash.server_processes import caller, serving
from tests.crash.table_server import RowBook, TableBoard, insert, ledger, ledger_table
from tests.table_databases import driver_url, rows_of, run_sql, scribble

CLIENTS = 20
RELOADS = 6


async def test_a_database_that_is_changed_in_the_file_takes_the_rows_from_then_on(
    postgres_url: str, tmp_path: Path
) -> None:
    places = [driver_url(postgres_url), f"sqlite:///{tmp_path}/tables.db"]
    for url in places:
        await run_sql(url, ledger_table(url))
    board = TableBoard(f"sqlite:///{tmp_path}/board.db", tmp_path, ledger(), database=places[0])
    book = RowBook()
    is_over = False
    marked: list[tuple[str, str]] = []
    async with serving(board), caller(board) as client:

        async def insert_on(place: int) -> None:
            count = 0
            while not is_over:
                count += 1
                n = f"{place}-{count}"
                await (book.insert_until_known(client, n) if place % 2 else book.once(client, n))

        async with anyio.create_task_group() as group:
            for place in range(CLIENTS):
                group.start_soon(insert_on, place)
            for turn in range(1, RELOADS + 1):
                await book.acknowledged(20 * turn)
                board.write(ledger(description=f"Version {turn}."), database=places[turn % 2])
                assert (await client.post("/v1/tables/reload")).status_code == 200
                # Calls from here on go to the new table.
                marked.append((f"mark {turn}", places[turn % 2]))
                result = await insert(client, "note", f"mark {turn}")
                assert result.code == "succeeded", result
            scribble(board.file, '{"tables": [{}]}')
            answer = await client.post("/v1/tables/reload")
            assert answer.status_code == 422, answer.text
            await book.acknowledged(len(book.there) + CLIENTS)
            is_over = True
        shown = (await client.get("/v1/tables")).json()
        assert shown["error"]["errors"]
        assert [item["status"] for item in shown["items"]] == ["ok"]
        async with reader(board.url, board.home) as journal:
            await journal.settled()
            assert await board.end(signal.SIGTERM) == 0
            assert await journal.faults() == []
    rows = {url: await rows_of(url, "SELECT id, n FROM notes") for url in places}
    kept = Counter(n for found in rows.values() for _, n in found)
    for n, url in marked:
        assert n in {found for _, found in rows[url]}, (n, url)
        del kept[n]
    assert book.open == {}
    assert set(book.codes) <= {"succeeded", "unavailable"}
    assert kept == Counter(book.there.keys())
