"""Read the messages to store from a body in any dialect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from pegboard.conversations.stored_calls import split_calls_and_answers
from pegboard.dialect_calls import MAX_PAYLOAD_CALLS, PayloadRunner
from pegboard.dialects.detect import Dialects
from pegboard.dialects.memory_form import to_memory_form
from pegboard.dialects.parsed_calls import AskedCall, ParsedCalls, Unreadable, describe_payload
from pegboard.dialects.shared.content_blocks import parse_result_content
from pegboard.dialects.shared.function_calls import dict_or_empty, filter_dicts
from pegboard.dialects.shared.turns import Turn
from pegboard.dialects.sse_lines import parse_chunks
from pegboard.json_schema.read_arguments import check_arguments_extent
from pegboard.model.api_errors import Fault, Invalid
from pegboard.model.call import Caller
from pegboard.model.call_errors import ToolError
from pegboard.model.conversation import MessageRole
from pegboard.model.json_text import replace_unstorable
from pegboard.model.timestamps import read_instant

MAX_CONTENT_BYTES = 2**20
_MAX_DEPTH = 100
_MAX_VALUES = 200_000
NOT_ADDED_MESSAGE = "The message was not added"
# The keys of a message in the board's own form; only its provider can interpret other keys.
_OWN_KEYS = frozenset({"id", "role", "content", "tool_calls", "toolCalls", "timestamp", "created_at", "createdAt"})
_CALL_KEYS = ("tool_calls", "toolCalls")
_CONTENT_KEYS = frozenset({"content", "parts", "blocks", "items", "text", "data", "kwargs", *_CALL_KEYS})
_PROVIDER_KEYS = frozenset({"toolCallId", "type", "function"})


class IncomingMessage(NamedTuple):
    """One message to store, or, if `role` is None, only answers to calls of earlier messages."""

    role: MessageRole | None
    content: str | None
    timestamp: datetime
    calls: tuple[dict[str, Any], ...] = ()
    answers: Sequence[AskedCall] = ()
    dialect: str | None = None
    raw: Any = None


class MessageReader:
    """Reads the bodies of one caller."""

    def __init__(self, dialects: Dialects, payloads: PayloadRunner, caller: Caller, dialect: str | None) -> None:
        self._payloads = payloads
        self._dialects = dialects
        self._turns = dialects.turn_reader
        self._caller = caller
        self._named = None if dialect is None else dialects.named(dialect, "from").name

    def read(self, body: Any) -> Iterator[IncomingMessage]:
        """Yield the messages of a body in order; raise Invalid if the body is not recognised."""
        _check_bounds(body)
        body = parse_chunks(body)
        if body in (None, "", [], {}) or isinstance(body, int | float):
            raise _build_unrecognised_error(body)
        found = self._turns.read(body)
        if any(turn.role is None for turn in found):
            yield from self._read_calls(body, found)
            return
        known = self._named or self._detect_dialect_name(body)
        for turn in found:
            yield from self._read_turn(turn, known)

    def _detect_dialect_name(self, body: Any) -> str | None:
        dialect = self._dialects.detect(body)
        return None if dialect is None else dialect.name

    def _read_calls(self, body: Any, found: Sequence[Turn]) -> list[IncomingMessage]:
        """Read calls without an enclosing message, or the chunks of a stream, as one assistant message."""
        if any(turn.role in ("user", "system") for turn in found):
            place, turn = next((place, turn) for place, turn in enumerate(found) if turn.role is None)
            raise _build_unrecognised_error(turn.raw, place)
        try:
            asked = self._payloads.read(body, self._named, self._caller, has_calls=True)
        except Unreadable:
            if self._named is not None:
                raise
            raise _build_unrecognised_error(body) from None
        text = self._turns.read_assistant_text(body)
        if not asked.calls and text is None:
            raise _build_unrecognised_error(body)
        return self._read_assistant(Turn("assistant", text, None), asked)

    def _read_turn(self, turn: Turn, known: str | None) -> list[IncomingMessage]:
        if turn.role == "tool":
            return [self._answers(turn, known)]
        if turn.role == "assistant":
            return self._read_assistant(turn, self._parse_calls(turn, known))
        _check_has_text(turn)
        assert turn.role is not None
        dialect = known or self._turns.find_media_dialect(turn.raw)
        raw = None if dialect is None or _is_own_form(turn.raw) or self._has_open_calls(turn.raw) else turn.raw
        return [
            IncomingMessage(turn.role, check_content(turn.text), _read_timestamp(turn.when), dialect=dialect, raw=raw)
        ]

    def _has_open_calls(self, raw: Any) -> bool:
        """Return True if this would be read as calls without its role."""
        try:
            return any(call.is_open for call in self._payloads.read(raw, None, self._caller, has_calls=True).calls)
        except Unreadable:
            return False
        except Invalid:
            return True  # too many calls

    def _read_assistant(self, turn: Turn, asked: ParsedCalls | None) -> list[IncomingMessage]:
        """Return the model's message with its calls; answers to calls of earlier messages follow it."""
        calls, answers = split_calls_and_answers(asked.calls if asked is not None else ())
        if len(calls) > MAX_PAYLOAD_CALLS:
            raise Invalid(
                f"{len(calls):,} calls in one message, at most {MAX_PAYLOAD_CALLS} are kept; "
                f"{NOT_ADDED_MESSAGE.lower()}"
            )
        if not calls:
            if answers and turn.text is None:
                return [IncomingMessage(None, None, _read_timestamp(turn.when), answers=answers)]
            _check_has_text(turn)
        dialect = asked.dialect if asked is not None else self._turns.find_media_dialect(turn.raw)
        text = turn.text
        if text is not None and dialect is not None and self._dialects[dialect].is_text:
            text = self._turns.remove_thoughts_and_calls(text)
        raw = turn.raw if dialect is not None and self._has_provider_details(turn.raw, dialect) else None
        forms = tuple(to_memory_form(call) for call in calls)
        incoming = [
            IncomingMessage("assistant", check_content(text), _read_timestamp(turn.when), forms, (), dialect, raw)
        ]
        return [*incoming, IncomingMessage(None, None, incoming[0].timestamp, answers=answers)] if answers else incoming

    def _has_provider_details(self, raw: Any, dialect: str) -> bool:
        """Return True if a message has more content in its own dialect than the memory form keeps."""
        if raw is None or dialect == "memory":
            return False
        if not _is_own_form(raw) or self._dialects[dialect].is_text:
            return True
        return _get_call_list(raw) is not None and (self._named or self._detect_dialect_name(raw)) == dialect

    def _parse_calls(self, turn: Turn, known: str | None) -> ParsedCalls | None:
        """Return the calls of a model's message, or None if it has none."""
        given = _get_call_list(turn.raw)
        refusal: Unreadable | None = None
        for dialect in (known, None) if known is not None and self._named is None else (known,):
            try:
                asked = self._payloads.read(turn.raw, dialect, self._caller, has_calls=True)
            except Unreadable as error:
                refusal = error if refusal is None else refusal
            else:
                # A message in the board's own form may look like a dialect that its calls do not have.
                if given is None or self._named is not None or any(call.name for call in asked.calls):
                    return asked
        if given is None:
            return None
        return self._of_list(given, refusal)

    def _of_list(self, calls: list[Any], refusal: Unreadable | None) -> ParsedCalls:
        """Read the calls, in any dialect, of a message in the board's own form."""
        in_form = all(
            "name" in call and "arguments" in call and _PROVIDER_KEYS.isdisjoint(call) for call in filter_dicts(calls)
        )
        try:
            return self._payloads.read(calls, "memory" if in_form else None, self._caller, has_calls=True)
        except Unreadable:
            if refusal is None:
                raise
            raise refusal from None

    def _answers(self, turn: Turn, known: str | None) -> IncomingMessage:
        answers: list[AskedCall] = []
        if self._named is None:
            known = turn.dialect or known
        for dialect in (known, None) if known is not None and self._named is None else (known,):
            try:
                asked = self._payloads.read(turn.raw, dialect, self._caller, has_calls=True)
                answers = [call for call in asked.calls if not call.is_open]
            except Unreadable:
                answers = []
            if answers:
                break
        answers = answers or _read_plain_answers(turn.raw)
        if not answers:
            advice = "an answer to a call needs the call's id (tool_call_id) and its result (content)"
            raise Invalid.of(NOT_ADDED_MESSAGE, [Fault("", f"this is {describe_payload(turn.raw)}; {advice}")])
        return IncomingMessage(None, None, _read_timestamp(turn.when), answers=answers)


def _check_bounds(body: Any) -> None:
    try:
        check_arguments_extent({"message": body}, max_depth=_MAX_DEPTH, max_values=_MAX_VALUES, exact=True)
    except ToolError as error:
        raise Invalid(f"{NOT_ADDED_MESSAGE}: {error.message}") from None


def _read_plain_answers(raw: Any) -> list[AskedCall]:
    """Read an answer that identifies its call by a common key such as `tool_call_id` or `name`."""
    item = dict_or_empty(raw)
    identity = next((item[key] for key in ("tool_call_id", "toolCallId", "call_id") if item.get(key)), "")
    name = next((item[key] for key in ("name", "tool_name", "toolName") if item.get(key)), "")
    if "content" not in item or not isinstance(identity, str) or not isinstance(name, str) or not (identity or name):
        return []
    return [AskedCall(name, None, identity, result=parse_result_content(item["content"]))]


def _is_own_form(raw: Any) -> bool:
    """Return True if a message has only a role, a text and calls."""
    return isinstance(raw, dict) and raw.keys() <= _OWN_KEYS and isinstance(raw.get("content", ""), str | None)


def _get_call_list(raw: Any) -> list[Any] | None:
    """Return the list of calls beside a message's text, or None; raise Invalid if it is not a list."""
    item = dict_or_empty(raw)
    for key in _CALL_KEYS:
        if item.get(key) is not None and not isinstance(item[key], list):
            raise Invalid.of(
                NOT_ADDED_MESSAGE, [Fault(key, f"must be a list of calls, and is {describe_payload(item[key])}")]
            )
    return next((item[key] for key in _CALL_KEYS if item.get(key)), None)


def _check_has_text(turn: Turn) -> None:
    item = turn.raw
    if isinstance(item, dict) and turn.text is None:
        content = item.get("content")
        if _CONTENT_KEYS.isdisjoint(item) or (content is not None and not isinstance(content, str | list | dict)):
            raise Invalid.of(
                NOT_ADDED_MESSAGE,
                [Fault("content", "must be a text, a list of parts, or null if there are tool_calls")],
            )


def check_content(text: str | None) -> str | None:
    """Return the text with unstorable characters replaced; raise Invalid if it is too long."""
    size = 0 if text is None else len(text.encode("utf-8", "replace"))
    if size > MAX_CONTENT_BYTES:
        raise Invalid.of(
            NOT_ADDED_MESSAGE, [Fault("content", f"{size:,} bytes of text, at most {MAX_CONTENT_BYTES:,} are kept")]
        )
    return None if text is None else replace_unstorable(text)


def _read_timestamp(given: Any) -> datetime:
    """Return the timestamp of a message; the current time if it is not a string, such as a provider's own counter."""
    if not isinstance(given, str):
        return datetime.now(UTC)
    whole, dot, rest = given.partition(".")
    digits = len(rest) - len(rest.lstrip("0123456789"))
    try:
        return read_instant(whole + (f".{rest[: min(digits, 6)]}{rest[digits:]}" if dot and digits else ""))
    except ValueError as error:
        raise Invalid.of(
            NOT_ADDED_MESSAGE, [Fault("timestamp", f"{error}; write it as 2026-01-02T03:04:05Z, or leave it out")]
        ) from None


def _build_unrecognised_error(body: Any, place: int | None = None) -> Invalid:
    where = "this" if place is None else f"item {place} of the list"
    return Unreadable(
        f"unrecognised_format: {where} is {describe_payload(body)}, not a message in a known format. Send "
        '{"role": "user" | "assistant" | "system" | "tool", "content": …, "tool_calls": […]}, a message or a response '
        "of a provider unchanged, or a list of them, and name its dialect with ?from= if it is not detected"
    )
