"""A stored conversation as the message history of a provider, whichever provider it began with."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from pegboard.core.call import Malformed, ToolResult
from pegboard.core.errors import ErrorType, Problem
from pegboard.core.instants import write_instant
from pegboard.core.memory import Message
from pegboard.core.refusals import Invalid
from pegboard.core.tool import alias_of
from pegboard.dialects.asked import ABSENT, NOTHING, AskedCall
from pegboard.dialects.assembly import Assembly, id_of, name_of
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.memory import Memory
from pegboard.dialects.parts.blocks import INVALID, shown
from pegboard.dialects.reading import arguments_of
from pegboard.store.types import json_text

NO_RESULT = "No result was recorded"
_UNNAMED = "unknown"
_PORTABLE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_OTHER = re.compile(r"[^A-Za-z0-9_]+")
# What memory form has of a call; the rest is what its provider needs back.
_KNOWN = frozenset({"id", "name", "arguments", "raw_arguments", "result", "error", "provider_executed"})


class History(NamedTuple):
    """The messages, in order, the system text where the provider takes it apart from them, and where the next begin."""

    items: list[Any]
    system: Any | None
    next_cursor: str | None = None


def history_of(messages: Sequence[Message], dialect: Dialect) -> History:
    """The conversation as this provider takes it; raises Invalid where the dialect is of no conversation."""
    if isinstance(dialect, Memory):
        return History([_kept(message) for message in messages], None)
    if "history" not in dialect.abilities:
        raise Invalid(
            f"'{dialect.name}' is a shape of calls and not of conversations: ask for 'memory', or for a provider's "
            "messages, such as openai_chat, anthropic_messages or gemini_generate_content"
        )
    talk = dialect.talk
    turns, system = list(messages), ""
    if talk.system != "inline":
        texts = [message.content for message in turns if message.role == "system" and _says(message)]
        system = "\n\n".join(text for text in texts if text)
        turns = [message for message in turns if message.role != "system"]
    items: list[Any] = dialect.say("system", system, "system") if system and talk.system == "first" else []
    ids: set[str] = set()
    for message in turns:
        items += _turn(message, dialect, ids)
    return History(dialect.settled(items), dialect.system(system) if system and talk.system == "apart" else None)


def _turn(message: Message, dialect: Dialect, ids: set[str]) -> list[Any]:
    """What a message becomes: nothing where it has neither text nor calls."""
    calls = message.tool_calls if message.role == "assistant" else ()
    if not calls and not _says(message):
        return []
    if message.raw is not None and message.dialect == dialect.name:
        as_it_came = _as_it_came(message, calls, dialect, ids)
        if as_it_came:
            return as_it_came
    text = message.content if _says(message) else None
    if calls:
        answers = [_answer(call, message, place, dialect, ids) for place, call in enumerate(calls)]
        return dialect.exchange(text, answers, message.id)
    return dialect.say(message.role, text or "", message.id)


def _says(message: Message) -> bool:
    return bool(message.content and message.content.strip())


def _as_it_came(
    message: Message, calls: Sequence[Mapping[str, Any]], dialect: Dialect, ids: set[str]
) -> list[Any] | None:
    """The message as its provider gave it and the answers to its calls, if it still says the same."""
    items = dialect.own(message.raw)
    into = Assembly(lambda _name: None)
    try:
        for item in items:
            dialect.read(item, into)
        dialect.finish(into)
    except Invalid:
        return None
    made = into.calls()
    if not items or [call.name for call in made] != [name_of(call.get("name")) for call in calls]:
        return None
    talk = dialect.talk
    open_calls = [(place, call) for place, call in enumerate(made) if call.is_open]
    known = [call.id for _, call in open_calls if call.id]
    if len(set(known)) < len(known) or not ids.isdisjoint(known) or (talk.has_ids and len(known) < len(open_calls)):
        return None
    if talk.ids is not None and not all(map(talk.ids.fullmatch, known)):
        return None
    ids.update(known)
    answers = [Answer(call, _ended(calls[place], call)) for place, call in open_calls]
    return [*items, *dialect.reply(answers)] if answers else items


def _answer(call: Mapping[str, Any], message: Message, place: int, dialect: Dialect, ids: set[str]) -> Answer:
    """A call and how it ended, with an id and a name that the provider takes."""
    talk = dialect.talk
    arguments, raw = call.get("arguments"), call.get("raw_arguments")
    arguments = arguments_of(raw if arguments is None and isinstance(raw, str) else arguments)
    if talk.objects and isinstance(arguments, Malformed):
        arguments = {INVALID: arguments.text}
    extra: dict[str, Any] = {}
    if message.dialect == dialect.name and not call.get("provider_executed"):
        extra = {key: value for key, value in call.items() if key not in _KNOWN}
    name = _name(name_of(call.get("name")) or _UNNAMED, dialect.limits.name)
    identity = _id(id_of(call.get("id")), f"{message.id}/{place}", dialect, ids)
    asked = AskedCall(name, arguments, identity, extra=extra or NOTHING)
    return Answer(asked, _ended(call, asked))


def _ended(call: Mapping[str, Any], asked: AskedCall) -> ToolResult:
    error = call.get("error")
    if error is None and call.get("result", ABSENT) is ABSENT:
        error = NO_RESULT
    if error is None:
        return ToolResult(asked.name, True, _json(call["result"]), call_id=asked.id)
    said = shown(error)
    # Providers refuse texts in which there is nothing.
    message = said if said.strip() else "failed"
    problem = Problem(ErrorType.UNKNOWN, id_of(call.get("code")) or "execution_failed", message)
    return ToolResult(asked.name, False, problem=problem, call_id=asked.id)


def _json(value: Any) -> bytes:
    written = json_text(value).encode()
    try:
        orjson.loads(written)
    except orjson.JSONDecodeError:  # half of a surrogate pair, which not every provider could be sent
        return orjson.dumps(written.decode())
    return written


def _id(given: str, mark: str, dialect: Dialect, ids: set[str]) -> str:
    """The id, or one made from the call's place where the provider would refuse it."""
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


def _name(name: str, pattern: re.Pattern[str] | None) -> str:
    """The name, or one that stands for it where the provider would refuse it: a tool's alias if it is a tool's."""
    alias = alias_of(name)
    if alias is None or (pattern is not None and pattern.fullmatch(name)):
        return name
    if _PORTABLE.fullmatch(alias):
        return alias
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    return f"_{_OTHER.sub('_', name).strip('_')[:50]}_{digest}"


def _kept(message: Message) -> dict[str, Any]:
    return {
        "id": message.id,
        "role": message.role,
        "content": message.content,
        "timestamp": write_instant(message.timestamp),
        "tool_calls": [dict(call) for call in message.tool_calls],
    }
