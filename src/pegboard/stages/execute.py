"""The execute stage: runs a ready call until its deadline and retries it if the tool allows it."""

from __future__ import annotations

import asyncio
import time
from typing import Any, NamedTuple

from pegboard.kinds.base import Output
from pegboard.model.call import ReadyCall
from pegboard.model.call_errors import ContractViolation, ExecutionFailed, TimedOut, ToolError
from pegboard.registry.compiled_tool import CompiledTool
from pegboard.stages.check_output import OutputChecker
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# Maximum length of the stored message of a failed attempt.
_MAX_ERROR_CHARS = 500


class ExecutionOutcome(NamedTuple):
    """The checked output of a tool as JSON text, and the number of attempts."""

    text: bytes
    attempts: int
    fallback: bool = False


class Attempts:
    """Counts the attempts of one call; records whether any may have had effects, and the output printed by the last.

    `tries` are the failed attempts as the journal stores them; `violations` counts attempts that broke the output
    schema.
    """

    __slots__ = ("count", "did_run", "printed", "row_id", "task", "tries", "violations")

    def __init__(self) -> None:
        self.count = 0
        self.did_run = False
        self.printed = ""
        self.row_id: str | None = None
        self.tries: list[dict[str, Any]] = []
        self.violations = 0
        # The task that runs the call, which a cancellation of the call cancels.
        self.task: asyncio.Task[Any] | None = None

    def record_failure(self, error: ToolError, began: float) -> None:
        """Record the error of the last attempt, without argument values."""
        problem = error.problem
        elapsed = round((time.perf_counter() - began) * 1000, 3)
        kept = {"code": problem.code, "error": problem.message_without_values[:_MAX_ERROR_CHARS], "elapsed_ms": elapsed}
        self.tries.append({"attempt": self.count, **kept})


async def execute(
    compiled: CompiledTool, ready: ReadyCall, checker: OutputChecker, attempts: Attempts
) -> ExecutionOutcome:
    """Run the tool, retry as its policy allows, and return the checked output."""
    while True:
        attempts.count += 1
        began = time.perf_counter()
        try:
            output = await _run_once(compiled, ready)
            if type(output) is Output:
                output, attempts.printed, attempts.row_id = output
            text = checker.check(compiled, output)
        except ToolError as error:
            attempts.record_failure(error, began)
            if type(error) is ContractViolation:
                attempts.violations += 1
                what = {"tool": compiled.tool.name, "run_id": ready.run_id, "attempt": attempts.count}
                log.warning("contract_violation", **what, broken=error.message)
            attempts.printed = error.printed or attempts.printed
            # A later attempt that was refused does not undo the effects of an earlier one.
            attempts.did_run = error.did_run = attempts.did_run or error.did_run
            if attempts.count >= compiled.retry.max_attempts or error.retry_reason not in compiled.retry.on:
                raise
            log.warning(
                "attempt_failed", tool=compiled.tool.name, run_id=ready.run_id, attempt=attempts.count, code=error.code
            )
            await _back_off(compiled, ready, attempts.count, error)
            attempts.printed = ""
        else:
            return ExecutionOutcome(text, attempts.count)


async def _run_once(compiled: CompiledTool, ready: ReadyCall) -> Any:
    prepared = compiled.prepared
    timer = None
    try:
        if prepared.instant:
            return await prepared.run(ready)
        async with asyncio.timeout(min(ready.deadline - time.monotonic(), compiled.attempt_timeout)) as timer:
            if ready.exchange is not None:
                ready.exchange.timer = timer
            return await prepared.run(ready)
    except (ToolError, asyncio.CancelledError, GeneratorExit):
        raise
    except BaseException as error:
        if type(error) is TimeoutError and timer is not None and timer.expired():
            message = f"Tool '{compiled.tool.name}' did not finish within {compiled.attempt_timeout:g} s"
            raise TimedOut(message) from None
        # Any exception of tool code is an error of the tool, and its message is for the caller.
        log.info("tool_raised", tool=ready.tool.name, run_id=ready.run_id, exc_info=True)
        raise ExecutionFailed(describe_exception(error)) from error


def describe_exception(error: BaseException) -> str:
    """Return the exception's message, with the class name if the message alone is not meaningful."""
    try:
        text = str(error)
    except BaseException:
        text = ""  # `__str__` is tool code too and may raise
    if isinstance(error, SystemExit):
        return f"The tool tried to exit the process ({text})"
    if not text:
        return type(error).__name__
    return f"{type(error).__name__}: {text}" if isinstance(error, LookupError) else text


async def _back_off(compiled: CompiledTool, ready: ReadyCall, attempt: int, error: ToolError) -> None:
    pause = compiled.retry.backoff_ms * 2 ** (attempt - 1) / 1000
    if error.retry_after_ms is not None:
        pause = max(pause, error.retry_after_ms / 1000)
    if time.monotonic() + pause >= ready.deadline:
        raise error
    if pause:
        await asyncio.sleep(pause)
