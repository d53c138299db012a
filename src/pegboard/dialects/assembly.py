"""Calls as they come out of a payload or a stream."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping
from datetime import UTC, datetime
from typing import Any

from pegboard.core.call import Malformed
from pegboard.core.refusals import Invalid
from pegboard.dialects.asked import ABSENT, NOTHING, AskedCall
from pegboard.dialects.reading import arguments_of

# The most calls that one payload or stream may hold, finished ones of a history included.
MAX_ENTRIES = 10_000

SchemaOf = Callable[[str], Mapping[str, Any] | None]
Now = Callable[[], datetime]


def utc_now() -> datetime:
    """What the system's clock says."""
    return datetime.now(UTC)


class _Draft:
    """A call in the making: a stream has begun it, and its arguments come in pieces or as snapshots."""

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
        """What it has become. One that was cut off before anything of its arguments came is malformed, not empty."""
        arguments = self.arguments
        if arguments is ABSENT:
            text = "".join(self.texts)
            cut_off = not self.is_over and not text.strip()
            arguments = Malformed(text, "the stream ended before they came") if cut_off else arguments_of(text)
        elif not self.is_over and arguments == "":
            arguments = Malformed("", "the stream ended before they came")
        else:
            arguments = arguments_of(arguments)
        return AskedCall(
            self.name, arguments, self.id, provider_executed=self.provider_executed, extra=self.extra or NOTHING
        )


class Assembly:
    """Puts calls together, and keeps them in the order in which they began.

    A whole payload uses `call` and `answer`. A stream uses `piece`, or `snapshot` where each chunk repeats all that
    came before, and `over` when nothing more comes for a call. A `key` is whatever the chunks of a call go by: an
    index, an item's id, a call's id.
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
        "schema_of",
        "state",
    )

    def __init__(self, schema_of: SchemaOf, now: Now = utc_now) -> None:
        self.schema_of = schema_of
        self.now = now
        # Whether the payload is one bare call, and not a message that may hold several.
        self.bare = False
        # Whether something that looks like a call was passed over or forgotten on purpose.
        self.has_dropped = False
        # For a dialect that has to remember more from chunk to chunk.
        self.state: Any = None
        self._entries: list[AskedCall | _Draft] = []
        self._drafts: dict[Hashable, _Draft] = {}
        self._by_id: dict[str, _Draft] = {}
        # Which became whole since somebody asked, and which were handed out before.
        self._whole: list[int] = []
        self._given: set[int] = set()
        # Where the calls without an answer stand, by id, of the first so many.
        self._places: dict[str, deque[int]] = {}
        self._seen = 0

    def call(
        self,
        name: str,
        arguments: Any,
        id: Any = None,
        *,
        result: Any = ABSENT,
        error: str | None = None,
        provider_executed: bool = False,
        extra: Mapping[str, Any] = NOTHING,
    ) -> None:
        """A whole call. It takes the place of one with its id that a stream put together from pieces, once."""
        known = name_of(name)
        identity = id_of(id)
        call = AskedCall(known, arguments_of(arguments), identity, result, error, provider_executed, extra)
        draft = self._by_id.pop(identity, None) if self._by_id and identity else None
        if draft is None:
            self.add(call)
        else:
            self._close(draft)
            before = self._entries[draft.place]
            if isinstance(before, AskedCall) and not before.is_open and call.is_open:
                # It was answered while it came in: what says it once more does not undo that.
                call = call._replace(result=before.result, error=before.error)
            self._entries[draft.place] = call

    def add(self, call: AskedCall) -> None:
        """A whole call, as it stands; raises Invalid if the payload holds too many."""
        self._whole.append(self._next_place())
        self._entries.append(call)

    def malformed(self, name: str, text: str, why: str) -> None:
        """A call that was asked for and whose arguments cannot be read."""
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
        extra: Mapping[str, Any] = NOTHING,
    ) -> None:
        """A piece of a call's arguments, or what heads it; a new id under the same key begins another call."""
        draft = self._draft(key, id_of(id), name, more_name)
        if text:
            draft.texts.append(checked_text(text))
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
        extra: Mapping[str, Any] = NOTHING,
    ) -> None:
        """All of a call that has come so far: what was known of its arguments is replaced."""
        draft = self._draft(key, id_of(id), name, None)
        draft.arguments = arguments
        if extra:
            draft.extra.update(extra)

    def over(self, key: Hashable) -> None:
        """Nothing more comes for the call of this key."""
        draft = self._drafts.get(key)
        if draft is not None:
            self._close(draft)

    def all_over(self) -> None:
        """Nothing more comes for any call: the message is complete."""
        for key in list(self._drafts):
            self.over(key)

    def all_ended(self) -> None:
        """Nothing more comes at all, whether the message was complete or not."""
        for draft in list(self._drafts.values()):
            del self._drafts[draft.key]
            self._whole.append(draft.place)

    def drop(self) -> None:
        """Forget every call so far: what made them turns out to have been no more than a thought."""
        self.has_dropped = True
        self._entries.clear()
        self._drafts.clear()
        self._by_id.clear()
        self._whole.clear()
        self._given.clear()
        self._places.clear()
        self._seen = 0

    def holds(self, key: Hashable) -> bool:
        """Whether a call of this key is in the making."""
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
        extra: Mapping[str, Any] = NOTHING,
    ) -> None:
        """How a call ended: the first one with this id that has no answer yet, or one that is not in sight."""
        identity = id_of(id)
        place = self._unanswered(identity)
        if place is None:
            given = arguments if arguments is None else arguments_of(arguments)
            self.add(AskedCall(name_of(name), given, identity, result, error, provider_executed, extra))
            return
        entry = self._entries[place]
        if isinstance(entry, _Draft):
            self._close(entry)
            entry = entry.call()
        self._entries[place] = entry._replace(result=result, error=error)

    def ready(self) -> list[AskedCall]:
        """The calls that became whole since the last time, in the order in which they began."""
        places = sorted(set(self._whole) - self._given)
        self._whole.clear()
        self._given.update(places)
        return [self._entry(place) for place in places]

    def calls(self) -> list[AskedCall]:
        """Every call, as nothing more comes at all."""
        return [self._entry(place) for place in range(len(self._entries))]

    def _entry(self, place: int) -> AskedCall:
        entry = self._entries[place]
        if isinstance(entry, _Draft):
            entry = entry.call()
            self._entries[place] = entry
        return entry

    def _next_place(self) -> int:
        place = len(self._entries)
        if place >= MAX_ENTRIES:
            raise Invalid(f"More than {MAX_ENTRIES:,} calls in one payload; send fewer at a time")
        return place

    def _draft(self, key: Hashable, identity: str, name: str | None, more_name: str | None) -> _Draft:
        draft = self._drafts.get(key)
        if draft is not None and identity and draft.id and identity != draft.id:
            self.over(key)
            draft = None
        if draft is None:
            draft = self._drafts[key] = _Draft(key, self._next_place())
            self._entries.append(draft)
        if identity and not draft.id:
            draft.id = identity
            self._by_id[identity] = draft
        if name and not draft.name:
            draft.name = name_of(name)
        if more_name:
            draft.name += name_of(more_name)
        return draft

    def _close(self, draft: _Draft) -> None:
        draft.is_over = True
        if self._drafts.get(draft.key) is draft:
            del self._drafts[draft.key]
            self._whole.append(draft.place)

    def _unanswered(self, identity: str) -> int | None:
        """Where the first call with this id stands that has no answer yet."""
        if not identity:
            return None
        for place in range(self._seen, len(self._entries)):
            entry = self._entries[place]
            if isinstance(entry, _Draft) or (entry.result is ABSENT and entry.error is None):
                self._places.setdefault(entry.id, deque()).append(place)
        self._seen = len(self._entries)
        places = self._places.get(identity)
        return places.popleft() if places else None


def name_of(name: Any) -> str:
    """A tool's name as it was given; what is no text names no tool."""
    return name if isinstance(name, str) else ""


def id_of(given: Any) -> str:
    """An id as text, "" where there is none."""
    if isinstance(given, str):
        return given
    return str(given) if isinstance(given, int) and not isinstance(given, bool) else ""


def checked_text(text: Any) -> str:
    """A piece of text; nothing where it is something else."""
    return text if isinstance(text, str) else ""
