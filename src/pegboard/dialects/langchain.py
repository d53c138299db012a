"""LangChain's messages and calls in all their serialisations, and the states and streams of LangGraph."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from pegboard.dialects.base import Answer, Dialect, MessagePerAnswer
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.dialects.provider_rules import PORTABLE_LIMITS, Talk
from pegboard.dialects.shared.content_blocks import (
    describe_block,
    get_content_blocks,
    parse_result_content,
    result_to_text,
    to_text,
)
from pegboard.dialects.shared.function_calls import (
    dict_or_empty,
    filter_dicts,
    first_dict,
    is_model_role,
    read_function_calls,
    read_stream_key,
    replace_items,
)
from pegboard.dialects.shared.turns import Speaker, Turn, read_typed_turn
from pegboard.model.call import Malformed

_MESSAGE_TYPES = frozenset({"ai", "human", "system", "tool", "function", "chat", "developer", "remove"}) | {
    f"{name}MessageChunk" for name in ("AI", "Human", "System", "Tool", "Function", "Chat")
}
# Message types that do not determine the role.
_TYPES_WITHOUT_ROLE = (None, "chat", "ChatMessage", "ChatMessageChunk")
# Most providers that LangChain converts messages for require objects as arguments.
LANGCHAIN_TALK = Talk(objects=True)
_WHOLE_CALL_TYPES = ("tool_call", "invalid_tool_call")
# The output of the model was truncated: a call without arguments is then incomplete.
_TRUNCATED_REASONS = ("length", "max_tokens", "MAX_TOKENS", "model_length")
# In the constructor serialisation, a user's object that has a key `lc` is wrapped under this key.
_ESCAPE_KEY = "__lc_escaped__"
# The state between chunks: open calls and the last call by stream, known messages, and a counter.
_StreamState = dict[Any, Any]


def is_message(item: dict[str, Any]) -> bool:
    """Return True for a message, in any serialisation."""
    kind = item.get("type")
    if not isinstance(kind, str):
        return False
    if kind == "constructor":
        return "lc" in item and isinstance(item.get("kwargs"), dict)
    return kind in _MESSAGE_TYPES and "role" not in item and (isinstance(item.get("data"), dict) or "content" in item)


def is_run_event(item: dict[str, Any]) -> bool:
    """Return True for an event of `astream_events`."""
    kind = item.get("event")
    return isinstance(kind, str) and kind.startswith("on_") and isinstance(item.get("data"), dict)


def read_run_event(event: dict[str, Any], into: Assembly) -> None:
    """Read the output of a model or a tool; skip events of enclosing chains, which repeat it."""
    kind, data, run = event["event"], event["data"], read_stream_key(event.get("run_id"))
    streamed = ("streamed", run)
    if kind == "on_chat_model_stream":
        into.get_state(_StreamState)[streamed] = True
        read_message(dict_or_empty(data.get("chunk")), into, run)
    elif kind == "on_chat_model_end" and streamed in into.get_state(_StreamState):
        _end_open_calls(run, into)
    elif kind in ("on_chat_model_end", "on_tool_end"):
        read_message(dict_or_empty(data.get("output")), into, run)


def read_message(message: dict[str, Any], into: Assembly, among: Hashable = None) -> None:
    """Read one message or chunk; `among` distinguishes concurrent streams."""
    kind = message.get("type")
    inner = _unwrap_message(message)
    if isinstance(inner, dict):
        path = message.get("id")
        known = path[-1] if kind == "constructor" and isinstance(path, list) and path else kind
        kind, message = inner.get("type", known), inner
    if "tool_call_id" in message and kind not in ("ai", "AIMessageChunk"):
        content = parse_result_content(message.get("content"))
        failed = message.get("status") == "error"
        into.answer(
            message.get("tool_call_id"),
            ABSENT if failed else content,
            error=to_text(content) if failed else None,
            name=message.get("name"),
        )
        return
    if not (isinstance(kind, str) and kind.startswith(("ai", "AI"))) and not (
        kind in _TYPES_WITHOUT_ROLE and is_model_role(message.get("role"))
    ):
        return
    chunks = filter_dicts(message.get("tool_call_chunks"))
    for chunk in chunks:
        read_chunk(chunk, among, into)
    if not chunks:
        _read_calls(message, into)
    _read_blocks(message.get("content"), among, into)
    metadata = dict_or_empty(message.get("response_metadata"))
    reason = metadata.get("finish_reason") or metadata.get("stop_reason")
    if (reason or message.get("chunk_position") == "last") and reason not in _TRUNCATED_REASONS:
        _end_open_calls(among, into)


def _unwrap_message(message: dict[str, Any]) -> Any:
    """Return the message inside its serialisation, or None if it is not wrapped."""
    return (
        replace_items(message.get("kwargs"), _unescape) if message.get("type") == "constructor" else message.get("data")
    )


def _unescape(item: Any) -> Any:
    """Return a user's object without its escape; its contents are not changed."""
    return item[_ESCAPE_KEY] if isinstance(item, dict) and item.keys() == {_ESCAPE_KEY} else item


def _read_calls(message: dict[str, Any], into: Assembly) -> None:
    calls = filter_dicts(message.get("tool_calls")) + filter_dicts(message.get("invalid_tool_calls"))
    if not calls:
        calls = [block for block in filter_dicts(message.get("content")) if block.get("type") in _WHOLE_CALL_TYPES]
    for call in calls:
        read_call(call, into)
    if not calls:
        read_function_calls(dict_or_empty(message.get("additional_kwargs")).get("tool_calls"), into)


def read_call(call: dict[str, Any], into: Assembly) -> None:
    """Read one complete call."""
    name, arguments, identity = call.get("name"), call.get("args"), call.get("id")
    if call.get("type") == "invalid_tool_call" and not arguments:
        # The text of the model is lost, which is not the same as empty arguments.
        into.piece(("invalid", _next_number(into)), name=name, id=identity)
    elif "function" in call and "args" not in call:
        read_function_calls([call], into)
    else:
        into.call(name or "", arguments, identity)


def read_chunk(chunk: dict[str, Any], among: Hashable, into: Assembly) -> None:
    """Read a piece by its index; without one, a name or an id starts a call, and other pieces continue it."""
    state = into.get_state(_StreamState)
    index = read_stream_key(chunk.get("index"))
    key: Hashable = (among, index)
    if index is None:
        if chunk.get("name") or chunk.get("id"):
            into.over(state.get(("last", among)))
            state["last", among] = (among, "unnumbered", _next_number(into))
        key = state.get(("last", among), key)
    into.piece(key, chunk.get("args"), name=chunk.get("name"), id=chunk.get("id"))
    state.setdefault(("open", among), {})[key] = None


def _read_blocks(content: Any, among: Hashable, into: Assembly) -> None:
    """Read the calls and results in the content, which are those that the provider ran."""
    for block in filter_dicts(content):
        kind = block.get("type")
        if kind == "server_tool_call":
            into.call(block.get("name") or "", block.get("args"), block.get("id"), provider_executed=True)
        elif kind == "server_tool_call_chunk":
            key = (among, "server", read_stream_key(block.get("index")))
            into.piece(key, block.get("args"), name=block.get("name"), id=block.get("id"), provider_executed=True)
            into.get_state(_StreamState).setdefault(("open", among), {})[key] = None
        elif kind == "server_tool_result":
            output, failed = block.get("output"), block.get("status") == "error"
            into.answer(
                block.get("tool_call_id"),
                ABSENT if failed else output,
                error=to_text(output) if failed else None,
                provider_executed=True,
            )


def _end_open_calls(among: Hashable, into: Assembly) -> None:
    for key in into.get_state(_StreamState).pop(("open", among), {}):
        into.over(key)


def _next_number(into: Assembly) -> int:
    state = into.get_state(_StreamState)
    number: int = state.get("count", 0) + 1
    state["count"] = number
    return number


def write_text_message(role: str, text: str) -> dict[str, Any]:
    """Return a message with only text."""
    if role == "assistant":
        return compose_message(()) | {"content": text}
    head = {"content": text, "additional_kwargs": {}, "response_metadata": {}}
    return head | {"type": "human" if role == "user" else role, "name": None, "id": None}


def restore_message(raw: Any) -> list[Any]:
    """Return a complete message of any serialisation in dumped form; an empty list if it is not one."""
    message = dict_or_empty(raw)
    inner = _unwrap_message(message)
    message = {"type": message.get("type"), **inner} if isinstance(inner, dict) else message
    return [message] if message.get("type") in ("ai", "human", "system") and "content" in message else []


def compose_message(calls: Sequence[AskedCall]) -> dict[str, Any]:
    """Return an AIMessage with these calls."""
    tool_calls, invalid, blocks = [], [], []
    for call in calls:
        values = {"name": call.name, "id": call.id or None}
        if isinstance(call.arguments, Malformed):
            why = call.arguments.why
            invalid.append(values | {"args": call.arguments.text, "error": why, "type": "invalid_tool_call"})
        elif call.provider_executed:
            blocks += _compose_server_blocks(call)
        else:
            tool_calls.append(values | {"args": call.arguments or {}, "type": "tool_call"})
    return {
        "content": blocks or "",
        "additional_kwargs": {},
        "response_metadata": {},
        "type": "ai",
        "name": None,
        "id": None,
        "tool_calls": tool_calls,
        "invalid_tool_calls": invalid,
        "usage_metadata": None,
    }


def _compose_server_blocks(call: AskedCall) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [
        {"type": "server_tool_call", "id": call.id, "name": call.name, "args": call.arguments or {}}
    ]
    about = {"type": "server_tool_result", "tool_call_id": call.id}
    if call.error is not None:
        blocks.append(about | {"status": "error", "output": call.error})
    elif call.result is not ABSENT:
        blocks.append(about | {"status": "success", "output": call.result})
    return blocks


def render_tool_message(answer: Answer) -> dict[str, Any]:
    """Return a ToolMessage with one answer."""
    result = answer.result
    blocks = get_content_blocks(result)
    return {
        "content": [_write_content_block(block) for block in blocks] if blocks else result_to_text(result),
        "additional_kwargs": {},
        "response_metadata": {},
        "type": "tool",
        "name": answer.name,
        "id": None,
        "tool_call_id": answer.id,
        "artifact": None,
        "status": "success" if result.problem is None else "error",
    }


def _write_content_block(block: Mapping[str, Any]) -> dict[str, Any]:
    kind = block.get("type")
    if kind in ("image", "audio") and isinstance(block.get("data"), str):
        return {"type": kind, "base64": block["data"], "mime_type": block.get("mimeType", "")}
    return {"type": "text", "text": describe_block(block)}


_CALL_TYPES = frozenset({"tool_call", "invalid_tool_call", "tool_call_chunk"})
_CALL_KEYS = frozenset({"name", "args", "id"})


class Langchain(MessagePerAnswer):
    """`tool_calls` of `{name, args, id}`, and `invalid_tool_calls` with the text that could not be parsed.

    In a chunk only `tool_call_chunks` are read: its `tool_calls` are the SDK's parse of incomplete text.
    """

    name = "langchain"
    expected = "an AIMessage or ToolMessage (dumped, message_to_dict or lc constructor), or a call {name, args, id}"
    limits = PORTABLE_LIMITS
    talk = LANGCHAIN_TALK
    keys = frozenset({"lc", "data", "args", "additional_kwargs", "tool_calls", "tool_call_chunks", "tool_call_id"})

    def recognises(self, item: Any) -> bool:
        """Recognise a message by its type, or a call by its `args`."""
        if not isinstance(item, dict):
            return False
        if is_message(item) or is_run_event(item):
            return True
        kind = item.get("type")
        if "args" in item:
            return (isinstance(kind, str) and kind in _CALL_TYPES) or item.keys() == _CALL_KEYS
        return "args" in first_dict(item.get("tool_calls"))

    def read(self, item: Any, into: Assembly) -> None:
        """Read a message, a chunk, an event of `astream_events` or one call."""
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
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
            raise self.make_unreadable_error(item)

    def turns(self, item: Mapping[str, Any], speaker: Speaker | None) -> Sequence[Turn] | None:
        """Return a message from a serialisation that wraps it."""
        if speaker is not None:
            return None
        kind, path = item.get("type"), item.get("id")
        if item.get("lc") == 1 and isinstance(path, list) and path:
            kind = path[-1]
        inner = next((item[key] for key in ("data", "kwargs") if isinstance(item.get(key), dict)), None)
        if inner is None and kind is item.get("type"):
            return None
        turn = read_typed_turn(item, kind, inner)
        return None if turn is None else [turn]

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        return compose_message(calls)

    def render_one(self, answer: Answer) -> dict[str, Any]:
        return render_tool_message(answer)

    def say(self, role: str, text: str, id: str) -> list[Any]:
        """Return a dumped HumanMessage, AIMessage or SystemMessage."""
        return [write_text_message(role, text)]

    def own(self, raw: Any) -> list[Any]:
        """Return a message from any of its serialisations."""
        return restore_message(raw)


class Langgraph(Dialect):
    """`{messages}` as state, `{node: {messages}}` as update, `[chunk, metadata]` as a streamed message."""

    name = "langgraph"
    expected = "{messages}, {node: {messages}} or [chunk, metadata]"
    limits = PORTABLE_LIMITS
    talk = LANGCHAIN_TALK
    # The only key of an update is its node: these are the names that prebuilt agents and the tutorials use.
    keys = frozenset(
        {"messages", "tool_call", "agent", "model", "tools", "chatbot", "call_model", "llm", "assistant"}
    ) | (Langchain.keys)

    def recognises(self, item: Any) -> bool:
        """Recognise a state, an update or a pair that contains a LangChain message."""
        if isinstance(item, list):
            return len(item) == 2 and isinstance(item[0], dict) and is_message(item[0]) and isinstance(item[1], dict)
        if not isinstance(item, dict) or "role" in item:
            return False
        if isinstance(item.get("messages"), list):
            return _has_messages(item)
        if isinstance(item.get("tool_call"), dict):
            return "args" in item["tool_call"]
        parts = item.values()
        return all(part is None or isinstance(part, dict | list) for part in parts) and any(
            isinstance(part, dict) and _has_messages(part) for part in parts
        )

    def read(self, item: Any, into: Assembly) -> None:
        """Read a state, an update, a pair or the argument of a Send."""
        among: Hashable = None
        if isinstance(item, list):
            among, item = _unwrap_stream_item(item)
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
        if "messages" in item:
            _read_new_messages(_get_messages(item["messages"]), into, is_state=True)
        elif isinstance(item.get("tool_call"), dict):
            into.bare = True
            read_call(item["tool_call"], into)
        elif is_message(item):
            if among is None or _is_chunk(item):
                read_message(item, into, among)
            else:
                _read_new_messages([item], into, is_state=False)
        elif item and all(part is None or isinstance(part, dict | list) for part in item.values()):
            for part in item.values():
                for update in filter_dicts(part) or [dict_or_empty(part)]:
                    _read_new_messages(_get_messages(update.get("messages")), into, is_state=False)
        else:
            raise self.make_unreadable_error(item)

    def compose(self, calls: Sequence[AskedCall]) -> dict[str, Any]:
        return {"messages": [compose_message(calls)]}

    def render(self, answers: Sequence[Answer], *, many: bool) -> dict[str, Any]:
        return {"messages": [render_tool_message(answer) for answer in answers]}

    def say(self, role: str, text: str, id: str) -> list[Any]:
        return [write_text_message(role, text)]

    def compose_turn(self, text: str | None, calls: Sequence[AskedCall], id: str) -> list[Any]:
        """Return the message with these calls for the list in a state."""
        return [compose_message(calls) | ({"content": text} if text else {})]

    def reply(self, answers: Sequence[Answer]) -> list[Any]:
        return [render_tool_message(answer) for answer in answers]

    def own(self, raw: Any) -> list[Any]:
        """Return a message from any of its serialisations."""
        return restore_message(raw)


def _get_messages(value: Any) -> list[dict[str, Any]]:
    return filter_dicts(value if isinstance(value, list) else [value])


def _is_chunk(message: dict[str, Any]) -> bool:
    return isinstance(message.get("tool_call_chunks"), list) or str(message.get("type")).endswith("Chunk")


def _has_messages(state: dict[str, Any]) -> bool:
    messages = _get_messages(state.get("messages"))
    return any(is_message(message) or "args" in first_dict(message.get("tool_calls")) for message in messages)


def _unwrap_stream_item(item: list[Any]) -> tuple[Hashable, Any]:
    """Return the key and the content of a stream item: a pair, possibly after the names of a subgraph and of a mode."""
    while item and isinstance(item[-1], list) and (len(item) == 1 or isinstance(item[0], str | list)):
        item = item[-1]
    if len(item) == 2 and isinstance(item[0], dict) and isinstance(item[1], dict):
        about = item[1]
        return tuple(read_stream_key(about.get(key)) for key in ("langgraph_checkpoint_ns", "langgraph_node")), item[0]
    return None, item[-1] if item else None


def _read_new_messages(messages: list[dict[str, Any]], into: Assembly, *, is_state: bool) -> None:
    """Read the messages that are new: each state repeats those of earlier states and updates."""
    known: set[Hashable] = into.get_state(_StreamState).setdefault("known", set())
    times: dict[Hashable, int] = {}
    new: list[Hashable] = []
    for message in messages:
        mark = _get_message_identity(message)
        times[mark] = times.get(mark, 0) + 1
        if (mark, times[mark]) in known and (is_state or isinstance(message.get("id"), str)):
            continue
        new.append((mark, times[mark]))
        read_message(message, into)
    known.update(new)


def _get_message_identity(message: dict[str, Any]) -> tuple[str, ...]:
    """Return the key by which a repeated message is recognised."""
    keys = ("type", "id", "tool_call_id", "content", "tool_calls", "kwargs", "data")
    return tuple([to_text(message.get(key)) for key in keys])
