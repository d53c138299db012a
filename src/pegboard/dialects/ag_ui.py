"""AG-UI: events between an agent and the interface it serves, and the messages both keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.asked import ABSENT, AskedCall, Unreadable
from pegboard.dialects.assembly import Assembly, checked_text, id_of
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.parts.defining import PORTABLE, function_for
from pegboard.dialects.parts.function_calls import is_function_call, read_function_calls, text_of_arguments
from pegboard.dialects.parts.outputs import output_of, output_text
from pegboard.dialects.parts.picking import dicts_of, is_models

_EVENTS = (
    *("TOOL_CALL_", "TEXT_MESSAGE_", "THINKING_", "REASONING_", "RUN_", "STEP_", "STATE_", "MESSAGES_SNAPSHOT"),
    *("ACTIVITY_", "RAW", "CUSTOM"),
)


class _Run:
    """Where a stream stands: the call its chunks belong to, and which calls it has told and answered."""

    __slots__ = ("answered", "current", "told")

    def __init__(self) -> None:
        self.current: str | None = None
        self.told: set[str] = set()
        self.answered: set[str] = set()


class AgUi(Dialect):
    """Events in capitals, and messages with their calls under `toolCalls`."""

    name = "ag_ui"
    limits = PORTABLE
    keys = frozenset({"type", "toolCalls", "toolCallId", "messages"})

    def recognises(self, item: Any) -> bool:
        """By an event's type in capitals, or by messages of its kind."""
        if not isinstance(item, dict):
            return False
        kind = item.get("type")
        if isinstance(kind, str):
            return kind.startswith(_EVENTS)
        messages = item.get("messages")
        if isinstance(messages, list):
            return any(isinstance(message, dict) and _is_message(message) for message in messages)
        return _is_message(item)

    def read(self, item: Any, into: Assembly) -> None:
        """An event, a message, or what a run begins with: all messages."""
        if not isinstance(item, dict):
            raise Unreadable("unrecognised_format: ag_ui has events with a 'type' and messages with a 'role'")
        kind = item.get("type")
        if is_function_call(item):
            into.bare = True
            read_function_calls([item], into)
        elif isinstance(kind, str) and kind != "MESSAGES_SNAPSHOT":
            _read_event(item, kind, into)
        elif isinstance(item.get("messages"), list):
            _read_snapshot(item["messages"], into)
        elif isinstance(item.get("role"), str) or isinstance(item.get("toolCalls"), list):
            _read_message(item, into)
        elif not isinstance(kind, str):
            raise Unreadable("unrecognised_format: ag_ui has events with a 'type' and messages with a 'role'")

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """An assistant message, which goes by its first call's id."""
        identity = f"message_{calls[0].id}" if calls else "message"
        return {"id": identity, "role": "assistant", "toolCalls": [_function(call) for call in calls]}

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """One tool message a call."""
        messages = [_message(answer) for answer in answers]
        return messages if many else messages[0]

    def say(self, role: str, text: str, id: str) -> list[Any]:
        """A message that goes by its id."""
        return [{"id": id, "role": role, "content": text}]

    def speak(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """An assistant message that goes by its id."""
        return [{**self.compose(calls), "id": id} | ({"content": text} if text else {})]

    def define(self, tool: Tool) -> dict[str, Any]:
        """A tool as an interface offers it to an agent."""
        return function_for(tool)


def _read_event(event: dict[str, Any], kind: str, into: Assembly) -> None:
    identity = id_of(event.get("toolCallId"))
    run = _run_of(into)
    # Chunks name their call once; whatever else comes ends it.
    if run.current is not None and (kind != "TOOL_CALL_CHUNK" or (identity and identity != run.current)):
        into.over(run.current)
        run.current = None
    name = checked_text(event.get("toolCallName"))
    if kind == "TOOL_CALL_START":
        run.told.add(identity)
        into.piece(identity, name=name, id=identity)
    elif kind == "TOOL_CALL_ARGS":
        into.piece(identity, event.get("delta"), id=identity)
    elif kind == "TOOL_CALL_END":
        into.over(identity)
    elif kind == "TOOL_CALL_CHUNK":
        run.current = identity or run.current or ""
        run.told.add(run.current)
        into.piece(run.current, event.get("delta"), name=name, id=run.current)
    elif kind == "TOOL_CALL_RESULT":
        result, error = output_of(event.get("content"))
        run.answered.add(identity)
        into.answer(identity, result, error=error)


def _read_snapshot(messages: list[Any], into: Assembly) -> None:
    """All messages once more: the calls and answers that came before are no new ones."""
    run = _run_of(into)
    new_calls, new_answers = set(), set()
    for message in dicts_of(messages):
        calls = message.get("toolCalls") if is_models(message.get("role")) else None
        for call in dicts_of(calls):
            identity = id_of(call.get("id"))
            if not identity or identity not in run.told or into.holds(identity):
                read_function_calls([call], into)
                new_calls.add(identity)
        identity = id_of(message.get("toolCallId"))
        if not identity or identity not in run.answered:
            _read_answer(message, into)
            new_answers.add(identity)
    run.told |= new_calls
    run.answered |= new_answers


def _run_of(into: Assembly) -> _Run:
    if into.state is None:
        into.state = _Run()
    run: _Run = into.state
    return run


def _read_message(message: dict[str, Any], into: Assembly) -> None:
    if is_models(message.get("role")):
        read_function_calls(message.get("toolCalls"), into)
    _read_answer(message, into)


def _read_answer(message: dict[str, Any], into: Assembly) -> None:
    if message.get("role") == "tool":
        result, error = output_of(message.get("content"))
        failed = checked_text(message.get("error"))
        into.answer(message.get("toolCallId"), ABSENT if failed else result, error=failed or error)


def _is_message(message: dict[str, Any]) -> bool:
    calls = message.get("toolCalls")
    if isinstance(calls, list):
        return any(is_function_call(call) for call in calls)
    return message.get("role") == "tool" and "toolCallId" in message and "content" in message


def _function(call: AskedCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": text_of_arguments(call)}}


def _message(answer: Answer) -> dict[str, Any]:
    message = {"id": f"message_{answer.id}", "role": "tool", "toolCallId": answer.id}
    problem = answer.result.problem
    if problem is None:
        return {**message, "content": output_text(answer.result)}
    return {**message, "content": problem.message, "error": problem.message}
