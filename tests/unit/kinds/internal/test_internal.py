"""Internal tools: handlers in this process, sync or async, called with their parameters by name."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import anyio.to_thread
import pytest

from pegboard import CallContext, Pegboard
from pegboard.kinds.internal.executor import Handler, find_context_parameter
from pegboard.model.call import Progress
from pegboard.testing import calls_of, memory_board
from tests.surfaces.rest.clients import mock


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board(drain_seconds=1) as fresh:
        yield fresh


async def register(board: Pegboard, function: Callable[..., Any], **more: Any) -> None:
    """Register the function as the tool `it`."""
    board.handler("it")(function)
    await board.add(mock("it", tool_type="internal", config={"handler": "it"}, **more))


class Callable_:
    async def __call__(self, n: int) -> int:
        return n + 1


async def add(n: int, more: int) -> int:
    return n + more


@pytest.mark.parametrize(
    "function",
    [lambda n: n + 1, Callable_(), functools.partial(add, more=1), functools.partial(lambda n, more: n + more, more=1)],
    ids=["lambda", "object", "async partial", "partial"],
)
async def test_whatever_can_be_called_can_be_a_handler(board: Pegboard, function: Callable[..., Any]) -> None:
    await register(board, function)
    assert (await board.call("it", {"n": 1})).output == 2


async def test_a_handler_gets_the_caller_and_the_remaining_time(board: Pegboard) -> None:
    seen: list[CallContext] = []
    received: list[Progress] = []

    async def work(n: int, context: CallContext) -> int:
        seen.append(context)
        context.progress(1, 2, "half")
        return n

    await register(board, work, timeout=5)
    result = await board.call("it", {"n": 1}, on_progress=received.append)
    (context,) = seen
    assert (context.caller, context.run_id) == (board.admin, result.run_id)
    assert 0 < context.seconds_left <= 5
    assert received == [Progress(1, 2, "half")]


async def test_progress_is_dropped_without_a_reader(board: Pegboard) -> None:
    def work(context: CallContext) -> None:
        context.progress(1)

    await register(board, work)
    assert (await board.call("it")).success


def test_the_context_is_found_by_its_annotation_alone() -> None:
    def textual(a: int, it: CallContext) -> None: ...

    def unresolvable(a: Missing, it: CallContext) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    def without(a: int, context: int) -> None: ...

    assert find_context_parameter(textual) == find_context_parameter(unresolvable) == "it"
    assert find_context_parameter(without) is None


async def test_arguments_that_do_not_fit_the_function_are_the_tools_own_error(board: Pegboard) -> None:
    async def work(n: int) -> int:
        return n

    await register(board, work)
    result = await board.call("it", {"m": 1})
    assert result.problem is not None
    assert (result.problem.code, "unexpected keyword argument 'm'" in result.problem.message) == (
        "execution_failed",
        True,
    )


async def test_what_a_handler_does_to_its_arguments_reaches_no_one(board: Pegboard) -> None:
    seen: list[int] = []

    async def work(items: list[int]) -> Any:
        items.append(0)
        seen.append(len(items))
        return "no list"

    schema = {"type": "array"}
    await register(board, work, keep_arguments=True, read_only=True, output_schema=schema)
    given = {"items": [1]}
    await board.call("it", given)
    assert seen == [2, 2, 2, 2], "each attempt gets what was sent"
    assert given == {"items": [1]}
    assert (await calls_of(board))[0].arguments == {"items": [1]}


async def test_a_handler_added_or_replaced_later_serves_the_next_call(board: Pegboard) -> None:
    await board.add(mock("it", tool_type="internal", config={"handler": "it"}))
    assert (await board.call("it")).problem is not None
    for answer in ("first", "second"):
        board.handler("it")(functools.partial(lambda answer: answer, answer))
        assert (await board.call("it")).output == answer


async def test_sync_handlers_run_off_the_loop_at_once_and_in_few_threads(board: Pegboard) -> None:
    barrier = threading.Barrier(8, timeout=10)

    def work() -> str:
        barrier.wait()
        return threading.current_thread().name

    await register(board, work)
    results = await asyncio.gather(*(board.call("it") for _ in range(8)))
    assert {result.output for result in results} == {"pegboard-handler"}
    before = threading.active_count()
    await asyncio.gather(*(board.call("it") for _ in range(8)))
    assert threading.active_count() == before, "threads are kept"


async def test_sync_handlers_that_hang_never_take_more_threads_than_their_share(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard.kinds.internal.executor.THREADS_PER_HANDLER", 3)
    let_go = threading.Event()
    await register(board, lambda: let_go.wait(30), timeout=0.05)
    before = threading.active_count()
    for _ in range(4):
        results = await asyncio.gather(*(board.call("it") for _ in range(3)))
        assert {result.problem.code for result in results if result.problem} == {"timeout"}
    assert threading.active_count() - before == 3
    board.handler("other")(lambda: "served")
    await board.add(mock("other", tool_type="internal", config={"handler": "other"}))
    assert (await board.call("other")).output == "served", "they hold their own places, never another's"
    let_go.set()


async def test_a_handler_that_was_cut_off_may_clean_up(board: Pegboard) -> None:
    cleaned = []

    async def work() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            await anyio.lowlevel.checkpoint()
            cleaned.append(True)

    await register(board, work, timeout=0.05)
    assert (await board.call("it")).problem is not None
    assert cleaned == [True]


async def test_an_awaitable_from_a_sync_function_is_awaited(board: Pegboard) -> None:
    async def inner(n: int) -> int:
        return n * 2

    def outer(n: int) -> Any:
        return inner(n)

    await register(board, outer)
    assert (await board.call("it", {"n": 4})).output == 8


def test_a_handler_knows_whether_it_is_async() -> None:
    assert Handler.of(add).is_async
    assert not Handler.of(lambda: None).is_async
