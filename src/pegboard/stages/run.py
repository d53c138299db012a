"""The state of one running call; builds its result and its journal row."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from pegboard.journal.journal import EarlierCall
from pegboard.journal.recovery import IN_DOUBT_MESSAGE
from pegboard.model.call import Caller, Execution, OnProgress, Progress, ReadyCall, Status, ToolCall, ToolResult
from pegboard.model.call_errors import Ignored, InDoubt, Problem, ToolError, Unrecorded
from pegboard.model.ids import new_id
from pegboard.model.json_text import replace_unstorable
from pegboard.model.tool import Tool
from pegboard.registry.compiled_tool import CompiledTool
from pegboard.stages.execute import Attempts, ExecutionOutcome

# Maximum size of a stored result, as JSON, for tools with `keep_result`.
MAX_KEPT_RESULT_BYTES = 64 * 1024
# Maximum size of the stored printed output in UTF-8 bytes, without the note about the truncated rest.
MAX_KEPT_PRINTED_BYTES = 64 * 1024


class ReplayedCall(NamedTuple):
    """Marks a call as the replay of a recorded one, possibly with another version of its tool."""

    execution_id: str
    compiled_tool: CompiledTool | None = None


class CommittedCall(NamedTuple):
    """The result of a transactional call and the row that it committed itself; undone if the call fails after all."""

    result: ToolResult
    execution: Execution


class ProgressRecorder:
    """Keeps the last number that a tool reported, and passes each report on."""

    __slots__ = ("_pass_on", "last")

    def __init__(self, pass_on: OnProgress) -> None:
        self._pass_on = pass_on
        self.last: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        """Take one report."""
        if progress.progress is not None:
            self.last = progress
        self._pass_on(progress)


class CallRun:
    """The state of one call in the pipeline."""

    __slots__ = (
        "attempts",
        "begun",
        "call",
        "caller",
        "committed",
        "compiled_tool",
        "ended_because",
        "id",
        "ignored",
        "is_over",
        "pinned",
        "progress",
        "ready",
        "recorded",
        "repeat_of",
        "started_at",
    )

    def __init__(
        self, call: ToolCall, caller: Caller, replaying: ReplayedCall | None = None, run_id: str | None = None
    ) -> None:
        self.begun = time.perf_counter()
        self.started_at = datetime.now(UTC)
        self.id = run_id or new_id()
        # None if no client follows the call: then its tool does not report any.
        self.progress: ProgressRecorder | None = None
        if call.on_progress is not None:
            self.progress = ProgressRecorder(call.on_progress)
            call = call._replace(on_progress=self.progress)
        self.call = call
        self.caller = caller
        self.attempts = Attempts()
        # The reason given if the call was cancelled by another party than its caller, and whether it is too late to
        # cancel.
        self.ended_because: str | None = None
        self.is_over = False
        self.compiled_tool: CompiledTool | None = None
        self.ready: ReadyCall | None = None
        self.committed: CommittedCall | None = None
        # Set when the call has ended and is recorded; created by the first that waits for it.
        self.recorded: asyncio.Event | None = None
        self.ignored: tuple[Ignored, ...] = ()
        self.pinned = replaying.compiled_tool if replaying is not None else None
        self.repeat_of = replaying.execution_id if replaying is not None else None

    @property
    def kind(self) -> str:
        """The kind of the tool, or "none" if no tool was found."""
        return str(self.compiled_tool.tool.tool_type) if self.compiled_tool is not None else "none"

    @property
    def _result_style(self) -> str:
        return self.compiled_tool.tool.result_style if self.compiled_tool is not None else "plain"

    def _elapsed_ms(self) -> float:
        return round((time.perf_counter() - self.begun) * 1000, 3)

    def build_success(self, outcome: ExecutionOutcome) -> ToolResult:
        """Return the result of a successful call."""
        return ToolResult(
            self.call.name,
            True,
            outcome.text,
            None,
            self._elapsed_ms(),
            self.call.id,
            self.id,
            outcome.attempts,
            outcome.fallback,
            self._result_style,
            ignored=self.ignored,
        )

    def build_failure(self, problem: Problem) -> ToolResult:
        """Return the result of a failed call."""
        return ToolResult(
            self.call.name,
            False,
            problem=problem,
            elapsed_ms=self._elapsed_ms(),
            call_id=self.call.id,
            run_id=self.id,
            attempts=self.attempts.count,
            result_style=self._result_style,
            ignored=self.ignored,
        )

    def build_repeat(self, earlier: EarlierCall) -> ToolResult:
        """Return the recorded result of the first call with the same idempotency key."""
        self.repeat_of = earlier.run_id
        answer = earlier.answer
        return ToolResult(
            self.call.name,
            answer.success,
            answer.output_json,
            answer.problem,
            answer.elapsed_ms,
            self.call.id,
            self.id,
            answer.attempts,
            answer.fallback,
            answer.result_style or self._result_style,
            earlier.run_id,
            self.ignored,
        )

    def draft(self) -> Execution:
        """Return the row that is recorded if the process ends before the call does."""
        return self._row("in_doubt", self._elapsed_ms(), 1, InDoubt.code, IN_DOUBT_MESSAGE)

    def build_unrecorded(self, result: ToolResult, error: ToolError) -> ToolResult:
        """Return the result if the journal row was not written: `unrecorded` if the tool ran, else the error itself."""
        if self.attempts.count:
            error = Unrecorded(f"The tool ran, but {error.message[:1].lower()}{error.message[1:]}")
        return replace(self.build_failure(error.problem), elapsed_ms=result.elapsed_ms)

    def execution(self, result: ToolResult) -> Execution:
        """Return the journal row of this call."""
        problem = result.problem
        tool = self.compiled_tool.tool if self.compiled_tool is not None else None
        did_run = self.attempts.count or result.repeat_of
        status: Status = "succeeded" if result.success else "failed" if did_run else "refused"
        if did_run and problem is not None and problem.code == InDoubt.code:
            status = "in_doubt"
        code = problem.code if problem is not None else None
        error = _select_error_text(problem, tool) if problem is not None else None
        row = self._row(status, result.elapsed_ms, self.attempts.count, code, error)
        keeps_result = result.success and tool is not None and tool.keep_result
        tries = self.attempts.tries if self.attempts.count > 1 or result.fallback else None
        if not keeps_result and not self.attempts.printed and not tries:
            return row
        return row._replace(
            result=_select_result(result) if keeps_result else None,
            printed=_shorten_printed(self.attempts.printed) if self.attempts.printed else None,
            tries=tries or None,
        )

    def _row(self, status: Status, elapsed_ms: float, attempts: int, code: str | None, error: str | None) -> Execution:
        call, caller, ready = self.call, self.caller, self.ready
        tool = self.compiled_tool.tool if self.compiled_tool is not None else None
        arguments: Any = ready.arguments if ready is not None and tool is not None and tool.keep_arguments else None
        return Execution(
            self.id,
            tool.name if tool is not None else call.name[:255],
            status,
            self.started_at,
            datetime.now(UTC),
            elapsed_ms,
            caller.user_id,
            caller.name,
            call.surface,
            call.dialect,
            attempts,
            tool.id if tool is not None else None,
            tool.version if tool is not None else None,
            str(tool.tool_type) if tool is not None else None,
            caller.key_id,
            caller.agent_id,
            call.request_id or self.id,
            code,
            error,
            ready.digest if ready is not None else None,
            arguments,
            self.attempts.row_id,
            chain_id=call.chain_id,
            thread_id=call.thread_id,
            repeat_of=self.repeat_of,
        )


def _select_error_text(problem: Problem, tool: Tool | None) -> str:
    """Return the error text for the journal, without argument values unless the tool keeps arguments."""
    text = problem.message if tool is not None and tool.keep_arguments else problem.message_without_values
    return text[:2000]


def _select_result(result: ToolResult) -> Any:
    return result.output if len(result.output_json) <= MAX_KEPT_RESULT_BYTES else None


def _shorten_printed(printed: object) -> str:
    """Return the first part of the printed output and a note of how many bytes were cut."""
    # Replace unstorable characters first, which may lengthen the text. Executors may pass a value that is not a string.
    text = replace_unstorable(str(printed))
    # A character is at most four bytes in UTF-8.
    if len(text) <= MAX_KEPT_PRINTED_BYTES // 4:
        return text
    whole = text.encode()
    if len(whole) <= MAX_KEPT_PRINTED_BYTES:
        return text
    kept = whole[:MAX_KEPT_PRINTED_BYTES].decode("utf-8", "ignore")
    return f"{kept}\n[{len(whole) - len(kept.encode()):,} more bytes were printed and are not kept]"
