"""Convert a stored conversation to the message history of any provider."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.call_assembler import Assembly, read_id, read_name
from pegboard.dialects.memory_form import UNKNOWN_TOOL_NAME, Memory
from pegboard.dialects.parsed_calls import ABSENT, EMPTY_MAPPING, AskedCall
from pegboard.dialects.shared.content_blocks import INVALID_JSON_KEY, to_text
from pegboard.json_schema.arguments_text import parse_arguments
from pegboard.model.api_errors import Invalid
from pegboard.model.call import Malformed, ToolResult
from pegboard.model.call_errors import ErrorType, Problem
from pegboard.model.conversation import Message
from pegboard.model.json_text import json_text
from pegboard.model.timestamps import write_instant
from pegboard.model.tool import make_alias

NO_RESULT_MESSAGE = "No result was recorded"
_PORTABLE_NAME = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9_]+")
# The fields of a call in memory form; other fields are provider data that has to be sent back.
_MEMORY_FIELDS = frozenset({"id", "name", "arguments", "raw_arguments", "result", "error", "provider_executed"})


class History(NamedTuple):
    """The messages in order, the system text if the provider takes it separately, and the cursor of the next page."""

    items: list[Any]
    system: Any | None
    next_cursor: str | None = None


def build_history(messages: Sequence[Message], dialect: Dialect) -> History:
    """Return the conversation in a provider's dialect; raise Invalid if the dialect has no conversations."""
    if isinstance(dialect, Memory):
        return History([message_to_memory_form(message) for message in messages], None)
    if "history" not in dialect.abilities:
        raise Invalid(
            f"'{dialect.name}' is a format of calls and not of conversations; use 'memory', or a provider's "
            "messages, such as openai_chat, anthropic_messages or gemini_generate_content"
        )
    talk = dialect.talk
    turns, system = list(messages), ""
    if talk.system != "inline":
        texts = [message.content for message in turns if message.role == "system" and _has_text(message)]
        system = "\n\n".join(text for text in texts if text)
        turns = [message for message in turns if message.role != "system"]
    items: list[Any] = dialect.say("system", system, "system") if system and talk.system == "first" else []
    ids: set[str] = set()
    for message in turns:
        items += _convert_message(message, dialect, ids)
    return History(
        dialect.arrange_history(items), dialect.system(system) if system and talk.system == "apart" else None
    )


def _convert_message(message: Message, dialect: Dialect, ids: set[str]) -> list[Any]:
    """Convert one message; return an empty list if it has neither text nor calls."""
    calls = message.tool_calls if message.role == "assistant" else ()
    if not calls and not _has_text(message):
        return []
    if message.raw is not None and message.dialect == dialect.name:
        original = _reuse_original(message, calls, dialect, ids)
        if original:
            return original
    text = message.content if _has_text(message) else None
    if calls:
        answers = [_build_answer(call, message, place, dialect, ids) for place, call in enumerate(calls)]
        return dialect.compose_exchange(text, answers, message.id)
    return dialect.say(message.role, text or "", message.id)


def _has_text(message: Message) -> bool:
    return bool(message.content and message.content.strip())


def _reuse_original(
    message: Message, calls: Sequence[Mapping[str, Any]], dialect: Dialect, ids: set[str]
) -> list[Any] | None:
    """Return the original message and the results of its calls, or None if the calls or their ids do not match."""
    items = dialect.own(message.raw)
    into = Assembly(lambda _name: None)
    try:
        for item in items:
            dialect.read(item, into)
        dialect.finish(into)
    except Invalid:
        return None
    made = into.calls()
    if not items or [call.name for call in made] != [read_name(call.get("name")) for call in calls]:
        return None
    talk = dialect.talk
    open_calls = [(place, call) for place, call in enumerate(made) if call.is_open]
    known = [call.id for _, call in open_calls if call.id]
    if len(set(known)) < len(known) or not ids.isdisjoint(known) or (talk.has_ids and len(known) < len(open_calls)):
        return None
    if talk.ids is not None and not all(map(talk.ids.fullmatch, known)):
        return None
    ids.update(known)
    answers = [Answer(call, _build_result(calls[place], call)) for place, call in open_calls]
    return [*items, *dialect.reply(answers)] if answers else items


def _build_answer(call: Mapping[str, Any], message: Message, place: int, dialect: Dialect, ids: set[str]) -> Answer:
    """Build the answer for a stored call, with an id and a name that the provider accepts."""
    talk = dialect.talk
    arguments, raw = call.get("arguments"), call.get("raw_arguments")
    arguments = parse_arguments(raw if arguments is None and isinstance(raw, str) else arguments)
    if talk.objects and isinstance(arguments, Malformed):
        arguments = {INVALID_JSON_KEY: arguments.text}
    extra: dict[str, Any] = {}
    if message.dialect == dialect.name and not call.get("provider_executed"):
        extra = {key: value for key, value in call.items() if key not in _MEMORY_FIELDS}
    name = _choose_tool_name(read_name(call.get("name")) or UNKNOWN_TOOL_NAME, dialect.limits.name)
    identity = _choose_call_id(read_id(call.get("id")), f"{message.id}/{place}", dialect, ids)
    asked = AskedCall(name, arguments, identity, extra=extra or EMPTY_MAPPING)
    return Answer(asked, _build_result(call, asked))


def _build_result(call: Mapping[str, Any], asked: AskedCall) -> ToolResult:
    error = call.get("error")
    if error is None and call.get("result", ABSENT) is ABSENT:
        error = NO_RESULT_MESSAGE
    if error is None:
        return ToolResult(asked.name, True, _encode_json(call["result"]), call_id=asked.id)
    text = to_text(error)
    # Providers reject blank texts.
    message = text if text.strip() else "failed"
    problem = Problem(ErrorType.UNKNOWN, read_id(call.get("code")) or "execution_failed", message)
    return ToolResult(asked.name, False, problem=problem, call_id=asked.id)


def _encode_json(value: Any) -> bytes:
    written = json_text(value).encode()
    try:
        orjson.loads(written)
    except orjson.JSONDecodeError:  # a lone surrogate, which not every provider accepts
        return orjson.dumps(written.decode())
    return written


def _choose_call_id(given: str, mark: str, dialect: Dialect, ids: set[str]) -> str:
    """Return the id, or one derived from the call's position if the provider would reject it."""
    talk = dialect.talk
    if not given and not talk.has_ids:
        return ""
    fitting = given
    while not fitting or fitting in ids or (talk.ids is not None and not talk.ids.fullmatch(fitting)):
        digest = hashlib.sha256(mark.encode("utf-8", "replace")).hexdigest()
        whole = f"call_{digest[:24]}"
        fitting = whole if talk.ids is None or talk.ids.fullmatch(whole) else digest[:9]
        mark += "+"
    ids.add(fitting)
    return fitting


def _choose_tool_name(name: str, pattern: re.Pattern[str] | None) -> str:
    """Return the name, or a replacement if the provider would reject it: the alias of a tool name if it is portable."""
    alias = make_alias(name)
    if alias is None or (pattern is not None and pattern.fullmatch(name)):
        return name
    if _PORTABLE_NAME.fullmatch(alias):
        return alias
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    return f"_{_UNSAFE_CHARACTERS.sub('_', name).strip('_')[:50]}_{digest}"


def message_to_memory_form(message: Message) -> dict[str, Any]:
    """Return the message as the API shows it."""
    return {
        "id": message.id,
        "role": message.role,
        "content": message.content,
        "timestamp": write_instant(message.timestamp),
        "tool_calls": [dict(call) for call in message.tool_calls],
    }
