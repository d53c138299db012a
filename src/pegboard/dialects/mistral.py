"""Mistral: chat completions, and the entries and events of its Conversations API."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.asked import ABSENT, NOTHING, AskedCall
from pegboard.dialects.assembly import Assembly, id_of
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.limits import Limits
from pegboard.dialects.parts.content import blocks_of, described
from pegboard.dialects.parts.defining import wrapped_function_for
from pegboard.dialects.parts.function_calls import is_function_call, is_mistrals, text_of_arguments
from pegboard.dialects.parts.outputs import output_of, output_text
from pegboard.dialects.parts.picking import dict_of, dicts_of, first_of, is_models, key_of, unreadable

_CALLS = frozenset({"function.call", "function.call.delta", "function.result"})
_EXECUTIONS = frozenset(
    {"tool.execution", "tool.execution.started", "tool.execution.delta", "tool.execution.done"},
)
_EVENTS = (
    _CALLS
    | _EXECUTIONS
    | {
        "message.input",
        "message.output",
        "message.output.delta",
        "agent.handoff",
        "agent.handoff.started",
        "agent.handoff.done",
        "conversation.response.started",
        "conversation.response.done",
        "conversation.response.error",
    }
)
# What the SDK wraps an event of a stream in.
_EVENT = frozenset({"data", "event", "id", "retry"})
_WHOLES = ("conversation.response", "conversation.history")
# The model had not come to its end: a call without arguments is then not one that takes none.
_CUT_OFF = ("length", "model_length", "error")
_CONVERSATIONS: Mapping[str, Any] = {"api": "conversations"}

_FITTING = re.compile(r"[a-zA-Z0-9]{9}", re.ASCII)
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_EXPECTED = "a chat completion or its chunk, a message, a tool call, or an entry or event of a conversation"


class Mistral(Dialect):
    """`tool_calls` without a type in messages and deltas; entries such as `function.call` in conversations.

    Mistral takes only ids of nine letters and digits. A call that brought another id from elsewhere gets one that is
    made from it, the same in `compose` and `render`; what a payload in this dialect brought is kept as it is.
    """

    name = "mistral"
    keys = frozenset(
        {
            "choices",
            "tool_calls",
            "function",
            "tool_call_id",
            "object",
            "output_index",
            "conversation_id",
            "data",
            "messages",
        }
    )
    limits = Limits(name=re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII))

    def recognises(self, item: Any) -> bool:
        """Chat completions, events and entries, and calls without a type."""
        if not isinstance(item, dict):
            return False
        data = item.get("data")
        return _is_ours(item) or (isinstance(data, dict) and item.keys() <= _EVENT and _is_ours(data))

    def read(self, item: Any, into: Assembly) -> None:
        """A completion, a chunk, a message, an entry, an event or one call."""
        if isinstance(item, dict) and isinstance(item.get("data"), dict) and item.keys() <= _EVENT:
            item = item["data"]
        if not isinstance(item, dict):
            raise unreadable(item, self.name, _EXPECTED)
        listed = item.get("outputs", item.get("entries"))
        if isinstance(item.get("choices"), list):
            # Several are alternatives to one another: only one of them can be meant to be run.
            for choice in [one for one in dicts_of(item["choices"]) if one.get("index") in (0, None)][:1]:
                _read_choice(choice, into)
        elif isinstance(item.get("messages"), list):
            for message in dicts_of(item["messages"]):
                _read_message(message, into)
        elif isinstance(listed, list):
            for entry in dicts_of(listed):
                _read_entry(entry, into)
        elif _is_one_of(item.get("type"), _EVENTS):
            into.bare = item["type"] == "function.call"
            _read_entry(item, into)
        elif isinstance(item.get("role"), str) or isinstance(item.get("tool_calls"), list):
            _read_message(item, into)
        elif is_function_call(item):
            into.bare = True
            _read_call(item, into)
        else:
            raise unreadable(item, self.name, _EXPECTED)

    def compose(self, calls: Sequence[AskedCall]) -> Any:
        """The assistant's message, or the entries of a conversation where the calls came from one."""
        if calls and all(call.extra.get("api") == "conversations" for call in calls):
            return [_entry_of(call) for call in calls]
        made = [
            ({"id": _id_for(call, call.id)} if call.id else {})
            | {"function": {"name": call.name, "arguments": text_of_arguments(call)}}
            for call in calls
        ]
        return {"role": "assistant", "content": "", "tool_calls": made}

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """One message an answer; for a conversation one entry."""
        rendered = [_rendered(answer) for answer in answers]
        return rendered if many else rendered[0]

    def define(self, tool: Tool) -> dict[str, Any]:
        """A function with its schema."""
        return wrapped_function_for(tool)


def _is_ours(item: dict[str, Any]) -> bool:
    if _is_one_of(item.get("type"), _EVENTS) or item.get("object") in _WHOLES:
        return True
    if isinstance(item.get("choices"), list):
        return _says_something(first_of(item["choices"]))
    if isinstance(item.get("messages"), list):
        return any(_is_our_call(first_of(message.get("tool_calls"))) for message in dicts_of(item["messages"]))
    if isinstance(item.get("tool_calls"), list):
        return _is_our_call(first_of(item["tool_calls"]))
    if item.get("role") == "tool":
        return isinstance(item.get("tool_call_id"), str) and isinstance(item.get("content"), str | list)
    return "role" not in item and _is_our_call(item)


def _says_something(choice: dict[str, Any]) -> bool:
    """Whether there is a call without a type in it, or an end or text: who else writes those is asked before us."""
    body = dict_of(choice.get("message")) or dict_of(choice.get("delta"))
    if body.get("tool_calls"):
        return _is_our_call(first_of(body["tool_calls"]))
    reason = choice.get("finish_reason")
    return "function_call" not in body and reason != "function_call" and bool(body.get("content") or reason)


def _is_our_call(item: dict[str, Any]) -> bool:
    if not is_function_call(item):
        return False
    if item.get("type", "null") != "null":
        return is_mistrals(item)
    function = item["function"]
    return isinstance(function.get("arguments"), str) or ("id" in item and "index" not in function)


def _is_one_of(kind: Any, kinds: frozenset[str]) -> bool:
    return isinstance(kind, str) and kind in kinds


def _read_choice(choice: dict[str, Any], into: Assembly) -> None:
    reason = choice.get("finish_reason")
    is_cut = reason in _CUT_OFF
    _read_message(dict_of(choice.get("message")), into, is_cut=is_cut)
    for place, item in enumerate(dicts_of(dict_of(choice.get("delta")).get("tool_calls"))):
        if not is_function_call(item):
            continue
        function, identity = item["function"], _id(item.get("id"))
        index = key_of(item.get("index"))
        key = place if index is None else index
        arguments, name, extra = function.get("arguments"), function.get("name"), _kept(identity)
        if isinstance(arguments, dict):
            into.snapshot(key, arguments, name=name, id=identity, extra=extra)
        else:
            into.piece(key, arguments, name=name, id=identity, extra=extra)
    if reason is not None and not is_cut:
        into.all_over()


def _read_message(message: dict[str, Any], into: Assembly, *, is_cut: bool = False) -> None:
    listed = dicts_of(message.get("tool_calls")) if is_models(message.get("role")) else ()
    calls = [item for item in listed if is_function_call(item)]
    for item in calls:
        if is_cut and item is calls[-1] and not item["function"].get("arguments"):
            into.piece("cut", name=item["function"].get("name"), id=_id(item.get("id")))
        else:
            _read_call(item, into)
    if message.get("role") == "tool":
        result, error = output_of(message.get("content"))
        into.answer(_id(message.get("tool_call_id")), result, error=error, name=message.get("name"))


def _read_call(item: dict[str, Any], into: Assembly) -> None:
    function, identity = item["function"], _id(item.get("id"))
    into.call(function.get("name"), function.get("arguments"), identity, extra=_kept(identity))


def _read_entry(entry: dict[str, Any], into: Assembly) -> None:
    kind = entry.get("type")
    identity = _id(entry.get("tool_call_id"))
    name, arguments = entry.get("name"), entry.get("arguments")
    # A function that waits for the user's word is run by Mistral when it has come.
    theirs = entry.get("confirmation_status") is not None
    extra = {**_CONVERSATIONS, **_kept(identity)}
    if kind == "function.call":
        into.call(name or "", arguments, identity, provider_executed=theirs, extra=extra)
    elif kind == "function.call.delta":
        key = ("call", key_of(entry.get("id")) or id_of(identity) or key_of(entry.get("output_index")))
        into.piece(key, arguments, name=name, id=identity, provider_executed=theirs, extra=extra)
    elif kind == "function.result":
        result, error = output_of(entry.get("result"))
        into.answer(identity, result, error=error, extra=extra)
    elif _is_one_of(kind, _EXECUTIONS):
        _read_execution(entry, into)
    elif kind == "conversation.response.done":
        into.all_over()


def _read_execution(entry: dict[str, Any], into: Assembly) -> None:
    kind, identity, info = entry["type"], entry.get("id"), entry.get("info")
    result = ABSENT if info is None else info
    if kind == "tool.execution":
        into.call(
            entry.get("name") or "",
            entry.get("arguments"),
            identity,
            result=result,
            provider_executed=True,
            extra=_CONVERSATIONS,
        )
        return
    key = ("execution", key_of(identity))
    into.piece(
        key,
        entry.get("arguments"),
        name=entry.get("name"),
        id=identity,
        provider_executed=True,
        extra=_CONVERSATIONS,
    )
    if kind == "tool.execution.done":
        if result is not ABSENT and _id(identity):
            into.answer(identity, result)
        into.over(key)


def _id(given: Any) -> Any:
    """An id; the SDK writes "null" where there is none."""
    return None if given == "null" else given


def _kept(identity: Any) -> Mapping[str, Any]:
    """The id as it was given, where it is not one that Mistral itself makes."""
    if not identity or not isinstance(identity, str) or _FITTING.fullmatch(identity):
        return NOTHING
    return {"tool_call_id": identity}


def _id_for(call: AskedCall, identity: str) -> str:
    """The id Mistral is given for a call."""
    given = call.extra.get("tool_call_id")
    if isinstance(given, str) and given == call.id:
        return given
    return identity if _FITTING.fullmatch(identity) else _fitted(identity)


def _fitted(identity: str) -> str:
    """Nine letters and digits that stand for any id."""
    number = int.from_bytes(hashlib.sha256(identity.encode("utf-8", "surrogatepass")).digest()[:8])
    digits = []
    for _ in range(9):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(digits)


def _entry_of(call: AskedCall) -> dict[str, Any]:
    arguments = text_of_arguments(call)
    if call.provider_executed:
        entry = {"object": "entry", "type": "tool.execution", "id": call.id, "name": call.name, "arguments": arguments}
        return entry if call.result is ABSENT else entry | {"info": call.result}
    identity = _id_for(call, call.id) if call.id else "null"
    return {
        "object": "entry",
        "type": "function.call",
        "tool_call_id": identity,
        "name": call.name,
        "arguments": arguments,
    }


def _rendered(answer: Answer) -> dict[str, Any]:
    call, result = answer
    identity = _id_for(call, answer.id)
    blocks = blocks_of(result)
    if call.extra.get("api") == "conversations":
        return {"tool_call_id": identity, "result": output_text(result), "object": "entry", "type": "function.result"}
    content: Any = [_chunk(block) for block in blocks] if blocks else output_text(result)
    return {"role": "tool", "tool_call_id": identity, "name": answer.name, "content": content}


def _chunk(block: Mapping[str, Any]) -> dict[str, Any]:
    if block.get("type") == "image" and isinstance(block.get("data"), str):
        url = f"data:{block.get('mimeType', 'image/png')};base64,{block['data']}"
        return {"type": "image_url", "image_url": url}
    return {"type": "text", "text": described(block)}
