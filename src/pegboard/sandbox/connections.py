"""How many connections the proxies of all calls may have together."""

from __future__ import annotations

import resource
from collections import Counter

# Where the system sets no limit to open files, one is assumed.
_MOST_FILES = 2**16


def most_connections() -> int:
    """A quarter of the files this process may have open; each connection takes two, so half is left for the rest."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if files == resource.RLIM_INFINITY:
        files = _MOST_FILES
    return max(1, min(files, _MOST_FILES) // 4)


class Connections:
    """So many connections for everybody, of which no user takes more than are left for the others."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._taken: Counter[str] = Counter()

    def take(self, user_id: str) -> bool:
        """Whether this user may have one more, which is then counted until it is given back."""
        if self._taken[user_id] >= self._left:
            return False
        self._left -= 1
        self._taken[user_id] += 1
        return True

    def give_back(self, user_id: str) -> None:
        """One of this user's is closed."""
        self._left += 1
        self._taken[user_id] -= 1
        if not self._taken[user_id]:
            del self._taken[user_id]
