"""Journal queries of callers: a tool's calls under all of its names, and no other user's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.model.api_errors import Forbidden, Invalid, NotFound
from pegboard.model.call import Caller
from pegboard.model.filters import ExecutionFilter
from pegboard.model.ids import new_id
from pegboard.model.page import write_cursor
from pegboard.model.tool import make_alias
from pegboard.testing import NoSettings, member
from tests.surfaces.rest.clients import mock


@pytest.fixture
async def board(database_url: str, tmp_path: Path) -> AsyncIterator[Pegboard]:
    """A board on a database of either kind."""
    async with Pegboard.open(database_url, settings=NoSettings(home=tmp_path / "home")) as opened:
        yield opened


async def call_tools(board: Pegboard, *names: str, caller: Caller | None = None) -> list[str]:
    """Call these tools in sequence and return the run ids."""
    return [(await board.call(name, caller=caller)).run_id for name in names]


async def listed(
    board: Pegboard, tool: str, *, caller: Caller | None = None, limit: int = 50, **wanted: Any
) -> list[str]:
    """The ids of all rows under a filter, oldest first, read page by page."""
    found: list[str] = []
    cursor: str | None = None
    for _ in range(100):
        page = await board.executions(ExecutionFilter(tool=tool, **wanted), caller=caller, cursor=cursor, limit=limit)
        assert len(page.items) == limit or page.next_cursor is None
        found += [row.id for row in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return found[::-1]
    raise AssertionError("the list does not end")


class Renamed:
    """A tool that has been `quote`, `moved` and `Quote`, and another that is called `quote` since."""

    def __init__(self, tool_id: str, other_id: str, rows: list[str], others: list[str]) -> None:
        self.id, self.other_id, self.rows, self.others = tool_id, other_id, rows, others


@pytest.fixture
async def renamed(board: Pegboard) -> Renamed:
    """Call both tools in turns, so that their rows alternate."""
    tool = await board.add(mock("quote"))
    rows, others = await call_tools(board, "quote", "quote"), list[str]()
    for name in ("moved", "quote", "Quote", "moved"):
        await board.tools.update(tool.id, {"name": name}, board.admin)
        rows += await call_tools(board, name)
    other = await board.add(mock("quote"))
    for _ in range(3):
        others += await call_tools(board, "quote")
        rows += await call_tools(board, "moved")
    # Two names in turn, one of them shared; and a call of a name that no tool had at that time.
    await board.tools.delete(other.id, board.admin)
    await call_tools(board, "quote")
    await board.tools.update(tool.id, {"name": "quote"}, board.admin)
    rows += await call_tools(board, "quote")
    await board.tools.update(tool.id, {"name": "moved"}, board.admin)
    await board.tools.restore(other.id, board.admin)
    others += await call_tools(board, "quote")
    rows += await call_tools(board, "moved")
    return Renamed(tool.id, other.id, rows, others)


async def test_a_tools_calls_are_found_by_its_id_in_any_case(board: Pegboard) -> None:
    quote, other = await board.add(mock("quote")), await board.add(mock("other"))
    mine = await call_tools(board, "quote", "QUOTE", quote.id)
    (theirs,) = await call_tools(board, "other")
    for tool_id in (quote.id, quote.id.upper()):
        assert await listed(board, tool_id) == mine
    assert await listed(board, other.id) == [theirs]


async def test_a_renamed_tools_calls_are_one_list_over_all_its_names(board: Pegboard, renamed: Renamed) -> None:
    assert len(renamed.rows) == 11
    for limit in (1, 2, 3, 4, 50):
        assert await listed(board, renamed.id, limit=limit) == renamed.rows, limit
        assert await listed(board, renamed.other_id, limit=limit) == renamed.others, limit


async def test_a_renamed_tool_is_found_by_its_id_in_capitals_too(board: Pegboard, renamed: Renamed) -> None:
    assert await listed(board, renamed.id.upper()) == renamed.rows


async def test_a_page_of_a_renamed_tool_is_as_long_as_asked_for_and_newest_first(
    board: Pegboard, renamed: Renamed
) -> None:
    page = await board.executions(ExecutionFilter(tool=renamed.id), limit=5)
    assert [row.id for row in page.items] == renamed.rows[:-6:-1]
    assert {row.tool_id for row in page.items} == {renamed.id}
    assert {row.tool_name for row in page.items} == {"moved", "quote"}
    whole = await board.executions(ExecutionFilter(tool=renamed.id), limit=len(renamed.rows))
    assert (len(whole.items), whole.next_cursor) == (len(renamed.rows), None)


async def test_a_name_stands_for_every_call_under_it_for_every_owner(board: Pegboard, renamed: Renamed) -> None:
    named = await listed(board, "quote", limit=3)
    assert set(renamed.others) < set(named)
    assert {(await board.execution(run_id)).tool_id for run_id in named} == {renamed.id, renamed.other_id, None}


async def test_other_filters_hold_for_every_name(board: Pegboard) -> None:
    ada = await member(board, "ada")
    strict = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tool = await board.add(mock("quote", is_public=True))
    refused, well, hers = [], [], []
    for name in ("moved", "again"):
        well += await call_tools(board, tool.id)
        hers += await call_tools(board, tool.id, caller=ada)
        await board.tools.update(tool.id, {"input_schema": strict}, board.admin)
        refused += await call_tools(board, tool.id)
        await board.tools.update(tool.id, {"name": name, "input_schema": {"type": "object"}}, board.admin)
    assert await listed(board, tool.id, status="refused", limit=1) == refused
    assert await listed(board, tool.id, status="refused", code="missing") == refused
    assert await listed(board, tool.id, status="failed") == []
    assert await listed(board, tool.id, caller_id=ada.user_id, limit=1) == hers
    assert await listed(board, tool.id, caller_id=ada.user_id, status="refused") == []
    assert await listed(board, tool.id, caller_id=board.admin.user_id, status="succeeded") == well
    last = await board.execution(well[1])
    assert await listed(board, tool.id, since=last.started_at, limit=1) == [well[1], hers[1], refused[1]]
    assert await listed(board, tool.id, until=last.started_at, limit=1) == [well[0], hers[0], refused[0]]


async def test_a_deleted_tools_calls_are_found_by_its_id(board: Pegboard) -> None:
    tool = await board.add(mock("quote"))
    rows = await call_tools(board, "quote")
    await board.tools.update(tool.id, {"name": "moved"}, board.admin)
    rows += await call_tools(board, "moved")
    await board.tools.delete("moved", board.admin)
    after = await call_tools(board, "moved")
    assert await listed(board, tool.id, limit=1) == rows
    assert await listed(board, tool.id.upper()) == rows
    assert await listed(board, "moved") == [rows[1], *after]
    heir = await board.add(mock("moved"))
    theirs = await call_tools(board, "moved")
    assert await listed(board, tool.id) == rows
    assert await listed(board, heir.id) == theirs


async def test_a_functions_calls_are_found_by_name_and_by_id(board: Pegboard) -> None:
    @board.tool
    async def doubled(n: int = 1) -> int:
        return 2 * n

    @board.tool
    async def Other() -> int:
        return 1

    mine, other = await call_tools(board, "doubled", "DOUBLED"), await call_tools(board, "other")
    for name in ("doubled", "Doubled"):
        assert await listed(board, name, limit=1) == mine
    assert await listed(board, "other") == other
    for function, rows in (("doubled", mine), ("other", other)):
        tool_id = (await board.tools.get(function, board.admin)).id
        assert {(await board.execution(row)).tool_id for row in rows} == {tool_id}
        assert await listed(board, tool_id, limit=1) == rows
        assert await listed(board, tool_id.upper()) == rows


async def test_an_id_that_no_tool_ever_had_has_no_calls(board: Pegboard) -> None:
    await board.add(mock("quote"))
    (row,) = await call_tools(board, "quote")
    made_up = new_id()
    assert not (await board.call(made_up)).success
    for unknown in (made_up, new_id().upper(), row, board.admin.user_id, f"{0:08}-0000-0000-0000-{0:012}"):
        for limit in (1, 50):
            page = await board.executions(ExecutionFilter(tool=unknown), limit=limit)
            assert (list(page.items), page.next_cursor) == ([], None), (unknown, limit)


async def test_names_are_found_in_any_case_and_by_alias(board: Pegboard) -> None:
    name = f"Long_{'x' * 80}"
    alias = make_alias(name)
    assert alias is not None
    tool = await board.add(mock(name))
    rows = await call_tools(board, name, alias, name.lower(), alias.upper(), tool.id)
    for asked in (name, name.upper(), name.lower(), alias, alias.upper(), tool.id):
        assert await listed(board, asked, limit=2) == rows


async def test_calls_of_a_name_that_no_tool_has_are_found_by_it(board: Pegboard) -> None:
    rows = await call_tools(board, "nonesuch", "nonesuch")
    await call_tools(board, "Nonesuch")
    assert await listed(board, "nonesuch", limit=1) == rows
    assert await listed(board, "none") == await listed(board, "") == await listed(board, "\0") == []


async def test_members_are_shown_their_own_calls_alone(board: Pegboard) -> None:
    ada, ben = await member(board, "ada"), await member(board, "ben")
    tool = await board.add(mock("quote", is_public=True))
    private = await board.add(mock("private"), caller=ben)
    hers, bens = await call_tools(board, "quote", caller=ada), await call_tools(board, "quote", caller=ben)
    await board.tools.update(tool.id, {"name": "moved"}, board.admin)
    mine = await call_tools(board, "moved")
    hers += await call_tools(board, "moved", caller=ada)
    bens += await call_tools(board, "moved", caller=ben)
    (secret,) = await call_tools(board, "private", caller=ben)
    (tried,) = await call_tools(board, "private", caller=ada)
    assert await listed(board, tool.id, caller=ada, limit=1) == hers
    assert await listed(board, tool.id, caller=ada, caller_id=ben.user_id) == hers
    assert await listed(board, tool.id, caller=ben) == bens
    assert await listed(board, tool.id, limit=1) == sorted([*mine, *hers, *bens])
    assert await listed(board, "quote", caller=ada) == hers[:1]
    assert await listed(board, private.id, caller=ada) == []
    assert await listed(board, "private", caller=ada) == [tried]
    assert await listed(board, private.id, caller=ben) == [secret]
    with pytest.raises(NotFound):
        await board.execution(secret, caller=ada)
    assert (await board.execution(secret, caller=ben)).tool_id == private.id


async def test_keys_of_agents_read_nothing(board: Pegboard) -> None:
    tool = await board.add(mock("quote"))
    (row,) = await call_tools(board, "quote")
    agent = replace(board.admin, agent_id=new_id())
    with pytest.raises(Forbidden):
        await board.executions(ExecutionFilter(tool=tool.id), caller=agent)
    with pytest.raises(Forbidden):
        await board.execution(row, caller=agent)


async def test_what_is_no_cursor_of_this_list_is_refused(board: Pegboard, renamed: Renamed) -> None:
    for cursor in ("", "nonsense", write_cursor(["quote"]), write_cursor([new_id(), new_id()])):
        with pytest.raises(Invalid):
            await board.executions(ExecutionFilter(tool=renamed.id), cursor=cursor)
