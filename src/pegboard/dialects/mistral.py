"""Mistral: chat completions, the entries and events of its Conversations API, and the ids that Mistral accepts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.dialects.base import Answer, MessagePerAnswer
from pegboard.dialects.call_assembler import Assembly, read_id
from pegboard.dialects.parsed_calls import ABSENT, EMPTY_MAPPING, AskedCall
from pegboard.dialects.provider_rules import Limits, Talk
from pegboard.dialects.schema_adapters.root_object import REFUSED_ROOT_KEYWORDS
from pegboard.dialects.shared.content_blocks import describe_block, get_content_blocks
from pegboard.dialects.shared.function_calls import (
    arguments_to_json,
    dict_or_empty,
    filter_dicts,
    first_dict,
    has_mistral_id,
    is_function_call,
    is_model_role,
    parse_output,
    read_stream_key,
    result_to_output_text,
)
from pegboard.dialects.shared.openai_calls import wrap_choice
from pegboard.dialects.shared.turns import Speaker, Turn, read_part_turn

_CALL_TYPES = frozenset({"function.call", "function.call.delta", "function.result"})
_EXECUTION_TYPES = frozenset(
    {"tool.execution", "tool.execution.started", "tool.execution.delta", "tool.execution.done"},
)
_ENTRY_TYPES = (
    _CALL_TYPES | _EXECUTION_TYPES
    | {"message.input", "message.output", "message.output.delta", "agent.handoff", "agent.handoff.started",
       "agent.handoff.done", "conversation.response.started", "conversation.response.done",
       "conversation.response.error"}
)  # fmt: skip
_CONVERSATIONS_EXTRA: Mapping[str, Any] = {"api": "conversations"}

MISTRAL_ID_PATTERN = re.compile(r"[a-zA-Z0-9]{9}", re.ASCII)
_ID_CHARACTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def is_entry_type(kind: Any) -> bool:
    """Return True if this is the type of an entry or event."""
    return isinstance(kind, str) and kind in _ENTRY_TYPES


def read_entry(entry: dict[str, Any], into: Assembly) -> None:
    """Read one entry or event."""
    kind = entry.get("type")
    identity = normalize_id(entry.get("tool_call_id"))
    name, arguments = entry.get("name"), entry.get("arguments")
    # A function that waits for the user's confirmation is then run by Mistral.
    theirs = entry.get("confirmation_status") is not None
    extra = {**_CONVERSATIONS_EXTRA, **keep_foreign_id(identity)}
    if kind == "function.call":
        into.call(name or "", arguments, identity, provider_executed=theirs, extra=extra)
    elif kind == "function.call.delta":
        key = (
            "call",
            read_stream_key(entry.get("id")) or read_id(identity) or read_stream_key(entry.get("output_index")),
        )
        into.piece(key, arguments, name=name, id=identity, provider_executed=theirs, extra=extra)
    elif kind == "function.result":
        result, error = parse_output(entry.get("result"))
        into.answer(identity, result, error=error, extra=extra)
    elif isinstance(kind, str) and kind in _EXECUTION_TYPES:
        _read_execution(entry, into)
    elif kind == "conversation.response.done":
        into.complete_all()


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
            extra=_CONVERSATIONS_EXTRA,
        )
        return
    key = ("execution", read_stream_key(identity))
    into.piece(
        key,
        entry.get("arguments"),
        name=entry.get("name"),
        id=identity,
        provider_executed=True,
        extra=_CONVERSATIONS_EXTRA,
    )
    if kind == "tool.execution.done":
        if result is not ABSENT and normalize_id(identity):
            into.answer(identity, result)
        into.over(key)


def normalize_id(given: Any) -> Any:
    """Return the id, or None for "null", which the SDK writes if there is none."""
    return None if given == "null" else given


def keep_foreign_id(identity: Any) -> Mapping[str, Any]:
    """Return the original id as `extra` if it does not have Mistral's format."""
    if not identity or not isinstance(identity, str) or MISTRAL_ID_PATTERN.fullmatch(identity):
        return EMPTY_MAPPING
    return {"tool_call_id": identity}


def get_mistral_id(call: AskedCall, identity: str) -> str:
    """Return the id to send to Mistral for a call."""
    given = call.extra.get("tool_call_id")
    if isinstance(given, str) and given == call.id:
        return given
    return identity if MISTRAL_ID_PATTERN.fullmatch(identity) else _hash_id(identity)


def _hash_id(identity: str) -> str:
    """Return nine letters and digits derived from any id."""
    number = int.from_bytes(hashlib.sha256(identity.encode("utf-8", "surrogatepass")).digest()[:8])
    digits = []
    for _ in range(9):
        number, digit = divmod(number, len(_ID_CHARACTERS))
        digits.append(_ID_CHARACTERS[digit])
    return "".join(digits)


def compose_entry(call: AskedCall) -> dict[str, Any]:
    """Return the entry that makes this call."""
    arguments = arguments_to_json(call)
    if call.provider_executed:
        entry = {"object": "entry", "type": "tool.execution", "id": call.id, "name": call.name, "arguments": arguments}
        return entry if call.result is ABSENT else entry | {"info": call.result}
    identity = get_mistral_id(call, call.id) if call.id else "null"
    return {
        "object": "entry",
        "type": "function.call",
        "tool_call_id": identity,
        "name": call.name,
        "arguments": arguments,
    }


# The keys of the SDK's wrapper around a stream event.
_EVENT_WRAPPER_KEYS = frozenset({"data", "event", "id", "retry"})
_CONVERSATION_OBJECTS = ("conversation.response", "conversation.history")
# The output of the model was truncated: a call without arguments is then incomplete.
_TRUNCATED_REASONS = ("length", "model_length", "error")

# Text of the assistant message that is inserted between a tool and a user message: Mistral rejects that order.
_SILENT_ASSISTANT_TEXT = "[The assistant sent no text.]"


class Mistral(MessagePerAnswer):
    """`tool_calls` without a type in messages and deltas; entries such as `function.call` in conversations.

    Mistral accepts only ids of nine letters and digits. An id from another dialect is replaced by one derived from
    it, the same in `compose` and `render`; an id that was read in this dialect is kept.
    """

    name = "mistral"
    expected = "a chat completion or its chunk, a message, a tool call, or an entry or event of a conversation"
    keys = frozenset(
        {"choices", "index", "tool_calls", "function", "tool_call_id", "object", "output_index", "conversation_id",
         "data", "messages"}
    )  # fmt: skip
    limits = Limits(name=re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII), root=REFUSED_ROOT_KEYWORDS, needs_items=True)
    talk = Talk(system="first", ids=MISTRAL_ID_PATTERN)

    def recognises(self, item: Any) -> bool:
        """Recognise chat completions, events, entries, and calls without a type."""
        if not isinstance(item, dict):
            return False
        data = item.get("data")
        return _is_mistral_item(item) or (
            isinstance(data, dict) and item.keys() <= _EVENT_WRAPPER_KEYS and _is_mistral_item(data)
        )

    def read(self, item: Any, into: Assembly) -> None:
        """Read a completion, a chunk, a message, an entry, an event or one call."""
        if isinstance(item, dict) and isinstance(item.get("data"), dict) and item.keys() <= _EVENT_WRAPPER_KEYS:
            item = item["data"]
        if not isinstance(item, dict):
            raise self.make_unreadable_error(item)
        item = wrap_choice(item)
        listed = item.get("outputs", item.get("entries"))
        if isinstance(item.get("choices"), list):
            # Several choices are alternatives: only one of them can be run.
            for choice in [one for one in filter_dicts(item["choices"]) if one.get("index") in (0, None)][:1]:
                _read_choice(choice, into)
        elif isinstance(item.get("messages"), list):
            for message in filter_dicts(item["messages"]):
                _read_message(message, into)
        elif isinstance(listed, list):
            for entry in filter_dicts(listed):
                read_entry(entry, into)
        elif is_entry_type(item.get("type")):
            into.bare = item["type"] == "function.call"
            read_entry(item, into)
        elif isinstance(item.get("role"), str) or isinstance(item.get("tool_calls"), list):
            _read_message(item, into)
        elif is_function_call(item):
            into.bare = True
            _read_call(item, into)
        else:
            raise self.make_unreadable_error(item)

    def turns(self, item: Mapping[str, Any], speaker: Speaker | None) -> Sequence[Turn] | None:
        """Return the entry of a call or of its result."""
        kind = item.get("type")
        if kind not in ("function.call", "function.result") or "function" in item or speaker is not None:
            return None
        return [read_part_turn(item, "assistant" if kind == "function.call" else "tool")]

    def compose(self, calls: Sequence[AskedCall]) -> Any:
        """Return the assistant's message, or entries of a conversation if all calls came from one."""
        if calls and all(call.extra.get("api") == "conversations" for call in calls):
            return [compose_entry(call) for call in calls]
        made = [
            ({"id": get_mistral_id(call, call.id)} if call.id else {})
            | {"function": {"name": call.name, "arguments": arguments_to_json(call)}}
            for call in calls
        ]
        return {"role": "assistant", "content": "", "tool_calls": made}

    def render_one(self, answer: Answer) -> dict[str, Any]:
        """Return one message per answer; for a conversation, one entry."""
        call, result = answer
        identity = get_mistral_id(call, answer.id)
        blocks = get_content_blocks(result)
        if call.extra.get("api") == "conversations":
            return {
                "tool_call_id": identity,
                "result": result_to_output_text(result),
                "object": "entry",
                "type": "function.result",
            }
        content: Any = [_write_content_chunk(block) for block in blocks] if blocks else result_to_output_text(result)
        return {"role": "tool", "tool_call_id": identity, "name": answer.name, "content": content}

    def compose_exchange(self, text: str | None, answers: Sequence[Answer], id: str) -> list[Any]:
        """Return messages, also for calls that came as entries of a conversation."""
        bare = [answer._replace(call=answer.call._replace(extra=EMPTY_MAPPING)) for answer in answers]
        return super().compose_exchange(text, bare, id)

    def arrange_history(self, items: list[Any]) -> list[Any]:
        """Return the messages, with an assistant turn inserted between a tool and a user message."""
        received: list[Any] = []
        for item in items:
            if item["role"] == "user" and received and received[-1]["role"] == "tool":
                received += self.say("assistant", _SILENT_ASSISTANT_TEXT, "")
            received.append(item)
        return received


def _is_mistral_item(item: dict[str, Any]) -> bool:
    if is_entry_type(item.get("type")) or item.get("object") in _CONVERSATION_OBJECTS:
        return True
    item = wrap_choice(item)
    if isinstance(item.get("choices"), list):
        return _has_mistral_content(first_dict(item["choices"]))
    if isinstance(item.get("messages"), list):
        return any(
            _is_mistral_call(first_dict(message.get("tool_calls"))) for message in filter_dicts(item["messages"])
        )
    if isinstance(item.get("tool_calls"), list):
        return _is_mistral_call(first_dict(item["tool_calls"]))
    if item.get("role") == "tool":
        return isinstance(item.get("tool_call_id"), str) and isinstance(item.get("content"), str | list)
    return "role" not in item and _is_mistral_call(item)


def _has_mistral_content(choice: dict[str, Any]) -> bool:
    """Return True for a call without a type, a finish reason or text; similar dialects are tried before this one."""
    body = dict_or_empty(choice.get("message")) or dict_or_empty(choice.get("delta"))
    if body.get("tool_calls"):
        return _is_mistral_call(first_dict(body["tool_calls"]))
    reason = choice.get("finish_reason")
    return "function_call" not in body and reason != "function_call" and bool(body.get("content") or reason)


def _is_mistral_call(item: dict[str, Any]) -> bool:
    if not is_function_call(item):
        return False
    if item.get("type", "null") != "null":
        return has_mistral_id(item)
    function = item["function"]
    return isinstance(function.get("arguments"), str) or ("id" in item and "index" not in function)


def _read_choice(choice: dict[str, Any], into: Assembly) -> None:
    reason = choice.get("finish_reason")
    is_cut = reason in _TRUNCATED_REASONS
    _read_message(dict_or_empty(choice.get("message")), into, is_cut=is_cut)
    for place, item in enumerate(filter_dicts(dict_or_empty(choice.get("delta")).get("tool_calls"))):
        if not is_function_call(item):
            continue
        function, identity = item["function"], normalize_id(item.get("id"))
        index = read_stream_key(item.get("index"))
        key = place if index is None else index
        arguments, name, extra = function.get("arguments"), function.get("name"), keep_foreign_id(identity)
        if isinstance(arguments, dict):
            into.snapshot(key, arguments, name=name, id=identity, extra=extra)
        else:
            into.piece(key, arguments, name=name, id=identity, extra=extra)
    if reason is not None and not is_cut:
        into.complete_all()


def _read_message(message: dict[str, Any], into: Assembly, *, is_cut: bool = False) -> None:
    listed = filter_dicts(message.get("tool_calls")) if is_model_role(message.get("role")) else ()
    calls = [item for item in listed if is_function_call(item)]
    for item in calls:
        if is_cut and item is calls[-1] and not item["function"].get("arguments"):
            into.piece("cut", name=item["function"].get("name"), id=normalize_id(item.get("id")))
        else:
            _read_call(item, into)
    if message.get("role") == "tool":
        result, error = parse_output(message.get("content"))
        into.answer(normalize_id(message.get("tool_call_id")), result, error=error, name=message.get("name"))


def _read_call(item: dict[str, Any], into: Assembly) -> None:
    function, identity = item["function"], normalize_id(item.get("id"))
    into.call(function.get("name"), function.get("arguments"), identity, extra=keep_foreign_id(identity))


def _write_content_chunk(block: Mapping[str, Any]) -> dict[str, Any]:
    if block.get("type") == "image" and isinstance(block.get("data"), str):
        url = f"data:{block.get('mimeType', 'image/png')};base64,{block['data']}"
        return {"type": "image_url", "image_url": url}
    return {"type": "text", "text": describe_block(block)}
