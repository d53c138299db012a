"""The board in memory: read without a query, and updated from the database."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import event

from pegboard import Caller, Pegboard
from pegboard.kinds.internal.functions import make_function_id
from pegboard.model.api_errors import Unauthorised
from pegboard.model.tool import Tool
from pegboard.registry.build_tool import build_tool, make_empty_tool
from pegboard.registry.tool_create import read_definition
from pegboard.storage.database import Database
from pegboard.testing import member, memory_board
from tests.board_surfaces import KEY
from tests.surfaces.rest.clients import mock

NOW = datetime.now(UTC)


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board(admin_key=KEY) as fresh:
        yield fresh


async def test_tools_are_found_by_name_in_any_case_by_alias_and_by_id(board: Pegboard) -> None:
    tool = await board.add(mock("Q" * 70))
    assert tool.alias is not None
    compiled_tools = [
        board.snapshot.find(ref) for ref in (tool.name, tool.name.lower(), tool.alias, tool.id, tool.id.upper())
    ]
    assert all(compiled is compiled_tools[0] for compiled in compiled_tools)
    for nothing in ("", "nonesuch", "\0", "\ud800"):
        assert board.snapshot.find(nothing) is None


@pytest.fixture
def journal_statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the SQL of the journal's connection, which does not belong to SQLAlchemy."""
    seen: list[str] = []
    connect = Database.connect_sqlite

    def connect_traced(database: Database) -> sqlite3.Connection:
        connection = connect(database)
        connection.set_trace_callback(seen.append)
        return connection

    monkeypatch.setattr(Database, "connect_sqlite", connect_traced)
    return seen


async def test_a_call_asks_the_database_nothing_but_to_keep_its_row(
    journal_statements: list[str], board: Pegboard
) -> None:
    statements = journal_statements
    await board.add(mock(rate_limit={"max_calls": 100, "period": "second"}, input_schema={"type": "object"}))
    await board.call("quote")
    assert statements
    statements.clear()

    def note(_conn: Any, _cursor: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    engine = board.database.engine.sync_engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        board.snapshot.holder(KEY)
        assert (await board.call("quote", {"a": 1})).success
    finally:
        event.remove(engine, "before_cursor_execute", note)
    assert [statement.split()[0] for statement in statements] == ["BEGIN", "UPDATE", "INSERT", "COMMIT"]


async def test_a_tool_is_compiled_once_and_again_when_it_changes(board: Pegboard) -> None:
    await board.add(mock())
    await board.add(mock("other"))
    first = board.snapshot.find("quote")
    await board.tools.update("other", {"tags": ["t"]}, board.admin)
    assert board.snapshot.find("quote") is first
    await board.tools.update("quote", {"tags": ["t"]}, board.admin)
    assert board.snapshot.find("quote") is not first


async def test_a_refresh_that_finds_nothing_new_does_nothing(board: Pegboard) -> None:
    before = board.snapshot.revision
    await asyncio.gather(*(board.snapshot.refresh() for _ in range(5)))
    assert board.snapshot.revision == before
    await board.add(mock())
    assert board.snapshot.revision == before + 1


async def test_what_is_handed_to_a_model_is_in_the_order_of_names(board: Pegboard) -> None:
    for name in ("b", "A", "c"):
        await board.add(mock(name))
    names = [compiled.tool.name for compiled in board.snapshot.list_offered_tools(board.admin)]
    assert names == sorted(names, key=str.lower)


async def test_a_caller_who_is_no_users_admin_may_call_public_tools_alone(board: Pegboard) -> None:
    await board.add(mock("private"))
    stranger = Caller("nobody", "nobody")
    ada = await member(board, "ada")
    private, echo = board.snapshot.find("private"), board.snapshot.find("echo")
    assert private is not None
    assert echo is not None
    for caller in (stranger, ada):
        assert not board.snapshot.may_call(private.tool, caller)
        assert board.snapshot.may_call(echo.tool, caller)
    assert board.snapshot.may_call(private.tool, board.admin)


async def test_a_key_admitted_to_this_process_lives_in_it_alone(board: Pegboard) -> None:
    ada = await member(board, "ada")
    with pytest.raises(Unauthorised):
        board.snapshot.holder("only-here")
    board.snapshot.admit("only-here", ada)
    assert board.snapshot.holder("only-here") == ada
    await board.add(mock())
    assert board.snapshot.holder("only-here") == ada
    assert len(await board.people.keys(ada.user_id, board.admin)) == 0


async def test_a_change_of_a_secret_prepares_its_owners_tools_again(board: Pegboard) -> None:
    ada = await member(board, "ada")
    await board.secrets.put("S", "one", board.admin)
    await board.add(mock("mine", config={"mock_response": "{{secret:S}}"}))
    await board.add(mock("hers", config={"mock_response": "fixed"}), caller=ada)
    for name in ("mine", "hers"):
        await board.call(name)
    mine, hers = board.snapshot.find("mine"), board.snapshot.find("hers")
    assert mine is not None
    assert hers is not None
    prepared = (mine.prepared, hers.prepared)
    await board.secrets.put("S", "two", board.admin)
    assert mine.prepared is not prepared[0]
    assert hers.prepared is prepared[1]
    assert (await board.call("mine")).output == "two"


async def test_tools_of_this_process_are_swapped_all_at_once(board: Pegboard) -> None:
    def hanging(name: str, **fields: Any) -> Tool:
        return build_tool(
            read_definition(mock(name, **fields)),
            board.vault,
            board.admin,
            make_empty_tool(make_function_id(name), "o", NOW),
            NOW,
            rules=board.tools.rules,
        )

    first = [hanging("same"), hanging("changed"), hanging("gone" * 20)]
    board.snapshot.swap_local_tools([], first)
    same = board.snapshot.find("same")
    then = [hanging("same"), hanging("changed", tags=["t"]), hanging("new")]
    board.snapshot.swap_local_tools(first, then)
    assert board.snapshot.find("same") is same
    assert [compiled.tool for name in ("changed", "new") if (compiled := board.snapshot.find(name))] == then[1:]
    assert board.snapshot.find("gone" * 20) is None
    assert {tool.name for tool in board.snapshot.local()} == {"same", "changed", "new"}
    assert (await board.call("new")).success
