"""Assemble calls from a payload or from the chunks of a stream."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from pegboard.dialects.parsed_calls import ABSENT, EMPTY_MAPPING, AskedCall
from pegboard.json_schema.arguments_text import parse_arguments
from pegboard.model.api_errors import Invalid
from pegboard.model.call import Malformed

# The maximum number of calls in one payload or stream, including finished calls of a history.
MAX_CALLS = 10_000

SchemaLookup = Callable[[str], Mapping[str, Any] | None]
Clock = Callable[[], datetime]
S = TypeVar("S")


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


class _CallDraft:
    """A call that a stream has started, and whose arguments arrive in pieces or as snapshots."""

    __slots__ = ("arguments", "extra", "id", "is_over", "key", "name", "place", "provider_executed", "texts")

    def __init__(self, key: Hashable, place: int) -> None:
        self.key = key
        self.place = place
        self.name = ""
        self.id = ""
        self.texts: list[str] = []
        self.arguments: Any = ABSENT
        self.extra: dict[str, Any] = {}
        self.provider_executed = False
        self.is_over = False

    def call(self) -> AskedCall:
        """Return the call so far; if it was cut off before any arguments arrived, they are malformed and not empty."""
        arguments = self.arguments
        if arguments is ABSENT:
            text = "".join(self.texts)
            cut_off = not self.is_over and not text.strip()
            arguments = (
                Malformed(text, "the stream ended before the arguments arrived") if cut_off else parse_arguments(text)
            )
        elif not self.is_over and arguments == "":
            arguments = Malformed("", "the stream ended before the arguments arrived")
        else:
            arguments = parse_arguments(arguments)
        return AskedCall(
            self.name, arguments, self.id, provider_executed=self.provider_executed, extra=self.extra or EMPTY_MAPPING
        )


class Assembly:
    """Assembles calls, and keeps them in the order in which they started.

    For a whole payload, use `call` and `answer`. For a stream, use `piece`, or `snapshot` if each chunk repeats all
    previous content, and `over` when a call is complete. A `key` identifies the chunks of one call: an index, an
    item's id, or a call's id.
    """

    __slots__ = (
        "_by_id",
        "_drafts",
        "_entries",
        "_given",
        "_places",
        "_seen",
        "_whole",
        "bare",
        "has_dropped",
        "now",
        "repeated",
        "schema_of",
        "state",
    )

    def __init__(self, schema_of: SchemaLookup, now: Clock = utc_now) -> None:
        self.schema_of = schema_of
        self.now = now
        # True if the payload is one bare call, and not a message that may contain several.
        self.bare = False
        # True if something that looks like a call was skipped or dropped on purpose.
        self.has_dropped = False
        # Calls that were left out because they are read from another place of the payload.
        self.repeated: list[AskedCall] = []
        # What `get_state` returns; None if the dialect has no state yet.
        self.state: Any = None
        self._entries: list[AskedCall | _CallDraft] = []
        self._drafts: dict[Hashable, _CallDraft] = {}
        self._by_id: dict[str, _CallDraft] = {}
        # Indexes of calls that became complete since the last `ready`, and of those that `ready` returned before.
        self._whole: list[int] = []
        self._given: set[int] = set()
        # Indexes of calls without an answer, by id, among the first `_seen` entries.
        self._places: dict[str, deque[int]] = {}
        self._seen = 0

    def get_state(self, make: Callable[[], S]) -> S:
        """Return the state that a dialect keeps between chunks; the first time, make it."""
        if self.state is None:
            self.state = make()
        state: S = self.state
        return state

    def call(
        self,
        name: str,
        arguments: Any,
        id: Any = None,
        *,
        result: Any = ABSENT,
        error: str | None = None,
        provider_executed: bool = False,
        extra: Mapping[str, Any] = EMPTY_MAPPING,
    ) -> None:
        """Add a complete call; it replaces, once, a call with the same id that was assembled from pieces."""
        known = read_name(name)
        identity = read_id(id)
        call = AskedCall(known, parse_arguments(arguments), identity, result, error, provider_executed, extra)
        draft = self._by_id.pop(identity, None) if self._by_id and identity else None
        if draft is None:
            self.add(call)
        else:
            self._close(draft)
            before = self._entries[draft.place]
            if isinstance(before, AskedCall) and not before.is_open and call.is_open:
                # The draft was answered before this repetition arrived: keep the answer.
                call = call._replace(result=before.result, error=before.error)
            self._entries[draft.place] = call

    def add(self, call: AskedCall) -> None:
        """Add a complete call unchanged; raise Invalid if the payload has too many."""
        self._whole.append(self._next_index())
        self._entries.append(call)

    def add_malformed(self, name: str, text: str, why: str) -> None:
        """Add a call whose arguments cannot be parsed."""
        self.add(AskedCall(name, Malformed(text, why)))

    def piece(
        self,
        key: Hashable,
        text: str | None = "",
        *,
        name: str | None = None,
        id: Any = None,
        more_name: str | None = None,
        provider_executed: bool = False,
        extra: Mapping[str, Any] = EMPTY_MAPPING,
    ) -> None:
        """Add a piece of a call's arguments, or its name or id; a new id under the same key starts another call."""
        draft = self._draft(key, read_id(id), name, more_name)
        if text:
            draft.texts.append(text_or_empty(text))
        if provider_executed:
            draft.provider_executed = True
        if extra:
            draft.extra.update(extra)

    def snapshot(
        self,
        key: Hashable,
        arguments: Any,
        *,
        name: str | None = None,
        id: Any = None,
        extra: Mapping[str, Any] = EMPTY_MAPPING,
    ) -> None:
        """Replace the arguments of a call by all that has arrived so far."""
        draft = self._draft(key, read_id(id), name, None)
        draft.arguments = arguments
        if extra:
            draft.extra.update(extra)

    def over(self, key: Hashable) -> None:
        """Mark the call with this key as complete."""
        draft = self._drafts.get(key)
        if draft is not None:
            self._close(draft)

    def complete_all(self) -> None:
        """Mark all calls as complete, because the message is complete."""
        for key in list(self._drafts):
            self.over(key)

    def close_incomplete(self) -> None:
        """End all calls that are still open, because the input ended; they may be incomplete."""
        for draft in list(self._drafts.values()):
            del self._drafts[draft.key]
            self._whole.append(draft.place)

    def drop(self) -> None:
        """Drop all calls so far, because they turned out to be part of the model's reasoning."""
        self.has_dropped = True
        self._entries.clear()
        self._drafts.clear()
        self._by_id.clear()
        self._whole.clear()
        self._given.clear()
        self._places.clear()
        self._seen = 0

    def holds(self, key: Hashable) -> bool:
        """Return True if the call with this key is not complete yet."""
        return key in self._drafts

    def answer(
        self,
        id: Any,
        result: Any = ABSENT,
        *,
        error: str | None = None,
        name: str | None = None,
        arguments: Any = None,
        provider_executed: bool = False,
        extra: Mapping[str, Any] = EMPTY_MAPPING,
    ) -> None:
        """Set the result of the first unanswered call with this id, or add an answer without a call."""
        identity = read_id(id)
        place = self._find_unanswered(identity)
        if place is None:
            given = arguments if arguments is None else parse_arguments(arguments)
            self.add(AskedCall(read_name(name), given, identity, result, error, provider_executed, extra))
            return
        entry = self._entries[place]
        if isinstance(entry, _CallDraft):
            self._close(entry)
            entry = entry.call()
        self._entries[place] = entry._replace(result=result, error=error)

    def ready(self) -> list[AskedCall]:
        """Return the calls that became complete since the last time, in the order in which they started."""
        places = sorted(set(self._whole) - self._given)
        self._whole.clear()
        self._given.update(places)
        return [self._get_call(place) for place in places]

    def calls(self) -> list[AskedCall]:
        """Return all calls; called at the end of the input."""
        return [self._get_call(place) for place in range(len(self._entries))]

    def _get_call(self, place: int) -> AskedCall:
        entry = self._entries[place]
        if isinstance(entry, _CallDraft):
            entry = entry.call()
            self._entries[place] = entry
        return entry

    def _next_index(self) -> int:
        place = len(self._entries)
        if place >= MAX_CALLS:
            raise Invalid(f"More than {MAX_CALLS:,} calls in one payload; send fewer at a time")
        return place

    def _draft(self, key: Hashable, identity: str, name: str | None, more_name: str | None) -> _CallDraft:
        draft = self._drafts.get(key)
        if draft is not None and identity and draft.id and identity != draft.id:
            self.over(key)
            draft = None
        if draft is None:
            draft = self._drafts[key] = _CallDraft(key, self._next_index())
            self._entries.append(draft)
        if identity and not draft.id:
            draft.id = identity
            self._by_id[identity] = draft
        if name and not draft.name:
            draft.name = read_name(name)
        if more_name:
            draft.name += read_name(more_name)
        return draft

    def _close(self, draft: _CallDraft) -> None:
        draft.is_over = True
        if self._drafts.get(draft.key) is draft:
            del self._drafts[draft.key]
            self._whole.append(draft.place)

    def _find_unanswered(self, identity: str) -> int | None:
        """Return the index of the first unanswered call with this id, or None."""
        if not identity:
            return None
        for place in range(self._seen, len(self._entries)):
            entry = self._entries[place]
            if isinstance(entry, _CallDraft) or (entry.result is ABSENT and entry.error is None):
                self._places.setdefault(entry.id, deque()).append(place)
        self._seen = len(self._entries)
        places = self._places.get(identity)
        return places.popleft() if places else None


def read_name(name: Any) -> str:
    """Return a tool's name, or "" if it is not a string."""
    return name if isinstance(name, str) else ""


def read_id(given: Any) -> str:
    """Return an id as text, or "" if it is neither a string nor an integer."""
    if isinstance(given, str):
        return given
    return str(given) if isinstance(given, int) and not isinstance(given, bool) else ""


def text_or_empty(text: Any) -> str:
    """Return the text, or "" if it is not a string."""
    return text if isinstance(text, str) else ""
