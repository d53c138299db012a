"""Chains that exceed a limit, are abandoned or are cancelled: none of their calls continues."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.kinds.chain import run_chain
from pegboard.testing import calls_of, memory_board
from tests.waiting import until


class Waiting:
    """A board with tools that wait until they are released, and return their arguments."""

    def __init__(self, board: Pegboard) -> None:
        self.board = board
        self.begun: list[int] = []
        self.go_on = asyncio.Event()

        async def wait(n: int = 0) -> int:
            self.begun.append(n)
            if n < 0:
                raise ValueError("below nothing")
            await self.go_on.wait()
            return n

        board.tool(name="waits")(wait)
        board.tool(name="stays", on_disconnect="detach")(wait)

    async def have_begun(self, count: int) -> None:
        """Wait until this many calls run."""

        async def are_there() -> bool:
            return len(self.begun) == count

        await until(are_there)

    async def saved(self, name: str, *steps: dict[str, Any]) -> None:
        """Make a tool of these steps."""
        config = {"handler": "chain", "chain": {"steps": steps}}
        await self.board.add({"name": name, "tool_type": "internal", "input_schema": {}, "config": config})

    async def ended(self, tool: str) -> list[str | None]:
        """The codes of this tool's calls that have ended."""
        return [row.code for row in await calls_of(self.board, tool)]


@pytest.fixture
async def waiting_board() -> AsyncIterator[Waiting]:
    """Return such a board."""
    async with memory_board(drain_seconds=2) as board:
        yield Waiting(board)


def echo(items: list[Any], **more: Any) -> dict[str, Any]:
    """A step that echoes each item."""
    return {"id": "e", "tool": "echo", "arguments": {"x": "{{item.x}}"}, "for_each": items, **more}


@pytest.mark.parametrize(
    ("more", "answer"),
    [
        ({"on_error": "skip"}, [{"echo": {"x": 1}}, None, {"echo": {"x": 2}}]),
        ({"on_error": "fallback", "fallback": 0}, [{"echo": {"x": 1}}, 0, {"echo": {"x": 2}}]),
    ],
)
async def test_an_item_that_cannot_be_filled_in_fails_alone(waiting_board: Waiting, more: Any, answer: Any) -> None:
    outcome = await waiting_board.board.chain({"steps": [echo([{"x": 1}, {}, {"x": 2}], **more)]})
    assert outcome.output == answer


async def test_an_item_that_cannot_be_filled_in_fails_a_step_that_stops(waiting_board: Waiting) -> None:
    outcome = await waiting_board.board.chain({"steps": [echo([{"x": 1}, {}])]})
    assert outcome.error is not None
    assert "'{{item.x}}' cannot be resolved: item is empty (1 of 2 items failed)" in outcome.error


async def test_when_an_item_stops_the_chain_no_other_begins(waiting_board: Waiting) -> None:
    numbers = [-1, *range(1, 30)]
    step = {"id": "w", "tool": "waits", "arguments": {"n": "{{item}}"}, "for_each": numbers}
    chain = asyncio.create_task(waiting_board.board.chain({"steps": [step]}))

    async def has_failed() -> bool:
        return "execution_failed" in await waiting_board.ended("waits") and len(waiting_board.begun) == 20

    await until(has_failed)
    waiting_board.go_on.set()
    outcome = await chain
    assert outcome.error == "Step 'w' failed: below nothing (1 of 30 items failed, 10 did not begin)"
    assert sorted(waiting_board.begun) == numbers[:20]
    assert len(outcome.steps[0].run_ids) == 20


async def test_when_a_step_stops_the_chain_items_of_others_do_not_begin(waiting_board: Waiting) -> None:
    steps = [
        {
            "id": "w",
            "tool": "waits",
            "arguments": {"n": "{{item}}"},
            "for_each": list(range(1, 30)),
            "on_error": "skip",
        },
        {"id": "bad", "tool": "nowhere"},
    ]
    chain = asyncio.create_task(waiting_board.board.chain({"steps": [steps[1], steps[0]]}))

    async def has_failed() -> bool:
        return await waiting_board.ended("nowhere") != []

    await until(has_failed)
    waiting_board.go_on.set()
    outcome = await chain
    assert outcome.code == "tool_not_found"
    assert len(waiting_board.begun) < 29
    assert "did not begin" in str(outcome.steps[1].error)


@pytest.mark.parametrize("on_error", ["stop", "skip"])
async def test_a_chain_makes_no_more_calls_than_it_may(
    waiting_board: Waiting, monkeypatch: pytest.MonkeyPatch, on_error: str
) -> None:
    monkeypatch.setattr(run_chain, "MAX_CALLS", 3)
    waiting_board.go_on.set()
    step = {"id": "w", "tool": "waits", "for_each": [0] * 5, "on_error": on_error}
    outcome = await waiting_board.board.chain({"steps": [step, {"id": "x", "tool": "waits", "after": ["w"]}]})
    assert (outcome.error, outcome.code) == ("Step 'w' failed: The chain makes more than 3 calls", "execution_failed")
    assert outcome.steps[1].status == "not_run"
    assert await waiting_board.ended("waits") == [None] * 3


async def test_calls_of_chains_that_a_chain_calls_are_counted_with_its_own(
    waiting_board: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_chain, "MAX_CALLS", 6)
    waiting_board.go_on.set()
    await waiting_board.saved("two", {"id": "w", "tool": "waits", "for_each": [0, 0]})
    outcome = await waiting_board.board.chain({"steps": [{"id": "t", "tool": "two", "for_each": [0] * 10}]})
    assert "more than 6 calls" in str(outcome.error)
    assert len(await calls_of(waiting_board.board)) == 6


async def test_a_chain_keeps_no_more_output_than_it_may(
    waiting_board: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_chain, "MAX_OUTPUT_BYTES", 100)
    outcome = await waiting_board.board.chain({"steps": [echo([{"x": "y" * 40}] * 50, on_error="skip")]})
    assert (outcome.error, outcome.code) == (
        "Step 'e' failed: The outputs of the chain take more than 100 bytes",
        "result_too_large",
    )
    assert len(await calls_of(waiting_board.board)) < 50


async def test_a_chain_that_takes_too_long_is_ended_with_its_calls(waiting_board: Waiting) -> None:
    steps = [{"id": "w", "tool": "waits"}, {"id": "e", "tool": "echo"}]
    outcome = await waiting_board.board.chain({"steps": steps, "timeout": 0.2})
    assert (outcome.error, outcome.code) == ("The chain did not finish within 0.2 s", "timeout")
    assert (await waiting_board.ended("waits"), await waiting_board.ended("echo")) == (["cancelled"], [None])
    # It ran, and may have had effects: a caller must be able to distinguish it from one that never began.
    cut_off, echoed = outcome.steps
    assert (cut_off.status, cut_off.code, echoed.status) == ("failed", "cancelled", "succeeded")
    assert cut_off.run_ids == tuple(row.id for row in await calls_of(waiting_board.board, "waits"))


async def test_a_caller_who_gives_a_chain_up_waits_until_all_its_calls_are_recorded(waiting_board: Waiting) -> None:
    step = {"id": "w", "tool": "waits", "for_each": [0] * 5}
    chain = asyncio.create_task(waiting_board.board.chain({"steps": [step]}))
    await waiting_board.have_begun(5)
    chain.cancel()
    with pytest.raises(asyncio.CancelledError):
        await chain
    assert await waiting_board.ended("waits") == ["cancelled"] * 5


async def test_a_call_that_continues_without_its_caller_continues_without_its_chain(waiting_board: Waiting) -> None:
    steps = [{"id": "w", "tool": "waits"}, {"id": "s", "tool": "stays", "arguments": {"n": 1}}]
    chain = asyncio.create_task(waiting_board.board.chain({"steps": steps}))
    await waiting_board.have_begun(2)
    chain.cancel()
    with pytest.raises(asyncio.CancelledError):
        await chain
    assert await waiting_board.ended("waits") == ["cancelled"]
    assert await waiting_board.ended("stays") == []
    waiting_board.go_on.set()

    async def has_ended() -> bool:
        return await waiting_board.ended("stays") == [None]

    await until(has_ended)


async def test_cancelling_a_saved_chain_cancels_all_its_calls_whatever_their_tools_say(waiting_board: Waiting) -> None:
    await waiting_board.saved("inner", {"id": "s", "tool": "stays"})
    await waiting_board.saved("outer", {"id": "w", "tool": "waits"}, {"id": "i", "tool": "inner"})
    call = asyncio.create_task(waiting_board.board.call("outer", {}))
    await waiting_board.have_begun(2)
    run_id = next(run.id for run in waiting_board.board.pipeline.running_calls if run.call.name == "outer")
    await waiting_board.board.cancel(run_id)
    result = await call
    assert result.problem is not None
    assert result.problem.message == "Cancelled by admin"

    async def all_ended() -> bool:
        return [await waiting_board.ended(name) for name in ("outer", "inner", "waits", "stays")] == [["cancelled"]] * 4

    await until(all_ended)


async def test_a_chain_with_a_key_that_took_too_long_can_be_run_to_its_end(waiting_board: Waiting) -> None:
    chain = {"steps": [{"id": "w", "tool": "waits", "arguments": {"n": 7}}], "timeout": 0.05}
    first = await waiting_board.board.chain(chain, key="k")
    assert first.code == "timeout"
    waiting_board.go_on.set()
    again = await waiting_board.board.chain({**chain, "timeout": 30}, key="k")
    assert again.output == 7
    assert waiting_board.begun == [7]
