"""Named secrets: their values reach only the tools of their owner."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pegboard import Caller, Pegboard
from pegboard.model.api_errors import Forbidden, Invalid, NotFound
from pegboard.testing import member, memory_board


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board() as fresh:
        yield fresh


async def test_a_value_is_for_its_owner_and_only_there(board: Pegboard) -> None:
    ada = await member(board, "ada")
    await board.secrets.put("S", "of the admin", board.admin)
    assert board.secrets.value(board.admin.user_id, "S") == "of the admin"
    for owner, name in ((ada.user_id, "S"), (board.admin.user_id, "s"), ("nobody", "S")):
        with pytest.raises(KeyError):
            board.secrets.value(owner, name)


async def test_any_text_can_be_a_secret_up_to_its_size(board: Pegboard) -> None:
    for value in ("é\0\ud800", "{{secret:S}}", "x" * 65_536):
        secret = await board.secrets.put("S", value, board.admin)
        assert board.secrets.value(board.admin.user_id, "S") == value
        assert value not in str(secret)
    with pytest.raises(Invalid, match="value: is empty"):
        await board.secrets.put("S", "", board.admin)
    with pytest.raises(Invalid, match="value: longer than 65,536 bytes"):
        await board.secrets.put("S", "é" * 32_769, board.admin)


async def test_a_renewed_secret_keeps_its_place_and_a_removed_one_can_return(board: Pegboard) -> None:
    first = await board.secrets.put("S", "one", board.admin)
    second = await board.secrets.put("S", "two", board.admin)
    assert (second.id, second.created_at) == (first.id, first.created_at)
    assert second.updated_at > first.updated_at
    await board.secrets.remove("S", board.admin)
    with pytest.raises(KeyError):
        board.secrets.value(board.admin.user_id, "S")
    with pytest.raises(NotFound):
        await board.secrets.remove("S", board.admin)
    await board.secrets.put("S", "three", board.admin)
    assert board.secrets.value(board.admin.user_id, "S") == "three"


async def test_the_boards_own_row_is_neither_seen_nor_touched(board: Pegboard) -> None:
    await board.secrets.put("A", "x", board.admin)
    names = []
    cursor = None
    while True:
        page = await board.secrets.page(board.admin, cursor=cursor, limit=1)
        names += [secret.name for secret in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert names == ["A"]
    with pytest.raises(NotFound):
        await board.secrets.remove("$root", board.admin)
    with pytest.raises(Invalid, match="name:"):
        await board.secrets.put("$root", "x", board.admin)


@pytest.mark.parametrize("name", ["", "1a", "a b", "é", "a}}", "x" * 256, "a\n", "-a", ".a"])
async def test_a_name_must_be_one_that_can_be_referred_to(board: Pegboard, name: str) -> None:
    with pytest.raises(Invalid, match="name:"):
        await board.secrets.put(name, "x", board.admin)


async def test_a_key_bound_to_an_agent_sets_and_removes_none(board: Pegboard) -> None:
    bound = Caller(board.admin.user_id, "admin", "member", agent_id="some-agent")
    with pytest.raises(Forbidden):
        await board.secrets.put("S", "x", bound)
    with pytest.raises(Forbidden):
        await board.secrets.remove("S", bound)
