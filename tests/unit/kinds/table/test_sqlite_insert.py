"""Rows into the tables of an SQLite file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pegboard.kinds.table.source import InsertAnswer, InsertFault
from pegboard.kinds.table.sqlite_source import SqliteSource
from tests.unit.kinds.table.sqlite_tables import MOODS, entry, fetch_rows, insert, run


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


def transactions(file: Path) -> int:
    """How often a file that keeps no WAL was committed to."""
    return int.from_bytes(file.read_bytes()[24:28], "big")


async def together(source: SqliteSource, *entries: Any) -> list[Any]:
    """The outcomes of entries that wait for the same transaction."""
    return list(await asyncio.gather(*map(source.insert, entries), return_exceptions=True))


async def test_a_row_is_answered_with_its_key_once_it_is_there(source: SqliteSource, file: Path) -> None:
    assert await insert(source, "moods", {"user_id": "ada", "mood": "happy"}) == [[1]]
    assert await insert(source, "users", {"id": "ada", "name": "Ada"}) == [["ada"]]
    assert fetch_rows(file, "SELECT * FROM moods") == [(1, "ada", "happy", None)]


@pytest.mark.parametrize(
    ("declared", "row", "key"),
    [
        ("(a TEXT)", {"a": "x"}, []),
        ("(a TEXT DEFAULT 'd', id INTEGER PRIMARY KEY)", {}, [1]),
        ("(b INT, a TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID", {"b": 1, "a": "x"}, ["x", 1]),
        ("(a TEXT PRIMARY KEY DEFAULT (lower('MADE')), b INT)", {"b": 1}, ["made"]),
    ],
)
async def test_the_key_is_returned_whatever_it_is(
    source: SqliteSource, file: Path, declared: str, row: dict[str, Any], key: list[Any]
) -> None:
    run(file, f"CREATE TABLE t {declared}")
    assert await insert(source, "t", row) == [key]
    assert len(fetch_rows(file, "SELECT * FROM t")) == 1


async def test_odd_names_are_names_and_odd_values_are_values(source: SqliteSource, file: Path) -> None:
    table, column = "t\"); DROP TABLE moods; --%s'", 'a"b?, :c'
    run(
        file, 'CREATE TABLE "{}" ("{}" TEXT PRIMARY KEY)'.format(*(name.replace('"', '""') for name in (table, column)))
    )
    value = "'); DROP TABLE moods; -- \0 ü 🙂"
    assert await insert(source, table, {column: value}) == [[value]]
    assert await source.tables() == ["moods", table, "users"]


async def test_a_column_that_is_not_among_the_facts_never_becomes_sql(source: SqliteSource, file: Path) -> None:
    with pytest.raises(ValueError, match="names columns that the table does not have"):
        await insert(source, "moods", {"user_id) SELECT 1 --": "x"})
    assert fetch_rows(file, "SELECT * FROM moods") == []


async def test_a_hundred_that_come_together_are_each_answered_with_their_own_id(
    source: SqliteSource, file: Path
) -> None:
    entries = [await entry(source, "moods", {"user_id": f"u{number}"}) for number in range(100)]
    before = transactions(file)
    outcomes = await together(source, *entries)
    assert transactions(file) == before + 1
    rows = dict(fetch_rows(file, "SELECT user_id, id FROM moods"))
    assert len(rows) == 100
    assert [outcome.output for outcome in outcomes] == [[[rows[f"u{number}"]]] for number in range(100)]


async def test_entries_for_several_tables_share_a_transaction(source: SqliteSource, file: Path) -> None:
    entries = [
        await entry(source, "users", {"id": "ada", "name": "Ada"}),
        await entry(source, "moods", {"user_id": "ada"}),
    ]
    before = transactions(file)
    assert all(isinstance(outcome, InsertAnswer) for outcome in await together(source, *entries))
    assert transactions(file) == before + 1


async def test_a_failed_entry_undoes_only_itself(source: SqliteSource, file: Path) -> None:
    good = [await entry(source, "moods", {"user_id": f"u{number}"}) for number in range(3)]
    bad = await entry(source, "moods", {"user_id": "bad"}, {"user_id": "worse", "mood": "green"})
    outcomes = await together(source, good[0], bad, good[1], bad, good[2])
    assert [type(outcome) for outcome in outcomes] == [
        InsertAnswer,
        InsertFault,
        InsertAnswer,
        InsertFault,
        InsertAnswer,
    ]
    assert fetch_rows(file, "SELECT user_id FROM moods ORDER BY id") == [("u0",), ("u1",), ("u2",)]


async def test_the_rows_of_an_entry_are_there_all_or_none(source: SqliteSource, file: Path) -> None:
    rows = [{"user_id": f"u{number}", "intensity": number} for number in range(1, 5)]
    assert await insert(source, "moods", *rows) == [[1], [2], [3], [4]]
    with pytest.raises(InsertFault) as refused:
        await insert(source, "moods", {"user_id": "a"}, {"user_id": "b"}, {"user_id": "c", "intensity": 11})
    assert (refused.value.code, refused.value.row, refused.value.columns) == ("P2004", 2, ("intensity",))
    assert fetch_rows(file, "SELECT count(*) FROM moods") == [(4,)]


async def test_of_two_that_exclude_each_other_one_is_there(source: SqliteSource, file: Path) -> None:
    entries = [await entry(source, "moods", {"user_id": "ada", "mood": "sad"}) for _ in range(2)]
    first, second = await together(source, *entries)
    assert first.output == [[1]]
    assert second.code == "P2002"
    assert fetch_rows(file, "SELECT count(*) FROM moods") == [(1,)]


async def test_a_row_that_ends_the_transaction_does_not_take_others_with_it(source: SqliteSource, file: Path) -> None:
    run(file, "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE ON CONFLICT ROLLBACK)")
    entries = [await entry(source, "t", {"a": word}) for word in ("x", "y", "x", "z", "y")]
    outcomes = await together(source, *entries)
    assert [getattr(outcome, "code", None) for outcome in outcomes] == [None, None, "P2002", None, "P2002"]
    assert fetch_rows(file, "SELECT a FROM t ORDER BY id") == [("x",), ("y",), ("z",)]


async def test_a_reference_that_is_checked_at_the_end_fails_for_its_own_entry(source: SqliteSource, file: Path) -> None:
    run(
        file,
        "CREATE TABLE t (id INTEGER PRIMARY KEY, u TEXT REFERENCES users DEFERRABLE INITIALLY DEFERRED);"
        "INSERT INTO users VALUES ('ada', 'Ada')",
    )
    given = (["ada"], ["ada", "nobody"], [None])
    entries = [await entry(source, "t", *({"u": user} for user in users)) for users in given]
    good, bad, free = await together(source, *entries)
    assert isinstance(good, InsertAnswer)
    assert isinstance(free, InsertAnswer)
    assert (bad.code, bad.sqlstate, bad.columns, bad.row) == ("P2003", "23503", ("u",), 1)
    assert fetch_rows(file, "SELECT u FROM t ORDER BY id") == [("ada",), (None,)]


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE t (a TEXT UNIQUE ON CONFLICT IGNORE); INSERT INTO t VALUES ('x')",
        "CREATE TABLE t (a TEXT);CREATE TRIGGER no BEFORE INSERT ON t WHEN new.a = 'x' BEGIN SELECT RAISE(IGNORE); END",
    ],
)
async def test_a_row_that_the_table_skips_is_not_reported_to_be_there(
    source: SqliteSource, file: Path, script: str
) -> None:
    run(file, script)
    with pytest.raises(InsertFault, match="kept the row out") as skipped:
        await insert(source, "t", {"a": "y"}, {"a": "x"})
    assert skipped.value.row == 1
    assert ("y",) not in fetch_rows(file, "SELECT a FROM t")


async def test_a_trigger_that_takes_too_long_is_stopped_and_the_others_continue(
    source: SqliteSource, file: Path
) -> None:
    run(
        file,
        """CREATE TABLE t (n INTEGER); CREATE TABLE seen (n);
        CREATE TRIGGER slow AFTER INSERT ON t BEGIN INSERT INTO seen
          WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < new.n) SELECT max(x) FROM c; END""",
    )
    entries = [await entry(source, "t", {"n": n}, seconds=0.5 if n > 9 else 30) for n in (1, 10**12, 2)]
    one, slow, two = await asyncio.gather(*map(source.insert, entries), return_exceptions=True)
    assert isinstance(one, InsertAnswer)
    assert isinstance(two, InsertAnswer)
    assert isinstance(slow, InsertFault)
    assert slow.sqlstate == "57014"
    assert fetch_rows(file, "SELECT n FROM t ORDER BY n") == [(1,), (2,)]


async def test_a_call_whose_time_is_up_is_not_run(source: SqliteSource, file: Path) -> None:
    late = await entry(source, "moods", {"user_id": "late"}, seconds=-1)
    outcomes = await together(source, late, await entry(source, "moods", {"user_id": "ada"}))
    assert outcomes[0].code == "P2024"
    assert outcomes[1].output == [[1]]
    assert fetch_rows(file, "SELECT user_id FROM moods") == [("ada",)]


async def test_a_caller_that_disconnects_while_its_row_waits_for_the_commit_leaves_none(
    source: SqliteSource, file: Path
) -> None:
    """The row of the first is in the transaction when its caller goes; that of the second stays."""
    loop = asyncio.get_running_loop()
    first = await entry(source, "moods", {"user_id": "gone"})
    second = await entry(source, "moods", {"user_id": "here"})
    task = asyncio.create_task(source.insert(first))
    await asyncio.sleep(0)  # so that it is first

    async def cancel() -> None:
        task.cancel()
        await asyncio.wait([task])

    def answered(keys: Any) -> InsertAnswer:
        asyncio.run_coroutine_threadsafe(cancel(), loop).result(10)
        return InsertAnswer(list(keys), None)

    kept = await source.insert(second._replace(build_answer=answered))
    assert task.cancelled()
    assert kept.output == [(1,)]
    assert fetch_rows(file, "SELECT user_id FROM moods") == [("here",)]


async def test_an_answer_that_cannot_be_made_leaves_no_row(source: SqliteSource, file: Path) -> None:
    def answered(_keys: Any) -> InsertAnswer:
        raise LookupError("no such placeholder")

    made = await entry(source, "moods", {"user_id": "ada"})
    outcomes = await together(
        source, made._replace(build_answer=answered), await entry(source, "moods", {"user_id": "b"})
    )
    assert isinstance(outcomes[0], LookupError)
    assert fetch_rows(file, "SELECT user_id FROM moods") == [("b",)]


async def test_closing_lets_what_waits_be_committed(file: Path) -> None:
    source = SqliteSource(file)
    entries = [await entry(source, "moods", {"user_id": f"u{number}"}) for number in range(5)]
    tasks = [asyncio.create_task(source.insert(one)) for one in entries]
    await asyncio.sleep(0)
    await source.close()
    assert [outcome.output for outcome in await asyncio.gather(*tasks)] == [[[number]] for number in range(1, 6)]


@pytest.mark.parametrize(("target", "columns"), [("", ("x", "y")), ("(b, a)", ("x", "y"))])
async def test_a_reference_over_several_columns_is_named_whole(
    source: SqliteSource, file: Path, target: str, columns: tuple[str, ...]
) -> None:
    run(
        file,
        "CREATE TABLE pairs (a INT, b INT, PRIMARY KEY (a, b)); CREATE UNIQUE INDEX ba ON pairs (b, a);"
        "INSERT INTO pairs VALUES (1, 1);"
        f"CREATE TABLE t (x INT, y INT, u TEXT REFERENCES users, FOREIGN KEY (x, y) REFERENCES pairs {target})",
    )
    await insert(source, "users", {"id": "ada", "name": "Ada"})
    await insert(source, "t", {"x": 1, "y": 1, "u": "ada"}, {"x": 1, "y": None, "u": None})
    with pytest.raises(InsertFault) as refused:
        await insert(source, "t", {"x": 1, "y": 2, "u": "ada"})
    assert (refused.value.code, refused.value.columns) == ("P2003", columns)
    assert refused.value.constraint == "t_x_y_fkey"
