"""The life of one call: the order of its stages, one row each, retries, fallbacks, times and the end of the board."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from pegboard import Pegboard, ToolResult
from pegboard.stages.validate_arguments import ArgumentValidator
from pegboard.testing import NoSettings, calls_of, member, memory_board
from tests.surfaces.rest.clients import mock
from tests.unit.memory_journal import Recording
from tests.waiting import until

NUMBER: dict[str, Any] = {"type": "integer"}


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board(drain_seconds=2) as fresh:
        yield fresh


def code(result: ToolResult) -> str | None:
    return result.problem.code if result.problem is not None else None


@pytest.fixture
def journal() -> Recording:
    return Recording()


@pytest.fixture
async def recorded_board(journal: Recording) -> AsyncIterator[Pegboard]:
    """A board with that journal."""
    async with Pegboard.open("memory", settings=NoSettings(drain_seconds=2), journal=journal) as fresh:
        yield fresh


class TestOrder:
    async def test_exactly_one_row_for_each_way_a_call_can_end(self, board: Pegboard) -> None:
        await board.add(mock(input_schema={"type": "object", "required": ["a"]}, rate_limit=ONCE))
        await board.add(mock("off", is_active=False))
        ended = [
            await board.call("quote", {"a": 1}),
            await board.call("quote", {"a": 1}),
            await board.call("quote", {}),
            await board.call("quote", ["not", "an", "object"]),  # type: ignore[arg-type]
            await board.call("off"),
            await board.call("nonesuch"),
            await board.call("math_eval", {"expression": "1/0"}),
        ]
        rows = await calls_of(board)
        assert [row.id for row in rows] == [result.run_id for result in ended]
        assert [(row.status, row.code) for row in rows] == [
            ("succeeded", None),
            ("refused", "rate_limited"),
            ("refused", "missing"),
            ("refused", "malformed_arguments"),
            ("refused", "tool_inactive"),
            ("refused", "tool_not_found"),
            ("failed", "execution_failed"),
        ]
        assert [row.attempts for row in rows] == [1, 0, 0, 0, 0, 0, 1]

    async def test_what_cannot_run_costs_no_quota_and_is_not_begun(
        self, recorded_board: Pegboard, journal: Recording
    ) -> None:
        await recorded_board.add(mock(input_schema={"type": "object", "required": ["a"]}, rate_limit=ONCE))
        for _ in range(3):
            assert code(await recorded_board.call("quote", {})) == "missing"
        assert journal.begun == []
        assert (await recorded_board.call("quote", {"a": 1})).success
        assert code(await recorded_board.call("quote", {"a": 1})) == "rate_limited"
        assert len(journal.begun) == 1
        assert len(journal.rows) == 5

    async def test_a_second_bucket_bounds_what_one_key_may_call_in_all(self) -> None:
        async with memory_board(key_rate={"max_calls": 2, "period": "hour"}) as bounded:
            ada = await member(bounded, "ada")
            assert (await bounded.call("echo")).success
            assert (await bounded.call("math_eval", {"expression": "1"})).success
            refused = await bounded.call("echo")
            assert refused.problem is not None
            assert refused.problem.message.startswith("Rate limit of this key reached: 2 calls per hour; try again in ")
            assert (await bounded.call("echo", caller=ada)).success

    async def test_a_call_that_cannot_be_recorded_does_not_run(
        self, recorded_board: Pegboard, journal: Recording
    ) -> None:
        ran = []

        @recorded_board.tool
        async def note() -> None:
            ran.append(1)

        journal.refusing = True
        result = await recorded_board.call("note")
        assert (code(result), ran) == ("unavailable", [])
        assert [row.status for row in journal.rows] == ["refused"]

    async def test_one_that_ran_and_could_not_be_recorded_says_so(
        self, recorded_board: Pegboard, journal: Recording
    ) -> None:
        journal.losing = True
        assert code(await recorded_board.call("echo")) == "unrecorded"
        assert code(await recorded_board.call("nonesuch")) == "unavailable"

    async def test_a_fault_of_ours_is_an_internal_error_reported_in_the_log_alone(
        self, board: Pegboard, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def broken(*_: Any) -> None:
            raise RuntimeError("inner words")

        monkeypatch.setattr(ArgumentValidator, "validate", broken)
        result = await board.call("echo")
        assert result.problem is not None
        assert (result.problem.code, result.problem.type) == ("internal_error", "UNKNOWN_ERROR")
        assert "inner words" not in result.problem.message
        assert "inner words" in caplog.text
        assert [row.code for row in await calls_of(board)] == ["internal_error"]


ONCE = {"max_calls": 1, "period": "hour"}


class TestTimes:
    async def test_the_wait_for_the_journal_is_not_counted(self, recorded_board: Pegboard, journal: Recording) -> None:
        journal.wait = asyncio.Event()
        call = asyncio.create_task(recorded_board.call("echo"))

        async def recorded() -> float | None:
            return journal.rows[0].elapsed_ms if journal.rows else None

        before_the_wait = await until(recorded)
        assert not call.done(), "the caller is answered only after the row is durable"
        journal.wait.set()
        assert (await call).elapsed_ms == before_the_wait
        assert len(journal.rows) == 1

    async def test_retries_are_counted(self, board: Pegboard) -> None:
        @board.tool(read_only=True, retry={"max_attempts": 3, "backoff_ms": 10}, output_schema=NUMBER)
        async def wrong() -> Any:
            return "no number"

        result = await board.call("wrong")
        assert result.attempts == 3
        assert result.elapsed_ms >= 30


class TestRetriesAndFallbacks:
    async def attempts(self, board: Pegboard, **fields: Any) -> tuple[ToolResult, int]:
        ran = []

        @board.tool(output_schema=NUMBER, **fields)
        async def wrong() -> Any:
            ran.append(1)
            return "no number"

        result = await board.call("wrong")
        (row,) = await calls_of(board, "wrong")
        assert row.attempts == result.attempts == len(ran)
        return result, len(ran)

    @pytest.mark.parametrize("fields", [{"read_only": True}, {"idempotent": True}])
    async def test_a_tool_that_may_run_again_is_tried_four_times(
        self, board: Pegboard, fields: dict[str, bool]
    ) -> None:
        result, ran = await self.attempts(board, **fields)
        assert (code(result), ran) == ("contract_violation", 4)

    async def test_any_other_once(self, board: Pegboard) -> None:
        assert (await self.attempts(board))[1] == 1

    async def test_a_tool_is_retried_as_often_and_for_what_it_declares(self, board: Pegboard) -> None:
        assert (await self.attempts(board, retry={"max_attempts": 2}))[1] == 2

    async def test_a_failure_that_is_not_named_is_not_tried_again(self, board: Pegboard) -> None:
        assert (await self.attempts(board, read_only=True, retry={"max_attempts": 5, "on": ["timeout"]}))[1] == 1

    async def test_a_later_attempt_that_is_right_is_the_answer(self, board: Pegboard) -> None:
        answers = iter(["no", "no", 42])

        @board.tool(read_only=True, output_schema=NUMBER)
        async def unsteady() -> Any:
            return next(answers)

        result = await board.call("unsteady")
        assert (result.output, result.attempts) == (42, 3)
        assert [(row.status, row.attempts) for row in await calls_of(board)] == [("succeeded", 3)]

    async def test_then_a_value_or_another_tool_answers_and_the_result_says_so(self, board: Pegboard) -> None:
        result, _ = await self.attempts(board, fallback={"value": None}, rate_limit=ONCE)
        assert (result.success, result.output, result.fallback) == (True, None, True)
        refused = await board.call("wrong")
        assert (code(refused), refused.fallback) == ("rate_limited", False), (
            "a call that never ran falls back on nothing"
        )

        @board.tool(fallback={"tool": "echo"})
        async def broken(n: int) -> int:
            raise ValueError("no")

        other = await board.call("broken", {"n": 7})
        assert (other.output, other.fallback) == ({"echo": {"n": 7}}, True)
        assert [(row.tool_name, row.status) for row in await calls_of(board)][-2:] == [
            ("broken", "succeeded"),
            ("echo", "succeeded"),
        ]

    async def test_fallbacks_do_not_chain_and_a_failing_one_leaves_the_first_error(self, board: Pegboard) -> None:
        ran = []
        for name, other in (("one", "two"), ("two", "one"), ("three", "nonesuch")):

            @board.tool(name=name, fallback={"tool": other})
            async def broken(context: str = "") -> None:
                ran.append(context)
                raise ValueError("stuck")

        for name in ("one", "three"):
            result = await board.call(name)
            assert result.problem is not None
            assert result.problem.message == "stuck"
        assert len(ran) == 3

    async def test_the_deadline_holds_over_all_attempts(self, board: Pegboard) -> None:
        @board.tool(read_only=True, timeout=2, retry={"max_attempts": 10, "on": ["timeout"], "backoff_ms": 200})
        async def slow() -> None:
            await anyio.sleep_forever()

        result = await board.call("slow")
        assert code(result) == "timeout"
        assert 1 < result.attempts < 10


class TestCancelling:
    async def test_every_stage_leaves_a_row(self, recorded_board: Pegboard, journal: Recording) -> None:
        started = asyncio.Event()

        @recorded_board.tool
        async def hangs() -> None:
            started.set()
            await anyio.sleep_forever()

        running = asyncio.create_task(recorded_board.call("hangs"))
        await started.wait()
        journal.wait = asyncio.Event()
        running.cancel()
        await asyncio.sleep(0)
        journal.wait.set()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert [(row.status, row.code) for row in journal.rows] == [("failed", "cancelled")]
