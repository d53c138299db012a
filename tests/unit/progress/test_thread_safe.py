"""Progress that internal handlers report: from the event loop and from threads, during a call and after it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest

from pegboard import CallContext, Pegboard
from pegboard.model.call import Progress
from pegboard.model.call_errors import Cancelled
from pegboard.progress.thread_safe import MAX_PENDING_CHARS
from pegboard.testing import memory_board
from tests.surfaces.rest.clients import mock
from tests.waiting import until


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board(drain_seconds=1) as fresh:
        yield fresh


async def register(board: Pegboard, function: Callable[..., Any], **more: Any) -> None:
    """Register the function as the tool `it`."""
    board.handler("it")(function)
    await board.add(mock("it", tool_type="internal", config={"handler": "it"}, **more))


async def test_reports_of_an_async_handler_arrive_at_once(board: Pegboard) -> None:
    received: list[Progress] = []
    counts: list[int] = []

    async def work(context: CallContext) -> None:
        for step in range(3):
            context.progress(step, 3)
            context.partial(f"{step}\n")
            counts.append(len(received))

    await register(board, work)
    assert (await board.call("it", on_progress=received.append)).success
    assert counts == [2, 4, 6]


async def test_reports_of_a_thread_arrive_in_the_loop_before_the_result(board: Pegboard) -> None:
    received: list[tuple[Progress, int]] = []

    def work(context: CallContext) -> str:
        context.progress(1, 2, "half")
        context.partial("a")
        context.partial("b")
        return "done"

    await register(board, work)
    result = await board.call("it", on_progress=lambda it: received.append((it, threading.get_ident())))
    assert result.output == "done"
    assert {thread for _, thread in received} == {threading.get_ident()}
    assert "".join(it.partial or "" for it, _ in received) == "ab"
    assert [(it.progress, it.total, it.message) for it, _ in received if it.progress is not None] == [(1, 2, "half")]


async def test_a_flood_from_a_thread_is_assembled_and_bounded(board: Pegboard) -> None:
    received: list[Progress] = []

    def work(context: CallContext) -> None:
        for step in range(1000):
            context.progress(step, 1000, f"at {step}")
            context.partial("x" * 1000)

    await register(board, work)
    assert (await board.call("it", on_progress=received.append)).success
    assert (received[-1].progress, received[-1].message) == (999, "at 999")
    assert max(len(it.partial or "") for it in received) <= MAX_PENDING_CHARS + 50
    assert sum((it.partial or "").count("x") for it in received) <= 1_000_000


async def test_what_a_thread_says_after_the_answer_reaches_no_one_and_hurts_no_other_call(board: Pegboard) -> None:
    received: list[Progress] = []
    answered, ended = threading.Event(), threading.Event()

    def work(context: CallContext) -> None:
        def later() -> None:
            answered.wait(30)
            context.progress(1)
            context.partial("late")
            ended.set()

        threading.Thread(target=later).start()

    await register(board, work)
    assert (await board.call("it", on_progress=received.append)).success
    answered.set()
    assert await asyncio.to_thread(ended.wait, 30)
    await asyncio.sleep(0)
    assert received == []


@pytest.mark.parametrize("how", ["timeout", "cancelled"])
@pytest.mark.parametrize("listens", [True, False])
async def test_a_thread_whose_call_is_over_is_informed_when_it_reports(
    board: Pegboard, how: str, listens: bool
) -> None:
    raised: list[BaseException] = []
    contexts: list[CallContext] = []
    received: list[Progress] = []

    def work(context: CallContext) -> None:
        contexts.append(context)
        try:
            while True:
                context.progress(1)
                context.partial("x")
        except BaseException as error:
            raised.append(error)
            raise

    await register(board, work, timeout=0.3 if how == "timeout" else 30)
    calling = asyncio.create_task(board.call("it", on_progress=received.append if listens else None))

    async def began() -> bool:
        return bool(contexts)

    await until(began)
    if how == "timeout":
        result = await calling
        assert result.problem is not None
        assert result.problem.code == "timeout"
    else:
        assert not contexts[0].is_cancelled
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
    reports = len(received)
    assert contexts[0].is_cancelled

    async def ended() -> list[BaseException]:
        return raised

    (error,) = await until(ended)
    assert isinstance(error, Cancelled)
    assert "No caller waits for this call any more" in error.message
    assert len(received) == reports


async def test_an_async_handler_that_cleans_up_after_its_cancellation_is_not_disturbed(board: Pegboard) -> None:
    received: list[Progress] = []
    seen: list[bool] = []
    began = asyncio.Event()

    async def work(context: CallContext) -> None:
        try:
            began.set()
            await asyncio.sleep(60)
        finally:
            context.progress(1, message="cleaning up")
            seen.append(context.is_cancelled)

    await register(board, work)
    calling = asyncio.create_task(board.call("it", on_progress=received.append))
    await began.wait()
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert (seen, received) == ([True], [])


async def test_reports_of_a_thread_of_an_async_handler_arrive_in_the_loop(board: Pegboard) -> None:
    received: list[int] = []

    async def work(context: CallContext) -> None:
        await asyncio.to_thread(context.progress, 1)

    await register(board, work)
    assert (await board.call("it", on_progress=lambda _: received.append(threading.get_ident()))).success
    assert received == [threading.get_ident()]


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_subscriber_that_raises_receives_no_more_and_the_tool_continues(
    board: Pegboard, is_async: bool
) -> None:
    received: list[Progress] = []
    again = threading.Event()

    def listen(progress: Progress) -> None:
        received.append(progress)
        again.set()
        raise ValueError("not today")

    def work(context: CallContext) -> str:
        context.progress(1)
        again.wait(30)
        context.progress(2)
        return "fine"

    async def work_async(context: CallContext) -> str:
        return work(context)

    await register(board, work_async if is_async else work)
    with anyio.fail_after(30):
        assert (await board.call("it", on_progress=listen)).output == "fine"
    assert received == [Progress(1)]
