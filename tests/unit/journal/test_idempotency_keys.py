"""Idempotency keys: a call runs once, however often and through whichever process it is sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard import Pegboard
from pegboard.model.api_errors import Invalid
from pegboard.model.call import Execution
from pegboard.model.call_errors import FieldProblem, InvalidArguments, RateLimited
from pegboard.model.idempotency_key import MAX_IDEMPOTENCY_KEY_LENGTH, check_idempotency_key, derive_call_keys
from pegboard.testing import calls_of, member, memory_board
from tests.surfaces.rest.clients import mock
from tests.unit.journal.two_boards import Boards, CountingTool, code, intents, is_repeat, two_boards

NUMBER: dict[str, Any] = {"type": "integer"}
ONCE = {"max_calls": 1, "period": "hour"}


@pytest.fixture
async def boards(database_url: str, tmp_path: Path) -> AsyncIterator[Boards]:
    async with two_boards(database_url, tmp_path / "home") as opened:
        yield opened


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board() as opened:
        yield opened


async def test_the_first_runs_and_repeats_get_its_answer_through_either_board(boards: Boards) -> None:
    one, other = boards
    note = CountingTool(*boards)
    first = await one.call("note", {"n": 7}, key="k")
    again = [await board.call("note", {"n": 7}, key="k") for board in (one, other, one)]
    assert note.ran == [7]
    assert (first.output, first.repeat_of) == ({"n": 7, "run": 1}, None)
    assert all(is_repeat(result, first) for result in again)
    rows = await calls_of(one)
    assert [row.id for row in rows] == [result.run_id for result in (first, *again)]
    assert [(row.status, row.repeat_of, row.attempts) for row in rows] == [
        ("succeeded", None, 1),
        *[("succeeded", first.run_id, 0)] * 3,
    ]
    assert len({row.arguments_digest for row in rows}) == 1


async def test_without_a_key_or_with_another_it_runs_again(boards: Boards) -> None:
    note = CountingTool(*boards)
    for key in ("k", None, None, "K", "k ", "other"):
        assert (await boards[0].call("note", key=key)).repeat_of is None
    assert len(note.ran) == 6


class TestOutcomes:
    """A repeat gets the answer of the first call, of any kind."""

    @staticmethod
    def fails(error: Exception) -> Callable[[], Any]:
        def run() -> Any:
            raise error

        return run

    FIELDS = (
        FieldProblem("too_big", "Field 'a' must be at most 3, but received 4", "a", "at most 3", "4"),
        FieldProblem("missing", "Field 'ü' is missing"),
    )

    @pytest.mark.parametrize(
        ("run", "fields"),
        [
            (lambda: {"ü": [None, 1.50, "x\ny"]}, {}),
            (lambda: None, {}),
            (lambda: "\N{UMBRELLA}", {"result_style": "detailed"}),
            (fails(ValueError("no, \N{UMBRELLA}\n no")), {}),
            (fails(ValueError("no")), {"result_style": "detailed"}),
            (fails(InvalidArguments("two faults", problems=FIELDS)), {}),
            (fails(RateLimited("busy", retry_after_ms=1234)), {}),
            (lambda: "no number", {"output_schema": NUMBER}),
            (lambda: "no number", {"output_schema": NUMBER, "retry": {"max_attempts": 3}}),
            (lambda: "no number", {"output_schema": NUMBER, "fallback": {"value": {"instead": 1}}}),
            (fails(ValueError("no")), {"fallback": {"tool": "echo"}}),
        ],
        ids=[
            "output",
            "null",
            "detailed",
            "failure",
            "detailed failure",
            "field problems",
            "retry after",
            "contract",
            "retries",
            "fallback value",
            "fallback tool",
        ],
    )
    async def test_it_is_the_same_byte_for_byte(
        self, boards: Boards, run: Callable[[], Any], fields: dict[str, Any]
    ) -> None:
        ran = []
        for board in boards:

            @board.tool(name="attempt", **fields)
            async def attempt() -> Any:
                ran.append(1)
                return run()

        first = await boards[0].call("attempt", key="k")
        tries = len(ran)
        assert tries == first.attempts
        assert all([is_repeat(await board.call("attempt", key="k"), first) for board in boards])
        assert len(ran) == tries, "it ran again"
        rows = await calls_of(boards[0], "attempt")
        assert {(row.status, row.code, row.elapsed_ms) for row in rows} == {
            ("succeeded" if first.success else "failed", code(first), first.elapsed_ms)
        }
        assert len(await calls_of(boards[0], "echo")) == (fields.get("fallback") == {"tool": "echo"})

    async def test_a_timeout_is_an_answer_too(self, board: Pegboard) -> None:
        note = CountingTool(board, waits=True, timeout=0.1)
        first = await board.call("note", key="k")
        assert code(first) == "timeout"
        assert is_repeat(await board.call("note", key="k"), first)
        assert len(note.ran) == 1

    async def test_builtins_and_mocks_take_keys_too(self, boards: Boards) -> None:
        await boards[0].add(mock())
        for tool, arguments in (("echo", {"n": 1}), ("math_eval", {"expression": "1/0"}), ("quote", {})):
            first = await boards[0].call(tool, arguments, key="k")
            assert is_repeat(await boards[0].call(tool, arguments, key="k"), first)
        first = await boards[0].call("current_time", key="k")
        assert is_repeat(await boards[1].call("current_time", key="k"), first)


class TestScope:
    async def test_other_arguments_are_a_conflict_and_run_nothing(self, boards: Boards) -> None:
        note = CountingTool(*boards)
        first = await boards[0].call("note", {"n": 1}, key="k")
        for board in boards:
            refused = await board.call("note", {"n": 2}, key="k")
            assert refused.problem is not None
            assert (refused.problem.code, refused.problem.type) == ("idempotency_conflict", "VALIDATION_ERROR")
            assert "other arguments" in refused.problem.message
            assert refused.repeat_of is None
        assert note.ran == [1]
        assert is_repeat(await boards[1].call("note", {"n": 1}, key="k"), first)
        assert [row.status for row in await calls_of(boards[0])] == ["succeeded", "refused", "refused", "succeeded"]

    async def test_the_order_of_arguments_is_no_other_argument(self, board: Pegboard) -> None:
        first = await board.call("echo", {"a": 1, "b": 2}, key="k")
        assert is_repeat(await board.call("echo", {"b": 2, "a": 1}, key="k"), first)

    async def test_another_user_with_the_same_key_runs_it(self, board: Pegboard) -> None:
        note = CountingTool(board, is_public=True)
        callers = [await member(board, name) for name in ("ada", "bob")]
        for caller in (None, *callers):
            assert (await board.call("note", key="k", caller=caller)).repeat_of is None
        assert len(note.ran) == 3
        assert (await board.call("note", key="k", caller=callers[0])).repeat_of is not None

    async def test_another_tool_with_the_same_key_runs(self, board: Pegboard) -> None:
        note = CountingTool(board)
        first = await board.call("echo", key="k")
        assert (await board.call("note", key="k")).repeat_of is None
        assert (first.repeat_of, len(note.ran)) == (None, 1)

    async def test_a_tool_of_the_same_name_that_is_another_one_runs(self, board: Pegboard) -> None:
        await board.add(mock())
        await board.call("quote", key="k")
        await board.tools.delete("quote", board.admin)
        await board.add(mock(config={"mock_response": 2}))
        again = await board.call("quote", key="k")
        assert (again.output, again.repeat_of) == (2, None)

    async def test_a_change_of_the_tool_does_not_make_it_run_again(self, board: Pegboard) -> None:
        await board.add(mock())
        first = await board.call("quote", key="k")
        await board.tools.update("quote", {"config": {"mock_response": 2}}, board.admin)
        again = await board.call("quote", key="k")
        assert is_repeat(again, first)
        assert [row.tool_version for row in await calls_of(board)] == [1, 2]


class TestRefusals:
    """A call that never ran leaves the key unused."""

    async def then_runs(self, board: Pegboard, name: str, arguments: dict[str, Any], refusal: str | None) -> None:
        (refused,) = [row for row in await calls_of(board) if row.status == "refused" or row.code == refusal]
        assert isinstance(refused, Execution)
        assert refused.code == refusal
        first = await board.call(name, arguments, key="k")
        assert (first.success, first.repeat_of) == (True, None), first.problem
        assert is_repeat(await board.call(name, arguments, key="k"), first)

    async def test_wrong_arguments(self, board: Pegboard) -> None:
        await board.add(mock(input_schema={"type": "object", "required": ["a"]}))
        await board.call("quote", {}, key="k")
        await self.then_runs(board, "quote", {"a": 1}, "missing")

    async def test_a_rate_limit(self, board: Pegboard) -> None:
        await board.add(mock(rate_limit=ONCE))
        await board.call("quote")
        await board.call("quote", key="k")
        await board.tools.update("quote", {"rate_limit": None}, board.admin)
        await self.then_runs(board, "quote", {}, "rate_limited")

    async def test_an_inactive_tool(self, board: Pegboard) -> None:
        await board.add(mock(is_active=False))
        await board.call("quote", key="k")
        await board.tools.update("quote", {"is_active": True}, board.admin)
        await self.then_runs(board, "quote", {}, "tool_inactive")

    async def test_a_tool_that_is_not_there(self, board: Pegboard) -> None:
        await board.call("quote", key="k")
        await board.add(mock())
        await self.then_runs(board, "quote", {}, "tool_not_found")

    async def test_a_handler_that_is_missing(self, board: Pegboard) -> None:
        await board.add(mock(tool_type="internal", config={"handler": "h"}))
        await board.call("quote", key="k")

        @board.handler("h")
        async def handle() -> int:
            return 1

        await self.then_runs(board, "quote", {}, "handler_not_found")

    async def test_a_table_that_is_not_there(self, board: Pegboard) -> None:
        table = {"tableName": "t", "fields": [{"name": "a", "dataType": "text"}]}
        await board.add(mock(tool_type="table", config=table, input_schema={}))
        assert code(await board.call("quote", key="k")) == "table_not_found"
        assert await intents(board.database) == []


class TestKeys:
    @pytest.mark.parametrize(
        "key", ["", "x" * (MAX_IDEMPOTENCY_KEY_LENGTH + 1), "ü", "a\nb", "a\tb", "\x7f", "a\0", "\N{UMBRELLA}"]
    )
    async def test_a_key_is_1_to_255_printable_ascii_characters(self, board: Pegboard, key: str) -> None:
        for refused in (board.call("echo", key=key), board.run({"name": "echo", "arguments": {}}, key=key)):
            with pytest.raises(Invalid, match="1 to 255 printable ASCII characters"):
                await refused
        assert await calls_of(board) == []

    @given(
        st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=MAX_IDEMPOTENCY_KEY_LENGTH)
    )
    def test_every_such_text_is_one(self, key: str) -> None:
        assert check_idempotency_key(key) == key

    async def test_the_longest_one_works_and_only_as_a_whole(self, board: Pegboard) -> None:
        first = await board.call("echo", key="x" * MAX_IDEMPOTENCY_KEY_LENGTH)
        assert is_repeat(await board.call("echo", key="x" * MAX_IDEMPOTENCY_KEY_LENGTH), first)
        assert (await board.call("echo", key="x" * (MAX_IDEMPOTENCY_KEY_LENGTH - 1))).repeat_of is None

    @given(st.text(min_size=1), st.integers(min_value=2, max_value=20))
    def test_many_calls_get_a_key_each_by_their_place(self, key: str, count: int) -> None:
        keys = derive_call_keys(key, count)
        assert len(set(keys)) == count
        assert keys[:2] == derive_call_keys(key, 2)
        assert derive_call_keys(key, 1) == [key]
        assert derive_call_keys(None, count) == [None] * count

    async def test_run_makes_each_call_of_a_payload_once(self, board: Pegboard) -> None:
        note = CountingTool(board)
        many = [{"name": "note", "arguments": {"n": 1}}, {"name": "note", "arguments": {"n": 1}}]
        first = await board.run(many, key="k")
        assert note.ran == [1, 1], "two places are two calls"
        assert await board.run(many, key="k") == first
        one = await board.run(many[0], key="k")
        assert await board.run(many[0], key="k") == one
        assert (await board.call("note", {"n": 1}, key="k")).output == one["result"]
        assert note.ran == [1, 1, 1]
