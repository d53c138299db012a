"""Constraints of the database."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import insert, text, update
from sqlalchemy.exc import IntegrityError, InvalidRequestError
from sqlalchemy.ext.asyncio import AsyncSession

from pegboard.model.ids import new_id
from pegboard.model.tool import Kind
from pegboard.storage import board_tables, journal_tables, tool_rows
from pegboard.storage.database import Database
from tests.unit.storage.sample_rows import a_tool, an_execution, kept_user


@pytest.mark.parametrize("kind", [*Kind, "kind_of_a_plugin"])
async def test_every_kind_of_tool_can_be_kept(database: Database, kind: str) -> None:
    tool = a_tool(await kept_user(database), tool_type=kind)
    async with database.change() as change:
        await tool_rows.add_tools(change.conn, [tool], revision=change.revision, by="ada")
        assert await tool_rows.get_tool(change.conn, tool.id) == tool


@pytest.mark.parametrize(
    "wrong",
    [
        {"tool_type": None},
        {"is_active": None},
        {"is_public": None},
        {"config": None},
        {"input_schema": None},
        {"revision": None},
        {"created_at": None},
        {"is_deleted": None},
    ],
    ids=str,
)
async def test_a_tool_that_breaks_a_rule_is_refused(database: Database, wrong: dict[str, Any]) -> None:
    tool = a_tool(await kept_user(database))
    async with database.change() as change:
        await tool_rows.add_tools(change.conn, [tool], revision=change.revision, by="ada")
    with pytest.raises(IntegrityError):
        async with database.write() as conn:
            await conn.execute(update(board_tables.Tool).values(wrong))


async def test_the_checks_hold_without_the_not_null_beside_them(database: Database) -> None:
    query = {
        "sqlite": "SELECT sql FROM sqlite_master WHERE name = 'tools'",
        "postgresql": "SELECT string_agg(pg_get_constraintdef(oid), ' ') FROM pg_constraint "
        "WHERE conrelid = 'tools'::regclass",
    }
    async with database.read() as conn:
        written = (await conn.execute(text(query[database.kind]))).scalar_one()
    assert "is_active IS NOT NULL" in written
    assert "is_public IS NOT NULL" in written
    assert "REFERENCES users" in written


async def test_a_user_who_owns_a_tool_cannot_vanish(database: Database) -> None:
    tool = a_tool(await kept_user(database))
    async with database.change() as change:
        await tool_rows.add_tools(change.conn, [tool], revision=change.revision, by="ada")
    with pytest.raises(IntegrityError):
        async with database.write() as conn:
            await conn.execute(text("DELETE FROM users"))


async def test_the_board_has_one_state(database: Database) -> None:
    with pytest.raises(IntegrityError):
        async with database.write() as conn:
            await conn.execute(insert(board_tables.BoardRow).values(id=2, revision=0))


def an_intent(**fields: Any) -> dict[str, Any]:
    """A call that is about to run."""
    basics = {"writer": 1, "state": "open", "execution": "[]", "receipts": False, "claim": None}
    return {"id": new_id(), **basics, **fields}


class TestJournal:
    @pytest.mark.parametrize(
        "wrong",
        [{"state": "over"}, {"state": None}, {"writer": None}, {"execution": None}, {"receipts": None}],
        ids=str,
    )
    async def test_an_intent_that_breaks_a_rule_is_refused(self, database: Database, wrong: dict[str, Any]) -> None:
        with pytest.raises(IntegrityError):
            async with database.write() as conn:
                await conn.execute(insert(journal_tables.Intent).values(an_intent(**wrong)))

    async def test_a_key_is_held_by_one_call_and_any_number_have_none(self, database: Database) -> None:
        async with database.write() as conn:
            for claim in (None, None, "one", "two"):
                await conn.execute(insert(journal_tables.Intent).values(an_intent(claim=claim)))
        with pytest.raises(IntegrityError):
            async with database.write() as conn:
                await conn.execute(insert(journal_tables.Intent).values(an_intent(claim="one", state="done")))

    async def test_a_place_in_a_chain_is_taken_once_and_rows_from_before_it_have_none(self, database: Database) -> None:
        def row(**place: Any) -> dict[str, Any]:
            return {**an_execution()._asdict(), **place}

        async with database.write() as conn:
            for place in ({}, {}, {"writer": 1, "seq": 1}, {"writer": 1, "seq": 2}, {"writer": 2, "seq": 1}):
                await conn.execute(insert(journal_tables.executions).values(row(**place)))
        with pytest.raises(IntegrityError):
            async with database.write() as conn:
                await conn.execute(insert(journal_tables.executions).values(row(writer=1, seq=2)))


async def test_relations_are_loaded_only_when_asked_for(database: Database) -> None:
    tool = a_tool(await kept_user(database))
    async with database.change() as change:
        await tool_rows.add_tools(change.conn, [tool], revision=change.revision, by="ada")
    async with AsyncSession(database.engine) as session:
        found = await session.get_one(board_tables.Tool, tool.id)
        with pytest.raises(InvalidRequestError, match="raise"):
            _ = found.owner
        owner = await session.get_one(board_tables.User, tool.owner_id)
        with pytest.raises(InvalidRequestError, match="raise"):
            _ = owner.tools
