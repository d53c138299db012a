"""Runs a chain: each step starts as soon as its references are available, as an ordinary call."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple, Protocol

from pegboard.concurrency.concurrent_calls import ConcurrentCalls, make_call_slots
from pegboard.kinds.chain.outcome import NOT_STARTED, CallOutcome, ChainOutcome, StepOutcome, StepView
from pegboard.kinds.chain.plan import plan_chain, read_chain_input
from pegboard.kinds.chain.step_references import InvalidReference, fill_template
from pegboard.model.call import (
    Caller,
    CallRequest,
    NamedBy,
    OnProgress,
    Progress,
    ReadyCall,
    Surface,
    ToolCall,
    ToolResult,
)
from pegboard.model.call_errors import ExecutionFailed
from pegboard.model.chain import CHAIN_HANDLER, MAX_ITEMS, Chain, Condition, Step
from pegboard.model.ids import new_id
from pegboard.model.json_text import is_json_equal, json_text
from pegboard.model.tool import Kind, Tool


def should_run(when: str | Condition | None, known: Mapping[str, Any]) -> bool:
    """True if a step with this condition runs; raise InvalidReference if the condition cannot be resolved."""
    if when is None:
        return True
    return _condition_holds(when, known) if isinstance(when, Condition) else bool(fill_template(when, known))


def _condition_holds(condition: Condition, known: Mapping[str, Any]) -> bool:
    """True if all given comparisons hold; a value that cannot be resolved counts as not existing."""
    given = condition.model_fields_set
    try:
        value = fill_template(condition.value, known)
    except InvalidReference:
        if "exists" not in given:
            raise
        value = None
    checks: dict[str, Callable[[], bool]] = {
        "equals": lambda: is_json_equal(value, fill_template(condition.equals, known)),
        "not_equals": lambda: not is_json_equal(value, fill_template(condition.not_equals, known)),
        "among": lambda: any(is_json_equal(value, each) for each in fill_template(condition.among, known)),
        "at_least": lambda: _number_or_nan(value) >= (condition.at_least or 0.0),
        "at_most": lambda: _number_or_nan(value) <= (condition.at_most or 0.0),
        "exists": lambda: (value is not None) == condition.exists,
    }
    return all(check() for name, check in checks.items() if name in given)


def _number_or_nan(value: Any) -> float:
    """Return the value if it is a number, else NaN, for which every comparison is False."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan


# How many calls a chain may make in total, including those of inner chains.
MAX_CALLS = 5000
# Maximum total size of the outputs of all steps.
MAX_OUTPUT_BYTES = 64 * 2**20
# Maximum nesting depth of chains that call chains.
_MAX_DEPTH = 5


class ChainRequest(NamedTuple):
    """The caller of a chain and what identifies its calls."""

    caller: Caller
    surface: Surface = "library"
    request_id: str | None = None
    key: str | None = None
    on_progress: OnProgress | None = None
    # The saved chain that runs and what referred to it; None if the caller supplied the steps.
    saved: Tool | None = None
    outer_name: NamedBy | None = None

    @classmethod
    def of(cls, request: CallRequest) -> ChainRequest:
        """Return the request of a caller who supplies the steps."""
        return cls(request.caller, request.surface, request.request_id, request.key)


class _CallCounter:
    """Counts the calls of a chain and of its inner chains."""

    def __init__(self) -> None:
        self.calls = 0


class _OuterChains(NamedTuple):
    """The nesting depth and the call counter shared with the outer chains."""

    depth: int
    counted: _CallCounter


_outer_chains: ContextVar[_OuterChains | None] = ContextVar("pegboard_outer_chains", default=None)


class RunningStep(Protocol):
    """A running call."""

    @property
    def id(self) -> str:
        """Its run id."""
        ...

    @property
    def call(self) -> ToolCall:
        """What was called."""
        ...


class StepPipeline(Protocol):
    """Runs the calls of chains (`pipeline.py`)."""

    def run(self, call: ToolCall, caller: Caller, *, run_id: str) -> Coroutine[Any, Any, ToolResult]:
        """Run the call and return its result."""
        ...

    def running(self, run_id: str) -> RunningStep | None:
        """Return the running call of this id, or None."""
        ...

    def detaches(self, name: str, named_by: NamedBy | None) -> bool:
        """Return True if a call of this tool continues when its caller disconnects."""
        ...


class ChainRunner:
    """Runs chains through the pipeline."""

    def __init__(self, pipeline: StepPipeline, *, max_depth: int, max_bytes: int) -> None:
        self._pipeline = pipeline
        self._max_depth = max_depth
        self._max_bytes = max_bytes
        self.concurrent = ConcurrentCalls()

    @staticmethod
    def define_tool(chain: Chain, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the definition of a tool that runs this chain; raise Invalid if it is not valid."""
        plan_chain(chain)
        written = chain.model_dump(mode="json", include=set(Chain.model_fields), exclude_unset=True)
        config = {"handler": CHAIN_HANDLER, "chain": written}
        # The chain's own timeout: the default timeout of a tool may be shorter than that of its steps.
        return {**fields, "tool_type": Kind.INTERNAL, "config": config, "timeout": chain.timeout}

    def read_input(self, schema: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
        """Return the input as a saved chain with this schema would get it; raise Invalid if it does not fit."""
        return read_chain_input(schema, dict(given), max_depth=self._max_depth, max_bytes=self._max_bytes)

    async def run(
        self, chain: Chain, given: Mapping[str, Any], request: ChainRequest, *, chain_id: str | None = None
    ) -> ChainOutcome:
        """Run the chain and return its result; raise Invalid before anything runs if the chain is not valid.

        If the chain is cancelled or times out, its calls are cancelled or continue, depending on their tools; calls
        with an idempotency key continue.
        """
        depth, counted = _outer_chains.get() or _OuterChains(0, _CallCounter())
        run = _ChainRun(self, chain, given, request, chain_id or new_id(), counted)
        if depth >= _MAX_DEPTH:
            return run.build_outcome(f"Chains call each other more than {_MAX_DEPTH} deep", "execution_failed")
        token = _outer_chains.set(_OuterChains(depth + 1, counted))
        try:
            async with asyncio.timeout(chain.timeout):
                return await run.run_steps()
        except TimeoutError:
            return run.build_outcome(f"The chain did not finish within {chain.timeout:g} s", "timeout")
        finally:
            _outer_chains.reset(token)

    async def run_as_tool(self, chain: Chain, call: ReadyCall) -> Any:
        """Run a chain that is a tool and return its output; raise ExecutionFailed if the chain failed."""
        outer = self._pipeline.running(call.run_id)
        assert outer is not None
        request_id = outer.call.request_id or outer.id
        request = ChainRequest(
            call.caller, outer.call.surface, request_id, call.key, call.on_progress, call.tool, outer.call.named_by
        )
        outcome = await self.run(chain, call.arguments, request, chain_id=call.run_id)
        if outcome.error is not None:
            raise ExecutionFailed(outcome.error)
        return outcome.output

    async def call(self, call: ToolCall, caller: Caller, run_id: str) -> ToolResult:
        """Run one call of a chain and return its result."""
        running: Coroutine[Any, Any, ToolResult] = self._pipeline.run(call, caller, run_id=run_id)
        if call.key is None and not self._pipeline.detaches(call.name, call.named_by):
            return await running
        return await self.concurrent.detach(running)


class _ChainRun:
    """One running chain."""

    def __init__(  # noqa: PLR0917 -- made in one place
        self,
        chains: ChainRunner,
        chain: Chain,
        given: Mapping[str, Any],
        request: ChainRequest,
        chain_id: str,
        counted: _CallCounter,
    ) -> None:
        self._dependencies = plan_chain(chain)
        self._chains = chains
        self._chain = chain
        self._request = request
        self._id = chain_id
        self._begun = time.perf_counter()
        self._slots = make_call_slots()
        self._counted = counted
        self._size = 0
        # Steps that start no more calls after a failed item, and a flag that no step does because the chain ends.
        self._stopped: set[str] = set()
        self._is_stopped = False
        self._limit_failure: CallOutcome | None = None
        self._run_ids: dict[str, list[str]] = {}
        self._outcomes: dict[str, StepOutcome] = {}
        self._step_views: dict[str, StepView] = {}
        self._known: dict[str, Any] = {"input": given, "steps": self._step_views}

    async def run_steps(self) -> ChainOutcome:
        """Run all steps and return the result of the chain."""
        steps = {step.id: step for step in self._chain.steps}
        left = dict(steps)
        running: dict[asyncio.Task[StepOutcome], str] = {}
        failure: StepOutcome | None = None
        try:
            while failure is None and (left or running):
                ready = [step for step in left.values() if self._dependencies[step.id] <= self._outcomes.keys()]
                for step in ready:
                    del left[step.id]
                if len(ready) == 1 and not running:
                    # Most chains are sequential, and a task per step would be half of their cost.
                    failure = self._take(await self._step(ready[0]), ready[0])
                    continue
                running |= {asyncio.create_task(self._step(step)): step.id for step in ready}
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    failure = self._take(task.result(), steps[running.pop(task)]) or failure
        finally:
            # After a failure, running steps are awaited; if the chain is cancelled, they are cancelled too.
            self._is_stopped = True
            if failure is None:
                for task in running:
                    task.cancel()
            for outcome in await asyncio.gather(*running, return_exceptions=True):
                if isinstance(outcome, StepOutcome):
                    self._keep(outcome)
        if failure is not None:
            return self.build_outcome(f"Step '{failure.id}' failed: {failure.error}", failure.code)
        return self._build_answer()

    def build_outcome(self, error: str | None, code: str | None, output: bytes = b"null") -> ChainOutcome:
        """Return the result of the chain with the results of the steps so far."""
        steps = tuple(self._outcomes.get(step.id) or self._build_unfinished(step) for step in self._chain.steps)
        return ChainOutcome(self._id, steps, output, error, code, self._elapsed_ms(self._begun))

    def _build_unfinished(self, step: Step) -> StepOutcome:
        """Return the result of a step without an outcome: it was not started, or the chain did not wait for it."""
        if (run_ids := self._run_ids.get(step.id)) is None:
            return StepOutcome(step.id, step.tool, "not_run")
        error = "The chain ended before this step did; the journal has the results of its calls"
        return StepOutcome(step.id, step.tool, "failed", error=error, code="cancelled", run_ids=tuple(run_ids))

    def _build_answer(self) -> ChainOutcome:
        if not self._chain.has_output:
            return self.build_outcome(None, None, self._outcomes[self._chain.steps[-1].id].output_json)
        try:
            return self.build_outcome(None, None, json_text(fill_template(self._chain.output, self._known)).encode())
        except InvalidReference as error:
            return self.build_outcome(f"The output cannot be made: {error}", "execution_failed")

    def _take(self, outcome: StepOutcome, step: Step) -> StepOutcome | None:
        """Store the result of a step; return it if the chain stops because of it, else None."""
        self._keep(outcome)
        if self._request.on_progress is not None:
            done = Progress(len(self._outcomes), len(self._chain.steps), f"{step.id}: {outcome.status}")
            self._request.on_progress(done)
        stops = step.on_error == "stop" or self._limit_failure is not None
        return outcome if outcome.status == "failed" and stops else None

    def _keep(self, outcome: StepOutcome) -> None:
        self._outcomes[outcome.id] = outcome
        self._step_views[outcome.id] = StepView(outcome)

    async def _step(self, step: Step) -> StepOutcome:
        begun = time.perf_counter()
        is_list = step.for_each is not None
        try:
            if not should_run(step.when, self._known):
                return StepOutcome(step.id, step.tool, "skipped")
            if is_list:
                answers = await self._run_items(step)
            else:
                async with self._slots:
                    answers = [await self._one(step, self._known)]
        except InvalidReference as error:
            return self._build_failure(step, CallOutcome(b"", str(error), "execution_failed"), begun)
        if self._limit_failure is not None:
            return self._build_failure(step, self._limit_failure, begun)
        failure = _find_failure(answers, is_list=is_list, stops=step.on_error == "stop")
        if failure is not None:
            return self._build_failure(step, failure, begun)
        texts = [answer.text for answer in answers]
        return StepOutcome(
            step.id, step.tool, "succeeded", texts, is_list, run_ids=self._ids(step), elapsed_ms=self._elapsed_ms(begun)
        )

    def _build_failure(self, step: Step, why: CallOutcome, begun: float) -> StepOutcome:
        falls_back = step.on_error == "fallback" and self._limit_failure is None
        return StepOutcome(
            step.id,
            step.tool,
            "fallback" if falls_back else "failed",
            (json_text(step.fallback).encode(),) if falls_back else (),
            error=why.error,
            code=why.code,
            run_ids=self._ids(step),
            elapsed_ms=self._elapsed_ms(begun),
        )

    async def _run_items(self, step: Step) -> list[CallOutcome]:
        items = fill_template(step.for_each, self._known)
        if not isinstance(items, list | tuple):
            raise InvalidReference(f"for_each must be a list, not {'null' if items is None else type(items).__name__}")
        if len(items) > MAX_ITEMS:
            raise InvalidReference(f"for_each has {len(items):,} items, at most {MAX_ITEMS:,} are run")
        ones = (
            (partial(self._one, step, {**self._known, "item": item, "index": index}, index), False)
            for index, item in enumerate(items)
        )
        return await self._chains.concurrent.run(ones, self._slots)

    async def _one(self, step: Step, known: Mapping[str, Any], index: int | None = None) -> CallOutcome:
        """Run a step, or one item of it; its arguments are built only when it starts, to save memory."""
        if self._is_stopped or step.id in self._stopped or self._limit_failure is not None:
            return NOT_STARTED
        try:
            answer = await self._call(step, fill_template(step.arguments, known), index)
        except InvalidReference as error:
            if index is None:
                raise
            answer = CallOutcome(b"", str(error), "execution_failed")
        if answer.error is None:
            self._size += len(answer.text)
            if self._size > MAX_OUTPUT_BYTES:
                why = f"The outputs of the chain take more than {MAX_OUTPUT_BYTES:,} bytes"
                self._limit_failure = answer = CallOutcome(b"", why, "result_too_large")
            return answer
        if step.on_error == "stop":
            self._stopped.add(step.id)
        return answer._replace(text=json_text(step.fallback if step.on_error == "fallback" else None).encode())

    async def _call(self, step: Step, arguments: Any, index: int | None) -> CallOutcome:
        if self._counted.calls >= MAX_CALLS:
            error = f"The chain makes more than {MAX_CALLS:,} calls"
            self._limit_failure = CallOutcome(b"", error, "execution_failed")
            return self._limit_failure
        self._counted.calls += 1
        request, key = self._request, self._request.key
        if key is not None:
            key = f"{key}#{step.id}" + ("" if index is None else f"#{index}")
        named_by = None
        if request.saved is not None:
            named_by = NamedBy.of(request.saved, step.tool, request.caller, request.outer_name)
        call = ToolCall(
            step.tool,
            arguments,
            None,
            request.surface,
            request_id=request.request_id,
            key=key,
            chain_id=self._id,
            named_by=named_by,
        )
        run_id = new_id()
        self._run_ids.setdefault(step.id, []).append(run_id)
        result = await self._chains.call(call, request.caller, run_id)
        if result.problem is not None:
            return CallOutcome(b"", result.problem.message, result.problem.code)
        return CallOutcome(result.output_json)

    def _ids(self, step: Step) -> tuple[str, ...]:
        return tuple(self._run_ids.get(step.id, ()))

    def _elapsed_ms(self, begun: float) -> float:
        return round((time.perf_counter() - begun) * 1000, 3)


def _find_failure(answers: Sequence[CallOutcome], *, is_list: bool, stops: bool) -> CallOutcome | None:
    """Return the failure of a step: the first one of its items, with how many failed; None if it succeeded.

    Failed items of a list do not fail the step, unless it `stops` at a failure.
    """
    failures = [answer for answer in answers if answer.error is not None and answer is not NOT_STARTED]
    not_begun = answers.count(NOT_STARTED)
    if not not_begun and not (failures and (stops or not is_list)):
        return None
    first = failures[0] if failures else NOT_STARTED
    if not is_list:
        return first
    more = f", {not_begun} did not begin" if not_begun else ""
    return first._replace(error=f"{first.error} ({len(failures)} of {len(answers)} items failed{more})")
