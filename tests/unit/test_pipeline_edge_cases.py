"""Unusual calls: unexpected exceptions, unusual names, calls within calls, retries after timeouts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from pegboard import Pegboard, ToolResult
from pegboard.model.call_errors import ToolError
from pegboard.testing import calls_of, memory_board


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board(drain_seconds=2) as fresh:
        yield fresh


def message(result: ToolResult) -> str:
    assert result.problem is not None
    return result.problem.message


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("not even this")


class Leaving(Exception):
    def __str__(self) -> str:
        raise SystemExit(3)


class MuteExit(SystemExit):
    def __str__(self) -> str:
        raise ValueError("not even this")


class MuteGeneratorExit(GeneratorExit):
    def __str__(self) -> str:
        raise ValueError("not even this")


class MuteStopIteration(StopIteration):
    def __str__(self) -> str:
        raise ValueError("not even this")


class Unspeakable:
    def __repr__(self) -> str:
        raise ValueError("not even this")


ODD: dict[str, tuple[Any, str]] = {
    "GeneratorExit": (GeneratorExit, "GeneratorExit"),
    "GeneratorExit with words": (lambda: GeneratorExit("words"), "GeneratorExit"),
    "ToolError(123)": (lambda: ToolError(123), "123"),  # type: ignore[arg-type]
    "ToolError(None)": (lambda: ToolError(None), "None"),  # type: ignore[arg-type]
    "__str__ raises": (Mute, "Mute"),
    "__str__ exits": (Leaving, "Leaving"),
    "SystemExit(3)": (lambda: SystemExit(3), "exit the process"),
    "SystemExit whose __str__ raises": (lambda: MuteExit(3), "exit the process"),
    "SystemExit whose code has no repr": (lambda: SystemExit(Unspeakable()), ""),
    "GeneratorExit whose __str__ raises": (MuteGeneratorExit, "GeneratorExit"),
    "StopIteration whose __str__ raises": (MuteStopIteration, "StopIteration"),
    "half of a surrogate pair": (lambda: ValueError("bad \ud800 text"), "bad ? text"),
}


@pytest.mark.parametrize("is_async", [True, False], ids=["async", "sync"])
@pytest.mark.parametrize(("make", "text"), ODD.values(), ids=ODD)
async def test_whatever_a_handler_raises_is_an_answer_with_one_row(
    board: Pegboard, make: Any, text: str, is_async: bool
) -> None:
    def plain() -> None:
        raise make()

    async def in_task() -> None:
        raise make()

    board.tool(name="odd", timeout=3)(in_task if is_async else plain)
    with anyio.fail_after(30):
        result = await board.call("odd")
    assert not result.success
    assert text in message(result)
    assert result.problem is not None
    assert result.problem.code == "execution_failed"
    (row,) = await calls_of(board)
    assert (row.id, row.status, row.code) == (result.run_id, "failed", "execution_failed")
    assert row.error == message(result)
    assert (await board.call("echo")).success


@pytest.mark.parametrize("name", [None, b"x", 3, "", "\ud800"])
async def test_a_name_that_is_none_is_not_found(board: Pegboard, name: Any) -> None:
    result = await board.call(name)
    assert result.problem is not None
    assert result.problem.code == "tool_not_found"
    assert [row.code for row in await calls_of(board)] == ["tool_not_found"]


async def test_what_a_running_call_calls_is_served_while_the_board_drains(board: Pegboard) -> None:
    started, go = asyncio.Event(), asyncio.Event()

    @board.tool
    async def outer() -> Any:
        started.set()
        await go.wait()
        one = await board.call("echo", {"n": 1})
        two = await asyncio.create_task(board.call("echo", {"n": 2}))
        return [one.output, two.output]

    with anyio.fail_after(30):
        running = asyncio.create_task(board.call("outer"))
        await started.wait()
        draining = asyncio.create_task(board.pipeline.drain(5))
        await asyncio.sleep(0)
        assert "shutting down" in message(await board.call("echo"))
        go.set()
        assert (await running).output == [{"echo": {"n": 1}}, {"echo": {"n": 2}}]
        assert await draining == 0
    assert [row.tool_name for row in await calls_of(board)] == ["outer", "echo", "echo"]
    assert "shutting down" in message(await board.call("echo"))


async def test_a_timeout_is_tried_again_within_the_time_of_the_tool(board: Pegboard) -> None:
    ran = []

    @board.tool(timeout=0.6, retry={"on": ["timeout"], "max_attempts": 3})
    async def hangs() -> None:
        ran.append(1)
        await anyio.sleep_forever()

    result = await board.call("hangs")
    assert result.problem is not None
    assert (result.problem.code, result.attempts, len(ran)) == ("timeout", 3, 3)
    assert result.problem.message == "Tool 'hangs' did not finish within 0.2 s"
    (row,) = await calls_of(board)
    assert (row.code, row.attempts) == ("timeout", 3)


async def test_an_attempt_after_a_timeout_may_succeed(board: Pegboard) -> None:
    ran = []

    @board.tool(timeout=1.5, retry={"on": ["timeout"], "max_attempts": 3})
    async def slow_at_first() -> int:
        ran.append(1)
        if len(ran) < 3:
            await anyio.sleep_forever()
        return len(ran)

    result = await board.call("slow_at_first")
    assert (result.success, result.attempts) == (True, 3)
    assert result.output == 3


async def test_a_call_cancelled_while_its_fallback_runs_has_its_row(board: Pegboard) -> None:
    started = asyncio.Event()

    @board.tool
    async def second() -> None:
        started.set()
        await anyio.sleep_forever()

    @board.tool(fallback={"tool": "second"})
    async def first() -> None:
        raise ValueError("not today")

    running = asyncio.create_task(board.call("first"))
    with anyio.fail_after(30):
        await started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert {(row.tool_name, row.code) for row in await calls_of(board)} == {
        ("first", "cancelled"),
        ("second", "cancelled"),
    }
