"""AutoGen: function calls in messages, events and the result of a model client, whose streams begin with texts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.asked import AskedCall, Unreadable
from pegboard.dialects.assembly import Assembly, checked_text, id_of
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.parts.content import blocks_of, text_of
from pegboard.dialects.parts.defining import PORTABLE, function_for
from pegboard.dialects.parts.function_calls import text_of_arguments
from pegboard.dialects.parts.outputs import output_text
from pegboard.dialects.parts.picking import is_models
from pegboard.dialects.seen import seen

# Those in which a model, or an agent for it, asks for something.
_ASKING = ("AssistantMessage", "ToolCallRequestEvent", "ToolCallSummaryMessage", "ThoughtEvent", None)
# Messages without a type: those of others may hold anything that was given to their model.
_UNTYPED = frozenset({"content", "thought", "source", "finish_reason", "usage", "cached", "logprobs"})
_TYPES = frozenset(
    {"AssistantMessage", "FunctionExecutionResultMessage", "ToolCallRequestEvent", "ToolCallExecutionEvent",
     "ToolCallSummaryMessage", "ModelClientStreamingChunkEvent", "ThoughtEvent", "TextMessage", "HandoffMessage",
     "StopMessage", "MultiModalMessage", "UserMessage", "SystemMessage", "MemoryQueryEvent"}
)  # fmt: skip


class AutoGen(Dialect):
    """Calls as a message's content; all answers in one message."""

    name = "autogen"
    limits = PORTABLE
    keys = frozenset({"content", "messages"})

    def recognises(self, item: Any) -> bool:
        """A message or event by its type, a client's result, a run's messages; in a stream also texts."""
        if isinstance(item, str):
            return True
        if not isinstance(item, dict):
            return False
        messages = item.get("messages")
        if isinstance(messages, list):
            return any(_is_message(message) for message in messages[:2])
        return _is_message(item)

    def read(self, item: Any, into: Assembly) -> None:
        """A message, an event, a run, or one call; a text holds none."""
        if isinstance(item, str):
            return
        if not isinstance(item, dict):
            raise _unreadable(item)
        if isinstance(item.get("messages"), list):
            known = frozenset(into.state or ())
            for message in item["messages"]:
                if isinstance(message, dict):
                    _read_message(message, into, known)
        elif _is_call(item):
            into.bare = True
            _read_call(item, into)
        elif "content" in item or "tool_calls" in item:
            _read_message(item, into)
        else:
            raise _unreadable(item)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """One message of the assistant."""
        content = [{"id": call.id, "arguments": text_of_arguments(call), "name": call.name} for call in calls]
        return {"content": content, "thought": None, "source": "assistant", "type": "AssistantMessage"}

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        """One message with all results."""
        return {"content": [_rendered(answer) for answer in answers], "type": "FunctionExecutionResultMessage"}

    def say(self, role: str, text: str, id: str) -> list[Any]:
        """A message by its type."""
        if role == "system":
            return [{"content": text, "type": "SystemMessage"}]
        if role == "user":
            return [{"content": text, "source": "user", "type": "UserMessage"}]
        return [{"content": text, "thought": None, "source": "assistant", "type": "AssistantMessage"}]

    def speak(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """The assistant's message; what it says beside calls is its thought."""
        return [{**self.compose(calls), "thought": text}]

    def own(self, raw: Any) -> list[Any]:
        """A message by its type; events of a run are none."""
        is_own = isinstance(raw, dict) and raw.get("type") in ("AssistantMessage", "UserMessage", "SystemMessage")
        return [raw] if is_own else []

    def define(self, tool: Tool) -> dict[str, Any]:
        """A flat function, not strict."""
        return function_for(tool) | {"strict": False}


def _is_message(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    kind = item.get("type")
    if isinstance(kind, str):
        return kind in _TYPES and "content" in item
    if "finish_reason" in item and "cached" in item and "content" in item:
        return True
    content = item.get("content")
    return item.keys() <= _UNTYPED and isinstance(content, list) and bool(content) and _is_call(content[0])


def _is_call(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("name"), str) and "arguments" in item and "type" not in item


def _read_message(item: dict[str, Any], into: Assembly, known: Collection[str] = ()) -> None:
    """Take in one message; what is known came before, as a run ends with all of its messages once more."""
    if isinstance(item.get("tool_calls"), list):
        _read_summary(item, into)
        return
    content = item.get("content")
    may_call = item.get("type") in _ASKING and is_models(item.get("role"))
    for part in content if isinstance(content, list) else ():
        if _is_call(part):
            if may_call and id_of(part.get("id")) not in known:
                _read_call(part, into)
        elif not isinstance(part, dict) or id_of(part.get("call_id")) not in known:
            _read_result(part, into)


def _read_summary(item: dict[str, Any], into: Assembly) -> None:
    """A run tells its calls and results once more when it is over: only those that were not seen are new."""
    known: set[str] = into.state or set()
    told = item.get("results")
    calls = [call for call in item["tool_calls"] if _is_call(call) and id_of(call.get("id")) not in known]
    results = [
        result
        for result in (told if isinstance(told, list) else ())
        if isinstance(result, dict) and id_of(result.get("call_id")) not in known
    ]
    for call in calls:
        _read_call(call, into)
    for result in results:
        _read_result(result, into)


def _read_call(call: dict[str, Any], into: Assembly) -> None:
    into.call(call["name"], call["arguments"], call.get("id"))
    if identity := id_of(call.get("id")):
        into.state = into.state or set()
        into.state.add(identity)


def _read_result(part: Any, into: Assembly) -> None:
    if isinstance(part, dict) and "call_id" in part:
        if part.get("is_error"):
            into.answer(part["call_id"], error=checked_text(part.get("content")), name=part.get("name"))
        else:
            into.answer(part["call_id"], part.get("content"), name=part.get("name"))


def _rendered(answer: Answer) -> dict[str, Any]:
    result = answer.result
    text = text_of(result) if blocks_of(result) is None else output_text(result)
    return {"content": text, "name": answer.name, "call_id": answer.id, "is_error": not result.success}


def _unreadable(item: Any) -> Unreadable:
    return Unreadable(
        f"unrecognised_format: this is {seen(item)}; autogen is a message whose 'content' is a list of "
        '{"id": …, "name": …, "arguments": "…"}'
    )
