"""The record of failed attempts."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.model.call import ReadyCall
from pegboard.model.call_errors import ContractViolation, FieldProblem, InvalidArguments, TimedOut, ToolError
from pegboard.model.tool import Retry
from pegboard.stages.execute import Attempts
from pegboard.testing import calls_of, memory_board
from tests.unit.stages.test_execute import compiled, failing, run

PROMISE = {"type": "integer"}


def return_in_turn(*outputs: Any) -> Any:
    """Return a function that returns these outputs in turn."""
    left = list(outputs)

    async def give(_call: ReadyCall) -> Any:
        return left.pop(0)

    return give


async def test_each_failed_attempt_is_kept_with_its_number_and_time() -> None:
    attempts = Attempts()
    outcome = await run(compiled(return_in_turn("one", None, 3), output_schema=PROMISE, read_only=True), attempts)
    assert (outcome.attempts, attempts.violations) == (3, 2)
    assert [(each["attempt"], each["code"]) for each in attempts.tries] == [
        (1, "contract_violation"),
        (2, "contract_violation"),
    ]
    assert all(isinstance(each["elapsed_ms"], float) for each in attempts.tries)
    assert "one" not in str(attempts.tries)


async def test_attempts_that_failed_otherwise_break_no_contract() -> None:
    attempts = Attempts()
    retry = Retry(max_attempts=2, on=frozenset({"timeout"}))
    with pytest.raises(TimedOut):
        await run(compiled(failing(TimedOut("slow")), retry=retry), attempts)
    assert [each["error"] for each in attempts.tries] == ["slow", "slow"]
    assert attempts.violations == 0


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (ContractViolation("x" * 10_000), "x" * 500),
        (
            InvalidArguments("no", problems=[FieldProblem("custom", "Field 'a' must be b, but received s3cret", "a")]),
            "Invalid parameters: Field 'a' must be b",
        ),
    ],
)
async def test_a_message_is_kept_without_values_and_not_all_of_a_long_one(error: ToolError, kept: str) -> None:
    attempts = Attempts()
    with pytest.raises(ToolError):
        await run(compiled(failing(error)), attempts)
    assert [each["error"] for each in attempts.tries] == [kept]


async def test_a_call_that_succeeds_at_once_or_fails_permanently_has_none_in_the_journal() -> None:
    async with memory_board() as board:
        board.tool(name="good")(lambda: 1)
        board.tool(name="bad")(lambda: 1 / 0)
        for name in ("good", "bad"):
            await board.call(name)
        assert [row.tries for row in await calls_of(board)] == [None, None]


async def test_a_repeat_of_a_call_that_fell_back_tells_of_no_attempts_of_its_own() -> None:
    async with memory_board() as board:
        board.tool(name="bad", fallback={"value": 7})(lambda: 1 / 0)
        answers = [await board.call("bad", key="k") for _ in range(2)]
        assert [(answer.output, answer.fallback) for answer in answers] == [(7, True)] * 2
        first, again = await calls_of(board)
        assert [each["error"] for each in first.tries] == ["division by zero"]
        assert (again.repeat_of, again.tries) == (first.id, None)
