"""Reads payloads in any dialect, runs their calls and renders the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from pegboard.concurrency.concurrent_calls import ConcurrentCalls
from pegboard.dialects.base import Answer
from pegboard.dialects.detect import CallStream, Dialects
from pegboard.dialects.memory_form import MALFORMED_ERROR, to_memory_form
from pegboard.dialects.parsed_calls import AskedCall, ParsedCalls
from pegboard.dialects.plain import render_details
from pegboard.display.format import format_arguments, format_outcome_line, format_outcome_text
from pegboard.display.names import get_tool_display_name, summarize_call
from pegboard.model.api_errors import Invalid
from pegboard.model.call import Caller, CallRequest, Malformed, OnProgress, ToolCall
from pegboard.model.call_errors import Cancelled
from pegboard.model.idempotency_key import check_idempotency_key, derive_call_keys
from pegboard.model.ids import new_id
from pegboard.model.tool import Tool
from pegboard.pipeline import Pipeline, refuse_call
from pegboard.registry.snapshot import Snapshot
from pegboard.stages.large_reads import LargePayloadReader

# Maximum number of unanswered calls in one payload.
MAX_PAYLOAD_CALLS = 100


class AnsweredCalls(NamedTuple):
    """The calls of a payload, and the results of those that the board ran."""

    asked: ParsedCalls
    answers: Sequence[Answer]


class CallListener(Protocol):
    """Receives the begin, progress and end of each call of a payload."""

    def on_start(self, position: int, call: AskedCall, run_id: str) -> OnProgress:
        """Return the progress callback for a call that begins; raise Cancelled if the call must not begin."""

    def on_end(self, position: int, answer: Answer) -> None:
        """Handle the result of a call."""

    def on_cancel(self, position: int) -> None:
        """Handle a call that was cancelled together with the request that contains it."""


class PayloadRunner:
    """Reads, runs and renders the calls of payloads in any dialect."""

    def __init__(
        self, dialects: Dialects, pipeline: Pipeline, snapshot: Snapshot, large_reads: LargePayloadReader
    ) -> None:
        self.dialects = dialects
        self.large_reads = large_reads
        self._pipeline = pipeline
        self.snapshot = snapshot
        self._concurrent = ConcurrentCalls()

    def read(self, raw: Any, dialect: str | None, caller: Caller, *, has_calls: bool = False) -> ParsedCalls:
        """Return the calls of a payload in the named or detected dialect; a provider's message may have none.

        Raises Unreadable if no dialect fits or, with `has_calls`, if a message has no calls, and Invalid if more than
        MAX_PAYLOAD_CALLS calls are unanswered.
        """
        asked = self.dialects.read(raw, dialect, lambda name: self.schema_of(name, caller), has_calls=has_calls)
        if len(asked.calls) > MAX_PAYLOAD_CALLS:
            self.list_open_calls(asked)
        return asked

    def stream(self, dialect: str | None, caller: Caller) -> CallStream:
        """Return a stream that is fed chunk by chunk."""
        return self.dialects.stream(dialect, lambda name: self.schema_of(name, caller))

    async def run(
        self, asked: ParsedCalls, request: CallRequest, audience: CallListener | None = None
    ) -> AnsweredCalls:
        """Run every unanswered call, up to 20 concurrently; refuse those whose arguments cannot be parsed.

        If the caller disconnects, calls end or continue according to their tool's `on_disconnect`; calls with an
        idempotency key continue.
        """
        caller, surface, request_id, key, thread_id = request
        calls = self.list_open_calls(asked)
        keys = [
            own or call.key
            for own, call in zip(derive_call_keys(check_idempotency_key(key), len(calls)), calls, strict=True)
        ]

        def make_call(call: AskedCall, key: str | None) -> ToolCall:
            named = (call.name, call.arguments, call.id or None)
            return ToolCall(*named, surface, asked.dialect, request_id, None, key, thread_id, call.chain_id)

        if len(calls) == 1 and audience is None and keys[0] is None and not self.detaches(calls[0]):
            # The usual case: the only call ends together with its caller, so it needs no task of its own.
            return AnsweredCalls(asked, [Answer(calls[0], await self._pipeline.run(make_call(calls[0], None), caller))])

        async def one(position: int, call: AskedCall, key: str | None) -> Answer:
            wanted = make_call(call, key)
            if audience is None:
                return Answer(call, await self._pipeline.run(wanted, caller))
            run_id = new_id()
            try:
                wanted = wanted._replace(on_progress=audience.on_start(position, call, run_id))
            except Cancelled as error:
                answer = Answer(call, refuse_call(wanted, error))
            else:
                answer = Answer(call, await self._pipeline.run(wanted, caller, run_id=run_id))
            audience.on_end(position, answer)
            return answer

        answers = await self._concurrent.run(
            (
                (partial(one, position, call, own), own is not None or self.detaches(call))
                for position, (call, own) in enumerate(zip(calls, keys, strict=True))
            ),
            on_cancelled=audience.on_cancel if audience is not None else None,
        )
        return AnsweredCalls(asked, answers)

    def list_open_calls(self, asked: ParsedCalls) -> list[AskedCall]:
        """Return the unanswered calls of a payload; raise Invalid if there are more than MAX_PAYLOAD_CALLS."""
        calls = [call for call in asked.calls if call.is_open]
        if len(calls) > MAX_PAYLOAD_CALLS:
            raise Invalid(
                f"{len(calls):,} calls in one payload, at most {MAX_PAYLOAD_CALLS} are read; send fewer at a time"
            )
        return calls

    def detaches(self, call: AskedCall) -> bool:
        """True if the call continues when its caller disconnects."""
        return self._pipeline.detaches(call.name)

    def render(self, answered: AnsweredCalls, dialect: str | None = None) -> Any:
        """Return the results in this dialect, or in the payload's own dialect."""
        chosen = self.dialects.named(dialect or answered.asked.dialect, "as")
        many = answered.asked.many or not answered.answers
        return chosen.render(answered.answers, many=many)

    def normalize_calls(self, asked: ParsedCalls, caller: Caller, *, check: bool = False) -> dict[str, Any]:
        """Return the calls in the board's own format, with display name and summary; runs nothing.

        With `check`, each open call that would be refused has the `problem`.
        """
        shown = [self._describe_call(call, caller) for call in asked.calls]
        if check:
            for call, description in zip(asked.calls, shown, strict=True):
                problem = self._pipeline.check(call.name, call.arguments, caller) if call.is_open else None
                if problem is not None:
                    description["problem"] = {"message": problem.message, **render_details(problem)}
        return {"dialect": asked.dialect, "calls": shown}

    def display_name(self, call: AskedCall, caller: Caller) -> str:
        """Return the display name of the tool that is called."""
        return _choose_display_name(call, self._find_callable_tool(call, caller))

    def summary(self, call: AskedCall, caller: Caller) -> str:
        """Return a one-line summary of a call."""
        return _summarize_call(call, self._find_callable_tool(call, caller))

    def outcome(self, answer: Answer, caller: Caller) -> str:
        """Return a one-line summary of a result."""
        tool = self._find_callable_tool(answer.call, caller)
        return format_outcome_line(answer.result, tool.display if tool else None)

    def display(self, answer: Answer, caller: Caller) -> str | None:
        """Return the formatted output of a call, or None if its tool has no display format."""
        tool = self._find_callable_tool(answer.call, caller)
        return format_outcome_text(answer.result, tool.display if tool else None)

    def _describe_call(self, call: AskedCall, caller: Caller) -> dict[str, Any]:
        tool = self._find_callable_tool(call, caller)
        shown = to_memory_form(call) | {"name": call.name or None}
        if call.is_malformed:
            shown["error"] = MALFORMED_ERROR
        return shown | {"display_name": _choose_display_name(call, tool), "summary": _summarize_call(call, tool)}

    def _find_callable_tool(self, call: AskedCall, caller: Caller) -> Tool | None:
        compiled = self.snapshot.find(call.name) if call.name else None
        return compiled.tool if compiled is not None and self.snapshot.may_call(compiled.tool, caller) else None

    def schema_of(self, name: str, caller: Caller) -> Mapping[str, Any] | None:
        """Return the input schema of a tool that this caller may call, or None."""
        compiled = self.snapshot.find(name)
        if compiled is None or not self.snapshot.may_call(compiled.tool, caller):
            return None
        return compiled.tool.input_schema


def _choose_display_name(call: AskedCall, tool: Tool | None) -> str:
    return (tool and tool.display_name) or get_tool_display_name(call.name or "unknown")


def _summarize_call(call: AskedCall, tool: Tool | None) -> str:
    arguments = None if isinstance(call.arguments, Malformed) else call.arguments
    if arguments and tool is not None and tool.display is not None:
        arguments = format_arguments(arguments, tool.display)
    return summarize_call(_choose_display_name(call, tool), arguments)
