"""Messages of the interfaces that Vercel's AI SDK draws: each call is a part that says how far it has come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.dialects.asked import AskedCall
from pegboard.dialects.base import Answer
from pegboard.dialects.parts.blocks import input_of
from pegboard.dialects.parts.content import text_of
from pegboard.dialects.parts.picking import dicts_of
from pegboard.dialects.talk import Talk
from pegboard.dialects.vercel import VercelV7

_OPEN = ("input-streaming", "input-available", "approval-requested", "approval-responded")


class VercelUi(VercelV7):
    """Messages of an interface, with how a call ended in the part that makes it."""

    name = "vercel_ui"
    aliases = ()
    # Nothing tells them from what version 7 reads, which therefore gets them unless this one is named.
    keys = frozenset()
    talk = Talk(parts="parts", part={"type": "text"})

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """An assistant message, which goes by its first call's id."""
        parts = [_part(call, call.id, call.name) | {"state": "input-available"} for call in calls]
        return _message(calls[0].id if calls else "", parts)

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        """The same message with how each call ended."""
        return _message(answers[0].id if answers else "", [_ended(answer) for answer in answers])

    def say(self, role: str, text: str, id: str) -> list[Any]:
        """A message that goes by its id."""
        return [{"id": id, **self.talk.said(role, text)}]

    def exchange(self, text: str | None, answers: Sequence[Answer], id: str) -> list[Any]:
        """One message with the text, the calls and how they ended."""
        said = self.talk.content(text) if text else []
        return [{"id": id, "role": "assistant", "parts": [*said, *map(_ended, answers)]}]

    def own(self, raw: Any) -> list[Any]:
        """A message as it came, if all of its calls have ended in it."""
        if not isinstance(raw, dict) or not isinstance(raw.get("role"), str) or not isinstance(raw.get("parts"), list):
            return []
        return [] if any(part.get("state") in _OPEN for part in dicts_of(raw["parts"])) else [raw]


def _message(identity: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": f"message_{identity}", "role": "assistant", "parts": parts}


def _part(call: AskedCall, identity: str, name: str) -> dict[str, Any]:
    return {"type": "dynamic-tool", "toolName": name, "toolCallId": identity, "input": input_of(call)}


def _ended(answer: Answer) -> dict[str, Any]:
    part, result = _part(answer.call, answer.id, answer.name), answer.result
    if result.problem is not None:
        return part | {"state": "output-error", "errorText": text_of(result)}
    return part | {"state": "output-available", "output": result.output}
