"""The last changes of the registry by any process, for streams that report them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Literal, NamedTuple

from pegboard.model.call import Caller

ChangedKind = Literal["tool", "user", "key", "session", "agent", "secret", "upstream"]
# Older changes are forgotten; a reader that missed them reads its lists again.
_MAX_CHANGES = 5000


class RegistryChange(NamedTuple):
    """One thing that was created, changed or removed; `number` counts the changes in this process."""

    number: int
    revision: int
    kind: ChangedKind
    # Of a secret, its name.
    id: str
    owner_id: str
    is_public: bool
    is_removed: bool
    # A tool that exists only in this process, as those of a tables file; it has no revision of its own.
    is_local: bool

    def is_visible_to(self, caller: Caller) -> bool:
        """Return True if the caller may know of this change."""
        if self.is_public or self.owner_id == caller.user_id:
            return True
        return caller.is_admin and self.kind != "secret"


class ChangedThing(NamedTuple):
    """A change before it has its number and revision."""

    kind: ChangedKind
    id: str
    owner_id: str
    is_public: bool = False
    is_removed: bool = False


class ChangeLog:
    """A bounded log of changes for any number of readers."""

    def __init__(self) -> None:
        self._changes: deque[RegistryChange] = deque(maxlen=_MAX_CHANGES)
        self._news = asyncio.Event()
        # The number of the last change, and the revision of the database that it has reached.
        self.last = 0
        self.revision = 0
        # The log has every change after this revision.
        self._complete_after = 0
        self.is_over = False

    def start(self, revision: int) -> None:
        """Begin at this revision, without changes."""
        self.revision = self._complete_after = revision

    def add(self, revision: int, things: Iterable[ChangedThing], *, is_local: bool = False) -> None:
        """Add what was changed up to this revision, and wake the readers."""
        for thing in things:
            if len(self._changes) == _MAX_CHANGES:
                self._complete_after = self._changes[0].revision
            self.last += 1
            self._changes.append(RegistryChange(self.last, revision, *thing, is_local))
        self.revision = revision
        self._wake()

    def find_position(self, revision: int) -> int | None:
        """Return the number of the last stored change up to this revision, or None if later changes are forgotten."""
        if not self._complete_after <= revision <= self.revision:
            return None
        before = self._changes[0].number - 1 if self._changes else self.last
        known = (each.number for each in reversed(self._changes) if each.revision <= revision and not each.is_local)
        return next(known, before)

    def after(self, number: int, most: int) -> list[RegistryChange] | None:
        """Return the next changes after this number, or None if some of them are forgotten."""
        first = self._changes[0].number if self._changes else self.last + 1
        if number + 1 < first:
            return None
        skipped = number + 1 - first
        return [self._changes[index] for index in range(skipped, min(len(self._changes), skipped + most))]

    def find_revision_before(self, number: int) -> int:
        """Return the revision up to which a reader at this position has everything."""
        upcoming = self.after(number, 1)
        if not upcoming:
            return self.revision
        earlier = (change.revision for change in reversed(self._changes) if change.revision < upcoming[0].revision)
        return next(earlier, self._complete_after)

    async def wait_for_more(self, number: int) -> None:
        """Wait until there is a change after this number, or the log is closed."""
        while self.last <= number and not self.is_over:
            await self._news.wait()

    def close(self) -> None:
        """End all readers."""
        self.is_over = True
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
