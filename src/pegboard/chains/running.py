"""Running a chain: each step as soon as what it refers to is there, each an ordinary call."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple

from pegboard.chains.outcomes import ChainOutcome, Outputs, StepOutcome
from pegboard.core.call import Caller, OnProgress, Progress, ReadyCall, Surface, ToolCall, ToolResult
from pegboard.core.chains import MAX_ITEMS, Chain, Condition, Step
from pegboard.core.errors import ExecutionFailed
from pegboard.core.ids import new_id
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


class _Nesting:
    """What chains that call each other share."""

    __slots__ = ("calls", "depth")

    def __init__(self) -> None:
        self.depth = 0
        self.calls = 0


_nesting: ContextVar[_Nesting | None] = ContextVar("pegboard_nesting_of_chains", default=None)


class Asking(NamedTuple):
    """Who runs a chain, and how its calls are to be known."""

    caller: Caller
    surface: Surface = "library"
    request_id: str | None = None
    key: str | None = None
    on_progress: OnProgress | None = None


class Failed(Exception):
    """A step that did not do what it should."""

    def __init__(self, message: str, code: str, run_ids: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.run_ids = run_ids


class Chains:
    """Runs chains through the pipeline."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    async def run(
        self, chain: Chain, given: Mapping[str, Any], asking: Asking, *, chain_id: str | None = None
    ) -> ChainOutcome:
        """How the chain ended; raises Invalid where it is none, before anything runs."""
        run = _Run(self._pipeline, chain, given, asking, chain_id or new_id())
        depth = _depth.get()
        if depth >= _DEEPEST:
            return run.ended(f"Chains call each other more than {_DEEPEST} deep", "execution_failed")
        token = _depth.set(depth + 1)
        try:
            async with asyncio.timeout(chain.timeout):
                return await run.whole()
        except TimeoutError:
            return run.ended(f"The chain did not finish within {chain.timeout:g} s", "timeout")
        finally:
            _depth.reset(token)

    async def as_tool(self, chain: Chain, call: ReadyCall) -> Any:
        """What a chain answers that is a tool; raises ExecutionFailed where a step failed."""
        asking = Asking(call.caller, key=call.key, on_progress=call.on_progress)
        outcome = await self.run(chain, call.arguments, asking, chain_id=call.run_id)
        if outcome.error is not None:
            raise ExecutionFailed(outcome.error)
        return outcome.output


class _Run:
    """One chain on its way."""

    def __init__(
        self, pipeline: Pipeline, chain: Chain, given: Mapping[str, Any], asking: Asking, chain_id: str
    ) -> None:
        self._waits = plan(chain)
        self._pipeline = pipeline
        self._chain = chain
        self._asking = asking
        self._id = chain_id
        self._begun = time.perf_counter()
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._calls = 0
        self._size = 0
        self._outcomes: dict[str, StepOutcome] = {}
        self._views: dict[str, Outputs] = {}
        self._known: dict[str, Any] = {"input": given, "steps": self._views}

    async def whole(self) -> ChainOutcome:
        """Run all steps, and say how it went."""
        left = {step.id: step for step in self._chain.steps}
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
                    step = next(each for each in self._chain.steps if each.id == running[task])
                    del running[task]
                    failure = self._take(task.result(), step) or failure
        finally:
            # Those that run when one has failed come to their end; a chain that is given up takes them along.
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
        steps = tuple(
            self._outcomes.get(step.id) or StepOutcome(step.id, step.tool, "not_run") for step in self._chain.steps
        )
        return ChainOutcome(self._id, steps, output, error, code, self._elapsed(self._begun))

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
        return outcome if outcome.status == "failed" and step.on_error == "stop" else None

    def _keep(self, outcome: StepOutcome) -> None:
        self._outcomes[outcome.id] = outcome
        self._views[outcome.id] = Outputs(outcome)

    async def _step(self, step: Step) -> StepOutcome:
        begun = time.perf_counter()
        try:
            if not self._is_wanted(step):
                return StepOutcome(step.id, step.tool, "skipped")
            results = await self._results(step)
        except (Failed, Misreferred) as error:
            code, run_ids = (error.code, error.run_ids) if isinstance(error, Failed) else ("execution_failed", ())
            return self._failed(step, str(error), code, run_ids, begun)
        texts, failures = [], []
        for result in results:
            if result.problem is None:
                texts.append(result.output_json)
                continue
            failures.append(result.problem)
            texts.append(json_text(step.fallback if step.on_error == "fallback" else None).encode())
        run_ids = tuple(result.run_id for result in results)
        is_list = step.for_each is not None
        if failures and (step.on_error == "stop" or not is_list):
            more = f" ({len(failures)} of {len(results)} items failed)" if is_list else ""
            return self._failed(step, failures[0].message + more, failures[0].code, run_ids, begun)
        self._size += sum(map(len, texts))
        if self._size > _MOST_BYTES:
            return self._failed(
                step,
                f"The outputs of the chain take more than {_MOST_BYTES:,} bytes",
                "result_too_large",
                run_ids,
                begun,
            )
        return StepOutcome(
            step.id, step.tool, "succeeded", texts, is_list, run_ids=run_ids, elapsed_ms=self._elapsed(begun)
        )

    def _failed(self, step: Step, error: str, code: str, run_ids: tuple[str, ...], begun: float) -> StepOutcome:
        elapsed = self._elapsed(begun)
        if step.on_error == "fallback":
            text = json_text(step.fallback).encode()
            return StepOutcome(
                step.id, step.tool, "fallback", (text,), error=error, code=code, run_ids=run_ids, elapsed_ms=elapsed
            )
        return StepOutcome(step.id, step.tool, "failed", error=error, code=code, run_ids=run_ids, elapsed_ms=elapsed)

    def _is_wanted(self, step: Step) -> bool:
        if step.when is None:
            return True
        if isinstance(step.when, str):
            return bool(filled(step.when, self._known))
        return _holds(step.when, self._known)

    async def _results(self, step: Step) -> list[ToolResult]:
        if step.for_each is None:
            return [await self._call(step, filled(step.arguments, self._known), self._key(step))]
        items = filled(step.for_each, self._known)
        if not isinstance(items, list):
            raise Failed(f"for_each is no list but {type(items).__name__}", "execution_failed")
        if len(items) > MAX_ITEMS:
            raise Failed(f"for_each has {len(items):,} items, at most {MAX_ITEMS:,} are run", "execution_failed")
        calls = [
            self._call(
                step,
                filled(step.arguments, {**self._known, "item": item, "index": index}),
                self._key(step, index),
            )
            for index, item in enumerate(items)
        ]
        return list(await asyncio.gather(*calls))

    async def _call(self, step: Step, arguments: Any, key: str | None) -> ToolResult:
        self._calls += 1
        if self._calls > _MOST_CALLS:
            raise Failed(f"The chain makes more than {_MOST_CALLS:,} calls", "execution_failed")
        asking = self._asking
        call = ToolCall(
            step.tool, arguments, None, asking.surface, request_id=asking.request_id, key=key, chain_id=self._id
        )
        async with self._room:
            return await self._pipeline.run(call, asking.caller)

    def _key(self, step: Step, index: int | None = None) -> str | None:
        if self._asking.key is None:
            return None
        return f"{self._asking.key}#{step.id}" + ("" if index is None else f"#{index}")

    def _elapsed(self, begun: float) -> float:
        return round((time.perf_counter() - begun) * 1000, 3)


def _holds(condition: Condition, known: Mapping[str, Any]) -> bool:
    """Whether all comparisons that are given hold; a value that leads nowhere is one that does not exist."""
    given = condition.model_fields_set
    try:
        value = filled(condition.value, known)
    except Misreferred:
        if "exists" not in given:
            raise
        value = None
    checks: dict[str, Callable[[], bool]] = {
        "equals": lambda: _same(value, filled(condition.equals, known)),
        "not_equals": lambda: not _same(value, filled(condition.not_equals, known)),
        "among": lambda: any(_same(value, each) for each in filled(condition.among, known) or ()),
        "at_least": lambda: _number(value) >= (condition.at_least or 0.0),
        "at_most": lambda: _number(value) <= (condition.at_most or 0.0),
        "exists": lambda: (value is not None) == condition.exists,
    }
    return all(check() for name, check in checks.items() if name in given)


def _number(value: Any) -> float:
    """The value as a number; what is none is neither above nor below anything."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same in JSON, where true is not 1."""
    return (
        json_text(one) == json_text(other) if isinstance(one, bool) or isinstance(other, bool) else bool(one == other)
    )
