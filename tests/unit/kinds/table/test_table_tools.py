"""Table tools on a board, into its own database of either kind, from the call to the journal row."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from pegboard import Pegboard, ToolResult
from pegboard.testing import calls_of
from tests.table_databases import write_tables
from tests.unit.journal.two_boards import board_on, intents
from tests.waiting import until

FIELDS = [
    {"name": "user_id", "dataType": "text", "required": True},
    {"name": "mood", "dataType": "enum", "enumValues": ["happy", "sad"], "required": True},
    {"name": "energy", "dataType": "integer"},
    {"name": "price", "dataType": "numeric"},
    {"name": "is_good", "dataType": "boolean"},
    {"name": "at", "dataType": "datetime"},
    {"name": "more", "dataType": "json"},
]
GIVEN = {
    "user_id": "u'; DROP TABLE moods; --",
    "mood": "happy",
    "energy": 8,
    "price": Decimal("12.34"),
    "is_good": True,
    "at": "2025-10-05T16:30:00+02:00",
    "more": {"a": [1, None]},
}
CREATE = {
    "sqlite": """CREATE TABLE moods (id INTEGER PRIMARY KEY, telegram_id TEXT NOT NULL UNIQUE, mood VARCHAR(5) NOT NULL,
        energy INTEGER CHECK (energy < 11), price DECIMAL(9, 2), is_good BOOLEAN, at DATETIME, more JSON)""",
    "postgresql": """CREATE TABLE moods (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        telegram_id text NOT NULL UNIQUE, mood varchar(5) NOT NULL, energy smallint CHECK (energy < 11),
        price numeric(9, 2), is_good boolean, at timestamptz, more jsonb)""",
}


@pytest.fixture
async def board(database_url: str, tmp_path: Path) -> AsyncIterator[Pegboard]:
    async with board_on(database_url, tmp_path / "home") as opened:
        await sql(opened, CREATE[opened.database.kind])
        await opened.add(table_tool("log_mood"))
        await opened.add(table_tool("log_moods", batch=True))
        yield opened


def table_tool(name: str, **more: Any) -> dict[str, Any]:
    config = {"tableName": "moods", "fields": FIELDS, "columnMappings": {"user_id": "telegram_id"}, **more}
    return {"name": name, "description": "Log a mood", "tool_type": "table", "config": config, "input_schema": {}}


async def sql(board: Pegboard, statement: str) -> Sequence[Any]:
    async with board.database.write() as conn:
        done = await conn.execute(text(statement))
        return done.fetchall() if done.returns_rows else []


def failure(result: ToolResult) -> tuple[str, str, str | None]:
    assert result.problem is not None, result.output
    first = result.problem.first
    return result.problem.type.value, result.problem.code, first.field if first else None


async def test_a_row_is_in_with_every_value_in_its_place(board: Pegboard) -> None:
    result = await board.call("log_mood", GIVEN)
    assert result.success, result.problem
    assert result.output["id"] == 1
    assert result.output["rowCount"] == 1
    kind = board.database.kind
    (row,) = await sql(board, "SELECT telegram_id, mood, energy, price, is_good, at, more FROM moods")
    moment = row.at if kind == "sqlite" else row.at.isoformat()
    assert (row.telegram_id, row.mood, row.energy) == ("u'; DROP TABLE moods; --", "happy", 8)
    assert (Decimal(str(row.price)), bool(row.is_good)) == (Decimal("12.34"), True)
    assert moment == ("2025-10-05T14:30:00Z" if kind == "sqlite" else "2025-10-05T14:30:00+00:00")
    assert row.more == ('{"a":[1,null]}' if kind == "sqlite" else {"a": [1, None]})


async def test_the_journal_has_the_rows_id_and_there_is_neither_intent_nor_receipt(board: Pegboard) -> None:
    await board.call("log_mood", {"user_id": "u", "mood": "sad"})
    (call,) = await calls_of(board, "log_mood")
    assert (call.status, call.row_id) == ("succeeded", "1")
    assert await intents(board.database) == []
    assert await sql(board, "SELECT * FROM receipts") == []


async def test_a_call_that_is_made_again_with_its_key_is_answered_with_the_first_row(board: Pegboard) -> None:
    first, again = [await board.call("log_mood", {"user_id": "u", "mood": "sad"}, key="k") for _ in range(2)]
    assert again.repeat_of == first.run_id
    assert again.output == first.output


async def test_a_row_that_is_there_already_is_reported_by_the_name_of_its_field(board: Pegboard) -> None:
    await board.call("log_mood", {"user_id": "u", "mood": "sad"})
    result = await board.call("log_mood", {"user_id": "u", "mood": "sad"})
    assert failure(result) == ("DATABASE_ERROR", "P2002", "user_id")
    assert result.problem is not None
    assert result.problem.message == "Failed to insert mood: unique constraint violation on (user_id)"
    assert result.problem.sqlstate == "23505"
    assert await intents(board.database) == []


async def test_a_check_and_the_range_of_a_column_are_distinguished(board: Pegboard) -> None:
    checked = await board.call("log_mood", {"user_id": "u", "mood": "sad", "energy": 11})
    assert failure(checked) == ("DATABASE_ERROR", "P2004", "energy")
    beyond = await board.call("log_mood", {"user_id": "u", "mood": "sad", "energy": 2**63})
    assert failure(beyond) == ("VALIDATION_ERROR", "too_big", "energy")
    digits = await board.call("log_mood", {"user_id": "u", "mood": "sad", "price": 1.234})
    assert failure(digits) == ("VALIDATION_ERROR", "not_multiple_of", "price")
    assert await sql(board, "SELECT * FROM moods") == []


async def test_a_batch_is_in_as_a_whole_or_not_at_all(board: Pegboard) -> None:
    rows = [{"user_id": f"u{n}", "mood": "sad"} for n in range(3)]
    result = await board.call("log_moods", {"rows": [*rows, {"user_id": "u1", "mood": "happy"}]})
    assert failure(result) == ("DATABASE_ERROR", "P2002", "rows[3].user_id")
    assert result.problem is not None
    assert result.problem.message.startswith("Row 3: Failed to insert moods: ")
    assert await sql(board, "SELECT * FROM moods") == []
    result = await board.call("log_moods", {"rows": rows})
    assert result.success, result.problem
    ids = [row.id for row in await sql(board, "SELECT id FROM moods ORDER BY telegram_id")]
    assert result.output["ids"] == ids


async def test_calls_at_the_same_time_each_get_the_id_of_their_own_row(board: Pegboard) -> None:
    calls = (board.call("log_mood", {"user_id": f"u{n}", "mood": "sad", "energy": n % 12}) for n in range(60))
    results = await asyncio.gather(*calls)
    stored_ids = {row.telegram_id: row.id for row in await sql(board, "SELECT telegram_id, id FROM moods")}
    for n, result in enumerate(results):
        if n % 12 == 11:
            assert failure(result) == ("DATABASE_ERROR", "P2004", "energy")
        else:
            assert result.output["id"] == stored_ids.pop(f"u{n}")
    assert not stored_ids


async def test_a_table_that_is_dropped_disables_its_tool_until_it_is_back(board: Pegboard) -> None:
    assert (await board.call("log_mood", {"user_id": "u", "mood": "sad"})).success
    await sql(board, "DROP TABLE moods")
    result = await board.call("log_mood", {"user_id": "u", "mood": "sad"})
    assert failure(result) == ("CONFIG_ERROR", "table_not_found", None)
    assert result.problem is not None
    assert result.problem.message == "Table 'moods' does not exist in database schema"
    await sql(board, CREATE[board.database.kind])

    async def is_in() -> bool:
        return (await board.call("log_mood", {"user_id": "u", "mood": "sad"})).success

    assert await until(is_in)


async def test_a_column_that_is_renamed_is_reported_with_its_field(board: Pegboard) -> None:
    assert (await board.call("log_mood", {"user_id": "u", "mood": "sad"})).success
    await sql(board, "ALTER TABLE moods RENAME COLUMN telegram_id TO chat_id")
    result = await board.call("log_mood", {"user_id": "v", "mood": "sad"})
    assert failure(result) == ("CONFIG_ERROR", "column_not_found", "user_id")


async def test_a_key_without_a_default_gets_a_uuid(board: Pegboard) -> None:
    kind = "TEXT" if board.database.kind == "sqlite" else "uuid"
    await sql(board, f"CREATE TABLE notes (id {kind} PRIMARY KEY, body TEXT)")
    config = {"tableName": "notes", "fields": [{"name": "body", "dataType": "text"}]}
    await board.add({"name": "note", "description": "Note", "tool_type": "table", "config": config, "input_schema": {}})
    result = await board.call("note", {"body": "x"})
    ((stored_ids,),) = await sql(board, "SELECT id FROM notes")
    assert UUID(result.output["id"]) == UUID(str(stored_ids))


async def test_a_reference_to_nothing_is_reported_with_its_table(board: Pegboard) -> None:
    await sql(board, "CREATE TABLE tags (mood_id INTEGER NOT NULL REFERENCES moods (id))")
    fields = [{"name": "mood", "dataType": "integer", "required": True}]
    config = {"tableName": "tags", "fields": fields, "columnMappings": {"mood": "mood_id"}}
    await board.add({"name": "tag", "description": "Tag", "tool_type": "table", "config": config, "input_schema": {}})
    result = await board.call("tag", {"mood": 99})
    assert failure(result) == ("DATABASE_ERROR", "P2003", "mood")
    assert result.problem is not None
    assert "there is no row with this value in table 'moods'" in result.problem.message


async def test_a_tool_of_another_source_inserts_there_while_the_source_is_there(
    database_url: str, tmp_path: Path
) -> None:
    other = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(other)) as conn:
        conn.execute(CREATE["sqlite"])
    tables = write_tables(tmp_path / "tables.json", sources={"other": f"sqlite:///{other}"})
    async with board_on(database_url, tmp_path / "home", tables=tables) as board:
        await sql(board, CREATE[board.database.kind])
        await board.add(table_tool("log_there", source="other"))
        result = await board.call("log_there", GIVEN)
        assert result.success, result.problem
        assert await sql(board, "SELECT * FROM moods") == []
        with contextlib.closing(sqlite3.connect(other)) as conn:
            assert conn.execute("SELECT telegram_id, price FROM moods").fetchall() == [(GIVEN["user_id"], 12.34)]
        write_tables(tables)
        await board.tables.reload()
        assert failure(await board.call("log_there", GIVEN)) == ("CONFIG_ERROR", "source_not_found", None)
