"""What is to be remembered, out of a body in any dialect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from pegboard.core.call import Caller
from pegboard.core.errors import ToolError
from pegboard.core.instants import read_instant
from pegboard.core.memory import Role
from pegboard.core.refusals import Fault, Invalid
from pegboard.dialects.asked import Asked, AskedCall, Unreadable
from pegboard.dialects.dialects import Dialects
from pegboard.dialects.lines import chunks_of
from pegboard.dialects.parts.blocks import told_in
from pegboard.dialects.parts.picking import dict_of, dicts_of
from pegboard.dialects.saying import Turn, said, turns
from pegboard.dialects.seen import seen
from pegboard.dialects.spoken import aloud
from pegboard.memory.calls import kept, split
from pegboard.payloads import MAX_CALLS, Payloads
from pegboard.registry.arguments import measure
from pegboard.store.types import storable

MAX_CONTENT = 2**20
_MAX_DEPTH = 100
_MAX_VALUES = 200_000
NOT_ADDED = "The message was not added"
# The keys of a message in the board's own form: what else there is, only its provider can read.
_OWN = frozenset({"id", "role", "content", "tool_calls", "toolCalls", "timestamp", "created_at", "createdAt"})
_CALLS = ("tool_calls", "toolCalls")
_SAYING = frozenset({"content", "parts", "blocks", "items", "text", "data", "kwargs", *_CALLS})
_FORM_KEYS = frozenset({"toolCallId", "type", "function"})
# By what only its messages have, whose parts these are; told where there is no call to tell by.
_PART_MARKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("openai_chat", ("image_url", "input_audio")),
    ("openai_responses", ("input_image", "input_file", "input_text", "output_text")),
    ("bedrock_converse", ("format", "bytes")),
    ("anthropic_messages", ("source",)),
    ("gemini_generate_content", ("inlineData", "fileData", "inline_data", "file_data", "thoughtSignature")),
)


class Heard(NamedTuple):
    """One message to be kept, or answers to the calls of earlier ones: then `role` is None."""

    role: Role | None
    content: str | None
    timestamp: datetime
    calls: tuple[dict[str, Any], ...] = ()
    answers: Sequence[AskedCall] = ()
    dialect: str | None = None
    raw: Any = None


class Reading:
    """Reads bodies for one caller."""

    def __init__(self, dialects: Dialects, payloads: Payloads, caller: Caller, dialect: str | None) -> None:
        self._payloads = payloads
        self._dialects = dialects
        self._caller = caller
        self._named = None if dialect is None else dialects.named(dialect, "from").name

    def read(self, body: Any) -> Iterator[Heard]:
        """What a body says, in order; raises Invalid where nobody knows what it is."""
        _check_bounds(body)
        body = chunks_of(body)
        if body in (None, "", [], {}) or isinstance(body, int | float):
            raise _unknown(body)
        found = turns(body)
        if any(turn.role is None for turn in found):
            yield from self._of_calls(body, found)
            return
        known = self._named or self._found(body)
        for turn in found:
            yield from self._of_turn(turn, known)

    def _found(self, body: Any) -> str | None:
        dialect = self._dialects.found(body)
        return None if dialect is None else dialect.name

    def _of_calls(self, body: Any, found: Sequence[Turn]) -> list[Heard]:
        """Calls without a message around them, or the chunks of a stream: what a model says at one go."""
        if any(turn.role in ("user", "system") for turn in found):
            place, turn = next((place, turn) for place, turn in enumerate(found) if turn.role is None)
            raise _unknown(turn.raw, place)
        try:
            asked = self._payloads.read(body, self._named, self._caller, has_calls=True)
        except Unreadable:
            if self._named is not None:
                raise
            raise _unknown(body) from None
        text = said(body)
        if not asked.calls and text is None:
            raise _unknown(body)
        return self._assistant(Turn("assistant", text, None), asked)

    def _of_turn(self, turn: Turn, known: str | None) -> list[Heard]:
        if turn.role == "tool":
            return [self._answers(turn, known)]
        if turn.role == "assistant":
            return self._assistant(turn, self._asked(turn, known))
        _check_says(turn)
        assert turn.role is not None
        dialect = known or _dialect_of_parts(turn.raw)
        raw = None if dialect is None or _is_own(turn.raw) or self._asks(turn.raw) else turn.raw
        return [Heard(turn.role, content_of(turn.text), _instant(turn.when), dialect=dialect, raw=raw)]

    def _asks(self, raw: Any) -> bool:
        """Whether this would be read as calls if its role were not known."""
        try:
            return any(call.is_open for call in self._payloads.read(raw, None, self._caller, has_calls=True).calls)
        except Unreadable:
            return False
        except Invalid:
            return True  # too many calls

    def _assistant(self, turn: Turn, asked: Asked | None) -> list[Heard]:
        """What a model says and asks for; answers in it to calls of earlier messages come after."""
        calls, answers = split(asked.calls if asked is not None else ())
        if len(calls) > MAX_CALLS:
            raise Invalid(f"{len(calls):,} calls in one message, at most {MAX_CALLS} are kept; {NOT_ADDED.lower()}")
        if not calls:
            if answers and turn.text is None:
                return [Heard(None, None, _instant(turn.when), answers=answers)]
            _check_says(turn)
        dialect = asked.dialect if asked is not None else _dialect_of_parts(turn.raw)
        text = turn.text
        if text is not None and dialect is not None and self._dialects[dialect].is_text:
            text = aloud(text)
        raw = turn.raw if dialect is not None and self._says_more(turn.raw, dialect) else None
        forms = tuple(kept(call) for call in calls)
        heard = [Heard("assistant", content_of(text), _instant(turn.when), forms, (), dialect, raw)]
        return [*heard, Heard(None, None, heard[0].timestamp, answers=answers)] if answers else heard

    def _says_more(self, raw: Any, dialect: str) -> bool:
        """Whether a message says more in its own dialect than its text and its calls in memory form do."""
        if raw is None or dialect == "memory":
            return False
        if not _is_own(raw) or self._dialects[dialect].is_text:
            return True
        return _calls_in(raw) is not None and (self._named or self._found(raw)) == dialect

    def _asked(self, turn: Turn, known: str | None) -> Asked | None:
        """The calls of a model's message; None where it has none."""
        given = _calls_in(turn.raw)
        refusal: Unreadable | None = None
        for dialect in (known, None) if known is not None and self._named is None else (known,):
            try:
                asked = self._payloads.read(turn.raw, dialect, self._caller, has_calls=True)
            except Unreadable as error:
                refusal = error if refusal is None else refusal
            else:
                # A message of the board's own form may look like that of a dialect whose calls these are not.
                if given is None or self._named is not None or any(call.name for call in asked.calls):
                    return asked
        if given is None:
            return None
        return self._of_list(given, refusal)

    def _of_list(self, calls: list[Any], refusal: Unreadable | None) -> Asked:
        """Calls of any dialect in a message of the board's own form."""
        in_form = all(
            "name" in call and "arguments" in call and _FORM_KEYS.isdisjoint(call) for call in dicts_of(calls)
        )
        try:
            return self._payloads.read(calls, "memory" if in_form else None, self._caller, has_calls=True)
        except Unreadable:
            if refusal is None:
                raise
            raise refusal from None

    def _answers(self, turn: Turn, known: str | None) -> Heard:
        answers: list[AskedCall] = []
        if self._named is None and _holds_documents(turn.raw):
            known = "cohere_v2"
        for dialect in (known, None) if known is not None and self._named is None else (known,):
            try:
                asked = self._payloads.read(turn.raw, dialect, self._caller, has_calls=True)
                answers = [call for call in asked.calls if not call.is_open]
            except Unreadable:
                answers = []
            if answers:
                break
        answers = answers or _plain_answers(turn.raw)
        if not answers:
            says = "an answer to a call needs the call's id (tool_call_id) and what came of it (content)"
            raise Invalid.of(NOT_ADDED, [Fault("", f"this is {seen(turn.raw)}; {says}")])
        return Heard(None, None, _instant(turn.when), answers=answers)


def _check_bounds(body: Any) -> None:
    try:
        measure({"message": body}, max_depth=_MAX_DEPTH, max_values=_MAX_VALUES, exact=True)
    except ToolError as error:
        raise Invalid(f"{NOT_ADDED}: {error.message}") from None


def _holds_documents(raw: Any) -> bool:
    """Whether an answer is in documents, as those of one provider are, which are else like everybody's."""
    return any(part.get("type") == "document" and "document" in part for part in dicts_of(dict_of(raw).get("content")))


def _plain_answers(raw: Any) -> list[AskedCall]:
    """An answer whose call is named by the simplest of keys."""
    item = dict_of(raw)
    identity = next((item[key] for key in ("tool_call_id", "toolCallId", "call_id") if item.get(key)), "")
    name = next((item[key] for key in ("name", "tool_name", "toolName") if item.get(key)), "")
    if "content" not in item or not isinstance(identity, str) or not isinstance(name, str) or not (identity or name):
        return []
    return [AskedCall(name, None, identity, result=told_in(item["content"]))]


def _is_own(raw: Any) -> bool:
    """Whether a message has no more than a role, a text and calls."""
    return isinstance(raw, dict) and raw.keys() <= _OWN and isinstance(raw.get("content", ""), str | None)


def _calls_in(raw: Any) -> list[Any] | None:
    """The calls that stand beside a message's text; None where there are none."""
    item = dict_of(raw)
    for key in _CALLS:
        if item.get(key) is not None and not isinstance(item[key], list):
            raise Invalid.of(NOT_ADDED, [Fault(key, f"must be a list of calls, and is {seen(item[key])}")])
    return next((item[key] for key in _CALLS if item.get(key)), None)


def _dialect_of_parts(raw: Any) -> str | None:
    item = dict_of(raw)
    for part in (*dicts_of(item.get("content")), *dicts_of(item.get("parts"))):
        for dialect, marks in _PART_MARKS:
            inner = [key for value in part.values() if isinstance(value, dict) for key in value]
            if any(mark in part or mark == part.get("type") or mark in inner for mark in marks):
                return dialect
    return None


def _check_says(turn: Turn) -> None:
    item = turn.raw
    if isinstance(item, dict) and turn.text is None:
        content = item.get("content")
        if _SAYING.isdisjoint(item) or (content is not None and not isinstance(content, str | list | dict)):
            raise Invalid.of(
                NOT_ADDED, [Fault("content", "must be a text, a list of parts, or null where there are tool_calls")]
            )


def content_of(text: str | None) -> str | None:
    """The text as it may be kept; Invalid where it is too long."""
    size = 0 if text is None else len(text.encode("utf-8", "replace"))
    if size > MAX_CONTENT:
        raise Invalid.of(NOT_ADDED, [Fault("content", f"{size:,} bytes of text, at most {MAX_CONTENT:,} are kept")])
    return None if text is None else storable(text)


def _instant(given: Any) -> datetime:
    """The moment that a message says it is from; what is no text is a provider's own count of time, and passed over."""
    if not isinstance(given, str):
        return datetime.now(UTC)
    whole, dot, rest = given.partition(".")
    digits = len(rest) - len(rest.lstrip("0123456789"))
    try:
        return read_instant(whole + (f".{rest[: min(digits, 6)]}{rest[digits:]}" if dot and digits else ""))
    except ValueError as error:
        raise Invalid.of(
            NOT_ADDED, [Fault("timestamp", f"{error}; write it as 2026-01-02T03:04:05Z, or leave it out")]
        ) from None


def _unknown(body: Any, place: int | None = None) -> Invalid:
    where = "this" if place is None else f"item {place} of the list"
    return Unreadable(
        f"unrecognised_format: {where} is {seen(body)}, which is no message that this board knows. Send "
        '{"role": "user" | "assistant" | "system" | "tool", "content": …, "tool_calls": […]}, a message or a response '
        "of a provider as it came, or a list of them, and name its dialect with ?from= if it is not found out"
    )
