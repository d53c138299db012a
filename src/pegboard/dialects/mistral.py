"""Mistral: chat completions, and the entries and events of its Conversations API."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.core.tool import Tool
from pegboard.dialects.adapting.root import REFUSED
from pegboard.dialects.asked import NOTHING, AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.limits import Limits
from pegboard.dialects.parts.content import blocks_of, described
from pegboard.dialects.parts.defining import wrapped_function_for
from pegboard.dialects.parts.function_calls import is_function_call, is_mistrals, text_of_arguments
from pegboard.dialects.parts.mistral_entries import FITTING, entry_of, given_id, id_for, is_event, kept_id, read_entry
from pegboard.dialects.parts.openai_choices import as_response
from pegboard.dialects.parts.outputs import output_of, output_text
from pegboard.dialects.parts.picking import dict_of, dicts_of, first_of, is_models, key_of, unreadable
from pegboard.dialects.talk import Talk

# What the SDK wraps an event of a stream in.
_EVENT = frozenset({"data", "event", "id", "retry"})
_WHOLES = ("conversation.response", "conversation.history")
# The model had not come to its end: a call without arguments is then not one that takes none.
_CUT_OFF = ("length", "model_length", "error")

# What an assistant is made to have said where a user speaks after a tool, which Mistral refuses.
_SILENT = "[The assistant said nothing.]"
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
            "index",
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
    limits = Limits(name=re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII), root=REFUSED, needs_items=True)
    talk = Talk(system="first", ids=FITTING)

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
        item = as_response(item)
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
                read_entry(entry, into)
        elif is_event(item.get("type")):
            into.bare = item["type"] == "function.call"
            read_entry(item, into)
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
            return [entry_of(call) for call in calls]
        made = [
            ({"id": id_for(call, call.id)} if call.id else {})
            | {"function": {"name": call.name, "arguments": text_of_arguments(call)}}
            for call in calls
        ]
        return {"role": "assistant", "content": "", "tool_calls": made}

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """One message an answer; for a conversation one entry."""
        rendered = [_rendered(answer) for answer in answers]
        return rendered if many else rendered[0]

    def exchange(self, text: str | None, answers: Sequence[Answer], id: str) -> list[Any]:
        """Messages, also of calls that came as entries of a conversation."""
        bare = [answer._replace(call=answer.call._replace(extra=NOTHING)) for answer in answers]
        return super().exchange(text, bare, id)

    def settled(self, items: list[Any]) -> list[Any]:
        """The messages, with the assistant's turn between a tool's and a user's."""
        told: list[Any] = []
        for item in items:
            if item["role"] == "user" and told and told[-1]["role"] == "tool":
                told += self.say("assistant", _SILENT, "")
            told.append(item)
        return told

    def define(self, tool: Tool) -> dict[str, Any]:
        """A function with its schema."""
        return wrapped_function_for(tool)


def _is_ours(item: dict[str, Any]) -> bool:
    if is_event(item.get("type")) or item.get("object") in _WHOLES:
        return True
    item = as_response(item)
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


def _read_choice(choice: dict[str, Any], into: Assembly) -> None:
    reason = choice.get("finish_reason")
    is_cut = reason in _CUT_OFF
    _read_message(dict_of(choice.get("message")), into, is_cut=is_cut)
    for place, item in enumerate(dicts_of(dict_of(choice.get("delta")).get("tool_calls"))):
        if not is_function_call(item):
            continue
        function, identity = item["function"], given_id(item.get("id"))
        index = key_of(item.get("index"))
        key = place if index is None else index
        arguments, name, extra = function.get("arguments"), function.get("name"), kept_id(identity)
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
            into.piece("cut", name=item["function"].get("name"), id=given_id(item.get("id")))
        else:
            _read_call(item, into)
    if message.get("role") == "tool":
        result, error = output_of(message.get("content"))
        into.answer(given_id(message.get("tool_call_id")), result, error=error, name=message.get("name"))


def _read_call(item: dict[str, Any], into: Assembly) -> None:
    function, identity = item["function"], given_id(item.get("id"))
    into.call(function.get("name"), function.get("arguments"), identity, extra=kept_id(identity))


def _rendered(answer: Answer) -> dict[str, Any]:
    call, result = answer
    identity = id_for(call, answer.id)
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
