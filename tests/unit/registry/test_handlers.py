"""Which functions of the process the tools of members may call."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.model.api_errors import Forbidden, Refusal
from pegboard.storage import tool_rows
from pegboard.testing import calls_of, member, memory_board
from tests.surfaces.rest.clients import mock

MINE = {"handler": "wipe"}
REFUSED = r"A member's tool cannot name the handler 'wipe'\. Handlers for members: greet\."


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    """A board with a private function, a handler for admins and one for members."""
    async with memory_board() as fresh:

        @fresh.tool
        def drop_all(table: str) -> str:
            """A private function."""
            return f"dropped {table}"

        fresh.handler("wipe")(lambda **given: f"wiped {given}")
        fresh.handler("greet", for_members=True)(lambda name: f"Hello {name}")
        yield fresh


def internal(handler: str, name: str = "mine", **more: Any) -> dict[str, Any]:
    return mock(name, tool_type="internal", config={"handler": handler}, **more)


async def test_no_stored_tool_reaches_a_function_by_its_name(board: Pegboard) -> None:
    assert (await board.call("drop_all", {"table": "t"})).output == "dropped t"
    await board.add(internal("drop_all"))
    result = await board.call("mine", {"table": "t"})
    assert result.problem is not None
    assert result.problem.message == "Internal handler 'drop_all' not found"


@pytest.mark.parametrize("handler", ["wipe", "drop_all", "record_findings", "nonesuch"])
async def test_a_member_names_only_handlers_for_members(board: Pegboard, handler: str) -> None:
    ada = await member(board)
    with pytest.raises(Forbidden, match=f"cannot name the handler '{handler}'"):
        await board.add(internal(handler), caller=ada)
    with pytest.raises(Refusal, match=f"cannot name the handler '{handler}'"):
        await board.apply([internal(handler)], caller=ada)
    await board.add(internal("greet"), caller=ada)
    assert (await board.call("mine", {"name": "Ada"}, caller=ada)).output == "Hello Ada"
    with pytest.raises(Forbidden, match=f"cannot name the handler '{handler}'"):
        await board.tools.update("mine", {"config": {"handler": handler}}, ada)


async def test_nor_does_an_admin_give_a_member_another_handler(board: Pegboard) -> None:
    ada = await member(board)
    await board.add(internal("greet"), caller=ada)
    with pytest.raises(Forbidden, match=REFUSED):
        await board.tools.update("mine", {"config": MINE}, board.admin)
    await board.add(internal("wipe", "the_admins"))
    assert (await board.call("the_admins")).success


async def _stored_by_a_member(board: Pegboard) -> Any:
    """Store a member's tool with the handler `wipe`, as a board without this rule could."""
    ada = await member(board)
    made = await board.add(mock("mine", keep_arguments=True, read_only=True), caller=ada)
    async with board.database.change() as change:
        stored = await tool_rows.get_tool(change.conn, made.id)
        assert stored is not None
        fields: dict[str, Any] = {name: getattr(stored, name) for name in stored.__dataclass_fields__}
        older = type(stored)(**{**fields, "tool_type": "internal", "config": MINE, "version": 2})
        await tool_rows.save_tool(change.conn, older, revision=change.revision, by=ada.user_id)
    await board.snapshot.refresh()
    return ada


async def test_a_tool_from_before_is_refused_when_it_is_called_and_can_be_switched_off(board: Pegboard) -> None:
    ada = await _stored_by_a_member(board)
    result = await board.call("mine", caller=ada)
    assert result.problem is not None
    assert result.problem.message == "Internal handler 'wipe' not found among the handlers for members"
    await board.tools.update("mine", {"is_active": False}, ada)


async def test_such_a_tool_is_not_restored(board: Pegboard) -> None:
    ada = await _stored_by_a_member(board)
    gone = await board.tools.delete("mine", ada)
    for caller in (ada, board.admin):
        with pytest.raises(Forbidden, match=REFUSED):
            await board.tools.restore(gone.id, caller)


async def test_nor_is_a_version_of_it_replayed(board: Pegboard) -> None:
    ada = await _stored_by_a_member(board)
    await board.tools.update("mine", {"tool_type": "mock", "config": {"mock_response": 3}}, ada)
    await board.call("mine", caller=ada)
    (row,) = await calls_of(board, "mine")
    for caller in (ada, board.admin):
        with pytest.raises(Forbidden, match=REFUSED):
            await board.replay(row.id, version=2, caller=caller)


async def test_the_tools_of_a_removed_admin_keep_their_handlers(board: Pegboard) -> None:
    other = await board.people.create_user("other", "admin", board.admin)
    caller = type(board.admin)(other.id, other.name, other.role)
    await board.add(internal("wipe", is_public=True), caller=caller)
    await board.people.remove_user(other.id, board.admin)
    assert (await board.call("mine")).success


async def test_installed_handlers_are_for_admins_unless_their_group_is_for_members(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "both_tools.py").write_text("def size(item: str) -> int:\n    return len(item)\n")
    info = tmp_path / "both_tools-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: both-tools\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[pegboard.handlers]\nours = both_tools:size\n[pegboard.member_handlers]\ntheirs = both_tools:size\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "both_tools", raising=False)
    async with memory_board() as board:
        ada = await member(board)
        with pytest.raises(Forbidden, match=r"cannot name the handler 'ours'\. Handlers for members: theirs\."):
            await board.add(internal("ours"), caller=ada)
        await board.add(internal("theirs"), caller=ada)
        assert (await board.call("mine", {"item": "cup"}, caller=ada)).output == 3
