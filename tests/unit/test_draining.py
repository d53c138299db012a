"""Closing a board: it accepts no more calls and waits for running ones, for a limited time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from pegboard import Pegboard
from pegboard.testing import NoSettings, calls_of, memory_board


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board(drain_seconds=2) as fresh:
        yield fresh


async def test_new_calls_are_refused_and_running_ones_waited_for(board: Pegboard) -> None:
    started, go = asyncio.Event(), asyncio.Event()

    @board.tool
    async def waits() -> str:
        started.set()
        await go.wait()
        return "done"

    running = asyncio.create_task(board.call("waits"))
    await started.wait()
    draining = asyncio.create_task(board.drain())
    await asyncio.sleep(0)
    refused = await board.call("echo")
    assert refused.problem is not None
    assert (refused.problem.code, refused.problem.retry_after_ms) == ("unavailable", 1000)
    assert not draining.done()
    go.set()
    assert (await running).output == "done"
    await asyncio.wait_for(draining, 30)
    assert [row.tool_name for row in await calls_of(board)] == ["waits"]


async def test_it_does_not_wait_forever(board: Pegboard) -> None:
    started = asyncio.Event()

    @board.tool
    async def hangs() -> None:
        started.set()
        await anyio.sleep_forever()

    running = asyncio.create_task(board.call("hangs"))
    await started.wait()
    assert await board.pipeline.drain(0.05) == 1
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_board_that_no_caller_calls_drains_at_once(board: Pegboard) -> None:
    assert await board.pipeline.drain(5) == 0


async def test_a_call_that_had_to_be_left_has_its_row_too(tmp_path: Path) -> None:
    settings = NoSettings(home=tmp_path, drain_seconds=0.05)
    url = f"sqlite:///{tmp_path}/board.db"
    started = asyncio.Event()
    async with Pegboard.open(url, settings=settings) as board:

        @board.tool
        async def hangs() -> None:
            started.set()
            await anyio.sleep_forever()

        running = asyncio.create_task(board.call("hangs"))
        await started.wait()
    running.cancel()
    await asyncio.wait({running})
    async with Pegboard.open(url, settings=settings) as board:
        assert [(row.tool_name, row.code) for row in await calls_of(board)] == [("hangs", "cancelled")]
