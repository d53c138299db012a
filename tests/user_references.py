"""Users of whom it can be seen whether anything is kept of them."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Collection


class UserId(str):
    """An id that is no constant, so that it goes when nothing refers to it."""


class KeptUsers:
    """The ids of users, until they are forgotten here."""

    def __init__(self, names: str) -> None:
        self._ids = {name: UserId(name) for name in names}

    def __getitem__(self, name: str) -> UserId:
        return self._ids[name]

    def forget(self, *, but: Collection[str] = ()) -> set[str]:
        """Forget them; the names of those that are kept elsewhere, besides those that may be."""
        ids = {name: weakref.ref(user) for name, user in self._ids.items()}
        self._ids.clear()
        kept = set(ids).difference(but)
        for generation in range(3):  # the oldest takes most of the time, and there is seldom anything in it
            if kept:
                gc.collect(generation)
                kept = {name for name in kept if ids[name]() is not None}
        return kept
