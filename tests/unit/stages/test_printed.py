"""The printed output of a tool: from its last attempt, however that ended, truncated for the journal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pegboard import Caller, Pegboard
from pegboard.kinds.base import OpenTool, Output, Prepared
from pegboard.model.call import ReadyCall, ToolCall
from pegboard.model.call_errors import ContractViolation, ExecutionFailed, TimedOut, ToolError
from pegboard.model.tool import Kind, Retry
from pegboard.stages.execute import Attempts, ExecutionOutcome
from pegboard.stages.run import MAX_KEPT_PRINTED_BYTES, CallRun
from pegboard.testing import NoSettings
from tests.surfaces.rest.clients import mock
from tests.unit.journal.two_boards import code, use
from tests.unit.memory_journal import Recording
from tests.unit.stages.test_execute import compiled, run


class Script:
    """Returns these values in turn, and raises those that are errors."""

    def __init__(self, *steps: Any) -> None:
        self._steps = list(steps)

    async def __call__(self, _call: ReadyCall) -> Any:
        step = self._steps.pop(0)
        if isinstance(step, BaseException):
            raise step
        return step

    def prepare(self, _tool: OpenTool) -> Prepared:
        return Prepared(self)

    async def close(self) -> None:
        return


def printing(error: ToolError, printed: Any) -> ToolError:
    """Return the error with this printed output."""
    error.printed = printed
    return error


AGAIN = Retry(max_attempts=3, on=frozenset({"timeout", "contract_violation"}))


class TestTakenOver:
    @pytest.mark.parametrize("instant", [True, False])
    async def test_an_output_is_its_value_and_what_was_printed_is_kept_apart(self, instant: bool) -> None:
        attempts = Attempts()
        outcome = await run(compiled(Script(Output({"a": 1}, "hello\n")), instant=instant), attempts)
        assert outcome == ExecutionOutcome(b'{"a":1}', 1)
        assert attempts.printed == "hello\n"

    async def test_a_pair_that_a_tool_returns_is_a_pair(self) -> None:
        attempts = Attempts()
        assert await run(compiled(Script((1, "hello"))), attempts) == ExecutionOutcome(b'[1,"hello"]', 1)
        assert attempts.printed == ""

    async def test_a_failure_has_what_was_printed_before_it(self) -> None:
        attempts = Attempts()
        with pytest.raises(ExecutionFailed):
            await run(compiled(Script(printing(ExecutionFailed("stuck"), "so far"))), attempts)
        assert attempts.printed == "so far"

    async def test_a_refused_output_keeps_what_was_printed(self) -> None:
        attempts = Attempts()
        with pytest.raises(ContractViolation):
            await run(compiled(Script(Output("x", "so far")), output_schema={"type": "integer"}), attempts)
        assert attempts.printed == "so far"
        with pytest.raises(ExecutionFailed, match="not JSON"):
            await run(compiled(Script(Output(object(), "no json"))), attempts)
        assert attempts.printed == "no json"

    @pytest.mark.parametrize(
        ("steps", "printed"),
        [
            ([printing(TimedOut("slow"), "first"), Output(1, "second")], "second"),
            ([printing(TimedOut("slow"), "first"), Output(1, "")], ""),
            ([printing(TimedOut("slow"), "first"), 1], ""),
            ([Output("x", "first"), 1], ""),
            ([TimedOut("slow"), Output("x", "second"), printing(ExecutionFailed("no"), "third")], "third"),
            ([printing(TimedOut("slow"), "first"), ExecutionFailed("no")], ""),
            ([printing(TimedOut("slow"), "first"), ValueError("no")], ""),
        ],
    )
    async def test_it_is_the_last_attempts_alone(self, steps: list[Any], printed: str) -> None:
        attempts = Attempts()
        the = compiled(Script(*steps), output_schema={"type": "integer"}, retry=AGAIN)
        try:
            await run(the, attempts)
        except ToolError:
            assert isinstance(steps[-1], Exception)
        assert (attempts.count, attempts.printed) == (len(steps), printed)

    async def test_an_attempt_that_no_other_can_follow_in_time_is_the_last(self) -> None:
        attempts = Attempts()
        late = Retry(max_attempts=3, on=frozenset({"timeout"}), backoff_ms=60_000)
        with pytest.raises(TimedOut):
            await run(compiled(Script(printing(TimedOut("slow"), "first")), retry=late), attempts)
        assert attempts.printed == "first"

    async def test_nothing_is_printed_by_an_error_unless_a_user_says_so(self) -> None:
        assert (ToolError("x").printed, ToolError.printed, Attempts().printed) == ("", "", "")


def truncate_printed(printed: Any) -> str | None:
    """Return the part of it that the row stores."""
    this = CallRun(ToolCall("quote", {}), Caller("u", "ada"), None)
    this.attempts.count, this.attempts.printed = 1, printed
    return this.execution(this.build_success(ExecutionOutcome(b"1", 1))).printed


class TestCut:
    @pytest.mark.parametrize(
        "printed", ["x", "line\n", "x" * MAX_KEPT_PRINTED_BYTES, "☂" * (MAX_KEPT_PRINTED_BYTES // 3)]
    )
    def test_up_to_the_limit_it_is_kept_whole(self, printed: str) -> None:
        assert truncate_printed(printed) == printed

    def test_nothing_is_none(self) -> None:
        assert truncate_printed("") is None

    @pytest.mark.parametrize(
        ("printed", "beginning", "more"),
        [
            ("x" * (MAX_KEPT_PRINTED_BYTES + 1), "x" * MAX_KEPT_PRINTED_BYTES, "1"),
            ("x" * (2**20), "x" * MAX_KEPT_PRINTED_BYTES, "983,040"),
            # 65,536 is not a multiple of three, so the last one that fits ends a byte before.
            ("☂" * 30_000, "☂" * 21_845, "24,465"),
            ("x" + "😀" * 20_000, "x" + "😀" * 16_383, "14,468"),
            # A text that cannot be stored is measured in its stored form.
            ("\0" * 30_000, "\ufffd" * 21_845, "24,465"),
        ],
    )
    def test_beyond_it_the_end_is_cut_and_how_much_is_reported(self, printed: str, beginning: str, more: str) -> None:
        assert truncate_printed(printed) == f"{beginning}\n[{more} more bytes were printed and are not kept]"

    @settings(deadline=None)
    @given(st.text(alphabet=st.characters(), max_size=10), st.integers(1, 60_000))
    @example("\0\ud800☂", 30_000)
    def test_whatever_was_printed_can_be_stored_and_is_bounded(self, some: str, times: int) -> None:
        printed = some * times
        found = truncate_printed(printed)
        if not printed:
            assert found is None
            return
        assert found is not None
        assert len(found.encode()) <= MAX_KEPT_PRINTED_BYTES + 100
        assert "\0" not in found

    @pytest.mark.parametrize(("printed", "text"), [(b"bytes", "b'bytes'"), (5, "5"), (["a"], "['a']")])
    def test_what_is_no_text_does_not_keep_a_call_out_of_the_journal(self, printed: Any, text: str) -> None:
        assert truncate_printed(printed) == text


class TestRows:
    @pytest.fixture
    def journal(self) -> Recording:
        return Recording()

    @pytest.fixture
    async def board(self, journal: Recording) -> AsyncIterator[Pegboard]:
        async with Pegboard.open("memory", settings=NoSettings(drain_seconds=2), journal=journal) as fresh:
            yield fresh

    async def printed(self, board: Pegboard, journal: Recording, *steps: Any, **fields: Any) -> list[str | None]:
        use(board, Kind.MOCK, Script(*steps))
        await board.add(mock(**fields))
        await board.call("quote")
        return [row.printed for row in journal.rows]

    async def test_a_success_a_failure_and_a_broken_contract(self, board: Pegboard, journal: Recording) -> None:
        steps = [Output(1, "well"), printing(ExecutionFailed("stuck"), "badly"), Output("x", "wrongly"), 1]
        assert await self.printed(board, journal, *steps, output_schema={"type": "integer"}) == ["well"]
        for _ in range(3):
            await board.call("quote")
        found = [(row.status, row.code, row.printed) for row in journal.rows]
        assert found == [
            ("succeeded", None, "well"),
            ("failed", "execution_failed", "badly"),
            ("failed", "contract_violation", "wrongly"),
            ("succeeded", None, None),
        ]

    async def test_it_is_not_in_the_answer(self, board: Pegboard, journal: Recording) -> None:
        use(
            board,
            Kind.MOCK,
            Script(Output({"n": 1}, "to the journal"), printing(ExecutionFailed("stuck"), "there too")),
        )
        await board.add(mock())
        well, badly = await board.call("quote"), await board.call("quote")
        assert (well.output, code(badly)) == ({"n": 1}, "execution_failed")
        assert "to the journal" not in repr(well)
        assert "there too" not in repr(badly)
        assert [row.printed for row in journal.rows] == ["to the journal", "there too"]

    async def test_a_fallback_does_not_hide_it(self, board: Pegboard, journal: Recording) -> None:
        failure = printing(ExecutionFailed("stuck"), "before it fell back")
        assert await self.printed(board, journal, failure, fallback={"value": 7}) == ["before it fell back"]
        assert journal.results[0].output == 7

    async def test_nothing_was_printed_by_a_call_that_did_not_run(self, board: Pegboard, journal: Recording) -> None:
        required = {"type": "object", "required": ["a"]}
        assert await self.printed(board, journal, input_schema=required) == [None]
        use(board, Kind.MOCK, Script(Output(1, "now")))
        await board.call("quote", {"a": 1})
        assert [row.printed for row in journal.rows] == [None, "now"]
        assert [draft.printed for draft in journal.drafts] == [None]

    async def test_one_that_is_cut_off_has_nothing_of_the_attempts_before(
        self, board: Pegboard, journal: Recording
    ) -> None:
        waiting = asyncio.Event()

        class Hanging(Script):
            async def __call__(self, call: ReadyCall) -> Any:
                if self._steps:
                    return await super().__call__(call)
                waiting.set()
                return await asyncio.Event().wait()

        use(board, Kind.MOCK, Hanging(printing(TimedOut("slow"), "first")))
        await board.add(mock(retry={"max_attempts": 2, "on": ["timeout"]}))
        task = asyncio.create_task(board.call("quote"))
        await asyncio.wait_for(waiting.wait(), 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [(row.code, row.attempts, row.printed) for row in journal.rows] == [("cancelled", 2, None)]
