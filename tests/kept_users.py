"""Users of whom it can be seen whether anything is kept of them."""

from __future__ import annotations

import gc
import weakref


class UserId(str):
    """An id that is no constant, so that it goes when nothing refers to it."""


class KeptUsers:
    """The ids of users, until they are forgotten here."""

    def __init__(self, names: str) -> None:
        self._ids = {name: UserId(name) for name in names}

    def __getitem__(self, name: str) -> UserId:
        return self._ids[name]

    def forget(self) -> set[str]:
        """Forget them; the names of those that are kept elsewhere."""
        kept = {name: weakref.ref(user) for name, user in self._ids.items()}
        self._ids.clear()
        gc.collect()
        return {name for name, user in kept.items() if user() is not None}
