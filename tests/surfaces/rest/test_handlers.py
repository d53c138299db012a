"""Handlers that misbehave, called over HTTP: each gets a clear answer and a row, and the server keeps serving."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import sys
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import anyio.to_thread
import httpx
import pytest

from pegboard import Pegboard
from pegboard.model.call import Execution
from pegboard.testing import calls_of
from tests.board_surfaces import served
from tests.surfaces.rest.clients import good, mock
from tests.surfaces.rest.raw_http import head, read_response, wire
from tests.waiting import until


async def hang(board: Pegboard, function: Callable[..., Any], **more: Any) -> str:
    """Make the function a handler and register a tool on it; its name."""
    name = function.__name__
    board.handler(name)(function)
    await board.add(mock(name, tool_type="internal", config={"handler": name}, **more))
    return name


async def call_tool(speaker: httpx.AsyncClient, tool: str) -> dict[str, Any]:
    answer: dict[str, Any] = good(await speaker.post(f"/v1/tools/{tool}/call"))
    assert good(await speaker.post("/v1/tools/echo/call"))["success"], "the server keeps serving"
    return answer


async def raises() -> None:
    raise ValueError("the valve is stuck")


def raises_in_a_thread() -> None:
    raise ValueError("the valve is stuck")


async def raises_without_words() -> None:
    raise ZeroDivisionError


async def exits() -> None:
    sys.exit(3)


def exits_in_a_thread() -> None:
    sys.exit(3)


async def interrupts() -> None:
    raise KeyboardInterrupt


def interrupts_in_a_thread() -> None:
    raise KeyboardInterrupt


async def raises_what_is_no_exception() -> None:
    class Odd(BaseException):
        """Not an Exception."""

    raise Odd("odd one out")


async def cancels_itself() -> None:
    raise asyncio.CancelledError


async def returns_an_object() -> object:
    return object()


async def returns_bytes() -> bytes:
    return b"x"


async def returns_a_circle() -> list[Any]:
    circle: list[Any] = []
    circle.append(circle)
    return circle


async def returns_nan() -> Any:
    return {"deep": [math.nan]}


async def returns_infinity() -> float:
    return -math.inf


async def returns_a_huge_integer() -> int:
    return 2**64


async def returns_other_keys() -> Any:
    return {1: 2}


async def returns_half_a_pair() -> str:
    return "\ud800"


async def returns_too_much() -> str:
    return "x" * (2**20 + 1)


MISBEHAVING: list[tuple[Callable[..., Any], str, str]] = [
    (raises, "execution_failed", "the valve is stuck"),
    (raises_in_a_thread, "execution_failed", "the valve is stuck"),
    (raises_without_words, "execution_failed", "ZeroDivisionError"),
    (exits, "execution_failed", "The tool tried to exit the process (3)"),
    (exits_in_a_thread, "execution_failed", "The tool tried to exit the process (3)"),
    (interrupts, "execution_failed", "KeyboardInterrupt"),
    (interrupts_in_a_thread, "execution_failed", "KeyboardInterrupt"),
    (raises_what_is_no_exception, "execution_failed", "odd one out"),
    (cancels_itself, "execution_failed", "The tool cancelled itself"),
    (returns_an_object, "execution_failed", "not JSON: Type is not JSON serializable: object"),
    (returns_bytes, "execution_failed", "not JSON"),
    (returns_a_circle, "execution_failed", "not JSON"),
    (returns_nan, "execution_failed", "a number that is not finite"),
    (returns_infinity, "execution_failed", "a number that is not finite"),
    (returns_a_huge_integer, "execution_failed", "64-bit"),
    (returns_other_keys, "execution_failed", "key must be str"),
    (returns_half_a_pair, "execution_failed", "not JSON"),
    (returns_too_much, "result_too_large", "at most 1,048,576 are allowed"),
]


async def test_each_misbehaviour_gets_a_clear_answer_and_a_row(board: Pegboard, admin: httpx.AsyncClient) -> None:
    for function, code, words in MISBEHAVING:
        tool = await hang(board, function)
        answer = await call_tool(admin, tool)
        assert (answer["success"], answer["error_details"]["code"]) == (False, code), tool
        assert answer["error_details"]["type"] == "UNKNOWN_ERROR"
        assert words in answer["error"], tool
        (row,) = await calls_of(board, tool)
        assert (row.status, row.code, row.attempts) == ("failed", code, 1), tool


@pytest.fixture
async def release_event() -> AsyncIterator[threading.Event]:
    """An event that ends the threads that a test leaves hanging."""
    event = threading.Event()
    yield event
    event.set()


class TestHanging:
    async def test_a_handler_that_hangs_is_cut_off_at_its_timeout(
        self, board: Pegboard, admin: httpx.AsyncClient, release_event: threading.Event
    ) -> None:
        async def hangs() -> None:
            await anyio.sleep_forever()

        def hangs_in_a_thread() -> None:
            release_event.wait(30)

        for function in (hangs, hangs_in_a_thread):
            tool = await hang(board, function, timeout=0.1)
            answer = await call_tool(admin, tool)
            assert answer["error"] == f"Tool '{tool}' did not finish within 0.1 s"
            assert answer["error_details"]["code"] == "timeout"
            assert 100 <= answer["execution_time_ms"] < 2000
            assert [row.code for row in await calls_of(board, tool)] == ["timeout"]

    async def test_a_handler_that_swallows_its_cancellation_is_left_to_itself(
        self, board: Pegboard, admin: httpx.AsyncClient
    ) -> None:
        cancelled = []

        async def swallows() -> str:
            for _ in range(3):
                try:
                    await anyio.sleep_forever()
                except asyncio.CancelledError:
                    cancelled.append(True)
            return "far too late"

        async def answers_late() -> str:
            with contextlib.suppress(asyncio.CancelledError):
                await anyio.sleep_forever()
            return "late"

        for function in (swallows, answers_late):
            tool = await hang(board, function, timeout=0.1)
            answer = await call_tool(admin, tool)
            assert answer["error_details"]["code"] == "timeout"
            assert answer["execution_time_ms"] < 2000
        assert cancelled


async def ended(board: Pegboard, tool: str) -> Execution:
    """Return the row of the tool's only call, as soon as it exists."""
    row: Execution
    (row,) = await until(lambda: calls_of(board, tool))
    return row


class TestCallerGone:
    @pytest.fixture(params=["async", "sync"])
    def running(
        self, request: pytest.FixtureRequest, release_event: threading.Event
    ) -> tuple[Callable[..., Any], threading.Event]:
        """A handler that runs until its event is set, and an event that is set when it runs."""
        started = threading.Event()

        async def waits() -> None:
            started.set()
            await anyio.sleep_forever()

        def waits_in_a_thread() -> None:
            started.set()
            release_event.wait(30)

        return (waits if request.param == "async" else waits_in_a_thread), started

    async def test_a_call_is_cancelled_when_its_caller_disconnects(
        self, board: Pegboard, running: tuple[Callable[..., Any], threading.Event]
    ) -> None:
        function, started = running
        tool = await hang(board, function)
        async with served(board) as url:
            async with wire(url) as stream:
                await stream.send(head("POST", f"/v1/tools/{tool}/call", "Content-Length: 2") + b"{}")
                assert await anyio.to_thread.run_sync(started.wait, 5)
            row = await ended(board, tool)
            assert (row.status, row.code, row.error) == ("failed", "cancelled", "The caller disconnected")
            async with wire(url) as stream:
                await stream.send(head("POST", "/v1/tools/echo/call", "Content-Length: 2") + b"{}")
                assert (await read_response(stream))[0] == 200

    async def test_a_batch_is_cancelled_with_all_its_calls(self, board: Pegboard) -> None:
        started = asyncio.Semaphore(0)

        async def waits(n: int) -> None:
            started.release()
            await anyio.sleep_forever()

        tool = await hang(board, waits)
        body = json.dumps([{"name": tool, "arguments": {"n": n}} for n in range(3)] + [{"name": "echo"}]).encode()
        async with served(board) as url:
            async with wire(url) as stream:
                await stream.send(head("POST", "/v1/calls", f"Content-Length: {len(body)}") + body)
                for _ in range(3):
                    await started.acquire()

            async def all_ended() -> bool:
                return len(await calls_of(board, tool)) == 3

            await until(all_ended)
            assert {row.code for row in await calls_of(board, tool)} == {"cancelled"}
            assert [row.status for row in await calls_of(board, "echo")] == ["succeeded"]

    async def test_a_call_is_cancelled_with_the_task_that_made_it(
        self, board: Pegboard, running: tuple[Callable[..., Any], threading.Event]
    ) -> None:
        function, started = running
        tool = await hang(board, function)
        call = asyncio.create_task(board.call(tool))
        assert await anyio.to_thread.run_sync(started.wait, 5)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        row = await ended(board, tool)
        assert (row.status, row.code) == ("failed", "cancelled")
