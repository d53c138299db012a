"""Users, keys and agents through the library."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pegboard import Caller, Pegboard
from pegboard.model.api_errors import Conflict, Forbidden, Invalid, NotFound, Unauthorised
from pegboard.registry.accounts_service import NewKey, generate_key
from pegboard.testing import NoSettings, member, memory_board


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board() as fresh:
        yield fresh


@pytest.fixture
async def ada(board: Pegboard) -> Caller:
    return await member(board, "ada")


def test_keys_are_long_random_and_never_printed() -> None:
    keys = {generate_key() for _ in range(100)}
    assert len(keys) == 100
    assert all(key.startswith("pb_") for key in keys)
    assert {len(base64.urlsafe_b64decode(key.removeprefix("pb_") + "=")) for key in keys} == {256 // 8}


async def test_only_a_hash_of_a_key_is_kept(board: Pegboard, ada: Caller) -> None:
    new = await board.people.create_key(ada.user_id, ada, name="laptop")
    assert new.key not in repr(new)
    assert new.key not in str(await board.people.keys(ada.user_id, ada))
    assert isinstance(new, NewKey)
    caller = board.snapshot.holder(new.key)
    assert (caller.user_id, caller.role, caller.key_id) == (ada.user_id, "member", new.row.id)
    for wrong in (new.key[:-1], new.key + "x", new.key.upper(), "", new.row.key_hash, "\ud800"):
        with pytest.raises(Unauthorised, match="not known here"):
            board.snapshot.holder(wrong)


async def test_names_of_users_are_unique_in_any_case(board: Pegboard, ada: Caller) -> None:
    with pytest.raises(Conflict, match="A user named 'ADA' exists already"):
        await board.people.create_user("ADA", "member", board.admin)
    await board.people.remove_user(ada.user_id, board.admin)
    assert (await board.people.create_user("ADA", "member", board.admin)).id != ada.user_id


async def test_members_manage_no_one(board: Pegboard, ada: Caller) -> None:
    for forbidden in (
        board.people.create_user("eve", "admin", ada),
        board.people.remove_user(board.admin.user_id, ada),
        board.people.users(ada, cursor=None, limit=5),
    ):
        with pytest.raises(Forbidden, match="Only admins may"):
            await forbidden
    for hidden in (
        board.people.get_user(board.admin.user_id, ada),
        board.people.create_key(board.admin.user_id, ada),
        board.people.keys(board.admin.user_id, ada),
    ):
        with pytest.raises(NotFound):
            await hidden


async def test_the_boards_own_admin_cannot_be_removed_by_another(board: Pegboard) -> None:
    other = await board.people.create_user("other", "admin", board.admin)
    caller = Caller(other.id, other.name, other.role)
    with pytest.raises(Conflict, match="is the board's own admin"):
        await board.people.remove_user(board.admin.user_id, caller)
    assert (await board.people.remove_user(other.id, board.admin)).is_deleted


async def test_an_expiry_must_lie_ahead_and_an_agent_be_ones_own(board: Pegboard, ada: Caller) -> None:
    with pytest.raises(Invalid, match="expires_at: must be in the future"):
        await board.people.create_key(ada.user_id, ada, expires_at=datetime.now(UTC) - timedelta(seconds=1))
    agent = await board.people.create_agent("mine", [], board.admin, None)
    for agent_id in (agent.id, "nonesuch"):
        with pytest.raises(Invalid, match="is no agent of this user"):
            await board.people.create_key(ada.user_id, ada, agent_id=agent_id)


async def test_an_agent_has_each_tool_once_in_the_order_given(board: Pegboard) -> None:
    agent = await board.people.create_agent("a", ["math_eval", "ECHO", "echo", "math_eval"], board.admin, None)
    assert len(agent.tools) == 2
    names = [compiled.tool.name for compiled in board.snapshot.list_agent_tools(agent.id)]
    assert names == ["echo", "math_eval"]


async def test_a_deleted_tool_is_no_longer_on_an_agent_and_returns_with_it(board: Pegboard) -> None:
    agent = await board.people.create_agent("a", ["echo"], board.admin, None)
    tool = await board.tools.delete("echo", board.admin)
    assert board.snapshot.list_agent_tools(agent.id) == []
    await board.tools.restore(tool.id, board.admin)
    assert [compiled.tool.name for compiled in board.snapshot.list_agent_tools(agent.id)] == ["echo"]


async def test_a_public_tool_made_private_leaves_others_agents(board: Pegboard, ada: Caller) -> None:
    agent = await board.people.create_agent("a", ["echo"], ada, None)
    await board.tools.update("echo", {"is_public": False}, board.admin)
    assert board.snapshot.list_agent_tools(agent.id) == []


async def test_changes_of_one_agent_at_once_do_not_undo_each_other(database_url: str, tmp_path: Path) -> None:
    async with Pegboard.open(database_url, settings=NoSettings(home=tmp_path)) as board:
        agent = await board.people.create_agent("a", [], board.admin, None)
        await asyncio.gather(
            board.people.update_agent(agent.id, board.admin, name="renamed"),
            board.people.update_agent(agent.id, board.admin, refs=["echo"]),
            board.people.update_agent(agent.id, board.admin, description="words"),
        )
        after = board.people.get_agent(agent.id, board.admin)
        assert (after.name, len(after.tools), after.description) == ("renamed", 1, "words")
        ended = await asyncio.gather(
            board.people.remove_agent(agent.id, board.admin),
            board.people.update_agent(agent.id, board.admin, name="back again"),
            return_exceptions=True,
        )
        assert not isinstance(ended[0], BaseException)
        with pytest.raises(NotFound):
            board.people.get_agent(agent.id, board.admin)
