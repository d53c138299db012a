"""The events of Google's Agent Development Kit, which carry the same parts of content as Gemini's API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.core.call import Malformed
from pegboard.core.tool import Tool
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly, id_of
from pegboard.dialects.base import Answer
from pegboard.dialects.gemini import GeminiGenerateContent, declaration, read_candidate
from pegboard.dialects.parts.function_parts import parts_in, response_part
from pegboard.dialects.parts.google_fields import field
from pegboard.dialects.parts.picking import dict_of, dicts_of
from pegboard.dialects.talk import Talk


class GoogleAdk(GeminiGenerateContent):
    """Events of an agent: a content in an envelope."""

    name = "google_adk"
    aliases = ()
    keys = frozenset({"invocationId", "invocation_id", "author"})
    wrap = "result"
    talk = Talk(system="apart")

    def recognises(self, item: Any) -> bool:
        """An event of an author's within an invocation."""
        if not isinstance(item, dict) or not isinstance(item.get("author"), str):
            return False
        return isinstance(field(item, "invocationId"), str) or isinstance(
            dict_of(item.get("content")).get("parts"), list
        )

    def read(self, item: Any, into: Assembly) -> None:
        """An event, a session of them, or what Gemini itself writes."""
        events = item["events"] if isinstance(item, dict) and isinstance(item.get("events"), list) else [item]
        for event in events:
            if not isinstance(event, dict) or "author" not in event:
                super().read(event, into)
                continue
            state = parts_in(into)
            if event.get("partial") is True:
                state.unconfirmed = state.unconfirmed or Assembly(into.schema_of)
                self._read_event(event, state.unconfirmed)
            else:
                content = dict_of(event.get("content"))
                if any(field(part, "functionCall") for part in dicts_of(content.get("parts"))):
                    state.unconfirmed = None
                self._read_event(event, into)

    def finish(self, into: Assembly) -> None:
        """As ever, and calls of partial events too that no final event repeated."""
        super().finish(into)
        unconfirmed, parts_in(into).unconfirmed = parts_in(into).unconfirmed, None
        if unconfirmed is None:
            return
        super().finish(unconfirmed)
        for call in unconfirmed.calls():
            arguments = call.arguments.text if isinstance(call.arguments, Malformed) else call.arguments
            into.call(call.name, arguments, call.id, result=call.result, error=call.error, extra=call.extra)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """The event that a model's answer becomes."""
        running = [call.id for call in calls if call.extra.get("long_running")]
        event = _event(super().compose(calls))
        return {**event, "longRunningToolIds": running} if running else event

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        """One event with every result; its id and time are for who appends it to a session."""
        parts = [response_part(answer, answer.id, self.wrap) for answer in answers]
        return _event({"role": "user", "parts": parts})

    def say(self, role: str, text: str, id: str) -> list[Any]:
        """An event of the user's or of the agent's."""
        event = _event({"role": "user" if role == "user" else "model", "parts": [{"text": text}]})
        return [{**event, "author": "user"} if role == "user" else event]

    def speak(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """One event of the agent's."""
        event = self.compose(calls)
        content = event["content"]
        parts = [{"text": text}, *content["parts"]] if text else content["parts"]
        return [{**event, "content": {**content, "parts": parts}}]

    def own(self, raw: Any) -> list[Any]:
        """An event as it came, or made from its content."""
        event = dict_of(raw)
        if isinstance(event.get("parts"), list):
            role = "user" if event.get("role") == "user" else "model"
            event = _event({"role": role, "parts": event["parts"]}) | ({"author": "user"} if role == "user" else {})
        return [event] if isinstance(event.get("content"), dict) and "author" in event else []

    def system(self, text: str) -> Any:
        """The agent's instruction."""
        return text

    def define(self, tool: Tool) -> dict[str, Any]:
        """One declaration."""
        return declaration(tool)

    def define_all(self, tools: Sequence[Tool]) -> Any:
        """The declarations."""
        return [declaration(tool) for tool in tools]

    def _read_event(self, event: dict[str, Any], into: Assembly) -> None:
        state = parts_in(into)
        state.begin()
        running = field(event, "longRunningToolIds")
        named = frozenset(map(id_of, running)) - {""} if isinstance(running, list | set) else frozenset()
        read_candidate(event, into, self.wrap, named)
        state.end(into)


def _event(content: dict[str, Any]) -> dict[str, Any]:
    """An event of which nothing is known but its content; the rest is as the kit's own events begin."""
    actions = ("stateDelta", "artifactDelta", "requestedAuthConfigs", "requestedToolConfirmations")
    return {
        "content": content,
        "invocationId": "",
        "author": "agent",
        "actions": {action: {} for action in actions},
        "nodeInfo": {"path": ""},
    }
