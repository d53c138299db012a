"""Payloads in any dialect: read, run and answered."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pegboard.core.call import Caller, Malformed, Surface, ToolCall
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


class Answered(NamedTuple):
    """The calls of a payload, and how those that the board ran ended."""

    asked: Asked
    answers: Sequence[Answer]


class Payloads:
    """What one caller sends, in whatever dialect."""

    def __init__(self, dialects: Dialects, pipeline: Pipeline, snapshot: Snapshot) -> None:
        self._dialects = dialects
        self._pipeline = pipeline
        self._snapshot = snapshot

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
    ) -> Answered:
        """Run every call that nobody has answered yet, at once; those whose arguments cannot be read are refused."""
        calls = [call for call in asked.calls if call.is_open]
        if len(calls) > MAX_CALLS:
            raise Invalid(f"{len(calls):,} calls in one payload, at most {MAX_CALLS} are run; send fewer at a time")
        keys = keys_of(check_key(key), len(calls))
        wanted = (
            ToolCall(call.name, call.arguments, call.id or None, surface, asked.dialect, request_id, None, one)
            for call, one in zip(calls, keys, strict=True)
        )
        results = await asyncio.gather(*(self._pipeline.run(call, caller) for call in wanted))
        return Answered(asked, [Answer(*pair) for pair in zip(calls, results, strict=True)])

    def render(self, answered: Answered, dialect: str | None = None) -> Any:
        """The answers in this dialect, or in the payload's own."""
        spoken = self._dialects.named(dialect or answered.asked.dialect, "as")
        many = answered.asked.many or not answered.answers
        return spoken.render(answered.answers, many=many)

    def normalised(self, asked: Asked, caller: Caller) -> dict[str, Any]:
        """The calls in the board's own form, with what people read of them; runs nothing."""
        return {"dialect": asked.dialect, "calls": [self._shown(call, caller) for call in asked.calls]}

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
        peg = self._snapshot.find(call.name) if call.name else None
        own = peg.tool.display_name if peg is not None and self._snapshot.may_call(peg.tool, caller) else None
        display = own or get_tool_display_name(call.name or "unknown")
        shown["display_name"] = display
        shown["summary"] = summary_of(display, shown["arguments"])
        return shown | {key: value for key, value in call.extra.items() if key not in shown}

    def _schema_of(self, name: str, caller: Caller) -> Mapping[str, Any] | None:
        peg = self._snapshot.find(name)
        if peg is None or not self._snapshot.may_call(peg.tool, caller):
            return None
        return peg.tool.input_schema
