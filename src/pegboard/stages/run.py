"""One call on its way: what is known of it so far, as the answer it gets and the row it leaves."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from pegboard.core.call import Caller, Execution, ReadyCall, Status, ToolCall, ToolResult
from pegboard.core.errors import InDoubt, Problem, ToolError, Unrecorded
from pegboard.core.ids import new_id
from pegboard.core.ignored import Ignored
from pegboard.core.tool import Tool
from pegboard.journal.base import Earlier
from pegboard.journal.recovery import IN_DOUBT
from pegboard.registry.peg import Peg
from pegboard.stages.execute import Attempts, Outcome
from pegboard.store.types import storable

# The largest result that the journal keeps where a tool says so, as JSON.
MAX_KEPT_RESULT = 64 * 1024
# The most that the journal keeps of what a call printed, in bytes of UTF-8; a note of what was cut comes on top.
MAX_KEPT_PRINTED = 64 * 1024


class Replaying(NamedTuple):
    """That a call runs a recorded one again, perhaps against another version of its tool."""

    execution_id: str
    peg: Peg | None = None


class Run:
    """What is known so far about one call on its way."""

    __slots__ = (
        "attempts",
        "begun",
        "call",
        "caller",
        "ended_because",
        "id",
        "ignored",
        "is_over",
        "peg",
        "pinned",
        "ready",
        "repeat_of",
        "started_at",
    )

    def __init__(
        self, call: ToolCall, caller: Caller, replaying: Replaying | None = None, run_id: str | None = None
    ) -> None:
        self.begun = time.perf_counter()
        self.started_at = datetime.now(UTC)
        self.id = run_id or new_id()
        self.call = call
        self.caller = caller
        self.attempts = Attempts()
        # Why somebody other than the caller has ended it, and whether it is too late for that.
        self.ended_because: str | None = None
        self.is_over = False
        self.peg: Peg | None = None
        self.ready: ReadyCall | None = None
        self.ignored: tuple[Ignored, ...] = ()
        self.pinned = replaying.peg if replaying is not None else None
        self.repeat_of = replaying.execution_id if replaying is not None else None

    @property
    def kind(self) -> str:
        """The kind of the tool, where it was found."""
        return self.peg.tool.tool_type.value if self.peg is not None else "none"

    @property
    def _style(self) -> str:
        return self.peg.tool.result_style if self.peg is not None else "plain"

    def _elapsed(self) -> float:
        return round((time.perf_counter() - self.begun) * 1000, 3)

    def succeeded(self, outcome: Outcome) -> ToolResult:
        """The answer with what the tool returned."""
        return ToolResult(
            self.call.name,
            True,
            outcome.text,
            None,
            self._elapsed(),
            self.call.id,
            self.id,
            outcome.attempts,
            outcome.fallback,
            self._style,
            ignored=self.ignored,
        )

    def failed(self, problem: Problem) -> ToolResult:
        """The answer that says what went wrong."""
        return ToolResult(
            self.call.name,
            False,
            problem=problem,
            elapsed_ms=self._elapsed(),
            call_id=self.call.id,
            run_id=self.id,
            attempts=self.attempts.count,
            result_style=self._style,
            ignored=self.ignored,
        )

    def repeated(self, earlier: Earlier) -> ToolResult:
        """The answer that the first call with the same key got."""
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
            answer.result_style or self._style,
            earlier.run_id,
            self.ignored,
        )

    def draft(self) -> Execution:
        """The row this call becomes if its process does not live to tell how it ended."""
        return self._row("in_doubt", self._elapsed(), 1, InDoubt.code, IN_DOUBT)

    def unrecorded(self, result: ToolResult, error: ToolError) -> ToolResult:
        """The answer where the row could not be kept: an outcome nobody can find again is none."""
        if self.attempts.count:
            error = Unrecorded(f"The tool ran, but {error.message[:1].lower()}{error.message[1:]}")
        return replace(self.failed(error.problem), elapsed_ms=result.elapsed_ms)

    def execution(self, result: ToolResult) -> Execution:
        """The row that this call leaves."""
        problem = result.problem
        tool = self.peg.tool if self.peg is not None else None
        did_run = self.attempts.count or result.repeat_of
        status: Status = "succeeded" if result.success else "failed" if did_run else "refused"
        if did_run and problem is not None and problem.code == InDoubt.code:
            status = "in_doubt"
        code = problem.code if problem is not None else None
        error = _kept_error(problem, tool) if problem is not None else None
        row = self._row(status, result.elapsed_ms, self.attempts.count, code, error)
        keeps_result = result.success and tool is not None and tool.keep_result
        tries = self.attempts.tries if self.attempts.count > 1 or result.fallback else None
        if not keeps_result and not self.attempts.printed and not tries:
            return row
        return row._replace(
            result=_kept_result(result) if keeps_result else None,
            printed=_kept_printed(self.attempts.printed) if self.attempts.printed else None,
            tries=tries or None,
        )

    def _row(self, status: Status, elapsed_ms: float, attempts: int, code: str | None, error: str | None) -> Execution:
        call, caller, ready = self.call, self.caller, self.ready
        tool = self.peg.tool if self.peg is not None else None
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
            tool.tool_type.value if tool is not None else None,
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


def _kept_error(problem: Problem, tool: Tool | None) -> str:
    """What the journal keeps of a failure: no argument's value, unless the tool keeps arguments anyway."""
    text = problem.message if tool is not None and tool.keep_arguments else problem.without_values
    return text[:2000]


def _kept_result(result: ToolResult) -> Any:
    return result.output if len(result.output_json) <= MAX_KEPT_RESULT else None


def _kept_printed(printed: object) -> str:
    """The beginning of what was printed, and how much more there was."""
    # Made storable first, which may make it longer. It comes from executors, so it may be no text at all.
    text = storable(str(printed))
    # No character takes more than four bytes.
    if len(text) <= MAX_KEPT_PRINTED // 4:
        return text
    whole = text.encode()
    if len(whole) <= MAX_KEPT_PRINTED:
        return text
    kept = whole[:MAX_KEPT_PRINTED].decode("utf-8", "ignore")
    return f"{kept}\n[{len(whole) - len(kept.encode()):,} more bytes were printed and are not kept]"
