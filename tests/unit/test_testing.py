"""`pegboard.testing`, which users use in their own tests."""

from __future__ import annotations

import pytest

from pegboard import Refusal
from pegboard.testing import NoSettings, calls_of, member, memory_board
from tests.surfaces.rest.clients import mock


async def test_a_memory_board_is_ready_with_its_tools_and_forgets_everything() -> None:
    async with memory_board([mock("a"), mock("b")]) as board:
        assert (await board.call("a")).output == 1
        assert (await board.call("b")).output == 1
        assert [row.tool_name for row in await calls_of(board)] == ["a", "b"]
        assert [row.tool_name for row in await calls_of(board, "b")] == ["b"]
    async with memory_board() as board:
        assert not (await board.call("a")).success


async def test_two_memory_boards_know_nothing_of_each_other() -> None:
    async with memory_board([mock("a")]) as one, memory_board() as other:
        assert (await one.call("a")).success
        assert not (await other.call("a")).success


async def test_a_tool_that_is_no_good_is_refused_at_once() -> None:
    with pytest.raises(Refusal, match="input_schema"):
        async with memory_board([mock(input_schema={"type": "nothing"})]):
            pass


async def test_it_means_the_same_whatever_is_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEGBOARD_PORT", "1")
    monkeypatch.setenv("PEGBOARD_MAX_DEPTH", "nonsense")
    assert NoSettings().port == 8080
    async with memory_board(max_depth=4) as board:
        assert board.settings.max_depth == 4


async def test_a_member_is_no_admin() -> None:
    async with memory_board([mock("private")]) as board:
        ada = await member(board, "ada")
        assert (ada.name, ada.is_admin) == ("ada", False)
        assert not (await board.call("private", caller=ada)).success
