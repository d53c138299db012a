"""Payloads in any dialect: read, run and answered."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from pegboard.core.call import Caller, Malformed, OnProgress, Surface, ToolCall
from pegboard.core.ids import new_id
from pegboard.core.keys import check_key, keys_of
from pegboard.core.refusals import Invalid
from pegboard.dialects.asked import ABSENT, Asked, AskedCall
from pegboard.dialects.base import Answer
from pegboard.dialects.dialects import Dialects, Stream
from pegboard.dialects.display import get_tool_display_name, summary_of
from pegboard.pipeline import Pipeline
from pegboard.registry.snapshot import Snapshot

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
        """A call begins; what is given back is told how far it has come."""

    def ended(self, position: int, answer: Answer) -> None:
        """A call has ended."""


class Payloads:
    """What one caller sends, in whatever dialect."""

    def __init__(self, dialects: Dialects, pipeline: Pipeline, snapshot: Snapshot) -> None:
        self._dialects = dialects
        self._pipeline = pipeline
        self._snapshot = snapshot
        # Calls that go on without their caller.
        self._detached: set[asyncio.Task[Answer]] = set()

    def read(self, raw: Any, dialect: str | None, caller: Caller) -> Asked:
        """The calls of a payload, in the dialect it is said or found to be in; raises Unreadable."""
        return self._dialects.read(raw, dialect, lambda name: self._schema_of(name, caller))

    def stream(self, dialect: str | None, caller: Caller) -> Stream:
        """A stream to be fed chunk by chunk."""
        return self._dialects.stream(dialect, lambda name: self._schema_of(name, caller))

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

        async def one(position: int, call: AskedCall, key: str | None) -> Answer:
            async with room:
                run_id = on_progress = None
                if audience is not None:
                    run_id = new_id()
                    on_progress = audience.began(position, call, run_id)
                wanted = ToolCall(
                    call.name,
                    call.arguments,
                    call.id or None,
                    surface,
                    asked.dialect,
                    request_id,
                    on_progress,
                    key,
                    thread_id,
                )
                answer = Answer(call, await self._pipeline.run(wanted, caller, run_id=run_id))
                if audience is not None:
                    audience.ended(position, answer)
                return answer

        running = (
            self._without_caller(one(position, call, key)) if key or self.detaches(call) else one(position, call, key)
            for position, (call, key) in enumerate(zip(calls, keys, strict=True))
        )
        return Answered(asked, await asyncio.gather(*running))

    def open_calls(self, asked: Asked) -> list[AskedCall]:
        """The calls of a payload that nobody has answered yet; raises Invalid where they are too many."""
        calls = [call for call in asked.calls if call.is_open]
        if len(calls) > MAX_CALLS:
            raise Invalid(f"{len(calls):,} calls in one payload, at most {MAX_CALLS} are run; send fewer at a time")
        return calls

    def detaches(self, call: AskedCall) -> bool:
        """Whether a call goes on when whoever asked for it goes away."""
        peg = self._snapshot.find(call.name) if call.name else None
        return peg is not None and peg.tool.on_disconnect == "detach"

    async def _without_caller(self, running: Any) -> Answer:
        task: asyncio.Task[Answer] = asyncio.create_task(running)
        self._detached.add(task)
        task.add_done_callback(self._detached.discard)
        return await asyncio.shield(task)

    def render(self, answered: Answered, dialect: str | None = None) -> Any:
        """The answers in this dialect, or in the payload's own."""
        spoken = self._dialects.named(dialect or answered.asked.dialect, "as")
        many = answered.asked.many or not answered.answers
        return spoken.render(answered.answers, many=many)

    def normalised(self, asked: Asked, caller: Caller) -> dict[str, Any]:
        """The calls in the board's own form, with what people read of them; runs nothing."""
        return {"dialect": asked.dialect, "calls": [self._shown(call, caller) for call in asked.calls]}

    def display_name(self, call: AskedCall, caller: Caller) -> str:
        """What people call the tool that is asked for."""
        peg = self._snapshot.find(call.name) if call.name else None
        own = peg.tool.display_name if peg is not None and self._snapshot.may_call(peg.tool, caller) else None
        return own or get_tool_display_name(call.name or "unknown")

    def summary(self, call: AskedCall, caller: Caller) -> str:
        """A call in one line, for people."""
        arguments = None if isinstance(call.arguments, Malformed) else call.arguments
        return summary_of(self.display_name(call, caller), arguments)

    def outcome(self, answer: Answer, caller: Caller) -> str:
        """How a call ended in one line, for people."""
        raise NotImplementedError

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
        shown["display_name"] = display = self.display_name(call, caller)
        shown["summary"] = summary_of(display, shown["arguments"])
        return shown | {key: value for key, value in call.extra.items() if key not in shown}

    def _schema_of(self, name: str, caller: Caller) -> Mapping[str, Any] | None:
        peg = self._snapshot.find(name)
        if peg is None or not self._snapshot.may_call(peg.tool, caller):
            return None
        return peg.tool.input_schema
