"""Payloads in any dialect: read, run and answered."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, cast

from pegboard.core.call import Caller, Malformed, OnProgress, Surface, ToolCall
from pegboard.core.errors import Cancelled
from pegboard.core.ids import new_id
from pegboard.core.keys import check_key, keys_of
from pegboard.core.refusals import Invalid
from pegboard.core.tool import Tool
from pegboard.dialects.asked import ABSENT, Asked, AskedCall
from pegboard.dialects.base import Answer
from pegboard.dialects.dialects import Dialects, Stream
from pegboard.dialects.display import get_tool_display_name, summary_of
from pegboard.dialects.formats import arguments_written, outcome_of, outcome_written_out
from pegboard.pipeline import Pipeline, refused
from pegboard.registry.snapshot import Snapshot
from pegboard.stages.large_reads import LargeReads

# The most calls without an answer that one payload may hold.
MAX_CALLS = 100
# How many calls of one payload run side by side; the others wait for their turn.
_AT_ONCE = 20


class Answered(NamedTuple):
    """The calls of a payload, and how those that the board ran ended."""

    asked: Asked
    answers: Sequence[Answer]


class Audience(Protocol):
    """Whoever is told of a payload's calls as they begin, go on and end."""

    def began(self, position: int, call: AskedCall, run_id: str) -> OnProgress:
        """A call begins; what is given back is told how far it has come. Raises Cancelled where it is not to begin."""

    def ended(self, position: int, answer: Answer) -> None:
        """A call has ended."""

    def gone(self, position: int) -> None:
        """A call was cancelled with whoever asked for it."""


class Payloads:
    """What one caller sends, in whatever dialect."""

    def __init__(self, dialects: Dialects, pipeline: Pipeline, snapshot: Snapshot, large_reads: LargeReads) -> None:
        self.dialects = dialects
        self.large_reads = large_reads
        self._pipeline = pipeline
        self.snapshot = snapshot
        # Calls that go on without their caller.
        self._detached: set[asyncio.Task[Answer]] = set()

    def read(self, raw: Any, dialect: str | None, caller: Caller, *, has_calls: bool = False) -> Asked:
        """The calls of a payload, in the dialect that is named or detected; a provider's message may have none.

        Raises Unreadable if no dialect fits, with `has_calls` also for a message without calls, and Invalid if
        more than MAX_CALLS calls wait for an answer.
        """
        asked = self.dialects.read(raw, dialect, lambda name: self.schema_of(name, caller), has_calls=has_calls)
        if len(asked.calls) > MAX_CALLS:
            self.open_calls(asked)
        return asked

    def stream(self, dialect: str | None, caller: Caller) -> Stream:
        """A stream to be fed chunk by chunk."""
        return self.dialects.stream(dialect, lambda name: self.schema_of(name, caller))

    async def run(
        self,
        asked: Asked,
        caller: Caller,
        *,
        surface: Surface = "library",
        request_id: str | None = None,
        key: str | None = None,
        thread_id: str | None = None,
        audience: Audience | None = None,
    ) -> Answered:
        """Run every call that nobody has answered yet, some at once; those whose arguments cannot be read are refused.

        Where the caller goes away, calls end or go on as their tools say; with a key they go on.
        """
        calls = self.open_calls(asked)
        keys = [own or call.key for own, call in zip(keys_of(check_key(key), len(calls)), calls, strict=True)]
        room = asyncio.Semaphore(_AT_ONCE)

        def wanted_by(call: AskedCall, key: str | None) -> ToolCall:
            named = (call.name, call.arguments, call.id or None)
            return ToolCall(*named, surface, asked.dialect, request_id, None, key, thread_id, call.chain_id)

        if len(calls) == 1 and audience is None and keys[0] is None and not self.detaches(calls[0]):
            # The usual payload: its only call ends with whoever asked for it, so it needs no task of its own.
            return Answered(asked, [Answer(calls[0], await self._pipeline.run(wanted_by(calls[0], None), caller))])

        async def one(position: int, call: AskedCall, key: str | None) -> Answer:
            wanted = wanted_by(call, key)
            async with room:
                if audience is None:
                    return Answer(call, await self._pipeline.run(wanted, caller))
                run_id = new_id()
                try:
                    wanted = wanted._replace(on_progress=audience.began(position, call, run_id))
                except Cancelled as error:
                    answer = Answer(call, refused(wanted, error))
                else:
                    answer = Answer(call, await self._pipeline.run(wanted, caller, run_id=run_id))
                audience.ended(position, answer)
                return answer

        async def told(position: int, call: AskedCall, key: str | None) -> Answer:
            try:
                return await one(position, call, key)
            except asyncio.CancelledError:
                if audience is not None:
                    audience.gone(position)
                raise

        running: list[asyncio.Future[Answer]] = []
        for position, (call, own) in enumerate(zip(calls, keys, strict=True)):
            task = asyncio.create_task(told(position, call, own))
            running.append(self._shielded(task) if own or self.detaches(call) else task)
        # Whoever cancels this waits until all that are cancelled have been recorded.
        answers = await asyncio.gather(*running, return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return Answered(asked, cast("list[Answer]", answers))

    def open_calls(self, asked: Asked) -> list[AskedCall]:
        """The calls of a payload that have no answer yet; raises Invalid if there are more than MAX_CALLS."""
        calls = [call for call in asked.calls if call.is_open]
        if len(calls) > MAX_CALLS:
            raise Invalid(f"{len(calls):,} calls in one payload, at most {MAX_CALLS} are read; send fewer at a time")
        return calls

    def detaches(self, call: AskedCall) -> bool:
        """Whether a call goes on when whoever asked for it goes away."""
        return self._pipeline.detaches(call.name)

    def _shielded(self, task: asyncio.Task[Answer]) -> asyncio.Future[Answer]:
        """The call, to be waited for by somebody whose going does not end it."""
        self._detached.add(task)
        task.add_done_callback(self._detached.discard)
        return asyncio.shield(task)

    def render(self, answered: Answered, dialect: str | None = None) -> Any:
        """The answers in this dialect, or in the payload's own."""
        spoken = self.dialects.named(dialect or answered.asked.dialect, "as")
        many = answered.asked.many or not answered.answers
        return spoken.render(answered.answers, many=many)

    def normalised(self, asked: Asked, caller: Caller) -> dict[str, Any]:
        """The calls in the board's own form, with what people read of them; runs nothing."""
        return {"dialect": asked.dialect, "calls": [self._shown(call, caller) for call in asked.calls]}

    def display_name(self, call: AskedCall, caller: Caller) -> str:
        """What people call the tool that is asked for."""
        return _name_of(call, self._tool_of(call, caller))

    def summary(self, call: AskedCall, caller: Caller) -> str:
        """A call in one line, for people."""
        return _summary_of(call, self._tool_of(call, caller))

    def outcome(self, answer: Answer, caller: Caller) -> str:
        """How a call ended in one line, for people."""
        tool = self._tool_of(answer.call, caller)
        return outcome_of(answer.result, tool.display if tool else None)

    def display(self, answer: Answer, caller: Caller) -> str | None:
        """What a call gave in as many lines as it needs, where its tool says how that reads to people; else None."""
        tool = self._tool_of(answer.call, caller)
        return outcome_written_out(answer.result, tool.display if tool else None)

    def _shown(self, call: AskedCall, caller: Caller) -> dict[str, Any]:
        arguments = call.arguments
        shown: dict[str, Any] = {
            "id": call.id or f"call_{new_id().replace('-', '')}",
            "name": call.name or None,
            "arguments": None if isinstance(arguments, Malformed) else arguments,
        }
        if call.result is not ABSENT:
            shown["result"] = call.result
        if isinstance(arguments, Malformed):
            shown |= {"error": "malformed_arguments", "raw_arguments": arguments.text}
        elif call.error is not None:
            shown["error"] = call.error
        if call.provider_executed:
            shown["provider_executed"] = True
        tool = self._tool_of(call, caller)
        shown |= {"display_name": _name_of(call, tool), "summary": _summary_of(call, tool)}
        return shown | {key: value for key, value in call.extra.items() if key not in shown}

    def _tool_of(self, call: AskedCall, caller: Caller) -> Tool | None:
        peg = self.snapshot.find(call.name) if call.name else None
        return peg.tool if peg is not None and self.snapshot.may_call(peg.tool, caller) else None

    def schema_of(self, name: str, caller: Caller) -> Mapping[str, Any] | None:
        """The input schema of a tool that this caller may call, or None."""
        peg = self.snapshot.find(name)
        if peg is None or not self.snapshot.may_call(peg.tool, caller):
            return None
        return peg.tool.input_schema


def _name_of(call: AskedCall, tool: Tool | None) -> str:
    return (tool and tool.display_name) or get_tool_display_name(call.name or "unknown")


def _summary_of(call: AskedCall, tool: Tool | None) -> str:
    arguments = None if isinstance(call.arguments, Malformed) else call.arguments
    if arguments and tool is not None and tool.display is not None:
        arguments = arguments_written(arguments, tool.display)
    return summary_of(_name_of(call, tool), arguments)
