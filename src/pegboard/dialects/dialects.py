"""All dialects together: finding the one a payload is in, and reading it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pegboard.core.refusals import Fault, Invalid
from pegboard.dialects.adapting import without_absent
from pegboard.dialects.asked import Asked, AskedCall, Unreadable
from pegboard.dialects.assembly import Assembly, Now, SchemaOf, utc_now
from pegboard.dialects.base import Dialect
from pegboard.dialects.final_turns import UNKNOWN, dialect_of_turn, is_final_text, without_code
from pegboard.dialects.final_turns import has_calls as shows_calls
from pegboard.dialects.lines import chunks_of
from pegboard.dialects.seen import seen
from pegboard.dialects.text.marks import pattern_of

_MOST_KEYS = 64
_MOST_REMEMBERED = 1000
# How far a text or a list is looked through for something to tell its dialect by.
_MOST_ITEMS = 100_000


def _no_schema(_name: str) -> Mapping[str, Any] | None:
    return None


class Dialects(Mapping[str, Dialect]):
    """The dialects by name.

    A payload is told by its own keys: each names the few dialects that claim it, so that it costs the same however many
    there are.
    """

    def __init__(self, every: Sequence[Dialect], *, now: Now = utc_now) -> None:
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
        self._claiming: dict[tuple[str, ...], list[Dialect]] = {}
        self._mark = pattern_of(self._by_mark) if self._by_mark else None
        # The marks that no model writes in prose.
        tags = [mark for mark in self._by_mark if mark[0] in "<["]
        self._tag = pattern_of(tags) if tags else None

    def __getitem__(self, name: str) -> Dialect:
        return self._names[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def named(self, name: str, parameter: str) -> Dialect:
        """The dialect of that name or short name; raises Invalid with the nearest name."""
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

    def found(self, payload: Any) -> Dialect | None:
        """The dialect this payload is in, or None."""
        payload = chunks_of(payload)
        return self._of_list(payload)[0] if isinstance(payload, list) else self._of_item(payload)

    def read(
        self,
        payload: Any,
        name: str | None = None,
        schema_of: SchemaOf = _no_schema,
        *,
        has_calls: bool = False,
    ) -> Asked:
        """The calls of a payload in this dialect, or in the one it is found to be in; raises Unreadable.

        A provider's message without a call has none; with `has_calls` one that no dialect finds calls in is refused.
        """
        if name is None or not (isinstance(payload, list) and self.named(name, "from").is_text):
            payload = chunks_of(payload)
        if name is None:
            if payload == []:
                return Asked("plain", (), many=True)
            found, known = self._of_list(payload) if isinstance(payload, list) else (self._of_item(payload), 0)
            if found is None:
                turn = None if has_calls else self._turn(payload, schema_of)
                if turn is None:
                    raise self._unreadable(payload)
                return Asked(turn, (), many=True)
            dialect = found
        else:
            dialect, known = self.named(name, "from"), len(payload) if isinstance(payload, list) else 0
        into = Assembly(schema_of, self._now)
        try:
            if isinstance(payload, list):
                self._read_list(dialect, payload, into, known)
            else:
                dialect.read(payload, into)
        except Unreadable:
            may_be_turn = name is not None and not has_calls and "history" in dialect.abilities
            if not may_be_turn or isinstance(payload, str) or self._turn(payload, schema_of) is None:
                raise
            return Asked(dialect.name, (), many=True)
        dialect.finish(into)
        calls = into.calls()
        if not calls and not into.has_dropped and shows_calls(payload):
            raise Unreadable(
                f"unrecognised_format: this is {seen(payload)}. It holds a call in a shape that {dialect.name} does "
                "not read; send the provider's message or response as it came"
            )
        return Asked(
            dialect.name,
            tuple([restored(dialect, call, schema_of) for call in calls]),
            many=isinstance(payload, list) or not into.bare,
        )

    def stream(self, name: str | None = None, schema_of: SchemaOf = _no_schema) -> Stream:
        """A stream to be fed chunk by chunk, in this dialect or in the one it is found to be in."""
        return Stream(self, None if name is None else self.named(name, "dialect"), schema_of, self._now)

    def _turn(self, payload: Any, schema_of: SchemaOf) -> str | None:
        """The dialect of a message without calls, or None where the payload is something else."""
        if isinstance(payload, list) and payload and all(isinstance(item, str) for item in payload):
            payload = "".join(payload)
        if isinstance(payload, str):
            is_marked = self._tag is not None and self._tag.search(without_code(payload)) is not None
            # The name of a tool alone is rather a call that lacks its arguments.
            is_text = is_final_text(payload) and not is_marked and schema_of(payload) is None
            return UNKNOWN if is_text else None
        turn = dialect_of_turn(payload)
        return UNKNOWN if turn is not None and turn not in self._known else turn

    def _read_list(self, dialect: Dialect, items: list[Any], into: Assembly, known: int) -> None:
        """Take in each item; one after those that are known must not be of another dialect."""
        for place, item in enumerate(items):
            if place > known and not isinstance(item, str) and not dialect.recognises(item):
                other = self._of_item(item)
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
        """The dialect of the first item with a call, or else of the first that has one, and where that stands."""
        first: tuple[Dialect, int] | None = None
        for place, item in enumerate(items[:_MOST_ITEMS]):
            found = None if isinstance(item, str) else self._of_item(item)
            if found is None:
                continue
            if len(items) == 1 or self._has_calls(found, item):
                return found, place
            first = first or (found, place)
        if first is not None:
            return first
        # Only texts: pieces of one, or lines of a protocol.
        texts = [item for item in items if isinstance(item, str)]
        return self._of_text("".join(texts)) if texts and len(texts) == len(items) else None, len(items)

    def _has_calls(self, dialect: Dialect, item: Any) -> bool:
        """Whether this item has a call or an answer in this dialect; the messages of relatives differ only in those."""
        into = Assembly(_no_schema, self._now)
        try:
            dialect.read(item, into)
            dialect.finish(into)
        except Invalid:
            return True
        return bool(into.calls())

    def _of_item(self, item: Any) -> Dialect | None:
        if isinstance(item, str):
            return self._of_text(item)
        keyed = item[0] if isinstance(item, list) and item else item
        if not isinstance(keyed, dict):
            return None
        by_key = self._by_key
        keys = keyed if len(keyed) <= _MOST_KEYS else [key for key in by_key if key in keyed]
        claimed = tuple([key for key in keys if key in by_key])
        for dialect in self._claiming.get(claimed) or self._ordered(claimed):
            if dialect.recognises(item):
                return dialect
        return None

    def _ordered(self, keys: tuple[str, ...]) -> list[Dialect]:
        """The dialects that claim any of these keys, in order; remembered, as payloads of a kind have the same keys."""
        found = sorted({dialect for key in keys for dialect in self._by_key[key]}, key=self._rank.__getitem__)
        if len(self._claiming) < _MOST_REMEMBERED:
            self._claiming[keys] = found
        return found

    def _of_text(self, text: str) -> Dialect | None:
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

    def _unreadable(self, payload: Any) -> Unreadable:
        return Unreadable(
            f"unrecognised_format: this is not a tool call in a known format: {seen(payload)}. "
            'Send {"name": …, "arguments": {…}}. Or name the format with ?from=; GET /v1/dialects lists them.',
            self._faults_as_plain(payload),
        )

    def _faults_as_plain(self, payload: Any) -> Sequence[Fault]:
        """What keeps the payload from being the simplest thing it could be."""
        try:
            self.read(payload, "plain", has_calls=True)
        except Invalid as error:
            return error.faults
        return ()


def restored(dialect: Dialect, call: AskedCall, schema_of: SchemaOf) -> AskedCall:
    """The call with its arguments as the tool's own schema means them."""
    arguments = call.arguments
    if type(arguments) is not dict or not arguments or (schema := schema_of(call.name)) is None:
        return call
    meant = dialect.restore(arguments, schema)
    if dialect.limits.root:
        meant = without_absent(meant, schema)
    return call if meant is arguments else call._replace(arguments=meant)


class Stream:
    """One stream of chunks on its way to whole calls."""

    def __init__(self, dialects: Dialects, dialect: Dialect | None, schema_of: SchemaOf, now: Now) -> None:
        self.dialect = dialect
        self._dialects = dialects
        self._schema_of = schema_of
        self._into = Assembly(schema_of, now)
        self._waiting: list[Any] = []
        self._text_length = 0
        self._text_tried = 0

    def feed(self, chunk: Any) -> list[AskedCall]:
        """Take in one chunk, and give the calls that are whole because of it."""
        chunks = [chunk]
        if self.dialect is None:
            self._waiting.append(chunk)
            if not self._find(chunk):
                return []
            chunks, self._waiting = self._waiting, []
        assert self.dialect is not None
        for item in chunks:
            read = chunks_of([item]) if isinstance(item, str) and not self.dialect.is_text else [item]
            for one in read:
                self.dialect.read(one, self._into)
        return self._ready(self.dialect)

    def end(self) -> list[AskedCall]:
        """The calls that are left, as nothing more comes; those that were cut off are malformed."""
        if self.dialect is None:
            self._text_tried = 0
            if not self._find(""):
                return []
        assert self.dialect is not None
        given = [call for item in self._waiting for call in self.feed(item)]
        self.dialect.finish(self._into)
        self._into.all_ended()
        return given + self._ready(self.dialect)

    def _find(self, chunk: Any) -> bool:
        """Whether the dialect is known now. Texts are looked through again only when there is twice as much of them."""
        if not isinstance(chunk, str):
            self.dialect = self._dialects.found([chunk])
        else:
            self._text_length += len(chunk)
            if self._text_length >= 2 * self._text_tried:
                self._text_tried = self._text_length
                self.dialect = self._dialects.found(self._waiting)
        return self.dialect is not None

    def _ready(self, dialect: Dialect) -> list[AskedCall]:
        return [restored(dialect, call, self._schema_of) for call in self._into.ready()]
