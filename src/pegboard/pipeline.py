"""The life of one call. Start reading here.

A surface turns what it received into a ToolCall and hands it to `Pipeline.run`. Each stage takes a type
and gives back a more trusted one; stages raise ToolError, `run` never does: it returns a ToolResult.

    resolve     the tool this caller may see, active, not deleted   → Peg
    validate    arguments against size, depth and schema            → ReadyCall
    limit       is there room now? A call that could never run has cost nothing
    begin       the journal can take it: an intent is committed, or the key was used before and its answer is there
    execute     the kind's executor under the deadline; output checked, tried again, fallen back
    journal     durable before the caller is answered
"""

from __future__ import annotations

import asyncio
import contextlib
from contextvars import ContextVar

from pegboard.core.call import Caller, NamedBy, ToolCall, ToolResult
from pegboard.core.errors import Cancelled, ExecutionFailed, InternalError, InvalidArguments, ToolError, Unavailable
from pegboard.core.ids import new_id
from pegboard.core.shares import Shares
from pegboard.core.tool import RateLimit
from pegboard.journal.base import Journal
from pegboard.live.onlookers import Onlookers
from pegboard.registry.snapshot import Snapshot
from pegboard.stages.check import Checker, as_json
from pegboard.stages.deadlines import Deadlines
from pegboard.stages.execute import Outcome, execute
from pegboard.stages.limit import Limiter, limit
from pegboard.stages.resolve import find_tool, resolve
from pegboard.stages.run import Replaying, Run
from pegboard.stages.validate import Validator
from pegboard.telemetry.logs import get_logger
from pegboard.telemetry.metrics import Metrics
from pegboard.telemetry.tracing import Tracing

log = get_logger(__name__)

# Whether this task runs a call already: what a running call calls in turn may finish while the board closes.
_inside: ContextVar[bool] = ContextVar("pegboard_inside_a_call", default=False)
# What a cancelled call gets to be recorded, when the board is closing.
LAST_SECONDS = 5.0
STOPPED = "The server was stopped"
# The most calls under way at once, those that wait for another attempt or to be recorded included.
MAX_RUNNING = 4000
_SOON_MS = 1000


class Pipeline:
    """Carries calls from asked for to answered."""

    def __init__(
        self,
        *,
        snapshot: Snapshot,
        validator: Validator,
        limiter: Limiter,
        flood: RateLimit | None,
        checker: Checker,
        journal: Journal,
        metrics: Metrics,
        tracing: Tracing | None,
        onlookers: Onlookers,
        max_running: int = MAX_RUNNING,
    ) -> None:
        self._snapshot = snapshot
        self._validator = validator
        self._limiter = limiter
        self._flood = flood
        self._checker = checker
        self._journal = journal
        self._metrics = metrics
        self._tracing = tracing
        self._onlookers = onlookers
        self._running: dict[str, Run] = {}
        self._places = Shares(max_running)
        self._awaited: dict[str, asyncio.Event] = {}
        self._idle = asyncio.Event()
        self._draining = False
        # Whether a call that is cancelled from now on ends because of the server, and not of its caller.
        self.is_stopping = False
        self._deadlines = Deadlines()
        metrics.watch_in_flight(lambda: len(self._running))

    async def run(
        self,
        call: ToolCall,
        caller: Caller,
        *,
        fall_back: bool = True,
        replaying: Replaying | None = None,
        run_id: str | None = None,
    ) -> ToolResult:
        """Run one call to its end and say how it ended; only the caller's own cancellation is raised.

        A new `run_id` is what the call is known by from the beginning; without one it gets its own.
        """
        if self._draining and not _inside.get():
            return refused(call, Unavailable("The board is shutting down", retry_after_ms=_SOON_MS))
        if not self._places.has_room(caller.user_id):
            return self._overloaded(call, caller)
        if self._onlookers.are_there:
            run_id = run_id or new_id()
            call = self._onlookers.began(call, caller, run_id)
        this = Run(call, caller, replaying, run_id)
        entered = _inside.set(True)
        this.attempts.task = asyncio.current_task()
        self._running[this.id] = this
        self._places.take(caller.user_id)
        try:
            if self._tracing is None:
                result = await self._answer(this, fall_back)
            else:
                with self._tracing.span(call, this.id) as ended:
                    ended(result := await self._answer(this, fall_back))
            return await self._recorded(this, result)
        finally:
            _inside.reset(entered)
            self._places.give_back(caller.user_id)
            del self._running[this.id]
            if self._awaited and (awaited := self._awaited.pop(this.id, None)) is not None:
                awaited.set()
            if self._draining and not self._running:
                self._idle.set()

    def _overloaded(self, call: ToolCall, caller: Caller) -> ToolResult:
        """Refuse a call that its user has no place for; it is counted, and leaves no row in the journal."""
        self._metrics.finished("none", Unavailable.code, 0.0)
        why = self._places.refusal(caller.user_id, "calls under way (PEGBOARD_MAX_RUNNING_CALLS)")
        return refused(call, Unavailable(f"{why}; the call did not run, try again shortly", retry_after_ms=_SOON_MS))

    async def _answer(self, this: Run, fall_back: bool) -> ToolResult:
        is_ours = False
        try:
            return await self._stages(this, fall_back)
        except asyncio.CancelledError:
            task = this.attempts.task
            assert task is not None
            if this.ended_because is not None:
                is_ours = True
                if not task.uncancel():
                    return this.failed(Cancelled(this.ended_because).problem)
            if task.cancelling():
                this.is_over = True
                await self._recorded(
                    this, this.failed(Cancelled(STOPPED if self.is_stopping else "The caller went away").problem)
                )
                raise
            return this.failed(ExecutionFailed("The tool cancelled itself").problem)
        except Exception:
            log.exception("call_broke_the_board", tool=this.call.name, run_id=this.id)
            return this.failed(InternalError().problem)
        finally:
            this.is_over = True
            if this.ended_because is not None and not is_ours and this.attempts.task is not None:
                this.attempts.task.uncancel()  # the tool ended otherwise, and its caller goes on

    @property
    def is_draining(self) -> bool:
        """Whether it takes no more calls, because the board is closing."""
        return self._draining

    def running(self, run_id: str) -> Run | None:
        """The call that is known by this id, while it runs."""
        return self._running.get(run_id)

    def cancel(self, run_id: str, why: str) -> bool:
        """End a running call: it is answered and recorded as cancelled, for this reason; False where it is over."""
        this = self._running.get(run_id)
        if this is None or this.is_over:
            return False
        # Not at once: a call that ends itself must be waiting for something when its end comes.
        asyncio.get_running_loop().call_soon(self._end, this, why)
        return True

    def _end(self, this: Run, why: str) -> None:
        if this.is_over or this.ended_because is not None or this.attempts.task is None:
            return
        this.ended_because = why
        this.attempts.task.cancel()
        # Those that would go on without the chain that made them.
        for other in list(self._running.values()):
            is_of_it = other.call.chain_id == this.id and other.caller.user_id == this.caller.user_id
            if is_of_it and other.attempts.task is not this.attempts.task:
                self._end(other, why)

    def detaches(self, name: str, named_by: NamedBy | None = None) -> bool:
        """Whether a call of this tool goes on when its caller disconnects."""
        peg = find_tool(self._snapshot, name, named_by) if name else None
        return peg is not None and peg.tool.on_disconnect == "detach"

    async def over(self, run_id: str) -> None:
        """Wait until this call runs no longer, and is recorded."""
        if run_id in self._running:
            await self._awaited.setdefault(run_id, asyncio.Event()).wait()

    async def _stages(self, this: Run, fall_back: bool) -> ToolResult:
        try:
            this.peg = peg = this.pinned or resolve(self._snapshot, this.call.name, this.caller, this.call.named_by)
            this.ready = ready = self._validator.validate(peg, this.call, this.caller, this.id)
            this.ignored = ready.ignored
            await limit(self._limiter, peg.tool, this.caller, self._flood)
            earlier = await self._journal.begin(ready, this.draft)
            if earlier is not None:
                return this.repeated(earlier)
            return this.succeeded(await execute(peg, ready, self._checker, this.attempts, self._deadlines))
        except ToolError as error:
            if this.ready is None and isinstance(error, InvalidArguments):
                this.ignored = error.ignored
            return await self._fallen_back(this, error, fall_back)

    async def _fallen_back(self, this: Run, error: ToolError, allowed: bool) -> ToolResult:
        fallback = this.peg.tool.fallback if this.peg is not None and this.attempts.count and allowed else None
        if fallback is None or this.peg is None:
            return this.failed(error.problem)
        log.warning("fell_back", tool=this.call.name, run_id=this.id, code=error.code)
        if fallback.tool is None:
            return this.succeeded(Outcome(as_json(fallback.value), this.attempts.count, fallback=True))
        call = this.call
        instead = ToolCall(
            fallback.tool,
            call.arguments,
            None,
            call.surface,
            request_id=call.request_id,
            thread_id=call.thread_id,
            chain_id=call.chain_id,
            named_by=NamedBy.of(this.peg.tool, fallback.tool, this.caller, call.named_by),
        )
        other = await self.run(instead, this.caller, fall_back=False)
        if not other.success:
            return this.failed(error.problem)
        return this.succeeded(Outcome(other.output_json, this.attempts.count, fallback=True))

    async def _recorded(self, this: Run, result: ToolResult) -> ToolResult:
        self._metrics.finished(this.kind, result.problem.code if result.problem else "", result.elapsed_ms)
        if this.attempts.violations:
            self._metrics.violated(this.kind, this.attempts.violations)
        execution = this.execution(result)
        try:
            await self._journal.record(execution, result)
        except ToolError as error:
            result = this.unrecorded(result, error)
            execution = this.execution(result)
        finally:
            # Also where the caller goes away while it is being recorded, which it is all the same.
            if self._onlookers.are_there:
                self._onlookers.ended(execution)
        return result

    @property
    def running_count(self) -> int:
        """How many calls are running."""
        return len(self._running)

    def stop(self) -> int:
        """Cancel the running calls, which are recorded so; how many there are."""
        self.is_stopping = True
        if self._running:
            log.warning("cancelled_on_shutdown", calls=len(self._running))
        for task in {this.attempts.task for this in self._running.values()}:
            if task is not None:
                task.cancel()
        return len(self._running)

    async def drain(self, seconds: float) -> int:
        """Take no more calls and wait for the running ones; those that take longer are cancelled, and counted."""
        self._draining = True
        if await self._came_to_rest(seconds):
            return 0
        late = self.stop()
        if not await self._came_to_rest(LAST_SECONDS):
            log.error("left_running", calls=len(self._running))
        return late

    async def _came_to_rest(self, seconds: float) -> bool:
        if self._running:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._idle.wait()
        return not self._running


def refused(call: ToolCall, error: ToolError) -> ToolResult:
    """The answer to a call that never entered the pipeline."""
    return ToolResult(call.name, False, problem=error.problem, call_id=call.id, run_id=new_id())
