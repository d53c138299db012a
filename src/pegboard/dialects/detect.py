"""Detect the dialect of a payload among all dialects, and read it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pegboard.dialects.base import Dialect
from pegboard.dialects.call_assembler import Assembly, Clock, SchemaLookup, utc_now
from pegboard.dialects.final_turn import (
    FALLBACK_DIALECT,
    check_all_calls_read,
    detect_final_turn,
    is_final_text,
    remove_code,
)
from pegboard.dialects.parsed_calls import AskedCall, ParsedCalls, Unreadable, describe_payload
from pegboard.dialects.schema_adapters import remove_absent_nulls
from pegboard.dialects.sse_lines import parse_chunks
from pegboard.dialects.text.scanner import compile_marks
from pegboard.dialects.turn_reader import TurnReader
from pegboard.model.api_errors import Fault, Invalid

_MAX_KEYS = 64
_MAX_CACHED_KEY_SETS = 1000
# How many items of a list are searched for one that identifies the dialect.
_MAX_ITEMS = 100_000


def _no_schema(_name: str) -> Mapping[str, Any] | None:
    return None


class Dialects(Mapping[str, Dialect]):
    """The dialects by name.

    The keys of a payload select the few dialects that declare them, so the cost does not depend on the number of
    dialects.
    """

    def __init__(self, every: Sequence[Dialect], *, now: Clock = utc_now) -> None:
        self._now = now
        self._known: dict[str, Dialect] = {dialect.name: dialect for dialect in every}
        self._names = self._known | {
            alias: dialect for dialect in self._known.values() for alias in dialect.aliases if alias not in self._known
        }
        self._rank = {dialect: place for place, dialect in enumerate(self._known.values())}
        self._by_key: dict[str, list[Dialect]] = {}
        self._by_mark: dict[str, list[Dialect]] = {}
        for dialect in self._known.values():
            for key in dialect.keys:
                self._by_key.setdefault(key, []).append(dialect)
            for mark in dialect.marks:
                self._by_mark.setdefault(mark, []).append(dialect)
        self.turn_reader = TurnReader(list(self._known.values()))
        self._candidates_by_keys: dict[tuple[str, ...], list[Dialect]] = {}
        self._mark = compile_marks(tuple(self._by_mark)) if self._by_mark else None
        # Marks that do not occur in prose.
        tags = tuple(mark for mark in self._by_mark if mark[0] in "<[")
        self._tag = compile_marks(tags) if tags else None

    def __getitem__(self, name: str) -> Dialect:
        return self._names[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def named(self, name: str, parameter: str) -> Dialect:
        """Return the dialect with this name or alias; raise Invalid, with the most similar name, if there is none."""
        found = self._names.get(name)
        if found is None:
            near = difflib.get_close_matches(name[:64], self._names, 1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            where = f" in ?{parameter}=" if parameter in ("from", "as") else ""
            unknown = f"Unknown dialect '{name[:100]}'"
            raise Invalid(
                f"{unknown}{where}.{hint} GET /v1/dialects lists all.", [Fault(parameter, f"{unknown}.{hint}")]
            )
        return found

    def detect(self, payload: Any) -> Dialect | None:
        """Return the dialect of this payload, or None."""
        payload = parse_chunks(payload)
        return self._of_list(payload)[0] if isinstance(payload, list) else self._detect_item(payload)

    def read(
        self,
        payload: Any,
        name: str | None = None,
        schema_of: SchemaLookup = _no_schema,
        *,
        has_calls: bool = False,
    ) -> ParsedCalls:
        """Return the calls of a payload in the named or the detected dialect; raise Unreadable if that fails.

        A provider's message without calls returns no calls; with `has_calls`, it raises Unreadable if no dialect
        finds calls in it.
        """
        if name is None:
            return self._read_detected(parse_chunks(payload), schema_of, has_calls=has_calls)
        dialect = self.named(name, "from")
        if not (isinstance(payload, list) and dialect.is_text):
            payload = parse_chunks(payload)
        into = Assembly(schema_of, self._now)
        try:
            self._read_payload(dialect, payload, into, len(payload) if isinstance(payload, list) else 0)
        except Unreadable:
            may_be_turn = not has_calls and "history" in dialect.abilities and not isinstance(payload, str)
            if not may_be_turn or self._turn(payload, schema_of) is None:
                raise
            return ParsedCalls(dialect.name, (), many=True)
        return _build_parsed_calls(dialect, payload, into, schema_of)

    def _read_detected(self, payload: Any, schema_of: SchemaLookup, *, has_calls: bool) -> ParsedCalls:
        """Return the calls in the detected dialect; raise Unreadable if there is none."""
        if payload == []:
            return ParsedCalls("plain", (), many=True)
        dialect, known = self._of_list(payload) if isinstance(payload, list) else (self._detect_item(payload), 0)
        if dialect is None:
            turn = None if has_calls else self._turn(payload, schema_of)
            if turn is None:
                raise self._make_unreadable_error(payload)
            return ParsedCalls(turn, (), many=True)
        into = Assembly(schema_of, self._now)
        self._read_payload(dialect, payload, into, known)
        return _build_parsed_calls(dialect, payload, into, schema_of)

    def _read_payload(self, dialect: Dialect, payload: Any, into: Assembly, known: int) -> None:
        if isinstance(payload, list):
            self._read_list(dialect, payload, into, known)
        else:
            dialect.read(payload, into)

    def stream(self, name: str | None = None, schema_of: SchemaLookup = _no_schema) -> CallStream:
        """Return a stream to feed chunk by chunk, in the named or the detected dialect."""
        return CallStream(self, None if name is None else self.named(name, "dialect"), schema_of, self._now)

    def _turn(self, payload: Any, schema_of: SchemaLookup) -> str | None:
        """Return the dialect of a message without calls, or None if the payload is something else."""
        if isinstance(payload, list) and payload and all(isinstance(item, str) for item in payload):
            payload = "".join(payload)
        if isinstance(payload, str):
            is_marked = self._tag is not None and self._tag.search(remove_code(payload)) is not None
            # A text that is only a tool's name is more likely a call without its arguments.
            is_text = is_final_text(payload) and not is_marked and schema_of(payload) is None
            return FALLBACK_DIALECT if is_text else None
        turn = detect_final_turn(payload)
        return FALLBACK_DIALECT if turn is not None and turn not in self._known else turn

    def _read_list(self, dialect: Dialect, items: list[Any], into: Assembly, known: int) -> None:
        """Read each item; raise Unreadable if an item after `known` has calls of another dialect."""
        for place, item in enumerate(items):
            if place > known and not isinstance(item, str) and not dialect.recognises(item):
                other = self._detect_item(item)
                if other is not None and other is not dialect and self._has_calls(other, item):
                    raise Unreadable(
                        f"unrecognised_format: item {place} of the list is {other.name}, those before it are "
                        f"{dialect.name}; send calls of one dialect at a time"
                    )
            try:
                dialect.read(item, into)
            except Invalid as error:
                faults = [Fault(f"{place}.{fault.field}".rstrip("."), fault.message) for fault in error.faults]
                raise type(error)(f"Item {place} of the list: {error.message}", faults) from None

    def _of_list(self, items: list[Any]) -> tuple[Dialect | None, int]:
        """Return the dialect and index of the first item with a call, or else of the first one recognised."""
        first: tuple[Dialect, int] | None = None
        for place, item in enumerate(items[:_MAX_ITEMS]):
            found = None if isinstance(item, str) else self._detect_item(item)
            if found is None:
                continue
            if len(items) == 1 or self._has_calls(found, item):
                return found, place
            first = first or (found, place)
        if first is not None:
            return first
        # Only strings: pieces of one text, or lines of a protocol.
        texts = [item for item in items if isinstance(item, str)]
        return self._detect_text("".join(texts)) if texts and len(texts) == len(items) else None, len(items)

    def _has_calls(self, dialect: Dialect, item: Any) -> bool:
        """Return True if the item has a call or an answer in this dialect; similar dialects differ only in those."""
        into = Assembly(_no_schema, self._now)
        try:
            dialect.read(item, into)
            dialect.finish(into)
        except Invalid:
            return True
        return bool(into.calls())

    def _detect_item(self, item: Any) -> Dialect | None:
        if isinstance(item, str):
            return self._detect_text(item)
        keyed = item[0] if isinstance(item, list) and item else item
        if not isinstance(keyed, dict):
            return None
        by_key = self._by_key
        keys = keyed if len(keyed) <= _MAX_KEYS else [key for key in by_key if key in keyed]
        claimed = tuple([key for key in keys if key in by_key])
        for dialect in self._candidates_by_keys.get(claimed) or self._find_candidates(claimed):
            if dialect.recognises(item):
                return dialect
        return None

    def _find_candidates(self, keys: tuple[str, ...]) -> list[Dialect]:
        """Return the dialects that declare any of these keys, in order; cached per set of keys."""
        found = sorted({dialect for key in keys for dialect in self._by_key[key]}, key=self._rank.__getitem__)
        if len(self._candidates_by_keys) < _MAX_CACHED_KEY_SETS:
            self._candidates_by_keys[keys] = found
        return found

    def _detect_text(self, text: str) -> Dialect | None:
        if self._mark is None:
            return None
        tried: set[str] = set()
        for match in self._mark.finditer(text):
            mark = match.group()
            if mark in tried:
                continue
            tried.add(mark)
            for dialect in self._by_mark[mark]:
                if dialect.recognises(text):
                    return dialect
        return None

    def _make_unreadable_error(self, payload: Any) -> Unreadable:
        return Unreadable(
            f"unrecognised_format: this is not a tool call in a known format: {describe_payload(payload)}. "
            'Send {"name": …, "arguments": {…}}. Or name the format with ?from=; GET /v1/dialects lists them.',
            self._collect_plain_faults(payload),
        )

    def _collect_plain_faults(self, payload: Any) -> Sequence[Fault]:
        """Return the errors from reading the payload as plain, the simplest dialect."""
        try:
            self.read(payload, "plain", has_calls=True)
        except Invalid as error:
            return error.faults
        return ()


def _build_parsed_calls(dialect: Dialect, payload: Any, into: Assembly, schema_of: SchemaLookup) -> ParsedCalls:
    """Return the assembled calls; raise Unreadable if the payload has a call that was not read."""
    dialect.finish(into)
    calls = into.calls()
    if not into.has_dropped:
        check_all_calls_read(payload, [*calls, *into.repeated], dialect.name)
    return ParsedCalls(
        dialect.name,
        tuple([restore_call(dialect, call, schema_of) for call in calls]),
        many=isinstance(payload, list) or not into.bare,
    )


def restore_call(dialect: Dialect, call: AskedCall, schema_of: SchemaLookup) -> AskedCall:
    """Return the call with the arguments converted for the tool's own schema."""
    arguments = call.arguments
    if type(arguments) is not dict or not arguments or (schema := schema_of(call.name)) is None:
        return call
    meant = dialect.restore(arguments, schema)
    if dialect.limits.root:
        meant = remove_absent_nulls(meant, schema)
    return call if meant is arguments else call._replace(arguments=meant)


class CallStream:
    """Reads the chunks of one stream and returns complete calls."""

    def __init__(self, dialects: Dialects, dialect: Dialect | None, schema_of: SchemaLookup, now: Clock) -> None:
        self.dialect = dialect
        self._dialects = dialects
        self._schema_of = schema_of
        self._assembly = Assembly(schema_of, now)
        self._waiting: list[Any] = []
        self._text_length = 0
        self._checked_text_length = 0

    def feed(self, chunk: Any) -> list[AskedCall]:
        """Read one chunk, and return the calls that it completed."""
        chunks = [chunk]
        if self.dialect is None:
            self._waiting.append(chunk)
            if not self._find(chunk):
                return []
            chunks, self._waiting = self._waiting, []
        assert self.dialect is not None
        for item in chunks:
            read = parse_chunks([item]) if isinstance(item, str) and not self.dialect.is_text else [item]
            for one in read:
                self.dialect.read(one, self._assembly)
        return self._take_ready_calls(self.dialect)

    def end(self) -> list[AskedCall]:
        """End the stream and return the remaining calls; those that were cut off are malformed."""
        if self.dialect is None:
            self._checked_text_length = 0
            if not self._find(""):
                return []
        assert self.dialect is not None
        given = [call for item in self._waiting for call in self.feed(item)]
        self.dialect.finish(self._assembly)
        self._assembly.close_incomplete()
        return given + self._take_ready_calls(self.dialect)

    def _find(self, chunk: Any) -> bool:
        """Return True if the dialect is known now. Text is searched again only when its length has doubled."""
        if not isinstance(chunk, str):
            self.dialect = self._dialects.detect([chunk])
        else:
            self._text_length += len(chunk)
            if self._text_length >= 2 * self._checked_text_length:
                self._checked_text_length = self._text_length
                self.dialect = self._dialects.detect(self._waiting)
        return self.dialect is not None

    def _take_ready_calls(self, dialect: Dialect) -> list[AskedCall]:
        return [restore_call(dialect, call, self._schema_of) for call in self._assembly.ready()]
