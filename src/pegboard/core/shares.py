"""A bounded number of places that users share."""

from __future__ import annotations


class Shares:
    """Places in all; a user takes one more only while they hold fewer than are free.

    So one user alone takes half of them, and every other user finds as many free as any user holds.
    """

    __slots__ = ("_free", "_taken", "most")

    def __init__(self, most: int) -> None:
        self.most = most
        self._free = most
        self._taken: dict[str, int] = {}

    def has_room(self, user_id: str) -> bool:
        """Whether this user may take one more place."""
        return self._taken.get(user_id, 0) < self._free

    def take(self, user_id: str) -> bool:
        """Take a place and return True; False where the user has their share, and nothing is taken."""
        taken = self._taken.get(user_id, 0)
        if taken >= self._free:
            return False
        self._free -= 1
        self._taken[user_id] = taken + 1
        return True

    def give_back(self, user_id: str) -> None:
        """Give back one place of this user."""
        self._free += 1
        left = self._taken[user_id] - 1
        if left:
            self._taken[user_id] = left
        else:
            del self._taken[user_id]

    def refusal(self, user_id: str, what: str) -> str:
        """What to say where there is no room: how many of `what` this user has, of how many in all."""
        taken = self._taken.get(user_id, 0)
        return f"You have {taken:,} of at most {self.most:,} {what}, and the {self._free:,} left are for other users"
