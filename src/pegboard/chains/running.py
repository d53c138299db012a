"""Running a chain: each step as soon as what it refers to is there, each an ordinary call."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple

from pegboard.chains.conditions import is_wanted
from pegboard.chains.outcomes import NOT_BEGUN, CallOutcome, ChainOutcome, Outputs, StepOutcome
from pegboard.core.call import Caller, NamedBy, OnProgress, Progress, ReadyCall, Surface, ToolCall, ToolResult
from pegboard.core.chains import MAX_ITEMS, Chain, Step
from pegboard.core.errors import ExecutionFailed
from pegboard.core.ids import new_id
from pegboard.core.tool import Tool
from pegboard.pipeline import Pipeline
from pegboard.registry.chaining.plan import plan
from pegboard.registry.chaining.references import Misreferred, filled
from pegboard.store.types import json_text

# How many calls of one chain run side by side, and how many it may make in all, with those of chains that it calls.
_AT_ONCE = 20
_MOST_CALLS = 5000
# What the outputs of all steps may take together.
_MOST_BYTES = 64 * 2**20
# A chain may call a chain that calls a chain.
_DEEPEST = 5


class Asking(NamedTuple):
    """Who runs a chain, and how its calls are to be known."""

    caller: Caller
    surface: Surface = "library"
    request_id: str | None = None
    key: str | None = None
    on_progress: OnProgress | None = None
    # The saved chain that is run, and what led to its call; None where the caller wrote the steps.
    saved: Tool | None = None
    outer: NamedBy | None = None


class _Counted:
    """Counts the calls of a chain and of those that it calls."""

    def __init__(self) -> None:
        self.calls = 0


class _Outer(NamedTuple):
    """The chains that a chain is called by."""

    depth: int
    counted: _Counted


_outer: ContextVar[_Outer | None] = ContextVar("pegboard_outer_chains", default=None)


class Chains:
    """Runs chains through the pipeline."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        # Calls that go on without their chain.
        self._detached: set[asyncio.Task[ToolResult]] = set()

    async def run(
        self, chain: Chain, given: Mapping[str, Any], asking: Asking, *, chain_id: str | None = None
    ) -> ChainOutcome:
        """How the chain ended; raises Invalid where it is none, before anything runs.

        Where it is given up, or its time is up, calls end or go on as their tools say; with a key they go on.
        """
        depth, counted = _outer.get() or _Outer(0, _Counted())
        run = _Run(self, chain, given, asking, chain_id or new_id(), counted)
        if depth >= _DEEPEST:
            return run.ended(f"Chains call each other more than {_DEEPEST} deep", "execution_failed")
        token = _outer.set(_Outer(depth + 1, counted))
        try:
            async with asyncio.timeout(chain.timeout):
                return await run.whole()
        except TimeoutError:
            return run.ended(f"The chain did not finish within {chain.timeout:g} s", "timeout")
        finally:
            _outer.reset(token)

    async def as_tool(self, chain: Chain, call: ReadyCall) -> Any:
        """What a chain answers that is a tool; raises ExecutionFailed where a step failed."""
        outer = self._pipeline.running(call.run_id)
        assert outer is not None
        asking = Asking(
            call.caller,
            outer.call.surface,
            outer.call.request_id or outer.id,
            call.key,
            call.on_progress,
            call.tool,
            outer.call.named_by,
        )
        outcome = await self.run(chain, call.arguments, asking, chain_id=call.run_id)
        if outcome.error is not None:
            raise ExecutionFailed(outcome.error)
        return outcome.output

    async def call(self, call: ToolCall, caller: Caller, run_id: str) -> ToolResult:
        """How one call of a chain ended."""
        running: Coroutine[Any, Any, ToolResult] = self._pipeline.run(call, caller, run_id=run_id)
        if call.key is None and not self._pipeline.detaches(call.name, call.named_by):
            return await running
        task = asyncio.create_task(running)
        self._detached.add(task)
        task.add_done_callback(self._detached.discard)
        return await asyncio.shield(task)


class _Run:
    """One chain on its way."""

    def __init__(  # noqa: PLR0917 -- made in one place
        self, chains: Chains, chain: Chain, given: Mapping[str, Any], asking: Asking, chain_id: str, counted: _Counted
    ) -> None:
        self._waits = plan(chain)
        self._chains = chains
        self._chain = chain
        self._asking = asking
        self._id = chain_id
        self._begun = time.perf_counter()
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._counted = counted
        self._size = 0
        # Steps that begin nothing more, and whether none does: one failed that stops the chain, or it took too much.
        self._stopped: set[str] = set()
        self._is_stopped = False
        self._too_much: CallOutcome | None = None
        self._run_ids: dict[str, list[str]] = {}
        self._outcomes: dict[str, StepOutcome] = {}
        self._views: dict[str, Outputs] = {}
        self._known: dict[str, Any] = {"input": given, "steps": self._views}

    async def whole(self) -> ChainOutcome:
        """Run all steps, and say how it went."""
        steps = {step.id: step for step in self._chain.steps}
        left = dict(steps)
        running: dict[asyncio.Task[StepOutcome], str] = {}
        failure: StepOutcome | None = None
        try:
            while failure is None and (left or running):
                ready = [step for step in left.values() if self._waits[step.id] <= self._outcomes.keys()]
                for step in ready:
                    del left[step.id]
                if len(ready) == 1 and not running:
                    # Most chains are lines, and a task for each step is half of what they cost.
                    failure = self._take(await self._step(ready[0]), ready[0])
                    continue
                running |= {asyncio.create_task(self._step(step)): step.id for step in ready}
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    failure = self._take(task.result(), steps[running.pop(task)]) or failure
        finally:
            # Those that run when one has failed come to their end; a chain that is given up takes them along.
            self._is_stopped = True
            if failure is None:
                for task in running:
                    task.cancel()
            for outcome in await asyncio.gather(*running, return_exceptions=True):
                if isinstance(outcome, StepOutcome):
                    self._keep(outcome)
        if failure is not None:
            return self.ended(f"Step '{failure.id}' failed: {failure.error}", failure.code)
        return self._answered()

    def ended(self, error: str | None, code: str | None, output: bytes = b"null") -> ChainOutcome:
        """The outcome, with what is known of the steps."""
        steps = tuple(self._outcomes.get(step.id) or self._cut_off(step) for step in self._chain.steps)
        return ChainOutcome(self._id, steps, output, error, code, self._elapsed(self._begun))

    def _cut_off(self, step: Step) -> StepOutcome:
        """A step that has no outcome: it never began, or the chain did not wait for its end."""
        if (run_ids := self._run_ids.get(step.id)) is None:
            return StepOutcome(step.id, step.tool, "not_run")
        error = "The chain ended before this step did; the journal says how its calls ended"
        return StepOutcome(step.id, step.tool, "failed", error=error, code="cancelled", run_ids=tuple(run_ids))

    def _answered(self) -> ChainOutcome:
        if not self._chain.has_output:
            return self.ended(None, None, self._outcomes[self._chain.steps[-1].id].output_json)
        try:
            return self.ended(None, None, json_text(filled(self._chain.output, self._known)).encode())
        except Misreferred as error:
            return self.ended(f"The output cannot be made: {error}", "execution_failed")

    def _take(self, outcome: StepOutcome, step: Step) -> StepOutcome | None:
        """Keep how a step ended; the same if the chain stops with it."""
        self._keep(outcome)
        if self._asking.on_progress is not None:
            done = Progress(len(self._outcomes), len(self._chain.steps), f"{step.id}: {outcome.status}")
            self._asking.on_progress(done)
        stops = step.on_error == "stop" or self._too_much is not None
        return outcome if outcome.status == "failed" and stops else None

    def _keep(self, outcome: StepOutcome) -> None:
        self._outcomes[outcome.id] = outcome
        self._views[outcome.id] = Outputs(outcome)

    async def _step(self, step: Step) -> StepOutcome:
        begun = time.perf_counter()
        is_list = step.for_each is not None
        try:
            if not is_wanted(step.when, self._known):
                return StepOutcome(step.id, step.tool, "skipped")
            answers = await self._each(step) if is_list else [await self._one(step, self._known)]
        except Misreferred as error:
            return self._failed(step, CallOutcome(b"", str(error), "execution_failed"), begun)
        if self._too_much is not None:
            return self._failed(step, self._too_much, begun)
        failures = [answer for answer in answers if answer.error is not None and answer is not NOT_BEGUN]
        not_begun = answers.count(NOT_BEGUN)
        if not_begun or (failures and (step.on_error == "stop" or not is_list)):
            first = failures[0] if failures else NOT_BEGUN
            more = f" ({len(failures)} of {len(answers)} items failed" + (
                f", {not_begun} did not begin)" if not_begun else ")"
            )
            return self._failed(step, first._replace(error=f"{first.error}{more if is_list else ''}"), begun)
        texts = [answer.text for answer in answers]
        return StepOutcome(
            step.id, step.tool, "succeeded", texts, is_list, run_ids=self._ids(step), elapsed_ms=self._elapsed(begun)
        )

    def _failed(self, step: Step, why: CallOutcome, begun: float) -> StepOutcome:
        falls_back = step.on_error == "fallback" and self._too_much is None
        return StepOutcome(
            step.id,
            step.tool,
            "fallback" if falls_back else "failed",
            (json_text(step.fallback).encode(),) if falls_back else (),
            error=why.error,
            code=why.code,
            run_ids=self._ids(step),
            elapsed_ms=self._elapsed(begun),
        )

    async def _each(self, step: Step) -> list[CallOutcome]:
        items = filled(step.for_each, self._known)
        if not isinstance(items, list | tuple):
            raise Misreferred(f"for_each is no list but {'null' if items is None else type(items).__name__}")
        if len(items) > MAX_ITEMS:
            raise Misreferred(f"for_each has {len(items):,} items, at most {MAX_ITEMS:,} are run")
        ones = (
            self._one(step, {**self._known, "item": item, "index": index}, index) for index, item in enumerate(items)
        )
        # Whoever cancels this waits until all that are cancelled have been recorded.
        answers = await asyncio.gather(*ones, return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return [answer for answer in answers if isinstance(answer, CallOutcome)]

    async def _one(self, step: Step, known: Mapping[str, Any], index: int | None = None) -> CallOutcome:
        """What came of a step, or of one item of it; its arguments are there only while it runs."""
        async with self._room:
            if self._is_stopped or step.id in self._stopped or self._too_much is not None:
                return NOT_BEGUN
            try:
                answer = await self._call(step, filled(step.arguments, known), index)
            except Misreferred as error:
                if index is None:
                    raise
                answer = CallOutcome(b"", str(error), "execution_failed")
        if answer.error is None:
            self._size += len(answer.text)
            if self._size > _MOST_BYTES:
                why = f"The outputs of the chain take more than {_MOST_BYTES:,} bytes"
                self._too_much = answer = CallOutcome(b"", why, "result_too_large")
            return answer
        if step.on_error == "stop":
            self._stopped.add(step.id)
        return answer._replace(text=json_text(step.fallback if step.on_error == "fallback" else None).encode())

    async def _call(self, step: Step, arguments: Any, index: int | None) -> CallOutcome:
        if self._counted.calls >= _MOST_CALLS:
            error = f"The chain makes more than {_MOST_CALLS:,} calls"
            self._too_much = CallOutcome(b"", error, "execution_failed")
            return self._too_much
        self._counted.calls += 1
        asking, key = self._asking, self._asking.key
        if key is not None:
            key = f"{key}#{step.id}" + ("" if index is None else f"#{index}")
        named_by = None
        if asking.saved is not None:
            named_by = NamedBy.of(asking.saved, step.tool, asking.caller, asking.outer)
        call = ToolCall(
            step.tool,
            arguments,
            None,
            asking.surface,
            request_id=asking.request_id,
            key=key,
            chain_id=self._id,
            named_by=named_by,
        )
        run_id = new_id()
        self._run_ids.setdefault(step.id, []).append(run_id)
        result = await self._chains.call(call, asking.caller, run_id)
        if result.problem is not None:
            return CallOutcome(b"", result.problem.message, result.problem.code)
        return CallOutcome(result.output_json)

    def _ids(self, step: Step) -> tuple[str, ...]:
        return tuple(self._run_ids.get(step.id, ()))

    def _elapsed(self, begun: float) -> float:
        return round((time.perf_counter() - begun) * 1000, 3)
