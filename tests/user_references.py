"""User ids that report whether anything still refers to them."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Collection


class UserId(str):
    """An id that is not an interned constant, so that it is freed when nothing refers to it."""


class KeptUsers:
    """The ids of users, until `forget`."""

    def __init__(self, names: str) -> None:
        self._ids = {name: UserId(name) for name in names}

    def __getitem__(self, name: str) -> UserId:
        return self._ids[name]

    def forget(self, *, but: Collection[str] = ()) -> set[str]:
        """Drop the ids; return the names of those that are still referenced elsewhere, except for `but`."""
        ids = {name: weakref.ref(user) for name, user in self._ids.items()}
        self._ids.clear()
        kept = set(ids).difference(but)
        for generation in range(3):  # the oldest generation takes most of the time, and seldom contains anything
            if kept:
                gc.collect(generation)
                kept = {name for name in kept if ids[name]() is not None}
        return kept
