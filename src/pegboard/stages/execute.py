"""Run a ready call under its deadline, again where the tool allows it, then fall back."""

from __future__ import annotations

import asyncio
import time
from typing import Any, NamedTuple

from pegboard.core.call import ReadyCall
from pegboard.core.errors import ContractViolation, ExecutionFailed, TimedOut, ToolError
from pegboard.executors.base import Output
from pegboard.registry.peg import Peg
from pegboard.stages.check import Checker
from pegboard.stages.deadlines import Deadlines
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# What the journal keeps of each failed attempt's message.
_LONGEST_ERROR = 500


class Outcome(NamedTuple):
    """What a tool returned, checked and as JSON text, and after how many attempts."""

    text: bytes
    attempts: int
    fallback: bool = False


class Attempts:
    """Counts the attempts of one call, and keeps whether any may have done something and what is known of the last.

    `tries` are those that failed, as the journal keeps them; `violations` counts those that broke the tool's contract.
    """

    __slots__ = ("count", "did_run", "printed", "row_id", "task", "tries", "violations")

    def __init__(self) -> None:
        self.count = 0
        self.did_run = False
        self.printed = ""
        self.row_id: str | None = None
        self.tries: list[dict[str, Any]] = []
        self.violations = 0
        # The task that the call runs in, asked for once: asking takes longer than one would think.
        self.task: asyncio.Task[Any] | None = None

    def failed(self, error: ToolError, began: float) -> None:
        """Keep how the last attempt failed, without values."""
        problem = error.problem
        elapsed = round((time.perf_counter() - began) * 1000, 3)
        kept = {"code": problem.code, "error": problem.without_values[:_LONGEST_ERROR], "elapsed_ms": elapsed}
        self.tries.append({"attempt": self.count, **kept})


async def execute(peg: Peg, ready: ReadyCall, checker: Checker, attempts: Attempts, deadlines: Deadlines) -> Outcome:
    """The tool's checked output, tried as often as the tool allows."""
    while True:
        attempts.count += 1
        began = time.perf_counter()
        try:
            output = await _once(peg, ready, deadlines, attempts.task)
            if type(output) is Output:
                output, attempts.printed, attempts.row_id = output
            text = checker.check(peg, output)
        except ToolError as error:
            attempts.failed(error, began)
            if type(error) is ContractViolation:
                attempts.violations += 1
                what = {"tool": peg.tool.name, "run_id": ready.run_id, "attempt": attempts.count}
                log.warning("contract_violation", **what, broken=error.message)
            attempts.printed = error.printed or attempts.printed
            # What an earlier attempt may have done is not undone by a later one that was refused.
            attempts.did_run = error.did_run = attempts.did_run or error.did_run
            if attempts.count >= peg.retry.max_attempts or error.retried_as not in peg.retry.on:
                raise
            log.warning(
                "attempt_failed", tool=peg.tool.name, run_id=ready.run_id, attempt=attempts.count, code=error.code
            )
            await _back_off(peg, ready, attempts.count, error)
            attempts.printed = ""
        else:
            return Outcome(text, attempts.count)


async def _once(peg: Peg, ready: ReadyCall, deadlines: Deadlines, task: asyncio.Task[Any] | None) -> Any:
    prepared = peg.prepared
    try:
        if prepared.instant:
            return await prepared.run(ready)
        with deadlines.within(min(ready.deadline - time.monotonic(), peg.attempt_timeout), task) as attempt:
            return await prepared.run(ready)
    except (ToolError, asyncio.CancelledError, GeneratorExit):
        raise
    except BaseException as error:
        # Whatever tool code raises is the tool's own error, and its message is for the caller.
        log.info("tool_raised", tool=ready.tool.name, run_id=ready.run_id, exc_info=True)
        raise ExecutionFailed(describe(error)) from error
    assert attempt.is_up
    raise TimedOut(f"Tool '{peg.tool.name}' did not finish within {peg.attempt_timeout:g} s")


def describe(error: BaseException) -> str:
    """The exception's message, with its class where the message alone would say nothing."""
    try:
        text = str(error)
    except BaseException:
        text = ""  # tool code again: what it raises here says nothing more
    if isinstance(error, SystemExit):
        return f"The tool tried to exit the process ({text})"
    if not text:
        return type(error).__name__
    return f"{type(error).__name__}: {text}" if isinstance(error, LookupError) else text


async def _back_off(peg: Peg, ready: ReadyCall, attempt: int, error: ToolError) -> None:
    pause = peg.retry.backoff_ms * 2 ** (attempt - 1) / 1000
    if error.retry_after_ms is not None:
        pause = max(pause, error.retry_after_ms / 1000)
    if time.monotonic() + pause >= ready.deadline:
        raise error
    if pause:
        await asyncio.sleep(pause)
