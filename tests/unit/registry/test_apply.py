"""Applying definitions from the library; tests/surfaces/rest/test_apply.py shows the rules themselves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pegboard import Pegboard
from pegboard.model.api_errors import Invalid
from pegboard.registry.apply_plan import ApplyPlan
from pegboard.testing import NoSettings, member, memory_board
from tests.surfaces.rest.clients import mock


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board() as fresh:
        yield fresh


async def test_many_definitions_are_one_change(board: Pegboard) -> None:
    before = board.snapshot.revision
    plan = await board.apply([mock(f"t{number}") for number in range(50)])
    assert len(plan.created) == 50
    assert board.snapshot.revision == before + 1


async def test_a_dry_run_leaves_no_trace(board: Pegboard) -> None:
    before = board.snapshot.revision
    await board.apply([mock("a")], dry_run=True)
    await board.snapshot.refresh()
    assert board.snapshot.revision == before
    assert board.snapshot.find("a") is None


async def test_definitions_in_the_form_of_seed_002_are_understood(board: Pegboard) -> None:
    definition = {
        "name": "m",
        "implementation": {"type": "mock", "mock_response": 1},
        "input_schema": {"type": "object"},
    }
    for expected in (ApplyPlan(created=["m"]), ApplyPlan(unchanged=["m"])):
        assert await board.apply([definition]) == expected


async def test_a_name_twice_is_a_fault_of_the_later(board: Pegboard) -> None:
    with pytest.raises(Invalid) as refused:
        await board.apply([mock("a"), mock("b"), mock("A")])
    assert [(fault.field, fault.message) for fault in refused.value.faults] == [
        ("tools.2 'A'", "the same name as tools.0")
    ]


async def test_deleted_tools_are_made_again_not_restored(board: Pegboard) -> None:
    old = await board.add(mock("a"))
    await board.tools.delete("a", board.admin)
    assert (await board.apply([mock("a")])).created == ["a"]
    assert (await board.tools.get("a", board.admin)).id != old.id


async def test_commands_are_for_admins_here_too(board: Pegboard) -> None:
    ada = await member(board, "ada")
    with pytest.raises(Invalid, match="Only admins may register shell tools"):
        await board.apply([mock("a", tool_type="shell", config={"command": "true"})], caller=ada)


async def test_two_at_once_end_as_one_after_the_other(database_url: str, tmp_path: Path) -> None:
    async with Pegboard.open(database_url, settings=NoSettings(home=tmp_path)) as board:
        wanted = [mock(f"t{number}") for number in range(10)]
        plans = await asyncio.gather(*(board.apply(wanted) for _ in range(3)))
        assert sorted(len(plan.created) for plan in plans) == [0, 0, 10]
        assert sorted(len(plan.unchanged) for plan in plans) == [0, 10, 10]


async def test_calls_are_served_while_definitions_are_checked(board: Pegboard) -> None:
    applying = asyncio.create_task(board.apply([mock(f"t{number}") for number in range(400)], dry_run=True))
    served = 0
    while not applying.done():
        assert (await board.call("echo")).success
        served += 1
    assert len((await applying).created) == 400
    assert served > 5


async def test_a_dry_run_changes_nothing_at_all(board: Pegboard) -> None:
    before = board.snapshot.revision
    await board.apply([mock("new")], dry_run=True)
    await board.snapshot.refresh()
    assert board.snapshot.revision == before
    assert board.snapshot.find("new") is None
