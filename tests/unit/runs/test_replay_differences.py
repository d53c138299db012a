"""Differences between a recorded call and its replay: reported in order, exactly, and limited in number."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.model.call import Execution, Status, ToolResult
from pegboard.model.call_errors import ExecutionFailed, TimedOut, ToolError
from pegboard.model.tool import Kind, Tool
from pegboard.runs.replay import (
    MAX_DIFFERENCES,
    MAX_VALUE_CHARS,
    Difference,
    Replay,
    compare_outcomes,
    find_differences,
)
from pegboard.testing import memory_board
from tests.surfaces.rest.clients import mock
from tests.unit.runs.recorded_calls import KEEPING, make_call, mock_answer

NOW = datetime(2026, 1, 2, tzinfo=UTC)
TOOL = Tool("id", "owner", "quote", Kind.MOCK, {}, {}, NOW, NOW)

scalars = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(max_size=9)
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
)


def recorded(status: Status = "succeeded", failure: ToolError | None = None, **more: Any) -> Execution:
    known = {"attempts": 1, **({"code": failure.code, "error": failure.message} if failure else {}), **more}
    return Execution("1", "quote", status, NOW, NOW, 1.5, "c", "c", "rest", "plain", **known)


def answered(output: Any = None, attempts: int = 1) -> ToolResult:
    return ToolResult("quote", True, orjson.dumps(output), run_id="2", attempts=attempts)


def failed(error: ToolError, attempts: int = 1) -> ToolResult:
    return ToolResult("quote", False, problem=error.problem, run_id="2", attempts=attempts)


def received(replay: Replay) -> list[tuple[str, Any, Any]]:
    return [(each.path, each.before, each.after) for each in replay.differences]


def equal(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON, by another way than the code's own."""
    if isinstance(one, bool | str | None) or isinstance(other, bool | str | None):
        return json.dumps(one) == json.dumps(other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


class TestValues:
    @given(values, values)
    def test_two_values_differ_somewhere_exactly_if_they_are_not_the_same_json(self, one: Any, other: Any) -> None:
        assert list(find_differences(one, one)) == []
        assert bool(list(find_differences(one, other))) == (not equal(one, other))

    @given(values, values)
    def test_what_was_added_one_way_was_removed_the_other_way(self, one: Any, other: Any) -> None:
        def turned(difference: Difference) -> Difference:
            change = {"added": "removed", "removed": "added", "changed": "changed"}[difference.change]
            return Difference(difference.path, change, difference.after, difference.before)  # type: ignore[arg-type]

        forward, back = list(find_differences(one, other)), list(find_differences(other, one))
        assert sorted(map(repr, map(turned, forward))) == sorted(map(repr, back))

    def test_places_are_named_in_order(self) -> None:
        before: dict[str, Any] = {"a": [1, {"b": 2}], "gone": None, "straße 🦋": "x", "k": {}}
        after: dict[str, Any] = {"new": [1], "a": [1, {"b": 3}, 4], "straße 🦋": "y", "k": []}
        assert list(find_differences(before, after, ("result",))) == [
            Difference("result.a[1].b", "changed", 2, 3),
            Difference("result.a[2]", "added", None, 4),
            Difference("result.gone", "removed", None, None),
            Difference("result.straße 🦋", "changed", "x", "y"),
            Difference("result.k", "changed", {}, []),
            Difference("result.new", "added", None, [1]),
        ]

    def test_true_is_not_one_but_one_is_one_however_it_is_written(self) -> None:
        assert list(find_differences([True, 1, False, None], [1, 1.0, 0, False])) == [
            Difference("[0]", "changed", True, 1),
            Difference("[2]", "changed", False, 0),
            Difference("[3]", "changed", None, False),
        ]
        assert list(find_differences(2**53, float(2**53))) == []
        assert list(find_differences(2**53 + 1, float(2**53))) != []

    @pytest.mark.parametrize("depth", [200, 10_000])
    def test_depth_is_no_matter(self, depth: int) -> None:
        def nested(leaf: Any) -> Any:
            for _ in range(depth):
                leaf = [leaf]
            return leaf

        (found,) = find_differences(nested(1), nested(2))
        assert (found.before, found.after, len(found.path)) == (1, 2, min(3 * depth, 200))
        (found,) = find_differences(nested(1), "flat")
        assert len(orjson.dumps(found.before)) <= 2 * MAX_VALUE_CHARS

    def test_only_as_much_is_examined_as_is_asked_for(self) -> None:
        class Counting(list[int]):
            seen = 0

            def __iter__(self) -> Iterator[int]:
                for item in super().__iter__():
                    self.seen += 1
                    yield item

        many = Counting(range(10_000))
        assert len(list(islice(find_differences([], many), 5))) == 5
        assert many.seen == 5

    @given(values, values)
    def test_no_value_is_long(self, one: Any, other: Any) -> None:
        big = {"long": "🦋" * 1000, "wide": list(range(1000)), "deep": [[one] * 300], "token": "x" * 100_000}
        for found in find_differences([one, big, *big.values()], {"other": other, **big}):
            for value in (found.before, found.after):
                assert len(json.dumps(value, ensure_ascii=False)) < 12 * MAX_VALUE_CHARS

    def test_long_values_end_in_dots(self) -> None:
        (found,) = find_differences("a" * 1000, {"items": list(range(1000))})
        assert found.before == "a" * (MAX_VALUE_CHARS - 1) + "…"
        assert found.after.startswith('{"items": [0, 1, 2')
        assert found.after.endswith("…")


class TestOutcomes:
    def test_a_call_that_ends_the_same_is_the_same_however_long_it_took(self) -> None:
        replay = compare_outcomes(recorded(result={"a": 1}), TOOL, answered({"a": 1}))
        assert (replay.same, replay.differences, replay.note) == (True, (), None)

    def test_a_failure_can_be_the_same_too(self) -> None:
        stuck = ExecutionFailed("stuck")
        assert compare_outcomes(recorded("failed", stuck), TOOL, failed(stuck)).same
        loose = compare_outcomes(recorded("failed", stuck), TOOL, failed(ExecutionFailed("loose")))
        assert received(loose) == [("error", "stuck", "loose")]

    def test_an_error_is_compared_as_far_as_the_journal_keeps_it(self) -> None:
        words = "\u0000" + "x" * 3000
        kept = recorded("failed", ExecutionFailed(words), error="\ufffd" + "x" * 1999)
        assert compare_outcomes(kept, TOOL, failed(ExecutionFailed(words))).same

    def test_status_code_and_error_are_reported(self) -> None:
        late = compare_outcomes(recorded(result=1), TOOL, failed(TimedOut("late")))
        assert received(late) == [("status", "succeeded", "failed"), ("code", None, "timeout"), ("error", None, "late")]
        assert [each.change for each in late.differences] == ["changed", "added", "added"]
        never = compare_outcomes(recorded(result=1), TOOL, failed(TimedOut("late"), attempts=0))
        assert received(never)[0] == ("status", "succeeded", "refused")

    def test_attempts_are_reported_where_both_are_known(self) -> None:
        assert received(compare_outcomes(recorded(result=1, attempts=3), TOOL, answered(1))) == [("attempts", 3, 1)]
        assert compare_outcomes(recorded(result=1, attempts=0), TOOL, answered(1)).same
        doubtful = compare_outcomes(
            recorded("in_doubt", code="in_doubt", error="?", attempts=1), TOOL, answered(1, attempts=2)
        )
        assert [path for path, _, _ in received(doubtful)] == ["status", "code", "error"]
        assert doubtful.note is None

    def test_without_a_recorded_result_no_difference_is_known(self) -> None:
        replay = compare_outcomes(recorded(), TOOL, answered({"a": 1}))
        assert (replay.same, replay.differences) == (None, ())
        assert replay.note is not None
        assert "keep_result" in replay.note
        more = compare_outcomes(recorded(attempts=2), TOOL, answered({"a": 1}))
        assert (more.same, more.note) == (False, replay.note)

    def test_there_are_at_most_a_hundred(self) -> None:
        exactly = compare_outcomes(recorded(result=[0] * MAX_DIFFERENCES), TOOL, answered([1] * MAX_DIFFERENCES))
        assert (len(exactly.differences), exactly.more) == (MAX_DIFFERENCES, False)
        beyond = compare_outcomes(
            recorded(result={"few": 1}), TOOL, answered({f"many {number}": 1 for number in range(1000)})
        )
        assert (len(beyond.differences), beyond.more, beyond.same) == (MAX_DIFFERENCES, True, False)


async def test_a_result_that_was_too_large_to_keep_cannot_be_compared() -> None:
    async with memory_board() as board:
        await board.add(mock(**KEEPING, **mock_answer("x" * 70_000)))
        first = await make_call(board, "quote")
        replay = await board.replay(first)
        assert (replay.same, replay.execution.result) == (None, None)
        await board.tools.update("quote", mock_answer("x" * 60_000), board.admin)
        assert (await board.replay(await make_call(board, "quote"))).same
