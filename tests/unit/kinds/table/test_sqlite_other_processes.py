"""Inserts into an SQLite file that other processes lock, change, replace or make read-only."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pegboard.kinds.table.source import InsertEntry, InsertFault
from pegboard.kinds.table.sqlite_source import SqliteSource
from tests.unit.kinds.table.sqlite_tables import MOODS, entry, fetch_rows, insert, names_in, overwritten, run
from tests.waiting import until


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with the tables of MOODS."""
    run(tmp_path / "data.db", MOODS)
    return tmp_path / "data.db"


@pytest.fixture
async def source(file: Path) -> AsyncIterator[SqliteSource]:
    """The source of that file."""
    opened = SqliteSource(file)
    yield opened
    await opened.close()


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[sqlite3.Connection]:
    """The connections that were made since."""
    made: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def note(*given: Any, **more: Any) -> sqlite3.Connection:
        made.append(connect(*given, **more))
        return made[-1]

    monkeypatch.setattr(sqlite3, "connect", note)
    return made


async def impatient(source: SqliteSource, connections: list[sqlite3.Connection]) -> None:
    """Have the source wait hardly at all for locks."""
    await source.tables()
    connections[-1].execute("PRAGMA busy_timeout = 50")


async def refused(source: SqliteSource, one: InsertEntry) -> InsertFault:
    """Why the entry was not taken."""
    with pytest.raises(InsertFault) as raised:
        await source.insert(one)
    return raised.value


async def test_the_source_waits_for_locks_keeps_to_references_and_is_durable(
    connections: list[sqlite3.Connection], source: SqliteSource
) -> None:
    await source.tables()
    wanted = {"busy_timeout": 5000, "foreign_keys": 1, "synchronous": 2}
    assert {name: connections[-1].execute(f"PRAGMA {name}").fetchone()[0] for name in wanted} == wanted


async def test_a_lock_that_is_let_go_is_waited_for(source: SqliteSource, file: Path) -> None:
    one = await entry(source, "moods", {"user_id": "ada"})
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        task = asyncio.create_task(source.insert(one))
        await asyncio.sleep(0)
        assert not task.done()
        other.execute("ROLLBACK")
        assert (await task).output == [[1]]


async def test_a_lock_that_is_kept_is_reported_and_nothing_is_written(
    connections: list[sqlite3.Connection], source: SqliteSource, file: Path
) -> None:
    entries = [await entry(source, "moods", {"user_id": name}) for name in ("ada", "bob")]
    await impatient(source, connections)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        faults = await asyncio.gather(*map(source.insert, entries), return_exceptions=True)
        other.execute("ROLLBACK")
    found = [(fault.code, fault.sqlstate, fault.is_unknown) for fault in faults if isinstance(fault, InsertFault)]
    assert found == [("P1008", "55P03", False)] * 2
    assert fetch_rows(file, "SELECT * FROM moods") == []
    assert (await source.insert(entries[0])).output == [[1]]


async def test_a_reader_that_keeps_the_commit_waiting_is_reported_and_nothing_is_written(
    connections: list[sqlite3.Connection], source: SqliteSource, file: Path
) -> None:
    one = await entry(source, "moods", {"user_id": "ada"})
    await impatient(source, connections)
    with closing(sqlite3.connect(file, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM moods").fetchall()
        assert (await refused(source, one)).code == "P1008"
        reader.execute("COMMIT")
    assert fetch_rows(file, "SELECT * FROM moods") == []
    assert (await source.insert(one)).output == [[1]]


async def test_callers_that_go_while_the_file_is_locked_leave_no_row(source: SqliteSource, file: Path) -> None:
    entries = [await entry(source, "moods", {"user_id": f"u{number}"}) for number in range(4)]
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        tasks = [asyncio.create_task(source.insert(one)) for one in entries]
        await asyncio.sleep(0)
        for task in tasks[1:3]:
            task.cancel()
        await asyncio.wait(tasks[1:3])
        other.execute("ROLLBACK")
        await asyncio.wait(tasks)
    assert [task.cancelled() for task in tasks] == [False, True, True, False]
    assert fetch_rows(file, "SELECT user_id FROM moods") == [("u0",), ("u3",)]


@pytest.mark.parametrize(
    ("script", "code", "sqlstate", "columns"),
    [
        ("DROP TABLE moods", "P2021", "42P01", ()),
        ("ALTER TABLE moods RENAME COLUMN intensity TO strength", "P2022", "42703", ("intensity",)),
        ("ALTER TABLE moods RENAME COLUMN id TO number", "P2022", "42703", ("id",)),
        ("ALTER TABLE moods RENAME TO m; CREATE VIEW moods AS SELECT * FROM m", "P2010", "42809", ()),
        (
            "DROP TABLE moods; CREATE TABLE moods (id INTEGER PRIMARY KEY, user_id TEXT, intensity AS (1))",
            "P2010",
            "428C9",
            ("intensity",),
        ),
        ("ALTER TABLE moods ADD COLUMN why TEXT NOT NULL DEFAULT ''", None, None, ()),
    ],
)
async def test_a_table_that_changed_since_it_was_examined_is_reported_as_such(
    source: SqliteSource, file: Path, script: str, code: str | None, sqlstate: str | None, columns: tuple[str, ...]
) -> None:
    one = await entry(source, "moods", {"user_id": "ada", "intensity": 3})
    await source.insert(one)
    run(file, script)
    if code is None:
        assert (await source.insert(one)).output == [[2]]
        return
    fault = await refused(source, one)
    assert (fault.code, fault.sqlstate, fault.columns, fault.is_stale) == (code, sqlstate, columns, True)


async def test_a_view_in_place_of_a_table_without_a_key_is_reported_too(source: SqliteSource, file: Path) -> None:
    run(file, "CREATE TABLE plain (a TEXT)")
    one = await entry(source, "plain", {"a": "x"})
    run(file, "ALTER TABLE plain RENAME TO p; CREATE VIEW plain AS SELECT * FROM p")
    fault = await refused(source, one)
    assert (fault.sqlstate, fault.is_stale) == ("42809", True)


async def test_a_read_only_file_is_reported_and_written_again_when_it_is_not(source: SqliteSource, file: Path) -> None:
    one = await entry(source, "moods", {"user_id": "ada"})
    whole = overwritten(file, 18, b"\x03")  # a format that this SQLite may only read
    closed = SqliteSource(file)
    assert await closed.tables() == ["moods", "users"]
    fault = await refused(closed, one)
    assert (fault.code, fault.sqlstate) == ("P2010", "25006")
    assert "read-only" in fault.message
    overwritten(file, 0, whole)
    assert (await closed.insert(one)).output == [[1]]
    await closed.close()


async def test_a_damaged_file_is_reported(source: SqliteSource, file: Path) -> None:
    one = await entry(source, "moods", {"user_id": "ada"})
    overwritten(file, 4096, b"\x7f" * 16384)
    other = SqliteSource(file)
    fault = await refused(other, one)
    assert (fault.code, fault.sqlstate, fault.message) == ("P2010", "XX001", "The database file is damaged")
    await other.close()


async def test_rows_go_to_the_file_that_has_the_name_now(source: SqliteSource, file: Path, tmp_path: Path) -> None:
    assert await insert(source, "moods", {"user_id": "old"}) == [[1]]
    one = await entry(source, "moods", {"user_id": "new"})
    shutil.move(file, tmp_path / "old.db")
    assert (await refused(source, one)).code == "P1003"
    assert names_in(tmp_path) == ["old.db"]
    run(file, MOODS)
    assert (await source.insert(one)).output == [[1]]
    assert fetch_rows(file, "SELECT user_id FROM moods") == [("new",)]
    assert fetch_rows(tmp_path / "old.db", "SELECT user_id FROM moods") == [("old",)]


async def test_many_writers_on_one_file_lose_and_double_nothing(file: Path) -> None:
    sources = [SqliteSource(file) for _ in range(3)]
    entries = [
        (source, await entry(source, "moods", {"user_id": f"{place}-{number}"}))
        for place, source in enumerate(sources)
        for number in range(30)
    ]
    outcomes = await asyncio.gather(*(source.insert(one) for source, one in entries))
    rows = dict(fetch_rows(file, "SELECT id, user_id FROM moods"))
    assert [rows[outcome.output[0][0]] for outcome in outcomes] == [one.rows[0].values[0] for _, one in entries]
    assert len(rows) == 90
    for source in sources:
        await source.close()


async def test_a_wal_stays_one(file: Path) -> None:
    run(file, "PRAGMA journal_mode = WAL")
    source = SqliteSource(file)
    with closing(sqlite3.connect(file, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM moods").fetchall()
        assert await insert(source, "moods", {"user_id": "ada"}) == [[1]]
    await source.close()
    assert fetch_rows(file, "PRAGMA journal_mode") == [("wal",)]


async def test_reading_facts_waits_behind_inserts_and_not_forever(source: SqliteSource, file: Path) -> None:
    one = await entry(source, "moods", {"user_id": "ada"})
    inserting = asyncio.create_task(source.insert(one))
    looking = asyncio.create_task(source.facts(None, "moods"))

    async def both() -> bool:
        return inserting.done() and looking.done()

    await until(both)
    assert inserting.result().output == [[1]]
    assert looking.result() is not None
