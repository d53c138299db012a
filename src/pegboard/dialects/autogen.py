"""AutoGen: calls in messages, in events and in the result of a model client, whose streams start with text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.call_assembler import Assembly, read_id, text_or_empty
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.provider_rules import PORTABLE_LIMITS
from pegboard.dialects.shared.content_blocks import describe_result
from pegboard.dialects.shared.function_calls import (
    arguments_to_json,
    define_function,
    is_model_role,
)
from pegboard.dialects.shared.turns import Speaker, Turn, get_message_text, get_timestamp
from pegboard.model.tool import Tool

# Types of messages and events in which a model, or its agent, makes calls.
_CALLING_TYPES = ("AssistantMessage", "ToolCallRequestEvent", "ToolCallSummaryMessage", "ThoughtEvent", None)
# Keys of messages without a type. Untyped messages of other formats may contain any input of a model.
_UNTYPED_KEYS = frozenset({"content", "thought", "source", "finish_reason", "usage", "cached", "logprobs"})
_MESSAGE_TYPES = frozenset(
    {"AssistantMessage", "FunctionExecutionResultMessage", "ToolCallRequestEvent", "ToolCallExecutionEvent",
     "ToolCallSummaryMessage", "ModelClientStreamingChunkEvent", "ThoughtEvent", "TextMessage", "HandoffMessage",
     "StopMessage", "MultiModalMessage", "UserMessage", "SystemMessage", "MemoryQueryEvent"}
)  # fmt: skip

# Types that do not begin with the role of their speaker.
_SPEAKER_BY_TYPE: Mapping[str, Speaker] = {
    **dict.fromkeys(("ToolCallRequestEvent", "ToolCallSummaryMessage", "ThoughtEvent"), "assistant"),
    **dict.fromkeys(("FunctionExecutionResultMessage", "ToolCallExecutionEvent"), "tool"),
}


class AutoGen(Dialect):
    """Calls as the content of a message; all answers in one message."""

    name = "autogen"
    expected = "a message whose 'content' is a list of calls {id, name, arguments}"
    limits = PORTABLE_LIMITS
    keys = frozenset({"content", "messages"})

    def recognises(self, item: Any) -> bool:
        """Recognise a message or event by its type, a client's result, or a run's messages; in a stream also text."""
        if isinstance(item, str):
            return True
        if not isinstance(item, dict):
            return False
        messages = item.get("messages")
        if isinstance(messages, list):
            return any(_is_message(message) for message in messages[:2])
        return _is_message(item)

    def read(self, item: Any, into: Assembly) -> None:
        """Read a message, an event, a run, or one call; text contains no calls."""
        if isinstance(item, str):
            return
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
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
            raise self.make_unreadable_error(item)

    def turns(self, item: Mapping[str, Any], speaker: Speaker | None) -> Sequence[Turn] | None:
        """Return a message or an event by its type; a text is of the user or of the agent that is its source."""
        kind = item.get("type")
        if not isinstance(kind, str) or "function" in item or speaker is not None:
            return None
        speaker = _SPEAKER_BY_TYPE.get(kind)
        if kind == "TextMessage" and isinstance(item.get("source"), str):
            speaker = "user" if item["source"] == "user" else "assistant"
        return None if speaker is None else [Turn(speaker, get_message_text(item), item, get_timestamp(item))]

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        content = [{"id": call.id, "arguments": arguments_to_json(call), "name": call.name} for call in calls]
        return {"content": content, "thought": None, "source": "assistant", "type": "AssistantMessage"}

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        return {"content": [_render_answer(answer) for answer in answers], "type": "FunctionExecutionResultMessage"}

    def say(self, role: str, text: str, id: str) -> list[Any]:
        if role == "system":
            return [{"content": text, "type": "SystemMessage"}]
        if role == "user":
            return [{"content": text, "source": "user", "type": "UserMessage"}]
        return [{"content": text, "thought": None, "source": "assistant", "type": "AssistantMessage"}]

    def compose_turn(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """Return the assistant's message; text beside calls is its `thought`."""
        return [{**self.compose(calls), "thought": text}]

    def own(self, raw: Any) -> list[Any]:
        """Return a message of a history; events of a run do not belong to one."""
        is_own = isinstance(raw, dict) and raw.get("type") in ("AssistantMessage", "UserMessage", "SystemMessage")
        return [raw] if is_own else []

    def define(self, tool: Tool) -> dict[str, Any]:
        return define_function(tool) | {"strict": False}


def _is_message(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    kind = item.get("type")
    if isinstance(kind, str):
        return kind in _MESSAGE_TYPES and "content" in item
    if "finish_reason" in item and "cached" in item and "content" in item:
        return True
    content = item.get("content")
    return item.keys() <= _UNTYPED_KEYS and isinstance(content, list) and bool(content) and _is_call(content[0])


def _is_call(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("name"), str) and "arguments" in item and "type" not in item


def _read_message(item: dict[str, Any], into: Assembly, known: Collection[str] = ()) -> None:
    """Read one message; skip ids in `known`: a run ends with a repetition of all its messages."""
    if isinstance(item.get("tool_calls"), list):
        _read_summary(item, into)
        return
    content = item.get("content")
    may_call = item.get("type") in _CALLING_TYPES and is_model_role(item.get("role"))
    for part in content if isinstance(content, list) else ():
        if _is_call(part):
            if may_call and read_id(part.get("id")) not in known:
                _read_call(part, into)
        elif not isinstance(part, dict) or read_id(part.get("call_id")) not in known:
            _read_result(part, into)


def _read_summary(item: dict[str, Any], into: Assembly) -> None:
    """Read the summary at the end of a run, which repeats calls and results; only those not seen before are new."""
    known: set[str] = into.state or set()
    content = item.get("results")
    calls = [call for call in item["tool_calls"] if _is_call(call) and read_id(call.get("id")) not in known]
    results = [
        result
        for result in (content if isinstance(content, list) else ())
        if isinstance(result, dict) and read_id(result.get("call_id")) not in known
    ]
    for call in calls:
        _read_call(call, into)
    for result in results:
        _read_result(result, into)


def _read_call(call: dict[str, Any], into: Assembly) -> None:
    into.call(call["name"], call["arguments"], call.get("id"))
    if identity := read_id(call.get("id")):
        into.get_state(set[str]).add(identity)


def _read_result(part: Any, into: Assembly) -> None:
    if isinstance(part, dict) and "call_id" in part:
        if part.get("is_error"):
            into.answer(part["call_id"], error=text_or_empty(part.get("content")), name=part.get("name"))
        else:
            into.answer(part["call_id"], part.get("content"), name=part.get("name"))


def _render_answer(answer: Answer) -> dict[str, Any]:
    result = answer.result
    return {
        "content": describe_result(result),
        "name": answer.name,
        "call_id": answer.id,
        "is_error": not result.success,
    }
