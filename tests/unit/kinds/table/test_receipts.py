"""Receipts in a database that is not the board's own: a row and the entry of its call are committed together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import pytest

from pegboard import Pegboard, ToolResult
from pegboard.journal import commit_queue, receipts
from pegboard.journal.commit_queue import DatabaseJournal
from pegboard.kinds.table.receipt_table import CREATE_STATEMENT, RECEIPT_TABLE
from pegboard.testing import calls_of
from tests.crash.table_server import ledger, ledger_table
from tests.table_databases import driver_url, rows_of, run_sql, write_tables
from tests.unit.journal.standalone_journals import kill
from tests.unit.journal.two_boards import board_on, code, intents, is_repeat
from tests.waiting import until

KEYS = pytest.mark.parametrize("key", [None, "k"])
Open = Callable[..., Any]


@pytest.fixture(autouse=True)
def recovery_is_frequent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dead processes are found at once, instead of after seconds."""
    monkeypatch.setattr(commit_queue, "MAINTENANCE_SECONDS", 0.1)
    monkeypatch.setattr(receipts, "RECOVERY_SECONDS", 0.05)
    monkeypatch.setattr(receipts, "IDLE_SECONDS", 0.05)
    monkeypatch.setattr(receipts, "IDS_PER_PAGE", 4)
    monkeypatch.setattr(receipts, "RECEIPTS_PER_BATCH", 3)


@pytest.fixture(params=["sqlite", "postgresql"])
async def tables(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database with a table that is not the board's own."""
    url: str = request.getfixturevalue("postgres_url") if request.param == "postgresql" else ""
    url = driver_url(url) or f"sqlite:///{tmp_path}/tables.db"
    await run_sql(url, ledger_table(url))
    return url


@pytest.fixture
async def open_board(tables: str, tmp_path: Path) -> AsyncIterator[Open]:
    """Opens boards with a tool that writes receipts, by default processes of the same board."""
    async with AsyncExitStack() as stack:

        async def open_one(name: str = "board", **more: Any) -> Pegboard:
            file = write_tables(tmp_path / f"{name}.json", ledger(receipts=True, **more), database=tables)
            return await stack.enter_async_context(board_on(f"sqlite:///{tmp_path}/{name}.db", tmp_path, tables=file))

        yield open_one


async def notes(url: str) -> list[str]:
    return sorted(n for (n,) in await rows_of(url, "SELECT n FROM notes"))


async def receipt_count(url: str, where: str = "entry IS NOT NULL") -> int:
    try:
        ((count,),) = await rows_of(url, f"SELECT count(*) FROM {RECEIPT_TABLE} WHERE {where}")
    except Exception as error:
        assert RECEIPT_TABLE in str(error)
        return 0
    return int(count)


async def removed(url: str) -> None:
    """Return as soon as no receipt is left."""

    async def none_left() -> bool:
        return await receipt_count(url) == 0

    await until(none_left, 20)


async def statuses(board: Pegboard, count: int) -> list[str]:
    """Return the statuses of this many recorded calls, as soon as there are as many; verify the journal."""

    async def are_there() -> bool:
        return len(await calls_of(board)) >= count

    await until(are_there, 20)
    assert (await board.audit.verify()).findings == ()
    return sorted(row.status for row in await calls_of(board))


class Interrupted:
    """A process that stops between the COMMIT of a row and its journal entry, or before its transaction."""

    def __init__(self, board: Pegboard, monkeypatch: pytest.MonkeyPatch, *, before: bool = False) -> None:
        self.reached = asyncio.Event()
        self.go = asyncio.Event()
        self.board = board
        if before:
            compiled = board.snapshot.find("note")
            assert compiled is not None
            run = compiled.prepared.run

            async def wait_and_run(call: Any) -> Any:
                self.reached.set()
                await self.go.wait()
                return await run(call)

            object.__setattr__(compiled.prepared, "run", wait_and_run)
            return
        record = DatabaseJournal.record

        async def wait_and_record(journal: DatabaseJournal, execution: Any, result: ToolResult) -> None:
            if journal is board.journal:
                self.reached.set()
                await self.go.wait()
            await record(journal, execution, result)

        monkeypatch.setattr(DatabaseJournal, "record", wait_and_record)

    async def call(self, n: str, key: str | None = None) -> asyncio.Task[ToolResult]:
        task = asyncio.create_task(self.board.call("note", {"n": n}, key=key))
        with anyio.fail_after(20):
            await self.reached.wait()
        return task


@KEYS
async def test_a_call_has_one_entry_without_an_intent_and_its_receipt_is_removed(
    open_board: Open, tables: str, key: str | None
) -> None:
    board = await open_board()
    results = await asyncio.gather(*(board.call("note", {"n": f"{n}"}, key=key and f"{key}{n}") for n in range(20)))
    assert all(result.success for result in results)
    assert await statuses(board, 20) == ["succeeded"] * 20
    assert {row.row_id for row in await calls_of(board)} == {str(result.output["id"]) for result in results}
    assert await intents(board.database) == ([("done", True)] * 20 if key else [])
    await removed(tables)
    assert await receipt_count(tables, "1 = 1") == 0
    if key is not None:
        assert is_repeat(await board.call("note", {"n": "0"}, key="k0"), results[0])


@KEYS
async def test_the_receipt_of_a_dead_process_is_recorded_by_another(
    open_board: Open, tables: str, key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = await open_board()
    task = await Interrupted(dead, monkeypatch).call("a", key)
    assert (await receipt_count(tables), await notes(tables)) == (1, ["a"])
    other = await open_board()
    await kill(dead)
    assert await statuses(other, 1) == ["succeeded"]
    await removed(tables)
    if key is not None:
        repeated = await other.call("note", {"n": "a"}, key=key)
        assert repeated.success
        assert repeated.repeat_of == (await calls_of(other))[0].id
    assert await notes(tables) == ["a"]
    task.cancel()
    await asyncio.wait({task})


@KEYS
async def test_all_receipts_of_a_dead_process_are_recorded_page_by_page(
    open_board: Open, tables: str, key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = await open_board()
    interrupted = Interrupted(dead, monkeypatch)
    tasks = [await interrupted.call(f"{n}", key and f"{key}{n}") for n in range(10)]

    async def are_committed() -> bool:
        return await receipt_count(tables) == 10

    await until(are_committed, 20)
    other = await open_board()
    await kill(dead)
    assert await statuses(other, 10) == ["succeeded"] * 10
    await removed(tables)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def test_a_call_whose_receipt_cannot_be_read_for_long_is_in_doubt_and_corrected_when_it_can(
    open_board: Open, tables: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receipts, "PENDING_LIFETIME", timedelta(seconds=-10))
    dead = await open_board()
    task = await Interrupted(dead, monkeypatch).call("a", "k")
    hide, show = _renaming(tmp_path) if tables.startswith("sqlite") else _replacing(tables)
    await hide()
    other = await open_board()
    await kill(dead)
    assert await statuses(other, 1) == ["in_doubt"]
    assert code(await other.call("note", {"n": "a"}, key="k")) == "in_doubt"
    await show()
    await removed(tables)
    rows = {row.status: row for row in await calls_of(other) if row.repeat_of is not None or row.status == "in_doubt"}
    assert rows["succeeded"].repeat_of == rows["in_doubt"].id
    assert (await other.call("note", {"n": "a"}, key="k")).success
    assert await notes(tables) == ["a"]
    task.cancel()
    await asyncio.wait({task})


async def test_a_call_with_a_key_that_was_given_up_inserts_nothing_any_more(
    open_board: Open, tables: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = await open_board()
    interrupted = Interrupted(dead, monkeypatch, before=True)
    task = await interrupted.call("a", "k")
    other = await open_board()
    await kill(dead)
    assert await statuses(other, 1) == ["failed"]
    assert [row.code for row in await calls_of(other)] == ["interrupted"]
    interrupted.go.set()
    assert code(await task) in {"P2034", "P2010", "unrecorded"}
    assert await notes(tables) == []
    again = await other.call("note", {"n": "a"}, key="k")
    assert again.success
    assert again.repeat_of is None
    assert await notes(tables) == ["a"]


async def test_a_call_stays_pending_until_its_database_can_be_reached(
    open_board: Open, tables: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    dead = await open_board()
    task = await Interrupted(dead, monkeypatch).call("a", "k")
    hide, show = _renaming(tmp_path) if tables.startswith("sqlite") else _replacing(tables)
    await hide()
    other = await open_board()
    await kill(dead)

    async def is_logged() -> bool:
        return "receipts_not_recovered" in caplog.text

    await until(is_logged, 20)
    await until(lambda: _dead_writer_is_closed(other), 20)
    assert await calls_of(other) == []
    assert await intents(other.database) == [("open", True)]
    await show()
    assert await statuses(other, 1) == ["succeeded"]
    await removed(tables)
    assert (await other.call("note", {"n": "a"}, key="k")).repeat_of is not None
    assert await notes(tables) == ["a"]
    task.cancel()
    await asyncio.wait({task})


async def _dead_writer_is_closed(board: Pegboard) -> bool:
    ((count,),) = await rows_of(board.database.shown_url, "SELECT count(*) FROM writers WHERE closed_at IS NOT NULL")
    return bool(count)


def _renaming(folder: Path) -> tuple[Any, Any]:
    database_file, hidden = folder / "tables.db", folder / "hidden.db"

    async def hide() -> None:
        database_file.rename(hidden)

    async def show() -> None:
        hidden.rename(database_file)

    return hide, show


def _replacing(url: str) -> tuple[Any, Any]:
    async def hide() -> None:
        await run_sql(
            url, f"ALTER TABLE {RECEIPT_TABLE} RENAME TO hidden", f"CREATE VIEW {RECEIPT_TABLE} AS SELECT 1/0 AS id"
        )

    async def show() -> None:
        await run_sql(url, f"DROP VIEW {RECEIPT_TABLE}", f"ALTER TABLE hidden RENAME TO {RECEIPT_TABLE}")

    return hide, show


async def test_a_receipt_that_the_board_did_not_write_is_set_aside(
    open_board: Open, tables: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = await open_board()
    task = await Interrupted(dead, monkeypatch).call("a", "k")
    await run_sql(tables, f"UPDATE {RECEIPT_TABLE} SET entry = replace(entry, 'succeeded', 'failed')")
    other = await open_board()
    await kill(dead)
    assert await statuses(other, 1) == ["in_doubt"]
    assert await receipt_count(tables, "set_aside_at IS NOT NULL") == 1
    assert code(await other.call("note", {"n": "a"}, key="k")) == "in_doubt"
    task.cancel()
    await asyncio.wait({task})


async def test_boards_that_share_a_database_record_only_their_own_receipts(
    open_board: Open, tables: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead, neighbour = await open_board(), await open_board("neighbour")
    task = await Interrupted(dead, monkeypatch).call("a")
    assert (await neighbour.call("note", {"n": "b"})).success
    other = await open_board()
    await kill(dead)
    assert await statuses(other, 1) == ["succeeded"]
    await removed(tables)
    assert await statuses(neighbour, 1) == ["succeeded"]
    assert {row.id for row in await calls_of(other)}.isdisjoint(row.id for row in await calls_of(neighbour))
    task.cancel()
    await asyncio.wait({task})


async def test_a_failed_insert_leaves_no_receipt(open_board: Open, tables: str) -> None:
    await run_sql(tables, "CREATE UNIQUE INDEX once ON notes (n)")
    board = await open_board(batch=True)
    await board.call("note", {"n": "a"})
    results = await asyncio.gather(
        board.call("note", {"n": "a"}), board.call("note", {"n": "b"}), board.call("note-batch", {"rows": [{"n": "c"}]})
    )
    assert [code(result) for result in results] == ["P2002", None, None]
    assert await statuses(board, 4) == ["failed", "succeeded", "succeeded", "succeeded"]
    await removed(tables)
    assert await notes(tables) == ["a", "b", "c"]


async def test_a_table_of_receipts_that_is_dropped_is_created_again(open_board: Open, tables: str) -> None:
    board = await open_board()
    assert (await board.call("note", {"n": "a"})).success
    await removed(tables)
    await run_sql(tables, f"DROP TABLE {RECEIPT_TABLE}")
    assert (await board.call("note", {"n": "b"})).success
    assert await statuses(board, 2) == ["succeeded"] * 2


@pytest.mark.parametrize("may_read", [False, True])
async def test_a_user_without_the_rights_gets_what_has_to_be_granted(
    postgres_url: str, tmp_path: Path, may_read: bool
) -> None:
    url = driver_url(postgres_url)
    role = f"writer_{uuid4().hex}"
    await run_sql(
        url,
        ledger_table(url),
        f"CREATE ROLE {role}",
        f"GRANT SELECT, INSERT ON notes TO {role}",
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
        *([CREATE_STATEMENT, f"GRANT SELECT ON {RECEIPT_TABLE} TO {role}"] if may_read else []),
    )
    limited = f"{url}{'&' if '?' in url else '?'}options=-c%20role%3D{role}"
    file = write_tables(tmp_path / "tables.json", ledger(receipts=True), database=limited)
    async with board_on(f"sqlite:///{tmp_path}/board.db", tmp_path, tables=file) as board:
        result = await board.call("note", {"n": "a"})
        assert result.problem is not None
        assert result.problem.code == ("P2010" if may_read else "receipts_unusable")
        assert not result.problem.did_run
        assert ("grant INSERT" if may_read else CREATE_STATEMENT) in result.problem.message
    assert await notes(url) == []
    await run_sql(url, f"DROP OWNED BY {role}", f"DROP ROLE {role}")


async def test_in_the_boards_own_database_no_receipts_are_needed(database_url: str, tmp_path: Path) -> None:
    await run_sql(database_url, ledger_table(database_url))
    file = write_tables(tmp_path / "tables.json", ledger(receipts=True))
    async with board_on(database_url, tmp_path, tables=file) as board:
        assert (await board.call("note", {"n": "a"})).success
        assert await statuses(board, 1) == ["succeeded"]
    assert await receipt_count(database_url, "1 = 1") == 0
