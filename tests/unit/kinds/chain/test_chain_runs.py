"""Chains as they run: in order, side by side, and when something fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.model.api_errors import Invalid
from pegboard.model.call import Progress
from pegboard.model.chain import MAX_ITEMS
from pegboard.testing import calls_of, member, memory_board


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    """A board with a few tools to chain."""
    async with memory_board() as fresh:

        @fresh.tool(is_public=True)
        async def numbers(count: int) -> list[int]:
            """The first numbers."""
            return list(range(count))

        @fresh.tool(is_public=True)
        async def odd(n: int) -> int:
            """Accept odd numbers only."""
            if n % 2 == 0:
                raise ValueError(f"{n} is even")
            return n

        yield fresh


def echo(name: str, arguments: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Return a step that echoes its arguments."""
    return {"id": name, "tool": "echo", "arguments": arguments or {}, **more}


async def test_outputs_go_from_step_to_step_and_the_last_one_is_the_answer(board: Pegboard) -> None:
    outcome = await board.chain(
        {"steps": [echo("a", {"x": "{{input.x}}"}), echo("b", {"y": "{{steps.a.output.echo.x}}"})]}, {"x": {"deep": 1}}
    )
    assert outcome.success
    assert outcome.output == {"echo": {"y": {"deep": 1}}}
    assert [step.status for step in outcome.steps] == ["succeeded", "succeeded"]


async def test_every_call_of_a_chain_is_in_the_journal_and_linked_to_it(board: Pegboard) -> None:
    outcome = await board.chain({"steps": [echo("a"), {"id": "b", "tool": "odd", "arguments": {"n": 2}}]})
    rows = await calls_of(board)
    assert {row.id for row in rows} == {run for step in outcome.steps for run in step.run_ids}
    assert {row.chain_id for row in rows} == {outcome.chain_id}
    assert [row.status for row in rows] == ["succeeded", "failed"]


async def test_steps_that_do_not_need_each_other_run_at_once(board: Pegboard) -> None:
    met = asyncio.Barrier(3)

    @board.tool
    async def meet() -> str:
        """Wait for the others."""
        await met.wait()
        return "met"

    steps = [{"id": name, "tool": "meet"} for name in "abc"]
    async with asyncio.timeout(30):
        assert (await board.chain({"steps": steps})).success


async def test_a_step_for_each_item_answers_in_the_order_of_the_items(board: Pegboard) -> None:
    outcome = await board.chain(
        {
            "steps": [
                {"id": "n", "tool": "numbers", "arguments": {"count": 30}},
                echo("e", {"n": "{{item}}", "at": "{{index}}"}, for_each="{{steps.n.output}}"),
            ],
            "output": "{{steps.e.output}}",
        }
    )
    assert [each["echo"] for each in outcome.output] == [{"n": n, "at": n} for n in range(30)]


@pytest.mark.parametrize(
    ("when", "runs"),
    [
        ("{{input.yes}}", True),
        ("{{input.no}}", False),
        ("{{input.empty}}", False),
        ({"value": "{{input.n}}", "at_least": 3, "at_most": 3}, True),
        ({"value": "{{input.n}}", "at_least": 4}, False),
        ({"value": "{{input.text}}", "at_least": 0}, False),
        ({"value": "{{input.text}}", "among": ["a", "b"]}, True),
        ({"value": "{{input.yes}}", "equals": 1}, False),
        ({"value": "{{input.yes}}", "not_equals": False}, True),
        ({"value": "{{input.n}}", "equals": "{{input.n}}"}, True),
        ({"value": "{{input.missing}}", "exists": False}, True),
        ({"value": "{{input.huge}}", "at_least": 3}, True),
        ({"value": "{{input.flags}}", "equals": {"a": [1]}}, False),
        ({"value": "{{input.flags}}", "equals": {"a": [True]}}, True),
        ({"value": "{{input.nothing}}", "exists": True}, False),
    ],
)
async def test_a_step_runs_when_it_should(board: Pegboard, when: Any, runs: bool) -> None:
    given = {
        "yes": True,
        "no": False,
        "empty": [],
        "n": 3,
        "text": "a",
        "nothing": None,
        "huge": 10**400,
        "flags": {"a": [True]},
    }
    outcome = await board.chain({"steps": [echo("a", when=when)]}, given)
    assert outcome.success
    assert outcome.steps[0].status == ("succeeded" if runs else "skipped")


async def test_a_failure_stops_the_chain_and_says_which_step(board: Pegboard) -> None:
    steps = [{"id": "bad", "tool": "odd", "arguments": {"n": 2}}, echo("next", {"x": "{{steps.bad.output}}"})]
    outcome = await board.chain({"steps": steps})
    assert (outcome.error, outcome.code) == ("Step 'bad' failed: 2 is even", "execution_failed")
    assert [step.status for step in outcome.steps] == ["failed", "not_run"]


@pytest.mark.parametrize(
    ("more", "status", "seen"),
    [
        ({"on_error": "skip"}, "failed", None),
        ({"on_error": "fallback", "fallback": {"n": -1}}, "fallback", {"n": -1}),
        ({"on_error": "fallback", "fallback": None}, "fallback", None),
    ],
)
async def test_a_failure_can_be_passed_over(board: Pegboard, more: Any, status: str, seen: Any) -> None:
    bad = {"id": "bad", "tool": "odd", "arguments": {"n": 2}, **more}
    outcome = await board.chain({"steps": [bad, echo("next", {"x": "{{steps.bad.output}}"})]})
    assert outcome.success
    assert outcome.steps[0].status == status
    assert outcome.steps[0].error == "2 is even"
    assert outcome.output == {"echo": {"x": seen}}


@pytest.mark.parametrize(
    ("more", "answer"),
    [
        ({"on_error": "skip"}, [None, 1, None, 3]),
        ({"on_error": "fallback", "fallback": 0}, [0, 1, 0, 3]),
    ],
)
async def test_items_that_fail_can_be_passed_over_one_by_one(board: Pegboard, more: Any, answer: list[Any]) -> None:
    step = {"id": "o", "tool": "odd", "arguments": {"n": "{{item}}"}, "for_each": [0, 1, 2, 3], **more}
    outcome = await board.chain({"steps": [step]})
    assert outcome.output == answer


async def test_one_item_that_fails_fails_a_step_that_stops(board: Pegboard) -> None:
    step = {"id": "o", "tool": "odd", "arguments": {"n": "{{item}}"}, "for_each": [1, 2, 3]}
    outcome = await board.chain({"steps": [step]})
    assert outcome.error == "Step 'o' failed: 2 is even (1 of 3 items failed)"


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ("{{input.n}}", "for_each must be a list, not int"),
        ("{{input.many}}", f"at most {MAX_ITEMS:,} are run"),
        ("{{input.missing}}", "cannot be resolved"),
    ],
)
async def test_what_cannot_be_examined_fails_its_step_and_runs_nothing(board: Pegboard, items: str, words: str) -> None:
    outcome = await board.chain({"steps": [echo("a", for_each=items)]}, {"n": 1, "many": [0] * 1_000_000})
    assert outcome.error is not None
    assert words in outcome.error
    assert await calls_of(board) == []


async def test_what_is_no_chain_runs_nothing(board: Pegboard) -> None:
    with pytest.raises(Invalid, match="unknown key; did you mean 'steps'"):
        await board.chain({"stps": []})
    with pytest.raises(Invalid, match="wait for each other"):
        await board.chain({"steps": [echo("a"), echo("b", after=["b"])]})
    assert await calls_of(board) == []


async def test_a_caller_who_gives_a_chain_up_gives_up_its_calls(board: Pegboard) -> None:
    begun = asyncio.Event()

    @board.tool
    async def forever() -> None:
        """Never ends."""
        begun.set()
        await asyncio.Event().wait()

    running = asyncio.create_task(board.chain({"steps": [{"id": "f", "tool": "forever"}, echo("e")]}))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert {(row.tool_name, row.code) for row in await calls_of(board, "forever")} == {("forever", "cancelled")}


async def test_a_key_makes_each_call_run_once(board: Pegboard) -> None:
    counted: list[int] = []

    @board.tool
    async def count(n: int) -> int:
        """Count."""
        counted.append(n)
        return n

    chain = {"steps": [{"id": "c", "tool": "count", "arguments": {"n": "{{item}}"}, "for_each": [1, 2]}]}
    first = await board.chain(chain, key="k")
    again = await board.chain(chain, key="k")
    assert first.output == again.output == [1, 2]
    assert sorted(counted) == [1, 2]


class TestSaved:
    DEFINITION: dict[str, Any] = {
        "name": "sum_up",
        "tool_type": "internal",
        "input_schema": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
        "config": {
            "handler": "chain",
            "chain": {
                "steps": [
                    {"id": "n", "tool": "numbers", "arguments": {"count": "{{input.x}}"}},
                    {"id": "m", "tool": "math_eval", "arguments": {"expression": "{{input.x}} * 2"}},
                ],
                "output": {"numbers": "{{steps.n.output}}", "double": "{{steps.m.output.result}}"},
            },
        },
    }

    async def test_a_saved_chain_is_a_tool(self, board: Pegboard) -> None:
        await board.add(self.DEFINITION)
        seen: list[Progress] = []
        result = await board.call("sum_up", {"x": 2}, on_progress=seen.append)
        assert result.output == {"numbers": [0, 1], "double": 4}
        assert [one.progress for one in seen] == [1, 2]
        rows = await calls_of(board)
        assert {row.tool_name: row.chain_id for row in rows} == {
            "numbers": result.run_id,
            "math_eval": result.run_id,
            "sum_up": None,
        }

    async def test_its_input_is_validated_as_for_any_tool(self, board: Pegboard) -> None:
        await board.add(self.DEFINITION)
        result = await board.call("sum_up", {})
        assert result.problem is not None
        assert result.problem.message == "Invalid parameters: missing 'x'"

    async def test_a_broken_one_is_refused_when_it_is_saved(self, board: Pegboard) -> None:
        chain = {"steps": [echo("a", {"x": "{{steps.b.output}}"})]}
        with pytest.raises(Invalid, match=r"config\.chain\.steps\.0\.arguments: .*there is no step 'b'"):
            await board.add({**self.DEFINITION, "config": {"handler": "chain", "chain": chain}})
        with pytest.raises(Invalid, match="chain is only for the handler 'chain'"):
            await board.add({**self.DEFINITION, "config": {"handler": "chain"}})

    async def test_its_steps_run_with_the_callers_own_rights(self, board: Pegboard) -> None:
        @board.tool
        async def private() -> str:
            """Only for the admin."""
            return "secret"

        chain = {"steps": [{"id": "p", "tool": "private"}]}
        await board.add(
            {**self.DEFINITION, "is_public": True, "input_schema": {}, "config": {"handler": "chain", "chain": chain}}
        )
        assert (await board.call("sum_up", {})).output == "secret"
        refused = await board.call("sum_up", {}, caller=await member(board))
        assert refused.problem is not None
        assert refused.problem.message == "Step 'p' failed: Tool 'private' not found"

    async def test_chains_that_call_each_other_come_to_an_end(self, board: Pegboard) -> None:
        chain = {"steps": [{"id": "again", "tool": "sum_up"}]}
        await board.add({**self.DEFINITION, "input_schema": {}, "config": {"handler": "chain", "chain": chain}})
        result = await board.call("sum_up", {})
        assert result.problem is not None
        assert "more than 5 deep" in result.problem.message
        assert len(await calls_of(board)) == 6
