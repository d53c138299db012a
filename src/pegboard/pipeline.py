"""The pipeline: the stages that each tool call passes, in order. Start reading here.

Every surface passes its requests to runs/handle.py, which passes each ToolCall to `Pipeline.run`. Each stage takes one
type and returns a more trusted one. Stages raise ToolError; `run` catches it and returns a ToolResult.

    resolve     find the tool by name: active, not deleted, callable by this caller   → CompiledTool
    validate    check the size, depth and schema of the arguments                     → ReadyCall
    limit       apply the rate limits; an invalid call is refused earlier and is not counted
    begin       commit an intent to the journal, or return the recorded result of a repeated idempotency key
    execute     run the executor until the deadline; check the output, retry, fall back
    journal     commit the row before the caller gets the result

A transactional tool commits the row itself, together with its effects; it gets it from `_conclude`. A tool with
receipts commits it in its own database first, and the journal gets the same row afterwards.
"""

from __future__ import annotations

import asyncio
import contextlib
from contextvars import ContextVar
from functools import partial
from typing import Any

from pegboard.concurrency.user_shares import FairShares
from pegboard.journal.entries import ClosingEntry
from pegboard.journal.journal import Journal
from pegboard.kinds.base import Output
from pegboard.model.call import Caller, NamedBy, ToolCall, ToolResult
from pegboard.model.call_errors import (
    Cancelled,
    ExecutionFailed,
    InternalError,
    InvalidArguments,
    Problem,
    ToolError,
    Unavailable,
)
from pegboard.model.ids import new_id
from pegboard.model.tool import RateLimit
from pegboard.progress.board_watchers import BoardWatchers
from pegboard.registry.compiled_tool import CompiledTool
from pegboard.registry.snapshot import Snapshot
from pegboard.stages.check_output import OutputChecker, encode_output
from pegboard.stages.execute import ExecutionOutcome, execute
from pegboard.stages.rate_limit import Limiter, check_rate_limit
from pegboard.stages.resolve import find_tool, resolve_tool
from pegboard.stages.run import CallRun, CommittedCall, ReplayedCall
from pegboard.stages.validate_arguments import ArgumentValidator
from pegboard.telemetry.logs import get_logger
from pegboard.telemetry.metrics import Metrics
from pegboard.telemetry.tracing import Tracing

log = get_logger(__name__)

# True if the current task already runs a call: nested calls of a running call may finish while the board closes.
_inside_call: ContextVar[bool] = ContextVar("pegboard_inside_a_call", default=False)
# How long `drain` waits for cancelled calls to be recorded when the board closes.
CANCEL_TIMEOUT_SECONDS = 5.0
STOPPED_MESSAGE = "The server was stopped"
_RETRY_AFTER_MS = 1000


class Pipeline:
    """Runs tool calls through all stages and records them in the journal."""

    def __init__(
        self,
        *,
        snapshot: Snapshot,
        validator: ArgumentValidator,
        limiter: Limiter,
        flood: RateLimit | None,
        checker: OutputChecker,
        journal: Journal,
        metrics: Metrics,
        tracing: Tracing | None,
        watchers: BoardWatchers,
        max_running: int,
    ) -> None:
        self._snapshot = snapshot
        self._validator = validator
        self._limiter = limiter
        self._flood = flood
        self._checker = checker
        self._journal = journal
        self._metrics = metrics
        self._tracing = tracing
        self._watchers = watchers
        self._running: dict[str, CallRun] = {}
        self._places = FairShares(max_running)
        self._idle = asyncio.Event()
        self._draining = False
        # If True, a cancelled call is reported as ended by the server and not by its caller.
        self.is_stopping = False
        metrics.watch_in_flight(lambda: len(self._running))

    async def run(
        self,
        call: ToolCall,
        caller: Caller,
        *,
        fall_back: bool = True,
        replaying: ReplayedCall | None = None,
        run_id: str | None = None,
    ) -> ToolResult:
        """Run one call and return its result; raise only CancelledError, if the caller's own task is cancelled.

        `run_id` is the id of the call if it is given; otherwise a new id is created.
        """
        if self._draining and not _inside_call.get():
            return refuse_call(call, Unavailable("The board is shutting down", retry_after_ms=_RETRY_AFTER_MS))
        if not self._places.has_free_slot(caller.user_id):
            return self._refuse_overload(call, caller)
        if self._watchers.is_watched:
            run_id = run_id or new_id()
            call = self._watchers.publish_start(call, caller, run_id)
        this = CallRun(call, caller, replaying, run_id)
        entered = _inside_call.set(True)
        this.attempts.task = asyncio.current_task()
        self._running[this.id] = this
        self._places.take(caller.user_id)
        try:
            if self._tracing is None:
                result = await self._answer(this, fall_back)
            else:
                with self._tracing.span(call, this.id) as ended:
                    ended(result := await self._answer(this, fall_back))
            return await self._record(this, result)
        finally:
            _inside_call.reset(entered)
            self._places.give_back(caller.user_id)
            del self._running[this.id]
            if this.recorded is not None:
                this.recorded.set()
            if self._draining and not self._running:
                self._idle.set()

    def _refuse_overload(self, call: ToolCall, caller: Caller) -> ToolResult:
        """Return the result for a call above its user's share; it is counted, but not recorded in the journal."""
        self._metrics.count_call("none", Unavailable.code, 0.0)
        why = self._places.refusal_text(caller.user_id, "calls under way (PEGBOARD_MAX_RUNNING_CALLS)")
        return refuse_call(
            call, Unavailable(f"{why}; the call did not run, try again shortly", retry_after_ms=_RETRY_AFTER_MS)
        )

    def check(self, name: str, arguments: Any, caller: Caller) -> Problem | None:
        """Return why a call would be refused by resolve or validate, or None; runs nothing and counts nothing."""
        try:
            self._validator.check(resolve_tool(self._snapshot, name, caller), arguments)
        except ToolError as error:
            return error.problem
        return None

    async def _answer(self, this: CallRun, fall_back: bool) -> ToolResult:
        is_ours = False
        try:
            return await self._run_stages(this, fall_back)
        except asyncio.CancelledError:
            task = this.attempts.task
            assert task is not None
            if this.ended_because is not None:
                is_ours = True
                if not task.uncancel():
                    return this.build_failure(Cancelled(this.ended_because).problem)
            if task.cancelling():
                this.is_over = True
                await self._record(
                    this,
                    this.build_failure(
                        Cancelled(STOPPED_MESSAGE if self.is_stopping else "The caller disconnected").problem
                    ),
                )
                raise
            return this.build_failure(ExecutionFailed("The tool cancelled itself").problem)
        except Exception:
            log.exception("call_broke_the_board", tool=this.call.name, run_id=this.id)
            return this.build_failure(InternalError().problem)
        finally:
            this.is_over = True
            if this.ended_because is not None and not is_ours and this.attempts.task is not None:
                this.attempts.task.uncancel()  # the tool ended for another reason, so the caller's task continues

    @property
    def is_draining(self) -> bool:
        """True if no new calls are accepted because the board is closing."""
        return self._draining

    def running(self, run_id: str) -> CallRun | None:
        """Return the running call with this id, or None."""
        return self._running.get(run_id)

    def cancel(self, run_id: str, why: str) -> bool:
        """Cancel a running call with `why` as the recorded reason; return False if it is over or unknown."""
        this = self._running.get(run_id)
        if this is None or this.is_over:
            return False
        # Deferred to the event loop: a call that cancels itself must be suspended in an await when the cancellation
        # arrives.
        asyncio.get_running_loop().call_soon(self._end, this, why)
        return True

    def _end(self, this: CallRun, why: str) -> None:
        if this.is_over or this.ended_because is not None or this.attempts.task is None:
            return
        this.ended_because = why
        this.attempts.task.cancel()
        # Also end the calls that this chain started: they would continue without it.
        for other in self.running_calls:
            is_of_it = other.call.chain_id == this.id and other.caller.user_id == this.caller.user_id
            if is_of_it and other.attempts.task is not this.attempts.task:
                self._end(other, why)

    def detaches(self, name: str, named_by: NamedBy | None = None) -> bool:
        """True if a call of this tool continues when its caller disconnects."""
        compiled = find_tool(self._snapshot, name, named_by) if name else None
        return compiled is not None and compiled.tool.on_disconnect == "detach"

    async def over(self, run_id: str) -> None:
        """Wait until the call has ended and is recorded."""
        if (this := self._running.get(run_id)) is not None:
            this.recorded = this.recorded or asyncio.Event()
            await this.recorded.wait()

    async def _run_stages(self, this: CallRun, fall_back: bool) -> ToolResult:
        try:
            this.compiled_tool = compiled = this.pinned or resolve_tool(
                self._snapshot, this.call.name, this.caller, this.call.named_by
            )
            this.ready = ready = self._validator.validate(compiled, this.call, this.caller, this.id)
            this.ignored = ready.ignored
            await check_rate_limit(self._limiter, compiled.tool, this.caller, self._flood)
            earlier = await self._journal.begin(ready, this.draft)
            if earlier is not None:
                return this.build_repeat(earlier)
            if ready.is_transactional or ready.receipts_in is not None:
                ready = ready._replace(conclude=partial(self._conclude, this, compiled))
            outcome = await execute(compiled, ready, self._checker, this.attempts)
            return this.committed.result if this.committed is not None else this.build_success(outcome)
        except ToolError as error:
            this.committed = None
            if this.ready is None and isinstance(error, InvalidArguments):
                this.ignored = error.ignored
            return await self._run_fallback(this, error, fall_back)

    def _conclude(self, this: CallRun, compiled: CompiledTool, output: Output) -> ClosingEntry:
        """Return the journal entry that a transactional call commits together with its effects."""
        try:
            text = self._checker.check(compiled, output.value)
        except ToolError as error:
            error.did_run = False  # the transaction is rolled back
            raise
        result = this.build_success(ExecutionOutcome(text, this.attempts.count))
        this.committed = CommittedCall(result, this.execution(result)._replace(row_id=output.row_id))
        return self._journal.build_closing(this.committed.execution, result)

    async def _run_fallback(self, this: CallRun, error: ToolError, allowed: bool) -> ToolResult:
        fallback = (
            this.compiled_tool.tool.fallback
            if this.compiled_tool is not None and this.attempts.count and allowed
            else None
        )
        if fallback is None or this.compiled_tool is None:
            return this.build_failure(error.problem)
        log.warning("fell_back", tool=this.call.name, run_id=this.id, code=error.code)
        if fallback.tool is None:
            return this.build_success(
                ExecutionOutcome(encode_output(fallback.value), this.attempts.count, fallback=True)
            )
        call = this.call
        instead = ToolCall(
            fallback.tool,
            call.arguments,
            None,
            call.surface,
            request_id=call.request_id,
            thread_id=call.thread_id,
            chain_id=call.chain_id,
            named_by=NamedBy.of(this.compiled_tool.tool, fallback.tool, this.caller, call.named_by),
        )
        other = await self.run(instead, this.caller, fall_back=False)
        if not other.success:
            return this.build_failure(error.problem)
        return this.build_success(ExecutionOutcome(other.output_json, this.attempts.count, fallback=True))

    async def _record(self, this: CallRun, result: ToolResult) -> ToolResult:
        self._metrics.count_call(this.kind, result.problem.code if result.problem else "", result.elapsed_ms)
        if this.attempts.violations:
            self._metrics.count_violations(this.kind, this.attempts.violations)
        committed = this.committed if this.committed is not None and result is this.committed.result else None
        execution = committed.execution if committed is not None else this.execution(result)
        try:
            if committed is not None and (this.ready is None or this.ready.receipts_in is None):
                self._journal.release(this.id)
            else:
                await self._journal.record(execution, result)
        except ToolError as error:
            result = this.build_unrecorded(result, error)
            execution = this.execution(result)
        finally:
            # Also if the caller's task is cancelled while the row is written: the row is committed anyway.
            if self._watchers.is_watched:
                self._watchers.publish_end(execution)
        return result

    @property
    def running_calls(self) -> list[CallRun]:
        """The running calls, oldest first."""
        return list(self._running.values())

    @property
    def running_count(self) -> int:
        """Number of running calls."""
        return len(self._running)

    def stop(self) -> int:
        """Cancel all running calls and return how many there were; they are recorded as cancelled."""
        self.is_stopping = True
        if self._running:
            log.warning("cancelled_on_shutdown", calls=len(self._running))
        for task in {this.attempts.task for this in self._running.values()}:
            if task is not None:
                task.cancel()
        return len(self._running)

    async def drain(self, seconds: float) -> int:
        """Stop accepting calls and wait `seconds` for the running ones; cancel the rest and return their number."""
        self._draining = True
        if await self._wait_until_idle(seconds):
            return 0
        late = self.stop()
        if not await self._wait_until_idle(CANCEL_TIMEOUT_SECONDS):
            log.error("left_running", calls=len(self._running))
        return late

    async def _wait_until_idle(self, seconds: float) -> bool:
        if self._running:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._idle.wait()
        return not self._running


def refuse_call(call: ToolCall, error: ToolError) -> ToolResult:
    """Return the result for a call that is refused before it enters the pipeline."""
    return ToolResult(call.name, False, problem=error.problem, call_id=call.id, run_id=new_id())
