"""Calls that are cancelled at every moment: answered once, recorded once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from pegboard import Pegboard, Refusal
from pegboard.model.api_errors import Conflict
from pegboard.model.call import CallContext, ToolResult
from pegboard.model.call_errors import UpstreamUnreachable
from pegboard.testing import NoSettings, calls_of
from tests.board_surfaces import KEY
from tests.waiting import until


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Pegboard]:
    """A board on its own database, with intents."""
    settings = NoSettings(home=tmp_path / "home", admin_key=KEY, drain_seconds=2)
    async with Pegboard.open(f"sqlite:///{tmp_path}/board.db", settings=settings) as opened:
        yield opened


async def running(board: Pegboard, tool: str, is_ready: Callable[[Any], bool] = lambda run: True) -> str:
    """Return the id of a tool's call, as soon as it has reached the given point."""

    async def look() -> str:
        found = (run.id for run in board.pipeline.running_calls if run.call.name == tool and is_ready(run))
        return next(found, "")

    return await until(look)


async def cancelled(board: Pegboard, call: asyncio.Task[ToolResult], run_id: str) -> ToolResult:
    """Return the response to a call that was cancelled; its task continues."""
    with anyio.fail_after(10):
        await board.cancelling.cancel(run_id, board.admin)
        result = await call
    assert result.problem is not None
    assert result.problem.code == "cancelled"
    assert not board.pipeline.running_count
    assert not board.journal.open_count  # type: ignore[attr-defined]
    return result


def begin(board: Pegboard, tool: str, **more: Any) -> asyncio.Task[ToolResult]:
    async def call() -> ToolResult:
        result = await board.call(tool, **more)
        task = asyncio.current_task()
        assert task is not None
        assert not task.cancelling()
        await anyio.lowlevel.checkpoint()
        return result

    return asyncio.create_task(call())


async def test_while_it_is_being_begun(board: Pegboard) -> None:
    @board.tool
    async def effect() -> int:
        return 1

    async with board.database.turn():  # the journal cannot commit
        call = begin(board, "effect", key="k")
        run_id = await running(board, "effect", lambda run: run.ready is not None)
        assert board.pipeline.cancel(run_id, "enough")
        await anyio.wait_all_tasks_blocked()
    result = await call
    assert result.problem is not None
    assert result.problem.code == "cancelled"
    (row,) = await calls_of(board, "effect")
    assert (row.status, row.code, row.attempts) == ("refused", "cancelled", 0)
    # It never ran, so its key is unused.
    assert (await board.call("effect", key="k")).output == 1


async def test_between_two_attempts(board: Pegboard) -> None:
    @board.tool(retry={"max_attempts": 5, "on": ["transport"], "backoff_ms": 10_000})
    async def shaky() -> None:
        raise UpstreamUnreachable("nobody there")

    call = begin(board, "shaky")
    await cancelled(board, call, await running(board, "shaky", lambda run: run.attempts.count == 1))
    (row,) = await calls_of(board, "shaky")
    assert (row.status, row.attempts) == ("failed", 1)


async def test_while_the_fallback_runs(board: Pegboard) -> None:
    @board.tool
    async def stand_in() -> None:
        await anyio.sleep_forever()

    @board.tool(fallback={"tool": "stand_in"})
    async def broken() -> None:
        raise RuntimeError("no")

    call = begin(board, "broken")
    await running(board, "stand_in", lambda run: run.attempts.count)
    await cancelled(board, call, await running(board, "broken"))
    assert [row.code for row in await calls_of(board, "stand_in")] == ["cancelled"]
    assert [row.code for row in await calls_of(board, "broken")] == ["cancelled"]
    # If only the fallback is cancelled, the other had failed before.
    call = begin(board, "broken")
    inner = await running(board, "stand_in", lambda run: run.attempts.count)
    await board.cancelling.cancel(inner, board.admin)
    result = await call
    assert result.problem is not None
    assert result.problem.code == "execution_failed"
    # Both at once.
    call = begin(board, "broken")
    inner = await running(board, "stand_in", lambda run: run.attempts.count)
    outer = await running(board, "broken")
    await asyncio.gather(board.cancelling.cancel(inner, board.admin), cancelled(board, call, outer))
    assert len(await calls_of(board, "stand_in")) == len(await calls_of(board, "broken")) == 3


async def test_while_it_is_being_recorded_it_has_ended_already(board: Pegboard) -> None:
    async with board.database.turn():  # the journal cannot commit
        call = begin(board, "echo")
        run_id = await running(board, "echo", lambda run: run.is_over)
        assert not board.pipeline.cancel(run_id, "enough")
        refused = asyncio.create_task(board.cancelling.cancel(run_id, board.admin))
        await anyio.wait_all_tasks_blocked()
    with pytest.raises(Conflict, match="has ended already: succeeded"):
        await refused
    assert (await call).success
    assert len(await calls_of(board, "echo")) == 1


async def test_together_with_its_deadline(board: Pegboard) -> None:
    ends = anyio.Event()

    @board.tool(timeout=0.2)
    async def late() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ends.set()

    loop = asyncio.get_running_loop()
    for moment in ("before", "with", "after"):
        call = begin(board, "late")
        run_id = await running(board, "late", lambda run: run.attempts.count)
        this = board.pipeline.running(run_id)
        assert this is not None
        assert this.ready is not None
        # The event loop is blocked until after the deadline, and then finds both in one iteration.
        late_by = this.ready.deadline - time.monotonic() + 0.05
        if moment == "before":
            board.pipeline.cancel(run_id, "enough")
        else:
            loop.call_later(0 if moment == "with" else late_by, board.pipeline.cancel, run_id, "enough")
        time.sleep(max(0.0, late_by))  # noqa: ASYNC251
        result = await call
        assert result.problem is not None
        assert result.problem.code in ("cancelled", "timeout")
    assert len(await calls_of(board, "late")) == 3


async def test_a_call_within_a_call_ends_with_it(board: Pegboard) -> None:
    @board.tool
    async def inner() -> None:
        await anyio.sleep_forever()

    @board.tool
    async def outer() -> bool:
        return (await board.call("inner")).success

    call = begin(board, "outer")
    await running(board, "inner", lambda run: run.attempts.count)
    await cancelled(board, call, await running(board, "outer"))
    assert [row.code for row in await calls_of(board, "inner")] == ["cancelled"]
    # If only the inner one is cancelled, the outer one gets this as a result.
    call = begin(board, "outer")
    await board.cancelling.cancel(await running(board, "inner", lambda run: run.attempts.count), board.admin)
    assert (await call).output is False


async def test_a_call_may_end_itself(board: Pegboard) -> None:
    @board.tool
    async def enough(context: CallContext) -> None:
        board.pipeline.cancel(context.run_id, "had enough")
        await anyio.sleep_forever()

    @board.tool
    async def at_last(context: CallContext) -> int:
        board.pipeline.cancel(context.run_id, "too late")
        return 1

    first = await begin(board, "enough")
    assert first.problem is not None
    assert first.problem.message == "had enough"
    second = await begin(board, "at_last")
    assert second.success or (second.problem is not None and second.problem.code == "cancelled")
    assert len(await calls_of(board, "at_last")) == 1


async def test_a_call_that_cannot_be_ended_is_answered_soon(board: Pegboard) -> None:
    let_go = anyio.Event()

    @board.tool
    async def stubborn() -> int:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue
        return 1

    call = begin(board, "stubborn")
    await cancelled(board, call, await running(board, "stubborn", lambda run: run.attempts.count))
    let_go.set()


async def test_one_that_ran_keeps_its_key_and_is_not_run_again(board: Pegboard) -> None:
    runs: list[int] = []

    @board.tool
    async def once() -> None:
        runs.append(1)
        await anyio.sleep_forever()

    call = begin(board, "once", key="k")
    first = await cancelled(board, call, await running(board, "once", lambda run: run.attempts.count))
    again = await board.call("once", key="k")
    assert again.repeat_of == first.run_id
    assert again.problem == first.problem
    assert runs == [1]


async def test_its_caller_going_away_at_the_same_time_is_the_callers_own_end(board: Pegboard) -> None:
    @board.tool
    async def wait() -> None:
        await anyio.sleep_forever()

    call = begin(board, "wait")
    run_id = await running(board, "wait", lambda run: run.attempts.count)
    board.pipeline.cancel(run_id, "enough")
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    (row,) = await calls_of(board, "wait")
    assert row.code == "cancelled"
    with pytest.raises(Refusal):
        await board.cancelling.cancel(run_id, board.admin)
