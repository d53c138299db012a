"""Running a ready call: attempts, pauses between them, the deadline, and the conversion of exceptions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from pegboard import Caller
from pegboard.kinds.base import Prepared
from pegboard.model.call import ReadyCall
from pegboard.model.call_errors import ExecutionFailed, HandlerNotFound, RateLimited, TimedOut, ToolError
from pegboard.model.tool import Kind, Retry, Tool
from pegboard.registry.compiled_tool import CompiledTool
from pegboard.stages.check_output import OutputChecker
from pegboard.stages.execute import Attempts, ExecutionOutcome, describe_exception, execute

NOW = datetime(2026, 1, 2, tzinfo=UTC)
CHECKER = OutputChecker(max_bytes=1000)


def compiled(run: Callable[[ReadyCall], Any], *, instant: bool = False, **fields: Any) -> CompiledTool:
    tool = Tool("id", "owner", "quote", Kind.INTERNAL, {}, {}, NOW, NOW, **fields)
    return CompiledTool(tool, lambda _: Prepared(run, instant=instant))


async def run(the: CompiledTool, attempts: Attempts | None = None, within: float = 5.0) -> ExecutionOutcome:
    ready = ReadyCall("run", the.tool, Caller("u", "ada"), {}, "digest", time.monotonic() + within)
    return await execute(the, ready, CHECKER, attempts or Attempts())


async def test_an_outcome_has_the_output_its_text_and_the_attempts() -> None:
    async def answer(_call: ReadyCall) -> Any:
        return {"a": 1}

    for instant in (True, False):
        assert await run(compiled(answer, instant=instant)) == ExecutionOutcome(b'{"a":1}', 1)


async def test_what_tool_code_raises_is_its_own_error() -> None:
    class Odd(BaseException):
        pass

    for error, words in (
        (ValueError("stuck"), "stuck"),
        (ValueError(), "ValueError"),
        (KeyError("k"), "KeyError: 'k'"),
        (SystemExit(2), "The tool tried to exit the process (2)"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (Odd("odd"), "odd"),
    ):

        async def fail(_call: ReadyCall, error: BaseException = error) -> None:
            raise error

        for instant in (True, False):
            with pytest.raises(ExecutionFailed) as failed:
                await run(compiled(fail, instant=instant))
            assert failed.value.message == words == describe_exception(error)


async def test_a_tool_error_stays_what_it_is() -> None:
    async def fail(_call: ReadyCall) -> None:
        raise RateLimited("slower", retry_after_ms=5)

    with pytest.raises(RateLimited, match="slower"):
        await run(compiled(fail))


async def test_a_tool_that_cannot_be_prepared_counts_as_an_attempt() -> None:
    def never(_tool: Tool) -> Prepared:
        raise HandlerNotFound("Internal handler 'x' not found")

    attempts = Attempts()
    with pytest.raises(HandlerNotFound):
        await run(CompiledTool(Tool("id", "o", "quote", Kind.INTERNAL, {}, {}, NOW, NOW), never), attempts)
    assert attempts.count == 1


def failing(error: ToolError) -> Callable[[ReadyCall], Any]:
    """A run that fails in the same way every time."""

    async def fail(_call: ReadyCall) -> None:
        raise error

    return fail


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long is waited between attempts, each over at once."""

    async def note(seconds: float) -> None:
        made.append(seconds)

    made: list[float] = []
    monkeypatch.setattr(asyncio, "sleep", note)
    return made


async def test_the_wait_doubles_from_one_attempt_to_the_next(waits: list[float]) -> None:
    retry = Retry(max_attempts=4, on=frozenset({"timeout"}), backoff_ms=10)
    with pytest.raises(TimedOut):
        await run(compiled(failing(TimedOut("slow")), retry=retry))
    assert waits == [0.01, 0.02, 0.04]


async def test_it_waits_as_long_as_it_was_asked_to(waits: list[float]) -> None:
    run_again = Retry(max_attempts=2, on=frozenset({"rate_limited"}))
    with pytest.raises(RateLimited):
        await run(compiled(failing(RateLimited("slower", retry_after_ms=300)), retry=run_again))
    assert waits == [0.3]


async def test_it_does_not_wait_past_the_deadline(waits: list[float]) -> None:
    attempts = Attempts()
    run_again = Retry(max_attempts=3, on=frozenset({"rate_limited"}))
    with pytest.raises(RateLimited):
        await run(compiled(failing(RateLimited("slower", retry_after_ms=60_000)), retry=run_again), attempts)
    assert (attempts.count, waits) == (1, [])


async def test_a_deadline_that_has_passed_stops_at_once() -> None:
    async def register(_call: ReadyCall) -> None:
        await asyncio.Event().wait()

    with pytest.raises(TimedOut, match="Tool 'quote' did not finish within 7 s"):
        await run(compiled(register, timeout=7), within=-1)


async def test_a_timeout_that_the_tool_itself_raises_is_not_ours() -> None:
    async def fail(_call: ReadyCall) -> None:
        raise TimeoutError("the upstream is slow")

    with pytest.raises(ExecutionFailed, match="the upstream is slow"):
        await run(compiled(fail))


async def test_the_callers_cancellation_passes_through() -> None:
    started = asyncio.Event()

    async def register(_call: ReadyCall) -> None:
        started.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(run(compiled(register)))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def register(_call: ReadyCall) -> None:
    """A tool that never ends."""
    await asyncio.Event().wait()


async def test_each_attempt_ends_at_its_own_deadline() -> None:
    ended: list[float] = []

    async def one(seconds: float) -> None:
        with pytest.raises(TimedOut):
            await run(compiled(register), within=seconds)
        ended.append(seconds)

    late = asyncio.create_task(one(60))
    await asyncio.gather(*(one(seconds) for seconds in (-1.0, 0.0, 0.02, 0.04)))
    assert ended == [-1.0, 0.0, 0.02, 0.04]
    late.cancel()
    with pytest.raises(asyncio.CancelledError):
        await late


async def test_the_task_of_an_attempt_that_timed_out_continues_as_if_it_had_not_been_cancelled() -> None:
    with pytest.raises(TimedOut):
        await run(compiled(register), within=0.0)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    await asyncio.sleep(0)


async def test_the_callers_cancellation_passes_through_in_the_iteration_of_the_deadline_too() -> None:
    running = asyncio.create_task(run(compiled(register), within=0.0))
    await asyncio.sleep(0)  # the deadline is the next callback of the event loop
    asyncio.get_running_loop().call_soon(running.cancel)
    with pytest.raises(asyncio.CancelledError):
        await running
    assert running.cancelling() == 1


async def test_a_tool_that_ignores_its_deadline_and_returns_succeeds() -> None:
    async def ignore(_call: ReadyCall) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "done all the same"
        raise AssertionError

    assert (await run(compiled(ignore), within=0.0)).text == b'"done all the same"'


async def test_an_error_of_a_tool_that_is_cancelled_at_its_deadline_is_the_error() -> None:
    async def fail(_call: ReadyCall) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("could not clean up")

    with pytest.raises(ExecutionFailed, match="clean up"):
        await run(compiled(fail), within=0.0)


async def test_of_a_call_within_a_call_the_one_whose_deadline_passes_times_out() -> None:
    def outer(within: float) -> Callable[[ReadyCall], Any]:
        async def call_inner(_call: ReadyCall) -> str:
            try:
                await run(compiled(register, timeout=7), within=within)
            except TimedOut:
                return "the inner one timed out"
            raise AssertionError

        return call_inner

    assert (await run(compiled(outer(0.0)), within=30)).text == b'"the inner one timed out"'
    with pytest.raises(TimedOut, match="within 5 s"):
        await run(compiled(outer(30), timeout=5), within=0.0)


async def test_a_tool_that_never_waits_has_no_deadline() -> None:
    async def answer(_call: ReadyCall) -> str:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return "late"

    assert (await run(compiled(answer, instant=True), within=-1)).text == b'"late"'
