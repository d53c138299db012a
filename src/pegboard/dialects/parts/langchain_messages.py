"""LangChain's messages in each of their serialisations: what is in them, and how they are written."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from pegboard.core.call import Malformed
from pegboard.dialects.asked import ABSENT, AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer
from pegboard.dialects.parts.blocks import shown, told_in
from pegboard.dialects.parts.content import blocks_of, described, text_of
from pegboard.dialects.parts.function_calls import read_function_calls
from pegboard.dialects.parts.picking import dict_of, dicts_of, is_models, key_of
from pegboard.dialects.talk import Talk

_TYPES = frozenset({"ai", "human", "system", "tool", "function", "chat", "developer", "remove"}) | {
    f"{name}MessageChunk" for name in ("AI", "Human", "System", "Tool", "Function", "Chat")
}
# Messages that do not say by their type whose they are.
_OF_ANY_ROLE = (None, "chat", "ChatMessage", "ChatMessageChunk")
# What its messages become takes objects for arguments, with most providers.
TALK = Talk(objects=True)
_WHOLE_CALLS = ("tool_call", "invalid_tool_call")
# The model had not come to its end: a call without arguments is then not one that takes none.
_CUT_OFF = ("length", "max_tokens", "MAX_TOKENS", "model_length")
# Where a message is written as a constructor, an object of the user's that has a key `lc` stands under this one.
_ESCAPED = "__lc_escaped__"


def is_message(item: dict[str, Any]) -> bool:
    """Whether this is a message, in any serialisation."""
    kind = item.get("type")
    if not isinstance(kind, str):
        return False
    if kind == "constructor":
        return "lc" in item and isinstance(item.get("kwargs"), dict)
    return kind in _TYPES and "role" not in item and (isinstance(item.get("data"), dict) or "content" in item)


def is_run_event(item: dict[str, Any]) -> bool:
    """Whether this is an event of astream_events."""
    kind = item.get("event")
    return isinstance(kind, str) and kind.startswith("on_") and isinstance(item.get("data"), dict)


def read_run_event(event: dict[str, Any], into: Assembly) -> None:
    """Take in what a model or a tool gave; what the chains around them repeat is passed over."""
    kind, data, run = event["event"], event["data"], key_of(event.get("run_id"))
    streamed = ("streamed", run)
    if kind == "on_chat_model_stream":
        state_of(into)[streamed] = True
        read_message(dict_of(data.get("chunk")), into, run)
    elif kind == "on_chat_model_end" and streamed in state_of(into):
        _end(run, into)
    elif kind in ("on_chat_model_end", "on_tool_end"):
        read_message(dict_of(data.get("output")), into, run)


def read_message(message: dict[str, Any], into: Assembly, among: Hashable = None) -> None:
    """Take in one message or chunk; `among` tells streams apart that run at the same time."""
    kind = message.get("type")
    inner = _inner(message)
    if isinstance(inner, dict):
        path = message.get("id")
        known = path[-1] if kind == "constructor" and isinstance(path, list) and path else kind
        kind, message = inner.get("type", known), inner
    if "tool_call_id" in message and kind not in ("ai", "AIMessageChunk"):
        told = told_in(message.get("content"))
        failed = message.get("status") == "error"
        into.answer(
            message.get("tool_call_id"),
            ABSENT if failed else told,
            error=shown(told) if failed else None,
            name=message.get("name"),
        )
        return
    if not (isinstance(kind, str) and kind.startswith(("ai", "AI"))) and not (
        kind in _OF_ANY_ROLE and is_models(message.get("role"))
    ):
        return
    chunks = dicts_of(message.get("tool_call_chunks"))
    for chunk in chunks:
        read_chunk(chunk, among, into)
    if not chunks:
        _read_calls(message, into)
    _read_blocks(message.get("content"), among, into)
    metadata = dict_of(message.get("response_metadata"))
    reason = metadata.get("finish_reason") or metadata.get("stop_reason")
    if (reason or message.get("chunk_position") == "last") and reason not in _CUT_OFF:
        _end(among, into)


def _inner(message: dict[str, Any]) -> Any:
    """The message within its serialisation, if it stands in one."""
    return _unescaped(message.get("kwargs")) if message.get("type") == "constructor" else message.get("data")


def _unescaped(value: Any) -> Any:
    """The same value with the user's own objects in their places; what is in those is left alone."""
    root = [value]
    todo: list[Any] = [root]
    while todo:
        holder = todo.pop()
        for key, item in enumerate(holder) if isinstance(holder, list) else holder.items():
            if isinstance(item, dict) and item.keys() == {_ESCAPED}:
                holder[key] = item[_ESCAPED]
            elif isinstance(item, dict | list):
                # What was given stays as it is.
                holder[key] = item.copy()
                todo.append(holder[key])
    return root[0]


def _read_calls(message: dict[str, Any], into: Assembly) -> None:
    calls = dicts_of(message.get("tool_calls")) + dicts_of(message.get("invalid_tool_calls"))
    if not calls:
        calls = [block for block in dicts_of(message.get("content")) if block.get("type") in _WHOLE_CALLS]
    for call in calls:
        read_call(call, into)
    if not calls:
        read_function_calls(dict_of(message.get("additional_kwargs")).get("tool_calls"), into)


def read_call(call: dict[str, Any], into: Assembly) -> None:
    """Take in one whole call."""
    name, arguments, identity = call.get("name"), call.get("args"), call.get("id")
    if call.get("type") == "invalid_tool_call" and not arguments:
        # Nothing is left of what the model said, and that is not the same as no arguments.
        into.piece(("invalid", _next(into)), name=name, id=identity)
    elif "function" in call and "args" not in call:
        read_function_calls([call], into)
    else:
        into.call(name or "", arguments, identity)


def read_chunk(chunk: dict[str, Any], among: Hashable, into: Assembly) -> None:
    """A piece by its index; without one, a name or an id begins a call and what has neither goes on with it."""
    state = state_of(into)
    index = key_of(chunk.get("index"))
    key: Hashable = (among, index)
    if index is None:
        if chunk.get("name") or chunk.get("id"):
            into.over(state.get(("last", among)))
            state["last", among] = (among, "unnumbered", _next(into))
        key = state.get(("last", among), key)
    into.piece(key, chunk.get("args"), name=chunk.get("name"), id=chunk.get("id"))
    state.setdefault(("open", among), {})[key] = None


def _read_blocks(content: Any, among: Hashable, into: Assembly) -> None:
    """What the provider runs itself stands in the content."""
    for block in dicts_of(content):
        kind = block.get("type")
        if kind == "server_tool_call":
            into.call(block.get("name") or "", block.get("args"), block.get("id"), provider_executed=True)
        elif kind == "server_tool_call_chunk":
            key = (among, "server", key_of(block.get("index")))
            into.piece(key, block.get("args"), name=block.get("name"), id=block.get("id"), provider_executed=True)
            state_of(into).setdefault(("open", among), {})[key] = None
        elif kind == "server_tool_result":
            output, failed = block.get("output"), block.get("status") == "error"
            into.answer(
                block.get("tool_call_id"),
                ABSENT if failed else output,
                error=shown(output) if failed else None,
                provider_executed=True,
            )


def _end(among: Hashable, into: Assembly) -> None:
    for key in state_of(into).pop(("open", among), {}):
        into.over(key)


def state_of(into: Assembly) -> dict[Any, Any]:
    """What is remembered from chunk to chunk."""
    if into.state is None:
        into.state = {}
    state: dict[Any, Any] = into.state
    return state


def _next(into: Assembly) -> int:
    state = state_of(into)
    number: int = state.get("count", 0) + 1
    state["count"] = number
    return number


def said(role: str, text: str) -> dict[str, Any]:
    """A message of text alone."""
    if role == "assistant":
        return composed(()) | {"content": text}
    head = {"content": text, "additional_kwargs": {}, "response_metadata": {}}
    return head | {"type": "human" if role == "user" else role, "name": None, "id": None}


def own_message(raw: Any) -> list[Any]:
    """A whole message in any serialisation, dumped; nothing where it is none."""
    message = dict_of(raw)
    inner = _inner(message)
    message = {"type": message.get("type"), **inner} if isinstance(inner, dict) else message
    return [message] if message.get("type") in ("ai", "human", "system") and "content" in message else []


def composed(calls: Sequence[AskedCall]) -> dict[str, Any]:
    """An AIMessage that makes these calls."""
    tool_calls, invalid, blocks = [], [], []
    for call in calls:
        said = {"name": call.name, "id": call.id or None}
        if isinstance(call.arguments, Malformed):
            why = call.arguments.why
            invalid.append(said | {"args": call.arguments.text, "error": why, "type": "invalid_tool_call"})
        elif call.provider_executed:
            blocks += _server_blocks(call)
        else:
            tool_calls.append(said | {"args": call.arguments or {}, "type": "tool_call"})
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


def _server_blocks(call: AskedCall) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [
        {"type": "server_tool_call", "id": call.id, "name": call.name, "args": call.arguments or {}}
    ]
    about = {"type": "server_tool_result", "tool_call_id": call.id}
    if call.error is not None:
        blocks.append(about | {"status": "error", "output": call.error})
    elif call.result is not ABSENT:
        blocks.append(about | {"status": "success", "output": call.result})
    return blocks


def tool_message(answer: Answer) -> dict[str, Any]:
    """A ToolMessage with one answer."""
    result = answer.result
    blocks = blocks_of(result)
    return {
        "content": [_block(block) for block in blocks] if blocks else text_of(result),
        "additional_kwargs": {},
        "response_metadata": {},
        "type": "tool",
        "name": answer.name,
        "id": None,
        "tool_call_id": answer.id,
        "artifact": None,
        "status": "success" if result.problem is None else "error",
    }


def _block(block: Mapping[str, Any]) -> dict[str, Any]:
    kind = block.get("type")
    if kind in ("image", "audio") and isinstance(block.get("data"), str):
        return {"type": kind, "base64": block["data"], "mime_type": block.get("mimeType", "")}
    return {"type": "text", "text": described(block)}
