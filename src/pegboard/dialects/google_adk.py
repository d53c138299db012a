"""Events of Google's Agent Development Kit, which contain the same parts as Gemini's API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.dialects.base import Answer
from pegboard.dialects.call_assembler import Assembly, read_id
from pegboard.dialects.gemini import GeminiGenerateContent, declare_function, read_candidate
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.provider_rules import Talk
from pegboard.dialects.shared.function_calls import dict_or_empty, filter_dicts
from pegboard.dialects.shared.gemini_parts import PartsState, get_field, render_response_part
from pegboard.model.call import Malformed
from pegboard.model.tool import Tool


class GoogleAdk(GeminiGenerateContent):
    """Events of an agent, which wrap a content."""

    name = "google_adk"
    media = frozenset[str]()
    streams_messages = False
    aliases = ()
    keys = frozenset({"invocationId", "invocation_id", "author"})
    wrap = "result"
    talk = Talk(system="apart")

    def recognises(self, item: Any) -> bool:
        """Recognise an event with an author and an invocation id or parts."""
        if not isinstance(item, dict) or not isinstance(item.get("author"), str):
            return False
        return isinstance(get_field(item, "invocationId"), str) or isinstance(
            dict_or_empty(item.get("content")).get("parts"), list
        )

    def read(self, item: Any, into: Assembly) -> None:
        """Read an event, a session of events, or a payload of Gemini's API."""
        events = item["events"] if isinstance(item, dict) and isinstance(item.get("events"), list) else [item]
        for event in events:
            if not isinstance(event, dict) or "author" not in event:
                super().read(event, into)
                continue
            state = into.get_state(PartsState)
            if event.get("partial") is True:
                state.unconfirmed = state.unconfirmed or Assembly(into.schema_of)
                self._read_event(event, state.unconfirmed)
            else:
                content = dict_or_empty(event.get("content"))
                if any(get_field(part, "functionCall") for part in filter_dicts(content.get("parts"))):
                    self._drop_unconfirmed(state, into)
                self._read_event(event, into)

    def finish(self, into: Assembly) -> None:
        """Finish as in Gemini, and add calls of partial events that no final event repeated."""
        super().finish(into)
        unconfirmed, into.get_state(PartsState).unconfirmed = into.get_state(PartsState).unconfirmed, None
        if unconfirmed is None:
            return
        super().finish(unconfirmed)
        for call in unconfirmed.calls():
            arguments = call.arguments.text if isinstance(call.arguments, Malformed) else call.arguments
            into.call(call.name, arguments, call.id, result=call.result, error=call.error, extra=call.extra)

    def unwrap(self, response: Mapping[str, Any]) -> Any:
        content = response.get("content")
        return content if isinstance(content, dict) and isinstance(content.get("parts"), list) else None

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        running = [call.id for call in calls if call.extra.get("long_running")]
        event = _build_event(super().compose(calls))
        return {**event, "longRunningToolIds": running} if running else event

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        """Return one event with all results; the caller sets its id and time when it appends it to a session."""
        parts = [render_response_part(answer, answer.id, self.wrap) for answer in answers]
        return _build_event({"role": "user", "parts": parts})

    def say(self, role: str, text: str, id: str) -> list[Any]:
        event = _build_event({"role": "user" if role == "user" else "model", "parts": [{"text": text}]})
        return [{**event, "author": "user"} if role == "user" else event]

    def compose_turn(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        event = self.compose(calls)
        content = event["content"]
        parts = [{"text": text}, *content["parts"]] if text else content["parts"]
        return [{**event, "content": {**content, "parts": parts}}]

    def own(self, raw: Any) -> list[Any]:
        """Return the original event, or one made from its content."""
        event = dict_or_empty(raw)
        if isinstance(event.get("parts"), list):
            role = "user" if event.get("role") == "user" else "model"
            event = _build_event({"role": role, "parts": event["parts"]}) | (
                {"author": "user"} if role == "user" else {}
            )
        return [event] if isinstance(event.get("content"), dict) and "author" in event else []

    def system(self, text: str) -> Any:
        """Return the agent's instruction."""
        return text

    def define(self, tool: Tool) -> dict[str, Any]:
        return declare_function(tool)

    def define_all(self, tools: Sequence[Tool]) -> Any:
        return [declare_function(tool) for tool in tools]

    def _drop_unconfirmed(self, state: PartsState, into: Assembly) -> None:
        """Drop the calls of partial events: the final event has all of them."""
        unconfirmed, state.unconfirmed = state.unconfirmed, None
        if unconfirmed is not None:
            super().finish(unconfirmed)
            into.repeated += unconfirmed.calls()

    def _read_event(self, event: dict[str, Any], into: Assembly) -> None:
        state = into.get_state(PartsState)
        state.begin()
        running = get_field(event, "longRunningToolIds")
        named = frozenset(map(read_id, running)) - {""} if isinstance(running, list | set) else frozenset()
        read_candidate(event, into, self.wrap, named)
        state.end(into)


def _build_event(content: dict[str, Any]) -> dict[str, Any]:
    """Return an event with this content; other fields have the kit's defaults."""
    actions = ("stateDelta", "artifactDelta", "requestedAuthConfigs", "requestedToolConfirmations")
    return {
        "content": content,
        "invocationId": "",
        "author": "agent",
        "actions": {action: {} for action in actions},
        "nodeInfo": {"path": ""},
    }
