"""LangChain's messages and calls, and the states and streams of LangGraph."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.parts.blocks import shown
from pegboard.dialects.parts.defining import PORTABLE, wrapped_function_for
from pegboard.dialects.parts.langchain_messages import (
    TALK,
    composed,
    is_message,
    is_run_event,
    own_message,
    read_call,
    read_chunk,
    read_message,
    read_run_event,
    said,
    state_of,
    tool_message,
)
from pegboard.dialects.parts.picking import dict_of, dicts_of, first_of, key_of, unreadable

_CALL_TYPES = frozenset({"tool_call", "invalid_tool_call", "tool_call_chunk"})
_CALL = frozenset({"name", "args", "id"})
_EXPECTED = "an AIMessage or ToolMessage (dumped, as message_to_dict, or as lc constructor), or a call {name, args, id}"
_GRAPH = "{messages}, {node: {messages}} or [chunk, metadata]"


class Langchain(Dialect):
    """`tool_calls` of `{name, args, id}`, and `invalid_tool_calls` with the text that could not be read.

    Of a chunk only `tool_call_chunks` count: its `tool_calls` are the SDK's guess at what the text may become.
    """

    name = "langchain"
    limits = PORTABLE
    talk = TALK
    keys = frozenset({"lc", "data", "args", "additional_kwargs", "tool_calls", "tool_call_chunks", "tool_call_id"})

    def recognises(self, item: Any) -> bool:
        """A message by its type, or a call by its args."""
        if not isinstance(item, dict):
            return False
        if is_message(item) or is_run_event(item):
            return True
        kind = item.get("type")
        if "args" in item:
            return (isinstance(kind, str) and kind in _CALL_TYPES) or item.keys() == _CALL
        return "args" in first_of(item.get("tool_calls"))

    def read(self, item: Any, into: Assembly) -> None:
        """A message, a chunk, an event of astream_events or one call."""
        if not isinstance(item, dict):
            raise unreadable(item, self.name, _EXPECTED)
        if is_run_event(item):
            read_run_event(item, into)
        elif "args" in item and not is_message(item):
            if item.get("type") == "tool_call_chunk":
                read_chunk(item, None, into)
            else:
                into.bare = True
                read_call(item, into)
        elif is_message(item) or isinstance(item.get("role"), str) or isinstance(item.get("tool_calls"), list):
            read_message(item, into)
        elif "langgraph_node" not in item:
            raise unreadable(item, self.name, _EXPECTED)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """An AIMessage, dumped."""
        return composed(calls)

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """A ToolMessage an answer, dumped."""
        rendered = [tool_message(answer) for answer in answers]
        return rendered if many else rendered[0]

    def say(self, role: str, text: str, id: str) -> list[Any]:
        """A HumanMessage, an AIMessage or a SystemMessage, dumped."""
        return [said(role, text)]

    def own(self, raw: Any) -> list[Any]:
        """A message in any of its serialisations."""
        return own_message(raw)

    def define(self, tool: Tool) -> dict[str, Any]:
        """A function with its schema, as convert_to_openai_tool gives it."""
        return wrapped_function_for(tool)


class Langgraph(Dialect):
    """`{messages}` as state, `{node: {messages}}` as update, `[chunk, metadata]` as a streamed message."""

    name = "langgraph"
    limits = PORTABLE
    talk = TALK
    # An update has only its node for a key: those that prebuilt agents and the tutorials use.
    keys = frozenset(
        {"messages", "tool_call", "agent", "model", "tools", "chatbot", "call_model", "llm", "assistant"}
    ) | (Langchain.keys)

    def recognises(self, item: Any) -> bool:
        """A state, an update or a pair that holds a message of LangChain."""
        if isinstance(item, list):
            return len(item) == 2 and isinstance(item[0], dict) and is_message(item[0]) and isinstance(item[1], dict)
        if not isinstance(item, dict) or "role" in item:
            return False
        if isinstance(item.get("messages"), list):
            return _holds_messages(item)
        if isinstance(item.get("tool_call"), dict):
            return "args" in item["tool_call"]
        parts = item.values()
        return all(part is None or isinstance(part, dict | list) for part in parts) and any(
            isinstance(part, dict) and _holds_messages(part) for part in parts
        )

    def read(self, item: Any, into: Assembly) -> None:
        """A state, an update, a pair or the argument of a Send."""
        among: Hashable = None
        if isinstance(item, list):
            among, item = _streamed(item)
        if not isinstance(item, dict):
            raise unreadable(item, self.name, _GRAPH)
        if "messages" in item:
            _read_new(_messages(item["messages"]), into, is_state=True)
        elif isinstance(item.get("tool_call"), dict):
            into.bare = True
            read_call(item["tool_call"], into)
        elif is_message(item):
            if among is None or _is_chunk(item):
                read_message(item, into, among)
            else:
                _read_new([item], into, is_state=False)
        elif item and all(part is None or isinstance(part, dict | list) for part in item.values()):
            for part in item.values():
                for update in dicts_of(part) or [dict_of(part)]:
                    _read_new(_messages(update.get("messages")), into, is_state=False)
        else:
            raise unreadable(item, self.name, _GRAPH)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        """The state after the model spoke."""
        return {"messages": [composed(calls)]}

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        """What a ToolNode adds to the state."""
        return {"messages": [tool_message(answer) for answer in answers]}

    def say(self, role: str, text: str, id: str) -> list[Any]:
        """A message among those of a state."""
        return [said(role, text)]

    def speak(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """The message among those of a state that makes these calls."""
        return [composed(calls) | ({"content": text} if text else {})]

    def reply(self, answers: Sequence[Answer]) -> list[Any]:
        """The messages that a ToolNode adds."""
        return [tool_message(answer) for answer in answers]

    def own(self, raw: Any) -> list[Any]:
        """A message in any of its serialisations."""
        return own_message(raw)

    def define(self, tool: Tool) -> dict[str, Any]:
        """A function with its schema, as convert_to_openai_tool gives it."""
        return wrapped_function_for(tool)


def _messages(value: Any) -> list[dict[str, Any]]:
    return dicts_of(value if isinstance(value, list) else [value])


def _is_chunk(message: dict[str, Any]) -> bool:
    return isinstance(message.get("tool_call_chunks"), list) or str(message.get("type")).endswith("Chunk")


def _holds_messages(state: dict[str, Any]) -> bool:
    messages = _messages(state.get("messages"))
    return any(is_message(message) or "args" in first_of(message.get("tool_calls")) for message in messages)


def _streamed(item: list[Any]) -> tuple[Hashable, Any]:
    """What a stream gave: a pair, perhaps after the names of a subgraph and of a mode."""
    while item and isinstance(item[-1], list) and (len(item) == 1 or isinstance(item[0], str | list)):
        item = item[-1]
    if len(item) == 2 and isinstance(item[0], dict) and isinstance(item[1], dict):
        about = item[1]
        return tuple(key_of(about.get(key)) for key in ("langgraph_checkpoint_ns", "langgraph_node")), item[0]
    return None, item[-1] if item else None


def _read_new(messages: list[dict[str, Any]], into: Assembly, *, is_state: bool) -> None:
    """The messages that did not come before: each state repeats those of the one before it, and of the updates."""
    known: set[Hashable] = state_of(into).setdefault("known", set())
    times: dict[Hashable, int] = {}
    new: list[Hashable] = []
    for message in messages:
        mark = _mark(message)
        times[mark] = times.get(mark, 0) + 1
        if (mark, times[mark]) in known and (is_state or isinstance(message.get("id"), str)):
            continue
        new.append((mark, times[mark]))
        read_message(message, into)
    known.update(new)


def _mark(message: dict[str, Any]) -> tuple[str, ...]:
    """What a message is known by when it comes again."""
    keys = ("type", "id", "tool_call_id", "content", "tool_calls", "kwargs", "data")
    return tuple([shown(message.get(key)) for key in keys])
