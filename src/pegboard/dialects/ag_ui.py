"""AG-UI: the events between an agent and its user interface, and their messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.dialects.base import Answer, MessagePerAnswer
from pegboard.dialects.call_assembler import Assembly, read_id, text_or_empty
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.dialects.provider_rules import PORTABLE_LIMITS
from pegboard.dialects.shared.function_calls import (
    compose_function_call,
    define_function,
    filter_dicts,
    is_function_call,
    is_model_role,
    parse_output,
    read_function_calls,
    result_to_output_text,
)
from pegboard.dialects.shared.turns import get_text
from pegboard.model.tool import Tool

_EVENT_PREFIXES = (
    *("TOOL_CALL_", "TEXT_MESSAGE_", "THINKING_", "REASONING_", "RUN_", "STEP_", "STATE_", "MESSAGES_SNAPSHOT"),
    *("ACTIVITY_", "RAW", "CUSTOM"),
)


class _StreamState:
    """The state of a stream: the call that chunks belong to, and the calls that were read and answered."""

    __slots__ = ("answered", "current", "known_calls")

    def __init__(self) -> None:
        self.current: str | None = None
        self.known_calls: set[str] = set()
        self.answered: set[str] = set()


class AgUi(MessagePerAnswer):
    """Events with types in capitals, and messages with calls under `toolCalls`."""

    name = "ag_ui"
    expected = "an event with a 'type', or a message with a 'role'"
    limits = PORTABLE_LIMITS
    keys = frozenset({"type", "toolCalls", "toolCallId", "messages"})

    def recognises(self, item: Any) -> bool:
        """Recognise an event by its type in capitals, or AG-UI messages."""
        if not isinstance(item, dict):
            return False
        kind = item.get("type")
        if isinstance(kind, str):
            return kind.startswith(_EVENT_PREFIXES)
        messages = item.get("messages")
        if isinstance(messages, list):
            return any(isinstance(message, dict) and _is_message(message) for message in messages)
        return _is_message(item)

    def read(self, item: Any, into: Assembly) -> None:
        """Read an event, a message, or the input of a run, which has all messages."""
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
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
            raise self.make_unreadable_error(item)

    def chunk_text(self, chunk: Any) -> str | None:
        kind = get_text(chunk, "type")
        if not kind.isupper():
            return None
        return get_text(chunk, "delta") if kind in ("TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK") else ""

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """Return an assistant message whose id is derived from the first call's id."""
        identity = f"message_{calls[0].id}" if calls else "message"
        return {"id": identity, "role": "assistant", "toolCalls": [compose_function_call(call) for call in calls]}

    def render_one(self, answer: Answer) -> dict[str, Any]:
        message = {"id": f"message_{answer.id}", "role": "tool", "toolCallId": answer.id}
        problem = answer.result.problem
        if problem is None:
            return {**message, "content": result_to_output_text(answer.result)}
        return {**message, "content": problem.message, "error": problem.message}

    def say(self, role: str, text: str, id: str) -> list[Any]:
        return [{"id": id, "role": role, "content": text}]

    def compose_turn(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        return [{**self.compose(calls), "id": id} | ({"content": text} if text else {})]

    def define(self, tool: Tool) -> dict[str, Any]:
        """Return a tool as a user interface offers it to an agent."""
        return define_function(tool)


def _read_event(event: dict[str, Any], kind: str, into: Assembly) -> None:
    identity = read_id(event.get("toolCallId"))
    run = into.get_state(_StreamState)
    # Only the first chunk of a call has its id; any other event ends the call.
    if run.current is not None and (kind != "TOOL_CALL_CHUNK" or (identity and identity != run.current)):
        into.over(run.current)
        run.current = None
    name = text_or_empty(event.get("toolCallName"))
    if kind == "TOOL_CALL_START":
        run.known_calls.add(identity)
        into.piece(identity, name=name, id=identity)
    elif kind == "TOOL_CALL_ARGS":
        into.piece(identity, event.get("delta"), id=identity)
    elif kind == "TOOL_CALL_END":
        into.over(identity)
    elif kind == "TOOL_CALL_CHUNK":
        run.current = identity or run.current or ""
        run.known_calls.add(run.current)
        into.piece(run.current, event.get("delta"), name=name, id=run.current)
    elif kind == "TOOL_CALL_RESULT":
        result, error = parse_output(event.get("content"))
        run.answered.add(identity)
        into.answer(identity, result, error=error)


def _read_snapshot(messages: list[Any], into: Assembly) -> None:
    """Read a repetition of all messages; skip calls and answers that were read before."""
    run = into.get_state(_StreamState)
    new_calls, new_answers = set(), set()
    for message in filter_dicts(messages):
        calls = message.get("toolCalls") if is_model_role(message.get("role")) else None
        for call in filter_dicts(calls):
            identity = read_id(call.get("id"))
            if not identity or identity not in run.known_calls or into.holds(identity):
                read_function_calls([call], into)
                new_calls.add(identity)
        identity = read_id(message.get("toolCallId"))
        if not identity or identity not in run.answered:
            _read_answer(message, into)
            new_answers.add(identity)
    run.known_calls |= new_calls
    run.answered |= new_answers


def _read_message(message: dict[str, Any], into: Assembly) -> None:
    if is_model_role(message.get("role")):
        read_function_calls(message.get("toolCalls"), into)
    _read_answer(message, into)


def _read_answer(message: dict[str, Any], into: Assembly) -> None:
    if message.get("role") == "tool":
        result, error = parse_output(message.get("content"))
        failed = text_or_empty(message.get("error"))
        into.answer(message.get("toolCallId"), ABSENT if failed else result, error=failed or error)


def _is_message(message: dict[str, Any]) -> bool:
    calls = message.get("toolCalls")
    if isinstance(calls, list):
        return any(is_function_call(call) for call in calls)
    return message.get("role") == "tool" and "toolCallId" in message and "content" in message
